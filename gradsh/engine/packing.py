"""`saved_tensors_hooks`: what nodes save goes through a program's functions, on its way in and on its way out."""

from __future__ import annotations

from gradsh.engine.function_node import FunctionNode
from gradsh.engine.node import Kind, Node, OpNode, Released, extra_of
from gradsh.engine.runtime import canonical
from gradsh.engine.state import state, stop_following
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any

    Pack = Callable[[Tensor], Any]
    Unpack = Callable[[Any], Tensor]


class saved_tensors_hooks:
    """Inside `with`, nodes keep `pack_hook(tensor)` in place of a tensor, and find it again by `unpack_hook`."""

    __module__ = "torch.autograd.graph"
    __slots__ = ("_before", "pack_hook", "unpack_hook")

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        stop_following()
        self._before = state.keep
        state.keep = self._keep

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.keep = self._before

    def _keep(self, node: Node, out: Tensor, frame: FrameType | None) -> None:
        keep = self._before
        while keep is not None and isinstance(getattr(keep, "__self__", None), saved_tensors_hooks):
            keep = keep.__self__._before  # type: ignore[attr-defined]  # of nested hooks only the innermost pack
        if keep is not None:
            keep(node, out, frame)
        if node.extra is not None and node.extra.packed is not None:  # met before, with another of its outputs
            return
        if isinstance(node, FunctionNode):
            extra_of(node).packed = {}
            node.ctx._saved = tuple(None if found is None else self._packed(found(node)) for found in node.ctx._saved)
        elif isinstance(node, OpNode):
            self._pack(node)

    def _packed(self, tensor: Tensor) -> Callable[[FunctionNode], Tensor]:
        kept = self.pack_hook(tensor)
        return lambda node: _checked(self.unpack_hook(kept))

    def _pack(self, node: OpNode) -> None:
        """Move what a node saves into packed form; its kind becomes one that unpacks before it runs."""
        op = node.op
        packed: dict[str, Callable[[], Tensor]] = {}
        for field in node.saves:
            value = node.saved(field)
            if value is None or not (field in op.operands or field == "out" or field in op.outputs):
                continue
            if isinstance(value, tuple) or (isinstance(value, float | int) and field in op.operands):
                continue  # several operands of one name, or a Python number: these are not tensors to PyTorch either
            packed[field] = _kept(self, value if isinstance(value, Tensor) else wrap(canonical(value)))
        if packed:
            extra_of(node).packed = packed
            for field in packed:
                node.save(field, None)
            node.kind = _unpacking(node.kind)


def _kept(hooks: saved_tensors_hooks, tensor: Tensor) -> Callable[[], Tensor]:
    kept, unpack = hooks.pack_hook(tensor), hooks.unpack_hook
    return lambda: _checked(unpack(kept))


def _checked(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise fault(
            TypeError, f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {kind}"
        )
    return value


_kinds: dict[Kind, Kind] = {}


def _unpacking(kind: Kind) -> Kind:
    """A kind of nodes like another, which unpack what they saved while they run."""
    found = _kinds.get(kind)
    if found is not None:
        return found

    def unpacked(node: OpNode, run: Callable[[], None]) -> None:
        assert node.extra is not None and node.extra.packed is not None
        for field, unpack in node.extra.packed.items():
            node.save(field, unpacked_field(node, field, unpack))
        try:
            run()
        finally:
            for field in node.extra.packed:
                node.save(field, None)

    def run(node: OpNode, g: Any, mark: Released | None) -> None:
        unpacked(node, lambda: kind.run(node, g, None))
        if mark is not None:
            release(node, mark)

    def run_recorded(node: OpNode, g: Any) -> None:
        unpacked(node, lambda: kind.run_recorded(node, g))

    def release(node: OpNode, mark: Released) -> None:
        kind.release(node, mark)
        if node.extra is not None:
            node.extra.packed = {}

    found = _kinds[kind] = kind.varied(run=run, run_recorded=run_recorded, release=release)
    return found


def unpacked_field(node: OpNode, field: str, unpack: Callable[[], Tensor]) -> Any:
    """A saved value in the form in which the node's own code expects it."""
    tensor = unpack()
    assert node.op is not None
    return tensor if field in node.op.operands else tensor.raw


class save_on_cpu:
    """Accepted: saved tensors are on the processor."""

    __module__ = "torch.autograd.graph"
    __slots__ = ()

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        return

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return
