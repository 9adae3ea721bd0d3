"""How an op is applied to all examples of a `vmap` at once: by its kind, by what it is told to go over, or as declared.

elementwise   the op, the operands brought to equal ranks behind the examples' dimension
shifted       the op along dimensions one further on: settings named `dim`, `axes` and the like say which, `size` a shape
stacked       the op as it is, for it leaves alone what dimensions there are in front
sized         the op to a `size` with the examples' dimension in front
declared      a function that gives the result for operands with the examples in front, or one for each choice of
              operands that have them, {"x": …, "x y": …}; where it gives NotImplemented, a loop does it
loop          the op on each example, and the results stacked

An op is elementwise by its kind, shifted by its settings, anything else by its `batch=`. The declared functions are
in this package's own op vocabulary, as derivative rules are: they are given the operands in order and the settings by
name.
"""

from __future__ import annotations

from gradsh.engine.batched import batched, lowered, spread
from gradsh.engine.create import tensor, zeros_of
from gradsh.engine.op import ELEMENTWISE, OPS
from gradsh.engine.promote import common_dtype
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import Wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.engine.level import Level
    from gradsh.engine.op import Op

    Operands = tuple[Any, ...]
    Settings = dict[str, Any]
    Way = Callable[[Op, int, Operands, Operands, Settings], Any]

DIMENSIONS = frozenset(("dim", "axis", "axes", "dims", "dim0", "dim1", "dim2"))
looped: dict[str, int] = {}  # of the ops that had to go from example to example, how often each did


def way_of(op: Op) -> str:
    """How an op goes about the examples: one of the ways, of which "loop" is the slow one."""
    if op.batch is not None:
        return op.batch if isinstance(op.batch, str) else "declared"
    if op.kind == ELEMENTWISE:
        return "elementwise"
    return "shifted" if DIMENSIONS & op.settings.keys() else "loop"


def batched_call(op: Op, level: Level, operands: Operands, settings: Settings) -> Any:
    """An op on operands of which some have examples of this level."""
    found: list[Any] = []
    for operand in operands:
        if isinstance(operand, Wrapped):
            parts = operand.parts
            found.append(parts[0] if parts[1] is level else lowered(operand, level))
        elif isinstance(operand, list | tuple) and state.lists:
            return op(*(tensor(one) if isinstance(one, list | tuple) else one for one in operands), **settings)
        else:
            found.append(None)
    way = op.way
    if way is None:
        way = op.way = WAYS[way_of(op)]
    out = way(op, level.size, operands, tuple(found), settings)
    if op.outputs:
        return type(out)(*(batched(one, level) for one in out))
    if op.many:
        return [batched(one, level) for one in out]
    return batched(out, level)


# ---- elementwise


