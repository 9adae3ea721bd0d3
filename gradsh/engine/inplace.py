"""In-place changes as PyTorch makes them: checked, written to the shared memory, and put into the history.

A change through a view gives the base a CopySlices node: in its backward pass the part of the gradient that the
view covers goes through the operation that changed it, the rest passes by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradsh.engine import runtime
from gradsh.engine.alias import TYPE_NAMES, Alias, record_change
from gradsh.engine.node import AccumulateGrad, Node
from gradsh.engine.op import OPS
from gradsh.engine.site import user_site
from gradsh.engine.state import state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

if TYPE_CHECKING:
    from gradsh.engine.op import Op

Geometry = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], int]


def inplace(op: Op | Callable[..., Any], tensor: Tensor, *args: Any, what: str, **settings: Any) -> Tensor:
    """Apply an op to a tensor and write the result over it. `what` names the change (`add_`, `+=`)."""
    node = writable(tensor)
    before = wrap(tensor.raw, node)
    if node is not None and state.grad and tensor.raw.__class__ is not float and tensor.raw.ndim:
        before.raw = tensor.raw.copy()
    out = op(before, *args, **settings)
    if out is NotImplemented:
        return out  # type: ignore[no-any-return]
    if out.shape != tensor.shape:
        raise fault(RuntimeError, f"output with shape {list(tensor.shape)} doesn't match the broadcast shape {list(out.shape)}")
    dtype = tensor.dtype
    if out.dtype is not dtype:
        if out.dtype.category > dtype.category:
            raise fault(
                RuntimeError,
                f"result type {TYPE_NAMES[out.dtype.name]} can't be cast to the desired output type {TYPE_NAMES[dtype.name]}",
            )
        out = OPS["to_dtype"](out, dtype=dtype)
    overwrite(tensor, out, what)
    return tensor


def writable(tensor: Tensor) -> Node | None:
    """The tensor's node, after the checks that an in-place change must pass. Nothing has changed when they fail."""
    node = tensor.current_node()
    extra = tensor.extra
    if extra is not None and extra.inference and not state.inference:
        raise fault(RuntimeError, "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")
    if not state.grad:
        return node
    if type(node) is AccumulateGrad:
        raise fault(
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            hint="with torch.no_grad(): around the change, if it is an update; else make a new tensor",
        )
    if extra is not None and extra.base is not None:
        if type(extra.base.current_node()) is AccumulateGrad:
            sites = () if node is None else (("the view was made here: {}", node.code, node.lasti),)
            raise fault(
                RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                sites=sites,
                hint="with torch.no_grad(): around the change, or change a copy: v = x[:1].clone()",
            )
        if extra.split is not None and node is not None:
            raise fault(
                RuntimeError,
                f"Output {tensor.output_nr} of {_function_name(node)} is a view and is being modified inplace. This view is the output of a "
                "function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should "
                "replace the inplace operation by an out-of-place one.",
            )
    return node


def _function_name(node: Node) -> str:
    return (node.p or node).name()


def overwrite(tensor: Tensor, out: Tensor, what: str) -> None:
    """Write a result of the same shape and type over a tensor, record the change, and give it the result's history."""
    node, grad = out.node, state.grad
    raw = tensor.raw
    if raw.__class__ is runtime_ndarray():
        if not raw.flags.writeable or raw.size > 1 and 0 in raw.strides and any(s == 0 and n > 1 for s, n in zip(raw.strides, raw.shape, strict=True)):
            raise fault(
                RuntimeError,
                "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                "Please clone() the tensor before performing the operation.",
            )
        raw[...] = out.raw
    else:
        tensor.raw = out.raw
    record_change(tensor, what)
    if not grad:
        return
    rebase(tensor, node)


def runtime_ndarray() -> Any:
    from gradsh.backend import loading

    if not loading.loaded:
        return None
    from gradsh.backend import arrays

    return arrays.ndarray


def rebase(tensor: Tensor, node: Node | None) -> None:
    """Give a tensor that was changed in place its new history; a view's change becomes its base's."""
    extra = tensor.extra
    base = None if extra is None else extra.base
    if base is None:
        if node is not None:
            tensor.node = node
        return
    old = base.current_node()
    if node is None and old is None:
        return
    base.node = CopySlices(old, node, geometry(base.raw, tensor.raw))
    if base.extra is None:
        base.extra = Alias()
    base.extra.rebased += 1


def geometry(base: Any, view: Any) -> Geometry:
    """Where a view lies in its base: (base shape, base strides, view shape, view strides, offset), strides in elements."""
    size = base.itemsize
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return base.shape, tuple(s // size for s in base.strides), view.shape, tuple(s // size for s in view.strides), offset // size


def view_node(base: Tensor, view: Tensor, node: Node) -> Node | None:
    """A node for a view whose base has a new history: the same part of the base."""
    place = geometry(base.raw, view.raw)
    before = state.grad
    state.grad = True
    try:
        found: Tensor = OPS["strided_part"](wrap(base.raw, node), geometry=place)
    finally:
        state.grad = before
    return found.node


class _Part(Node):
    """Stands for the old value of a changed part: receives the gradient that the changing operation gives it."""

    __slots__ = ()

    def operand_count(self) -> int:
        return 0


class CopySlices(Node):
    """The base of a view that was changed in place: `operation` made the new part, or None for a constant."""

    __slots__ = ("operation", "part", "place")

    saves = ("operation",)

    def __init__(self, base: Node | None, operation: Node | None, place: Geometry) -> None:
        super().__init__(tick(), base)
        self.place, self.operation = place, operation
        self.part = _Part(0)
        self.code, self.lasti = user_site()
        if operation is not None:
            self.more = tuple(parent for parent in (operation.q, *(operation.more or ())) if parent is not None)
            operation.p = self.part if operation.p is not None else None

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def operand_count(self) -> int:
        return 1

    def run(self, g: Any) -> None:
        self._run(g, recorded=False)

    def run_recorded(self, g: Any) -> None:
        self._run(g, recorded=True)

    def _run(self, g: Any, *, recorded: bool) -> None:
        take, put = OPS["strided_part"], OPS["strided_put"]
        part = take(g, geometry=self.place)
        self.part.g = None
        if self.operation is not None:
            (self.operation.run_recorded if recorded else self.operation.run)(part)
        if self.p is None:
            return
        old = self.part.g
        self.part.g = None
        if old is None:
            old = wrap(0.0) if recorded else 0.0
        rest = put(g, old, geometry=self.place)
        if self.p.g is None:
            self.p.g, self.p.own = rest, False
        elif recorded:
            runtime.accumulate_recorded(self.p, rest)
        else:
            runtime.accumulate(self.p, rest)
