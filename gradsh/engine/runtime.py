"""What generated code calls: the names its globals hold, and the slower ways around its usual path."""

from __future__ import annotations

from gradsh.backend import loading, scalars
from gradsh.backend.dtypes import BY_CHAR, DType, float32 as single, float64 as double
from gradsh.engine.alias import SEVERAL, Alias, check_saved, inference_alias, refuse_inference
from gradsh.engine.node import PENDING, Node, OpNode, Output
from gradsh.engine.op import OPS
from gradsh.engine.promote import again, explained, general_call, rule_again
from gradsh.engine.site import getframe, user_frame
from gradsh.engine.state import head, state, tick
from gradsh.engine.tensor import Parameter, Tensor, new, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Meta = tuple[tuple[int, ...], DType]
SCALAR: Meta = ((), double)
SINGLE: Meta = ((), single)


class _NotLoaded:
    """Stands for numpy's types until numpy is loaded: no value is of it."""


class _Arrays:
    """Stands for the namespace of arrays until a kernel asks it for a name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        from gradsh.backend import arrays

        return getattr(arrays, name)


float32: Any = _NotLoaded
ndarray: Any = _NotLoaded
ONE: Any = None  # a float32
arrays: Any = _Arrays()  # the namespace itself once numpy is loaded: an import statement costs more than most calls


strayed: Any = None  # of `plans.tape`, once a tape is followed


def canonical(value: Any) -> Any:
    """`arrays.canonical`, importing numpy only where a value is not a Python float."""
    if value.__class__ is float:
        return value
    return arrays.canonical(value)


def scalar_result(value: Any) -> Any:
    """`canonical` for what a kernel gave on floats: a number or a truth value from its text stands for a float."""
    return float(value) if value.__class__ is int or value.__class__ is bool else canonical(value)


def single_result(value: Any) -> Any:
    """`canonical` for what a kernel gave on a float32: a number or a truth value from its text stands for a float32."""
    return arrays.float32(value) if value.__class__ in (float, int, bool, arrays.bool_) else arrays.canonical(value)


def shared(raw: Any) -> Any:
    return arrays.shared(raw)


def shape_of(raw: Any) -> tuple[int, ...]:
    return () if raw.__class__ is float else raw.shape


def dtype_of(raw: Any) -> DType:
    return double if raw.__class__ is float else BY_CHAR[raw.dtype.char]


def meta(raw: Any) -> Meta:
    """Shape and type that the gradient of this raw operand must be brought to."""
    if raw.__class__ is float:
        return SCALAR
    return raw.shape, dtype_of(raw)


def unfit(raw: Any, result: Any) -> Meta | None:
    """What the gradient of a raw operand must be brought to; None where it comes in the right shape and type."""
    kind = raw.__class__
    if kind is float:
        return SCALAR
    dtype, shape = raw.dtype, raw.shape
    if result.__class__ is kind and dtype is result.dtype and shape == result.shape:
        return None
    return shape, BY_CHAR[dtype.char]


def fit(value: Any, wanted: Meta) -> Any:
    """Undo broadcasting and promotion: sum a raw gradient to the operand's shape, in its type."""
    kind = value.__class__
    if wanted is SINGLE and kind is ndarray:
        value = arrays.total(value)
        if value.__class__ is float32:
            return value
        kind = value.__class__
    shape, dtype = wanted
    if (kind is ndarray and value.shape != shape) or (shape and kind is not ndarray):
        value = arrays.sum_to(value, shape) if shape else arrays.total(value)
        kind = value.__class__
    if dtype is (single if kind is float32 else double if kind is float else BY_CHAR[value.dtype.char]):
        return value if kind is ndarray or kind is float32 else canonical(value)
    return arrays.cast(canonical(value), dtype)


def fit_recorded(value: Tensor, wanted: Meta) -> Tensor:
    shape, dtype = wanted
    if value.shape != shape:
        value = OPS["sum_to_size"](value, size=shape)
    if value.dtype is not dtype:
        value = OPS["to_dtype"](value, dtype=dtype)
    return value


def accumulate(node: Node, value: Any) -> None:
    """Add a further raw gradient to what a node has gathered, in place where the engine owns the array."""
    gathered = node.g
    kind = value.__class__
    if kind is gathered.__class__:
        if kind is float or kind is float32:
            node.g = gathered + value
            return
        if node.own and gathered.ndim and gathered.base is None and gathered.dtype is value.dtype:
            gathered += value
            return
    node.g = canonical(gathered + value)
    node.own = True


def accumulate_recorded(node: Node, value: Tensor) -> None:
    node.g = OPS["add"](node.g, value)


