"""Tensors under `vmap`: one example to the program, all of them to the ops, which are applied once for all.

The examples are along the first dimension of the inner tensor. Shape, strides and element type are those of one
example; its numbers are not to be had, since they differ from example to example.
"""

from __future__ import annotations

from gradsh.backend.dtypes import BY_CHAR
from gradsh.engine.captures import ASSIGNMENT, SYMBOLS
from gradsh.engine.create import zeros_of
from gradsh.engine.level import GRAD
from gradsh.engine.op import OPS
from gradsh.engine.state import state
from gradsh.engine.tensor import Size, Tensor, new
from gradsh.engine.wrapped import Wrapped, history
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.backend.dtypes import DType
    from gradsh.engine.level import Level
    from gradsh.engine.node import Node
    from gradsh.engine.op import Op
    from gradsh.engine.wrapped import Change

ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


class Layout:
    """How one example lies in memory: an array's shape, strides, type and flags, without its numbers."""

    __slots__ = ("example",)

    def __init__(self, example: Any) -> None:
        self.example = example

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "dtype", "ndim", "size", "strides", "itemsize", "flags", "nbytes"):
            return getattr(self.example, name)
        if name == "item":
            raise fault(RuntimeError, ITEM, hint="torch.where(condition, a, b) chooses by example")
        if name.startswith("__"):
            raise AttributeError(name)
        raise fault(RuntimeError, NO_STORAGE, notes=("under vmap a tensor stands for all the examples at once",))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise fault(RuntimeError, NO_STORAGE, notes=("under vmap a tensor stands for all the examples at once",))


class Batched(Wrapped):
    """A tensor of one example. parts: the tensor of all of them, along its first dimension, and the vmap's level."""

    __slots__ = ()

    def transformed(self, op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        from gradsh.engine.batching import batched_call

        return batched_call(op, self.level, operands, settings)

    # ---- what one example is

    @property
    def shape(self) -> Size:
        return Size(self.parts[0].raw.shape[1:])

    @property
    def ndim(self) -> int:
        return self.parts[0].raw.ndim - 1  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        return BY_CHAR[self.parts[0].raw.dtype.char]

    @property
    def raw(self) -> Layout:
        return Layout(example_of(self))

    @property
    def node(self) -> Node | None:  # type: ignore[override]
        """The node, where a `grad` within the vmap made it: what is recorded outside of it is of no concern inside."""
        node = history(self)
        if node is None:
            return None
        number = self.level.number
        inside = any(level.kind == GRAD and level.number > number and node.seq > level.start for level in state.levels)
        return node if inside else None

    extra = grad = property(lambda self: None)

    # ---- what may not be asked

    def item(self) -> Any:
        """PyTorch's refusal: every example has its own."""
        raise fault(RuntimeError, ITEM, hint="torch.where(condition, a, b) chooses by example")

    _only = __index__ = item

    def __bool__(self) -> bool:
        raise fault(RuntimeError, BRANCH, hint="torch.where(condition, a, b) chooses by example")

    def tolist(self) -> Any:
        """PyTorch's refusal."""
        raise fault(RuntimeError, NO_STORAGE, notes=("under vmap a tensor stands for all the examples at once",))

    # ---- in-place changes and handles

    def changed(self, change: Change, tensor: Tensor, value: Tensor, what: str) -> None:
        from gradsh.engine.batching import aligned

        level = self.level
        inner = lowered(tensor, level)
        if inner is None:
            raise fault(
                RuntimeError,
                too_small(what, tensor, value, level),
                hint="torch.zeros_like(x), x.new_zeros(…) make one for each example",
            )
        wide = lowered(value, level)
        if wide is not None:
            value = aligned(wide, tensor.ndim)
        change(inner, value)

    def old(self) -> Tensor:
        from gradsh.engine.inplace import old_value

        return batched(old_value(self.inner, kept=True), self.level)

    def detached(self, detach: Callable[[Tensor], Tensor]) -> Tensor:
        return batched(detach(self.inner), self.level)


ARITHMETIC = frozenset("sub_ mul_ div_ -= *= /= copy_ masked_fill_".split()) | {ASSIGNMENT}


def too_small(what: str, tensor: Tensor, value: Tensor, level: Level) -> str:
    """PyTorch's refusal to write what differs by example over what does not."""
    if what in ("add_", "+="):
        have = list(tensor.shape)
        return f"output with shape {have} doesn't match the broadcast shape {[level.size, *have]}"
    name, where = "inplace arithmetic", "in a vmap"
    if what not in ARITHMETIC:
        name = SYMBOLS.get(what, what)
        if name not in ("fill_", "index_put_", "index_add_"):
            name, where = f"aten::{name}", f"at level {level.number}"
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"{where}. Please try to use out-of-place operators instead of {name}. If said operator is being called "
        "inside the PyTorch framework, please file a bug report instead."
    )