def elementwise(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op on operands whose dimensions are brought to equal ranks behind that of the examples."""
    rank = -1
    dtype, mixed = None, False
    for operand in operands:
        if isinstance(operand, Tensor):
            kind = operand.dtype
            mixed = mixed or (dtype is not None and kind is not dtype)
            rank, dtype = max(rank, operand.ndim), kind
        elif getattr(operand, "ndim", 0):
            rank = max(rank, operand.ndim)
    values = [
        operand if one is None else one if one.ndim > rank else aligned(one, rank)
        for operand, one in zip(operands, wide)
    ]
    if mixed and op.promote:
        values = _of_one_type(op, operands, values)
    if wide[0] is None and op.kind != ELEMENTWISE:  # the first operand gives the shape
        values[0] = spread(values[0], size)
    found = op(*values, **settings)
    return found if op.outputs or found.ndim > rank else spread(found, size)  # of an operand that has no say


def aligned(tensor: Tensor, rank: int) -> Tensor:
    """All examples, with dimensions of length 1 behind theirs, so that each has at least this rank."""
    missing = rank + 1 - tensor.ndim
    if missing <= 0:
        return tensor
    size, *rest = tensor.shape
    return OPS["unsafe_view"](tensor, size=(size, *(1,) * missing, *rest))  # type: ignore[no-any-return]


def _of_one_type(op: Op, operands: Operands, values: list[Any]) -> list[Any]:
    """Promotion goes by the examples' ranks: a 0-d example has no say over one with dimensions."""
    fixed = [k for k, name in enumerate(op.operands) if name in ("condition", "mask")]
    dtype = common_dtype(tuple(one for k, one in enumerate(operands) if k not in fixed), op.floating)
    return [
        OPS["to_dtype"](value, dtype=dtype)
        if k not in fixed and isinstance(value, Tensor) and value.dtype is not dtype
        else value
        for k, value in enumerate(values)
    ]


# ---- along dimensions


def shifted(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op along dimensions one further on. A 0-d example counts as a vector of one number, as in the kernels."""
    shape = settings.get("size")
    if not isinstance(shape, tuple):
        shape = None
    values = list(filled(operands, wide, size))
    ranks = [operand.ndim for operand in operands if isinstance(operand, Tensor)]
    lifted = not (ranks[0] if shape is None else len(shape))
    if lifted:
        values = [aligned(value, 1) if isinstance(value, Tensor) else value for value in values]
    moved = {name: _moved(value) if name in DIMENSIONS else value for name, value in settings.items()}
    if shape is not None:
        moved["size"] = (size, *(shape or (1,)))
    found = op(*values, **moved)
    if not lifted or (shape is None and max(ranks)):
        return found
    if op.outputs:
        return type(found)(*map(_without_second, found))
    return [_without_second(one) for one in found] if op.many else _without_second(found)


def _moved(dims: Any) -> Any:
    """Dimensions behind a new first one; those counted from the end stay."""
    if isinstance(dims, tuple):
        return tuple([dim + 1 if dim >= 0 else dim for dim in dims])
    return dims + 1 if isinstance(dims, int) and dims >= 0 else dims


def _without_second(tensor: Tensor) -> Tensor:
    size, *rest = tensor.shape
    rest = rest[1:]  # of a reduction there may be none
    return OPS["unsafe_view"](tensor, size=(size, *rest))  # type: ignore[no-any-return]


def filled(operands: Operands, wide: Operands, size: int) -> Operands:
    """The operands with the examples in front; tensors without any are repeated, numbers are left."""
    return tuple(
        [
            one if one is not None else spread(operand, size) if isinstance(operand, Tensor) else operand
            for operand, one in zip(operands, wide)
        ]
    )


def stacked(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op on operands with the examples in front, brought to equal ranks behind those."""
    rank = max(operand.ndim for operand in operands if isinstance(operand, Tensor))
    values = (aligned(value, rank) if isinstance(value, Tensor) else value for value in filled(operands, wide, size))
    return op(*values, **settings)


def sized(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op to a size with the examples in front; a length of -1 is worked out for one example."""
    shape = settings["size"]
    if -1 in shape:
        count = known = 1
        for length in operands[0].shape:
            count *= length
        for length in shape:
            known *= length if length != -1 else 1
        shape = tuple([count // max(known, 1) if length == -1 else length for length in shape])
    return op(*filled(operands, wide, size), **{**settings, "size": (size, *shape)})


# ---- as declared


def declared(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op's own rule for the operands that have examples, or for all of them."""
    rule = op.batch
    values = operands
    if isinstance(rule, dict):
        fixed = len(op.operands) - bool(op.variadic)
        having = {op.operands[min(k, len(op.operands) - 1)] for k, one in enumerate(wide) if one is not None}
        rule = rule.get(" ".join([name for name in op.operands if name in having]))
        if rule is not None:
            values = tuple([operand if one is None else one for operand, one in zip(operands, wide)])
            if op.variadic in having:
                values = (*values[:fixed], *filled(operands[fixed:], wide[fixed:], size))
        else:
            rule = op.batch.get(" ".join(op.operands[: len(operands)]))
    if values is operands:
        values = filled(operands, wide, size)
    found = NotImplemented if rule is None else rule(*values, **settings)
    return in_turn(op, size, operands, wide, settings) if found is NotImplemented else found


# ---- one by one


def in_turn(op: Op, size: int, operands: Operands, wide: Operands, settings: Settings) -> Any:
    """The op on each example, the results stacked."""
    looped[op.name] = looped.get(op.name, 0) + 1
    found = [
        op(
            *(operand if one is None else OPS["select"](one, dim=0, index=k) for operand, one in zip(operands, wide)),
            **settings,
        )
        for k in range(size)
    ]
    if not found:  # what one example would give, for no examples
        one = op(
            *(
                operand if one is None else zeros_of(tuple(one.shape[1:]), one.dtype)
                for operand, one in zip(operands, wide)
            ),
            **settings,
        )
        return _each(op, lambda value: zeros_of((0, *value.shape), value.dtype), [one])
    return _each(op, lambda *values: OPS["stack"](*values, dim=0), found)


def _each(op: Op, make: Callable[..., Any], found: list[Any]) -> Any:
    if op.outputs:
        return type(found[0])(*(make(*column) for column in zip(*found)))
    if op.many:
        return [make(*column) for column in zip(*found)]
    return make(*found)


WAYS: dict[str, Way] = {
    "elementwise": elementwise,
    "shifted": shifted,
    "stacked": stacked,
    "sized": sized,
    "declared": declared,
    "loop": in_turn,
}