def rewrapped(saved: Tensor, node: Node | None, wanted: Meta | None) -> Tensor:
    """A saved operand as a tensor of this node; where it was cast before it was used, as the cast of one."""
    if node is None or wanted is None or saved.dtype is wanted[1]:
        return wrap(saved.raw, node)
    return OPS["to_dtype"](wrap(arrays.cast(saved.raw, wanted[1]), node), dtype=saved.dtype)  # type: ignore[no-any-return]


def watch(node: Node, out: Tensor, frame: Any) -> None:
    """What is seldom to be done with a new node: `state.watching` says when."""
    if state.inference_seen:
        refuse_inference(node)
    if state.keep is not None:
        state.keep(node, out, frame)


def wrapped_out(node: Node, raw: Any) -> Tensor:
    """A node's saved output as a tensor, for a pass that records itself."""
    return wrap(raw, node)


def output_node(node: Node, index: int) -> Output:
    return Output(tick(), node, index)


def gathered(node: Node, g: Any) -> Any:
    """The gradients of an operation with several outputs: alone where one output has a gradient, else in order.

    An output that nothing was asked of has None.
    """
    op = node.op
    assert op is not None
    if op.many:
        return g
    wanted = [index for index, differentiable in enumerate(op.differentiable) if differentiable]
    return g.get(wanted[0]) if len(wanted) == 1 else tuple(g.get(index) for index in wanted)


def unpacked(node: Node, operands: tuple[Any, ...], recorded: bool) -> tuple[Any, ...]:
    """The saved operands of a variadic operation, checked, raw or as tensors."""
    found: list[Any] = []
    assert node.op is not None
    parents = node.more or () if node.op.variadic in node.op.rules else (None,) * len(operands)
    for operand, parent in zip(operands, parents, strict=True):
        value = operand
        if isinstance(value, Tensor):
            if value.extra is not None:
                check_saved(node, value)
            value = wrap(value.raw, parent) if recorded else value.raw
        found.append(value)
    return tuple(found)


_waiting: list[tuple[dict[str, Any], str | None, list[str]]] = []


def names() -> dict[str, Any]:
    """The globals of generated code."""
    return {
        "Tensor": Tensor, "Parameter": Parameter, "new": new, "wrap": wrap, "state": state, "head": head, "strayed": strayed,
        "tick": tick, "getframe": getframe, "user_frame": user_frame, "PENDING": PENDING, "OpNode": OpNode,
        "general_call": general_call, "again": again, "rule_again": rule_again, "explained": explained, "canonical": canonical,
        "scalar_result": scalar_result, "single_result": single_result, "shared": shared,
        "shape_of": shape_of, "dtype_of": dtype_of, "meta": meta, "unfit": unfit, "SINGLE": SINGLE,
        "fit": fit, "fit_recorded": fit_recorded,
        "accumulate": accumulate, "accumulate_recorded": accumulate_recorded, "check_saved": check_saved,
        "watch": watch,
        "view_of": Alias.view_of, "inference_alias": inference_alias, "wrapped_out": wrapped_out, "rewrapped": rewrapped,
        "unpacked": unpacked,
        "gathered": gathered, "output_node": output_node, "Output": Output, "SEVERAL": SEVERAL, "scalars": scalars,
        "ndarray": _NotLoaded, "float32": _NotLoaded, "arrays": arrays, "singles": None,
    }  # fmt: skip


def bind_arrays(space: dict[str, Any], direct: str | None, namespaces: list[str]) -> None:
    """Give generated code numpy's types, and the kernel `direct` of these namespaces; numpy's when it is loaded."""
    if "scalars" in namespaces:
        space["K_scalars"] = getattr(scalars, direct or "")
    if loading.loaded:
        _bind(space, direct, namespaces)
        return
    if "arrays" in namespaces:  # a kernel of numpy's may be what loads it

        def first(*operands: Any) -> Any:
            from gradsh.backend import arrays

            return getattr(arrays, direct or "")(*operands)

        space["K_arrays"] = first
    _waiting.append((space, direct, namespaces))


def _bind(space: dict[str, Any], direct: str | None, namespaces: list[str]) -> None:
    from gradsh.backend import arrays, singles

    space |= {"ndarray": arrays.ndarray, "float32": arrays.float32, "arrays": arrays, "singles": singles}
    space["ONE"] = singles.ONE
    for name in namespaces:
        if name != "scalars":
            space[f"K_{name}"] = getattr(arrays if name == "arrays" else singles, direct or "")


def _bind_all() -> None:
    global ONE, arrays, float32, ndarray
    from gradsh.backend import arrays as loaded, singles

    arrays, float32, ndarray, ONE = loaded, loaded.float32, loaded.ndarray, singles.ONE
    for waiting in _waiting:
        _bind(*waiting)
    _waiting.clear()


loading.when_loaded(_bind_all)
