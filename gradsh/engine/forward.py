"""Forward mode: tensors that carry a tangent, pushed through each op by what its kind says.

    elementwise   the rule, given the tangent in place of the gradient
    linear        the op on the tangents
    bilinear      the op with one operand at a time replaced by its tangent
    general       the transpose of the rule, found by running reverse mode over it

Tangents are tensors and are computed with recorded ops, so that forward mode over reverse mode, and the other way
round, work to any order. A tangent belongs to a level: to the ops of another one it is no tangent.
"""

from __future__ import annotations

from operator import attrgetter

from gradsh.engine.alias import Alias
from gradsh.engine.batched import Batched, batched, of_all, zeros_like
from gradsh.engine.inplace import geometry, is_view, old_value
from gradsh.engine.level import JVP, Level
from gradsh.engine.op import BILINEAR, CONSTANT, ELEMENTWISE, LINEAR, OPS, Op
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, new, wrap
from gradsh.engine.wrapped import Wrapped, innermost
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradsh.engine.wrapped import Change


class Dual(Wrapped):
    """A tensor and its tangent. parts: these two, and the level they belong to."""

    __slots__ = ()

    primal = Wrapped.inner

    @property
    def tangent(self) -> Tensor:
        return self.parts[1]  # type: ignore[no-any-return]

    def transformed(self, op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        level = self.level
        mine = [isinstance(operand, Dual) and operand.level is level for operand in operands]
        primals = tuple(operand.primal if own else operand for operand, own in zip(operands, mine))
        tangents = tuple(operand.tangent if own else None for operand, own in zip(operands, mine))
        out = op(*primals, **settings)
        if op.kind == CONSTANT:
            return out
        if not (op.outputs or op.many):
            tangent = push(op, primals, tangents, settings, (out,), level)[0]
            return out if tangent is None else dual(out, tangent, level)
        pushed = push(op, primals, tangents, settings, tuple(out), level)
        values = [value if tangent is None else dual(value, tangent, level) for value, tangent in zip(out, pushed)]
        return type(out)(*values) if op.outputs else values

    def changed(self, change: Change, tensor: Tensor, value: Tensor, what: str) -> None:
        """As for any tensor of a level; a tensor without a tangent gets one of zeros first."""
        primal, tangent = split(value, self.level)
        if not (isinstance(tensor, Dual) and tensor.level is self.level):
            _become_dual(tensor, self.level, value if tangent is None else tangent)
        assert isinstance(tensor, Dual)
        change(tensor.primal, primal)
        change(tensor.tangent, zeros_like(value) if tangent is None else tangent)

    def old(self) -> Tensor:
        return dual(old_value(self.primal, kept=True), old_value(self.tangent, kept=True), self.level)

    def detached(self, detach: Callable[[Tensor], Tensor]) -> Tensor:
        return detach(self.primal)


def _part_of_primal(name: str) -> property:
    """A slot of every tensor that a Dual shares with its primal."""

    def get(self: Dual) -> Any:
        return getattr(self.primal, name)

    def put(self: Dual, value: Any) -> None:
        setattr(self.primal, name, value)

    return property(get, put)


for _name in ("raw", "node", "extra", "grad"):
    setattr(Dual, _name, _part_of_primal(_name))
for _name in ("shape", "ndim", "dtype"):
    setattr(Dual, _name, property(attrgetter(f"primal.{_name}")))


def _become_dual(tensor: Tensor, level: Level, like: Tensor) -> None:
    """Give a tensor a tangent of zeros, with the examples that another one has; a view a view of its base's tangent."""
    if tensor.__class__ is not Tensor:
        raise fault(RuntimeError, f"a {type(tensor).__name__} cannot take a tangent in place", hint=".clone() first")
    primal = new(Tensor)
    primal.raw, primal.node, primal.extra, primal.grad = tensor.raw, tensor.node, tensor.extra, None
    if is_view(tensor):
        base: Tensor = tensor.extra.base  # type: ignore[assignment, union-attr]
        if not isinstance(base, Dual):
            _become_dual(base, level, like)
        assert isinstance(base, Dual)
        primal.extra = Alias.view_of(base.primal)
        tangent = _same_part(base.tangent, geometry(base.raw, tensor.raw))
    else:
        tangent = zeros_like(tensor, like)
    tensor.__class__ = Dual
    tensor.parts = (primal, tangent, level)


def _same_part(base: Tensor, place: Any) -> Tensor:
    """The view of a tensor that covers the same part as one of another tensor does."""
    if isinstance(base, Batched):
        whole, strides, shape, steps, offset = place
        inner, count = base.inner, 1
        for length in whole:
            count *= length
        wide = (
            (inner.shape[0], *whole),
            strides and (count, *strides),
            (inner.shape[0], *shape),
            (count, *steps),
            offset,
        )
        return batched(_same_part(inner, wide), base.level)
    from gradsh.backend import arrays

    view = wrap(arrays.strided_view(base.raw, place))
    view.extra = Alias.view_of(base)
    return view


def dual(primal: Tensor, tangent: Tensor, level: Level) -> Tensor:
    """A tensor with a tangent of the same shape. What deeper levels make of the two they make of it."""
    top = innermost((primal, tangent))
    if top is not None and top.level.number > level.number:
        return _dual_within(primal, tangent, level, top)
    if primal.shape != tangent.shape:
        raise fault(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}.",
        )
    made = new(Dual)
    made.parts = (primal, tangent, level)
    return made


