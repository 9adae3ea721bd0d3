"""Full backward hooks of modules: the gradients that cross a module's border, at its outputs and at its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradsh.engine.alias import FUNCTION, Alias
from gradsh.engine.node import Node, Output
from gradsh.engine.runtime import accumulate, accumulate_recorded, canonical
from gradsh.engine.state import state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

if TYPE_CHECKING:
    from gradsh.library.module import Module

Hook = Callable[..., Any]
Act = Callable[[tuple[Any, ...]], tuple[Any, ...] | None]


class BackwardHookFunctionBackward(Node):
    """Where gradients enter or leave a module: shows them to `act`, which may return others, and passes them on.

    `more` are the nodes of the tensors; every tensor has an Output, so that all gradients are seen at once.
    """

    __slots__ = ("act",)

    act: Act

    def operand_count(self) -> int:
        return 0

    def run(self, g: dict[int, Any]) -> None:
        nodes = self.more or ()
        grads = tuple(None if g.get(k) is None else wrap(canonical(g[k])) for k in range(len(nodes)))
        for node, value in zip(nodes, self.act(grads) or grads, strict=True):
            if node is None or value is None:
                continue
            if node.g is None:
                node.g, node.own = value.raw, False
            else:
                accumulate(node, value.raw)

    def run_recorded(self, g: dict[int, Any]) -> None:
        nodes = self.more or ()
        grads = tuple(g.get(k) for k in range(len(nodes)))
        for node, value in zip(nodes, self.act(grads) or grads, strict=True):
            if node is None or value is None:
                continue
            if node.g is None:
                node.g, node.own = value, False
            else:
                accumulate_recorded(node, value)


def _crossing(tensors: list[Tensor], act: Act) -> list[Tensor]:
    """Views of tensors whose gradients all pass through one node."""
    nodes = [tensor.current_node() for tensor in tensors]
    node = BackwardHookFunctionBackward(tick())
    node.act, node.more = act, tuple(nodes)
    passed: list[Tensor] = []
    for index, (tensor, before) in enumerate(zip(tensors, nodes, strict=True)):
        view = wrap(tensor.raw, None if before is None else Output(tick(), node, index))
        view.extra = Alias.view_of(tensor)
        view.extra.origin = FUNCTION
        passed.append(view)
    return passed


class Crossing:
    """One call of a module with full backward hooks: what crosses its border, forward and backward."""

    def __init__(self, module: Module, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs: list[int] | None = None
        self.outputs: list[int] | None = None
        self.input_count = self.output_count = 0

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, passed through a node that shows the gradients of the inputs to the hooks."""
        self.input_count = len(args)
        args, self.inputs = self._through(args, self._at_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """The result, passed through a node that notes the gradients of the outputs."""
        results = result if isinstance(result, tuple) else (result,)
        self.output_count = len(results)
        results, self.outputs = self._through(results, self._at_outputs)
        return results if isinstance(result, tuple) else results[0]

    def _through(self, values: tuple[Any, ...], act: Act) -> tuple[tuple[Any, ...], list[int] | None]:
        places = [k for k, value in enumerate(values) if isinstance(value, Tensor)]
        if not state.grad or not any(values[k].requires_grad for k in places):
            return values, None
        passed = list(values)
        for k, tensor in zip(places, _crossing([values[k] for k in places], act), strict=True):
            passed[k] = tensor
        return tuple(passed), places

    def _at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.outputs is not None
        grad_output = _spread(self.outputs, grads, self.output_count)
        for hook in self.pre_hooks:
            changed = hook(self.module, grad_output)
            if changed is None:
                continue
            changed = _as_tuple(changed)
            if len(changed) != len(grad_output):
                raise _miscounted("Backward pre hook", "grad_output", changed, grad_output)
            grad_output = changed
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
        grad_input = _spread(self.inputs, grads, self.input_count)
        for hook in self.hooks:
            changed = hook(self.module, grad_input, self.grad_output)
            if changed is None:
                continue
            changed = _as_tuple(changed)
            if len(changed) != len(grad_input):
                raise _miscounted("Backward hook", "grad_input", changed, grad_input)
            grad_input = changed
        self.grad_output = None
        return tuple(grad_input[k] for k in self.inputs)


def _miscounted(what: str, which: str, found: tuple[Any, ...], wanted: tuple[Any, ...]) -> BaseException:
    return fault(
        RuntimeError, f"{what} returned an invalid number of {which}, got {len(found)}, but expected {len(wanted)}"
    )


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, Tensor) else tuple(value)


def _spread(places: list[int], values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """`values` at their places among `count`, None elsewhere."""
    spread: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return tuple(spread)
