"""`torch.autograd.Function`: operations whose forward and backward a program writes itself."""

from __future__ import annotations

import weakref

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import FUNCTION, Alias, check_saved, owner_of, record_change, stale
from gradsh.engine.function_node import FunctionCtx, FunctionNode
from gradsh.engine.inplace import rebase
from gradsh.engine.node import AccumulateGrad, Node, Output
from gradsh.engine.runtime import meta, shared
from gradsh.engine.site import getframe, user_frame
from gradsh.engine.state import no_grad, settle, state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Function:
    """An operation of a program's own: a subclass with static `forward` and `backward`, used by `apply`."""

    __module__ = "torch.autograd.function"

    def __init__(self, *args: Any, **settings: Any) -> None:
        """An object of no use, as in PyTorch: programs call `apply`."""

    def __call__(self, *args: Any, **settings: Any) -> Any:
        raise fault(
            RuntimeError,
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
            hint=f"{type(self).__name__}.apply(…)",
        )

    @staticmethod
    def forward(*args: Any, **settings: Any) -> Any:
        """What the operation computes: forward(ctx, *inputs), or without ctx where there is a `setup_context`."""
        raise fault(NotImplementedError, "You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs."""
        raise fault(NotImplementedError, "setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradient of each input, from those of the outputs."""
        raise fault(
            NotImplementedError,
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD.",
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, from those of the inputs."""
        raise fault(
            NotImplementedError,
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The results for all examples of a vmap, and the dimensions they are along."""
        raise fault(NotImplementedError, "autograd.Function.vmap is not implemented")

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run the operation on inputs, and record it where one of them requires a gradient."""
        if settings:
            args = _in_order(cls, args, settings)
        if state.levels:
            from gradsh.engine.function_levels import applied

            return applied(cls, args)
        return _run(cls, args)[0]


def _in_order(function: type[Function], args: tuple[Any, ...], settings: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments as positional ones, by the names that forward gives them."""
    code = function.forward.__code__
    names = code.co_varnames[len(args) + (not _has_setup(function)) : code.co_argcount]
    stray = next((name for name in settings if name not in names), None)
    if stray is not None:
        raise fault(TypeError, f"{function.__name__}.forward() got an unexpected keyword argument '{stray}'")
    return (*args, *(settings[name] for name in names if name in settings))


def _has_setup(function: type[Function]) -> bool:
    return function.setup_context is not Function.setup_context


def _kinds(function: type[Function]) -> tuple[type[FunctionCtx], type[FunctionNode]]:
    """The classes of an operation's contexts and nodes, made at its first use."""
    found: tuple[type[FunctionCtx], type[FunctionNode]] | None = function.__dict__.get("_kinds")
    if found is None:
        name = f"{function.__name__}Backward"
        module = {"__module__": "torch.autograd.function"}
        found = type(name, (FunctionCtx,), dict(module)), type(name, (FunctionNode,), {"__slots__": (), **module})
        function._kinds = found  # type: ignore[attr-defined]
    return found


def _run(function: type[Function], args: tuple[Any, ...]) -> tuple[Any, FunctionCtx]:
    """The result of forward, with its history where one is recorded; and the context."""
    ctx_kind, node_kind = _kinds(function)
    ctx = ctx_kind()
    places = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
    inputs = [args[index] for index in places]
    nodes = [tensor.current_node() for tensor in inputs]
    ctx.needs_input_grad = tuple(isinstance(value, Tensor) and value.requires_grad for value in args)
    with no_grad():
        if _has_setup(function):
            result = function.forward(*args)
            function.setup_context(ctx, args, result)
        else:
            result = function.forward(ctx, *args)
    results = result if isinstance(result, tuple) else (result,)
    if any(all(one is not value for value in results) for one in ctx._dirty):
        raise fault(
            RuntimeError,
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
            "are modified inplace must all be outputs of the Function.",
        )
    node = None
    if state.grad and any(one is not None for one in nodes):
        settle()
        node = node_kind(tick())
        node.more, node.places, node.count, node.ctx = tuple(nodes), places, len(args), ctx
        node.backward = function.vjp if function.vjp is not Function.vjp else function.backward
        node.inputs = [meta(tensor.raw) for tensor in inputs]
        node.outputs = [meta(value.raw) if isinstance(value, Tensor) else None for value in results]
    made = tuple(
        _attached(value, index, node, ctx, inputs, len(results)) if isinstance(value, Tensor) else value
        for index, value in enumerate(results)
    )
    if node is not None:
        ctx._node = weakref.ref(node)
        ctx._saved = tuple(_saved(tensor, made) for tensor in ctx._to_save)
        ctx._to_save = ctx._dirty = ctx._not_differentiable = ()
        _note_site(node, made)
    return (made if isinstance(result, tuple) else made[0]), ctx


def _attached(
    value: Tensor, index: int, node: FunctionNode | None, ctx: FunctionCtx, inputs: Sequence[Tensor], count: int
) -> Tensor:
    """An output of forward with its place in the graph: a changed input as it is, another input by a new handle."""
    differentiable = value.dtype.category == FLOATING and all(value is not one for one in ctx._not_differentiable)
    maker = None if node is None or not differentiable else node if count == 1 else Output(tick(), node, index)
    if any(value is one for one in ctx._dirty):
        if maker is not None and isinstance(value.current_node(), AccumulateGrad):
            raise fault(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation.")
        record_change(value, type(ctx).__name__)
        if maker is not None:
            rebase(value, wrap(value.raw, maker), maker)
        return value
    if any(value is one for one in inputs):
        value.raw = shared(value.raw)
        base, value = value, wrap(value.raw)
        value.extra = Alias.view_of(base)
    value.node = maker
    if value.extra is not None and value.extra.base is not None and maker is not None:
        value.extra.origin = FUNCTION
    return value


def _saved(tensor: Tensor | None, outputs: tuple[Any, ...]) -> Callable[[FunctionNode], Tensor] | None:
    """How to find a saved tensor again: an output from its raw data and its node, any other tensor as it is."""
    if tensor is None:
        return None
    for value in outputs:
        if value is tensor:
            return _saved_output(tensor)

    def found(node: FunctionNode) -> Tensor:
        if tensor.extra is not None:
            check_saved(node, tensor)
        return tensor

    return found


def _saved_output(tensor: Tensor) -> Callable[[FunctionNode], Tensor]:
    raw, index = tensor.raw, tensor.output_nr
    alone = type(tensor.node) is not Output
    tracked = tensor.node is not None
    owner = owner_of(tensor)
    if owner.extra is None:
        owner.extra = Alias()
    changes = owner.extra

    def found(node: FunctionNode) -> Tensor:
        again = wrap(raw, None if not tracked else node if alone else Output(tick(), node, index))
        if changes.changes is not None and changes.changes[-1].clock > node.seq:
            raise stale(node, again, changes)
        return again

    return found


def _note_site(node: FunctionNode, outputs: tuple[Any, ...]) -> None:
    """Note where in the program the operation was applied."""
    frame = user_frame(getframe(1))
    if frame is not None:
        node.code, node.lasti = frame.f_code, frame.f_lasti
    if state.keep is not None:
        for out in outputs:
            if isinstance(out, Tensor):
                state.keep(node, out, frame)


class Refusal(Node):
    """Where a second derivative would go through a backward that was written for the first one only."""

    __slots__ = ()

    def run(self, g: Any, mark: Any = None) -> None:
        raise fault(
            RuntimeError,
            "trying to differentiate twice a function that was marked with @once_differentiable",
            hint="take the mark off, if its backward is made of torch operations",
        )

    run_recorded = run

    def operand_count(self) -> int:
        return 0


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a Function's backward as one that cannot be differentiated itself."""

    def once(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        if not state.grad or not any(isinstance(grad, Tensor) and grad.requires_grad for grad in grads):
            return results
        parents = tuple(grad.current_node() for grad in grads if isinstance(grad, Tensor))
        listed = results if isinstance(results, tuple) else (results,)
        for value in listed:
            if isinstance(value, Tensor):
                value.node = Refusal(tick())
                value.node.more = parents
        return results

    return once