def _dual_within(primal: Tensor, tangent: Tensor, level: Level, top: Wrapped) -> Tensor:
    deeper = top.level
    if isinstance(top, Batched):
        return batched(dual(of_all(primal, deeper), of_all(tangent, deeper), level), deeper)
    (primal, primal_moved), (tangent, tangent_moved) = split(primal, deeper), split(tangent, deeper)
    moved = dual(_or_zeros(primal_moved, primal), _or_zeros(tangent_moved, tangent), level)
    return dual(dual(primal, tangent, level), moved, deeper)


def _or_zeros(tangent: Tensor | None, like: Tensor) -> Tensor:
    return zeros_like(like) if tangent is None else tangent


def split(value: Any, level: Level) -> tuple[Any, Tensor | None]:
    """A value without its tangent of a level, and this tangent; None where it has none."""
    if not isinstance(value, Wrapped) or value.level.number < level.number:
        return value, None
    if isinstance(value, Batched):
        primal, tangent = split(value.inner, level)
        if tangent is None:
            return value, None
        return batched(primal, value.level), batched(tangent, value.level)
    assert isinstance(value, Dual)
    if value.level is level:
        return value.primal, value.tangent
    primal, tangent = split(value.primal, level)
    rest, more = split(value.tangent, level)
    if tangent is None and more is None:
        return value, None
    return dual(primal, rest, value.level), dual(_or_zeros(tangent, primal), _or_zeros(more, rest), value.level)


def push(
    op: Op,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    settings: dict[str, Any],
    outs: tuple[Any, ...],
    level: Level,
) -> list[Tensor | None]:
    """The tangents of an op's outputs, None where an output has no derivative."""
    names = list(op.operands)
    if op.variadic:
        names[-1:] = [op.variadic] * (len(primals) - len(names) + 1)
    live = [k for k, name in enumerate(names) if name in op.rules and tangents[k] is not None]
    if not live:
        return [None] * len(outs)
    if op.kind == LINEAR:
        moved = [
            (tangents[k] if k in live else zeros_like(value))
            if name in op.rules and isinstance(value, Tensor)
            else value
            for k, (name, value) in enumerate(zip(names, primals))
        ]
        found = op(*moved, **settings)
        return list(found) if op.many else [found]
    parts: list[Any] = []
    for k in live:
        if op.kind == BILINEAR:
            parts.append(op(*primals[:k], tangents[k], *primals[k + 1 :], **settings))
        elif op.kind == ELEMENTWISE:
            tangent = tangents[k]
            if tangent.shape != outs[0].shape:
                tangent = OPS["expand_to"](tangent, size=tuple(outs[0].shape))
            if tangent.dtype is not outs[0].dtype:
                tangent = OPS["to_dtype"](tangent, dtype=outs[0].dtype)
            parts.append(op.rules[names[k]](**_bag(op, names, primals, settings, outs, k, tangent)))
        else:
            parts.append(_transposed(op, names, primals, settings, outs, k, tangents[k], level))
    if op.kind in (BILINEAR, ELEMENTWISE):
        return [_sum(parts)]
    return [_sum([part[index] for part in parts if part[index] is not None]) for index in range(len(outs))]


