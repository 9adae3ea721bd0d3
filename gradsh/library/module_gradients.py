"""Full backward hooks of modules: the gradients that cross a module's border, at its outputs and at its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsh.engine.alias import FUNCTION, SEVERAL, Alias
from gradsh.engine.node import PENDING, Node, Output
from gradsh.engine.runtime import Meta, accumulate, accumulate_recorded, canonical, meta
from gradsh.engine.state import settle, state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.engine.node import Released
    from gradsh.library.module import Module

Hook = Callable[..., Any]


class BackwardHookFunctionBackward(Node):
    """Where gradients cross the border of a module: all of them are here at once, for the hooks on this node.

    `more` are the nodes of the tensors; each tensor has an Output. An output that no gradient comes to has one of
    zeros, as in PyTorch.
    """

    __slots__ = ("shapes",)

    shapes: list[Meta]

    def operand_count(self) -> int:
        return 0

    def run(self, g: dict[int, Any], mark: Released | None = None) -> None:
        self.g = None
        for k, node in enumerate(self.more or ()):
            if node is not None:
                value = g[k] if k in g else zeros(self.shapes[k]).raw
                if node.g is PENDING:
                    node.g, node.own = value, False
                else:
                    accumulate(node, value)

    def run_recorded(self, g: dict[int, Any]) -> None:
        for k, node in enumerate(self.more or ()):
            if node is not None:
                value = g[k] if k in g else zeros(self.shapes[k])
                if node.g is PENDING:
                    node.g, node.own = value, False
                else:
                    accumulate_recorded(node, value)


def zeros(shape: Meta) -> Tensor:
    """A gradient of zeros, of a shape and an element type."""
    from gradsh.backend import arrays

    return wrap(canonical(arrays.zeros(shape[0], shape[1].code)[()]))


def passed(tensors: list[Tensor], hook: Callable[..., Any]) -> tuple[list[Tensor], list[Meta]]:
    """Views of tensors whose gradients all pass through one node, with a hook on it; and the tensors' shapes."""
    settle()
    node = BackwardHookFunctionBackward(tick())
    node.more = tuple(tensor.current_node() for tensor in tensors)
    node.shapes = [meta(tensor.raw) for tensor in tensors]
    node.register_hook(hook)
    views: list[Tensor] = []
    for index, (tensor, before) in enumerate(zip(tensors, node.more, strict=True)):
        view = wrap(tensor.raw, None if before is None else Output(tick(), node, index))
        view.extra = Alias.view_of(tensor)
        view.extra.origin = FUNCTION if len(tensors) == 1 else SEVERAL
        views.append(view)
    return views, node.shapes


class Crossing:
    """One call of a module with full backward hooks: what crosses its border, forward and backward.

    inputs, outputs: the places of the tensors among the arguments and the results; None where none of them requires
    a gradient.
    """

    def __init__(self, module: Module, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs: list[int] | None = None
        self.outputs: list[int] | None = None
        self.input_count = self.output_count = 0
        self.input_shapes: list[Meta] = []

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, passed through a node that shows the gradients of the inputs to the hooks."""

        def hook(grads: tuple[Any, ...], _: Any) -> Any:  # its name is what PyTorch's errors give
            return self._at_inputs(grads)

        self.input_count = len(args)
        args, self.inputs, self.input_shapes = _through(args, hook)
        return args

    def leave(self, result: Any) -> Any:
        """The result, passed through a node that notes the gradients of the outputs."""
        results = result if isinstance(result, tuple) else (result,)
        self.output_count = len(results)

        def hook(_: Any, grads: tuple[Any, ...]) -> Any:
            return self._at_outputs(grads)

        results, self.outputs, _ = _through(results, hook)
        return results if isinstance(result, tuple) else results[0]

    def _at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.outputs is not None
        grads += (None,) * (len(self.outputs) - len(grads))
        grad_output = _spread(self.outputs, grads, self.output_count)
        for hook in self.pre_hooks:
            changed = hook(self.module, grad_output)
            if changed is not None:
                grad_output = _checked(changed, grad_output, "Backward pre hook", "grad_output")
        self.grad_output = grad_output
        if self.inputs is None:  # no input requires a gradient: this is the only place to call the hooks from
            for hook in self.hooks:
                changed = hook(self.module, (None,) * self.input_count, grad_output)
                if changed is not None and any(value is not None for value in _as_tuple(changed)):
                    raise fault(
                        RuntimeError,
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients.",
                    )
            self.grad_output = None
        return tuple(grad_output[k] for k in self.outputs)

    def _at_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if self.grad_output is None:
            return None
        assert self.inputs is not None
        filled = [zeros(shape) if g is None else g for g, shape in zip(grads, self.input_shapes, strict=True)]
        grad_input = _spread(self.inputs, filled, self.input_count)
        for hook in self.hooks:
            changed = hook(self.module, grad_input, self.grad_output)
            if changed is not None:
                grad_input = _checked(changed, grad_input, "Backward hook", "grad_input")
        self.grad_output = None
        return tuple(grad_input[k] for k in self.inputs)


def _through(values: tuple[Any, ...], hook: Hook) -> tuple[tuple[Any, ...], list[int] | None, list[Meta]]:
    """Values with their tensors passed through a node, the tensors' places, and their shapes."""
    places = [k for k, value in enumerate(values) if isinstance(value, Tensor)]
    if not state.grad or not any(values[k].requires_grad for k in places):
        return values, None, []
    views, shapes = passed([values[k] for k in places], hook)
    replaced = list(values)
    for k, view in zip(places, views, strict=True):
        replaced[k] = view
    return tuple(replaced), places, shapes


def _checked(changed: Any, before: tuple[Any, ...], what: str, which: str) -> tuple[Any, ...]:
    """What a hook returned in the place of the gradients, which must be as many."""
    found = _as_tuple(changed)
    if len(found) != len(before):
        message = f"{what} returned an invalid number of {which}, got {len(found)}, but expected {len(before)}"
        raise fault(RuntimeError, message)
    return found


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, Tensor) else tuple(value)


def _spread(places: list[int], values: Sequence[Any], count: int) -> tuple[Any, ...]:
    """`values` at their places among `count`, None elsewhere."""
    spread: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return tuple(spread)