def example_of(tensor: Tensor) -> Any:
    """An array that lies in memory as one example does; its numbers mean nothing."""
    raw = tensor.parts[0].raw if isinstance(tensor, Batched) else tensor.raw
    if isinstance(raw, Layout):
        raw = raw.example
    if not isinstance(tensor, Batched):
        return raw
    if raw.shape[0]:
        return raw[0, ...]
    from gradsh.backend import arrays

    return arrays.empty(raw.shape[1:], raw.dtype)


# ---- into a level and out of it


def batched(inner: Tensor, level: Level) -> Tensor:
    """The tensor of one example, of the examples along the first dimension of a tensor.

    Of an inner tensor of a deeper level the outer one takes its place: levels lie in one another as their numbers say.
    """
    if isinstance(inner, Wrapped) and inner.level.number > level.number:
        if isinstance(inner, Batched):
            return batched(batched(_swapped(inner.inner), level), inner.level)
        from gradsh.engine.forward import Dual, dual

        assert isinstance(inner, Dual)
        return dual(batched(inner.primal, level), batched(inner.tangent, level), inner.level)
    made = new(Batched)
    made.parts = (inner, level)
    return made


def lowered(tensor: Tensor, level: Level) -> Tensor | None:
    """The tensor of all examples of a level, along its first dimension; None where it is the same for all."""
    if not isinstance(tensor, Wrapped) or tensor.level.number < level.number:
        return None
    if tensor.level is level:
        return tensor.inner
    if isinstance(tensor, Batched):
        inner = lowered(tensor.inner, level)
        return None if inner is None else batched(_swapped(inner), tensor.level)
    from gradsh.engine.forward import Dual, dual

    assert isinstance(tensor, Dual)
    primal, tangent = lowered(tensor.primal, level), lowered(tensor.tangent, level)
    if primal is None and tangent is None:
        return None
    size = level.size
    return dual(
        spread(tensor.primal, size) if primal is None else primal,
        spread(tensor.tangent, size) if tangent is None else tangent,
        tensor.level,
    )


def spread(tensor: Tensor, size: int) -> Tensor:
    """The same tensor for every example, in a new first dimension, without a copy."""
    return OPS["expand"](tensor, size=(size, *tensor.shape))  # type: ignore[no-any-return]


def of_all(tensor: Tensor, level: Level) -> Tensor:
    """The tensor of all examples, repeated where it is the same for all."""
    found = lowered(tensor, level)
    return spread(tensor, level.size) if found is None else found


def zeros_like(tensor: Tensor, like: Tensor | None = None) -> Tensor:
    """Zeros in a tensor's shape and type, with the examples that it, or another tensor, has."""
    shape, dtype = tuple(tensor.shape), tensor.dtype
    return made_like(tensor if like is None else like, shape, lambda size: zeros_of(size, dtype))


def made_like(like: Tensor, shape: tuple[int, ...], make: Callable[[tuple[int, ...]], Tensor]) -> Tensor:
    """A new tensor of a shape, with the examples that another tensor has; `make` gives one of all of them."""
    within: list[Level] = []
    while isinstance(like, Wrapped):
        if isinstance(like, Batched):
            within.insert(0, like.level)
        like = like.inner
    made = make((*(level.size for level in within), *shape))
    for level in within:
        made = batched(made, level)
    return made


def _swapped(tensor: Tensor) -> Tensor:
    return OPS["transpose"](tensor, dim0=0, dim1=1)  # type: ignore[no-any-return]