def _sum(parts: list[Any]) -> Any:
    total = None
    for part in parts:
        total = part if total is None else OPS["add"](total, part)
    return total


def _bag(
    op: Op, names: list[str], primals: tuple[Any, ...], settings: dict[str, Any], outs: tuple[Any, ...], k: int, g: Any
) -> dict[str, Any]:
    """What a rule asks for, by the names of its parameters."""
    bag: dict[str, Any] = {"g": g, "i": k - len(op.operands) + 1, **settings}
    bag["out"] = outs if op.outputs or op.many else outs[0]
    bag |= dict(zip(op.outputs, outs))
    for name in op.operands:
        values = primals[len(op.operands) - 1 :] if name == op.variadic else primals[op.operands.index(name)]
        bag[name] = values
        several = isinstance(values, tuple) and name == op.variadic
        bag[f"{name}_shape"] = tuple(_shape(value) for value in values) if several else _shape(values)
        bag[f"{name}_dtype"] = tuple(value.dtype for value in values) if several else getattr(values, "dtype", None)
    return {name: bag[name] for name in op.uses[names[k]]}


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, Tensor) else ()


def _transposed(
    op: Op,
    names: list[str],
    primals: tuple[Any, ...],
    settings: dict[str, Any],
    outs: tuple[Any, ...],
    k: int,
    tangent: Tensor,
    level: Level,
) -> list[Tensor | None]:
    """The rule is linear in g: its transpose on the tangent is the derivative of <rule(g), tangent> by g."""
    from gradsh.engine.pulling import handle, pull

    several = op.outputs or op.many
    differentiable = op.differentiable if op.outputs else (True,) * len(outs)
    before = state.grad
    state.grad = True
    try:
        seeds = [
            handle(zeros_like(out), inside=level.number) if keep else None for out, keep in zip(outs, differentiable)
        ]
        wanted = [seed for seed in seeds if seed is not None]
        g: Any = wanted[0] if len(wanted) == 1 and not op.many else dict(enumerate(seeds)) if op.many else tuple(wanted)
        pulled = op.rules[names[k]](**_bag(op, names, primals, settings, outs, k, g))
        found = iter([None] * len(wanted) if pulled is None else pull([pulled], wanted, [tangent], before))
    finally:
        state.grad = before
    result: list[Tensor | None] = []
    for seed, out in zip(seeds, outs):
        value = None if seed is None else next(found)
        result.append(zeros_like(out) if value is None and seed is not None else value)
    return result if several else result[:1]


def jvp(function: Callable[..., Any], primals: Sequence[Tensor], tangents: Sequence[Tensor]) -> tuple[Any, Any]:
    """The value of a function and the derivative along the tangents, in one forward run."""
    with Level(JVP, function) as level:
        found = function(*(dual(primal, tangent, level) for primal, tangent in zip(primals, tangents)))
        return _parted(found, level)


def _parted(found: Any, level: Level) -> tuple[Any, Any]:
    if isinstance(found, tuple | list):
        pairs = [_parted(item, level) for item in found]
        return tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
    primal, tangent = split(found, level)
    return primal, zeros_like(primal) if tangent is None else tangent
