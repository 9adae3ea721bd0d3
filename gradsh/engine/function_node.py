"""What a custom operation leaves behind: its context, whose attributes are the program's, and its node in the graph.

The node holds the context; the context knows its node weakly, and a saved output is held as raw data, so that here too
an abandoned graph is freed at once.
"""

from __future__ import annotations

from gradsh.engine.arrival import as_tensor
from gradsh.engine.create import zeros_of
from gradsh.engine.node import PENDING, Node, Released
from gradsh.engine.op import OPS
from gradsh.engine.runtime import Meta, accumulate, accumulate_recorded
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class FunctionCtx:
    """What a custom operation's forward leaves to its backward: saved tensors, marks, and attributes of any name."""

    __module__ = "torch.autograd.function"

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: tuple[Any, ...] = ()
    _saved: tuple[Any, ...] = ()
    _dirty: tuple[Any, ...] = ()
    _not_differentiable: tuple[Any, ...] = ()
    _materialize = True
    _node: Callable[[], FunctionNode | None] = staticmethod(lambda: None)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward, which finds them in `saved_tensors`."""
        for index, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                kind = type(tensor).__name__
                raise fault(
                    TypeError,
                    f"save_for_backward can only save variables, but argument {index} is of type {kind}",
                    hint="ctx.name = … keeps anything else",
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`; here the same as `save_for_backward`."""
        self._to_save = self._to_save or tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Tell which inputs forward changed in place; they must be among its outputs."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Tell which outputs have no gradient."""
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise fault(RuntimeError, "mark_non_differentiable only accepts variable arguments, but got ")
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether an output that nothing depends on has a gradient of zeros in backward (the default), or None."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward saved, unless it was changed in place since or given up by an earlier backward."""
        node = self._node()
        if node is None:
            return self._to_save
        return tuple(None if saved is None else saved(node) for saved in self._saved_by(node))

    saved_variables = saved_tensors

    def _saved_by(self, node: FunctionNode) -> tuple[Any, ...]:
        if isinstance(node.g, Released):
            from gradsh.engine.backward import second_time

            raise second_time(node)
        return self._saved


class FunctionNode(Node):
    """A node that runs a program's backward.

    more: nodes of the inputs that are tensors; places: where these stand among the inputs, of which there are `count`.
    inputs: shape and type of each of these; outputs: of each output, None where it is no tensor.
    backward: the program's function.
    """

    __slots__ = ("__weakref__", "backward", "count", "ctx", "inputs", "outputs", "places")

    backward: Callable[..., Any]

    count: int
    ctx: FunctionCtx
    inputs: list[Meta]
    outputs: list[Meta | None]
    places: list[int]

    def operand_count(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def release(self, mark: Released) -> None:
        if self.ctx._saved:
            self.ctx._saved, self.g = (), mark

    def run(self, g: Any, mark: Released | None = None) -> None:
        self.g = None
        for node, value in self._passed_on(g):
            if node.g is PENDING:
                node.g, node.own = value.raw, False
            else:
                accumulate(node, value.raw)
        if mark is not None:
            self.release(mark)

    def run_recorded(self, g: Any) -> None:
        for node, value in self._passed_on(g):
            if node.g is PENDING:
                node.g, node.own = value, False
            else:
                accumulate_recorded(node, value)

    def _passed_on(self, g: Any) -> list[tuple[Node, Tensor]]:
        """The inputs' nodes with what the program's backward gives for them, checked."""
        grads = [as_tensor(g.get(k)) for k in range(len(self.outputs))] if g.__class__ is dict else [as_tensor(g)]
        if self.ctx._materialize:
            grads = [
                zeros_of(*output) if grad is None and output is not None else grad
                for grad, output in zip(grads, self.outputs, strict=True)
            ]
        returned = self.backward(self.ctx, *grads)
        results = list(returned) if isinstance(returned, tuple) else [returned]
        name = type(self).__name__
        if len(results) > self.count and all(result is None for result in results[self.count :]):
            del results[self.count :]
        if len(results) != self.count:
            raise fault(
                RuntimeError,
                f"function {name} returned an incorrect number of gradients (expected {self.count}, got "
                f"{len(results)})",
                hint="one gradient for each argument of forward, None where it has none",
            )
        for index, result in enumerate(results):
            if result is not None and index not in self.places:
                raise fault(
                    RuntimeError,
                    f"function {name} returned a gradient different than None at position {index + 1}, but the "
                    "corresponding forward input was not a Variable",
                )
        pairs = []
        for index, (place, node) in enumerate(zip(self.places, self.more or (), strict=True)):
            if results[place] is not None and not isinstance(results[place], Tensor):
                raise fault(RuntimeError, f"expected Variable or None (got {type(results[place]).__name__})")
            if node is not None and results[place] is not None:
                pairs.append((node, self._fitting(index, results[place])))
        return pairs

    def _fitting(self, index: int, value: Tensor) -> Tensor:
        """A gradient in its input's shape, summed where it was broadcast, and type."""
        shape, dtype = self.inputs[index]
        if value.shape != shape:
            lead = value.ndim - len(shape)
            if lead < 0 or any(a != b and b != 1 for a, b in zip(value.shape[lead:], shape, strict=True)):
                raise fault(
                    RuntimeError,
                    f"Function {type(self).__name__} returned an invalid gradient at index {index} - got "
                    f"{list(value.shape)} but "
                    f"expected shape compatible with {list(shape)}",
                )
            value = OPS["sum_to_size"](value, size=shape)
        return value if value.dtype is dtype else OPS["to_dtype"](value, dtype=dtype)
