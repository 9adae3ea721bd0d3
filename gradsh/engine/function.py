"""`torch.autograd.Function`: operations whose forward and backward a program writes itself.

The node of such an operation holds its context, whose attributes are the program's; the context knows its node weakly,
and a saved output is held as raw data, so that here too an abandoned graph is freed at once.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import FUNCTION, Alias, check_saved, owner_of, record_change, stale
from gradsh.engine.arrival import as_tensor
from gradsh.engine.inplace import rebase
from gradsh.engine.node import AccumulateGrad, Node, Output, Released
from gradsh.engine.op import OPS
from gradsh.engine.runtime import Meta, accumulate, accumulate_recorded, meta, shared
from gradsh.engine.site import getframe, user_frame
from gradsh.engine.state import no_grad, state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
        if isinstance(node.mark, Released):
            from gradsh.engine.backward import second_time

            raise second_time(node)
        return self._saved


class FunctionNode(Node):
    """A node that runs a program's backward.

    more: nodes of the inputs that are tensors; places: where these stand among the inputs, of which there are `count`.
    inputs: shape and type of each of these; outputs: of each output, None where it is no tensor.
    """

    __slots__ = ("__weakref__", "count", "ctx", "function", "inputs", "outputs", "places")

    count: int
    ctx: FunctionCtx
    function: type[Function]
    inputs: list[Meta]
    outputs: list[Meta | None]
    places: list[int]

    def operand_count(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattr__(name)
        return getattr(self.ctx, name)

    def release(self, mark: Released) -> None:
        if self.ctx._saved:
            self.ctx._saved, self.mark = (), mark

    def run(self, g: Any) -> None:
        for node, value in self._passed_on(g):
            if node.g is None:
                node.g, node.own = value.raw, False
            else:
                accumulate(node, value.raw)

    def run_recorded(self, g: Any) -> None:
        for node, value in self._passed_on(g):
            if node.g is None:
                node.g, node.own = value, False
            else:
                accumulate_recorded(node, value)

    def _passed_on(self, g: Any) -> list[tuple[Node, Tensor]]:
        """The inputs' nodes with what the program's backward gives for them, checked."""
        grads = [as_tensor(g.get(k)) for k in range(len(self.outputs))] if g.__class__ is dict else [as_tensor(g)]
        if self.ctx._materialize:
            grads = [
                _zeros(output) if grad is None and output is not None else grad
                for grad, output in zip(grads, self.outputs, strict=True)
            ]
        function = self.function
        backward = function.vjp if function.vjp is not Function.vjp else function.backward
        returned = backward(self.ctx, *grads)
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
                    "corresponding "
                    "forward input was not a Variable",
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


def _zeros(output: Meta) -> Tensor:
    from gradsh.backend import arrays

    shape, dtype = output
    return wrap(arrays.canonical(arrays.zeros(shape, dtype.code)[()]))


class Function:
    """A differentiable operation of a program's own: a subclass with static `forward` and `backward`, used by "
    "`apply`."""

    __module__ = "torch.autograd.function"

    def __call__(self, *args: Any, **settings: Any) -> Any:
        raise fault(
            RuntimeError,
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function "
            "with static forward method. (Example: "
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
            "backward "
            "mode AD.",
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, from those of the inputs."""
        raise fault(
            NotImplementedError,
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
        )

    @classmethod
    def apply(cls, *args: Any, **settings: Any) -> Any:
        """Run the operation on inputs, and record it where one of them requires a gradient."""
        if settings:
            args = _in_order(cls, args, settings)
        if any(isinstance(value, Tensor) and hasattr(value, "tangent") for value in args):
            return _on_duals(cls, args)
        return _run(cls, args)[0]


def _in_order(function: type[Function], args: tuple[Any, ...], settings: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments as positional ones, by the names that forward gives them."""
    code = function.forward.__code__  # type: ignore[attr-defined]
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
            "are "
            "modified inplace must all be outputs of the Function.",
        )
    node = None
    if state.grad and any(one is not None for one in nodes):
        node = node_kind(tick())
        node.more, node.places, node.count, node.ctx, node.function = tuple(nodes), places, len(args), ctx, function
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


def _on_duals(function: type[Function], args: tuple[Any, ...]) -> Any:
    """The result for inputs with tangents: the tangents of the outputs are what `jvp` makes of them."""
    from gradsh.engine.forward import Dual, dual

    primals = tuple(value.primal if isinstance(value, Dual) else value for value in args)
    result, ctx = _run(function, primals)
    moved = function.jvp(ctx, *(value.tangent if isinstance(value, Dual) else None for value in args))
    if not isinstance(result, tuple):
        return result if moved is None else dual(result, moved)
    tangents = moved if isinstance(moved, tuple) else (moved,)
    return tuple(
        value if tangent is None else dual(value, tangent) for value, tangent in zip(result, tangents, strict=True)
    )


def _attached(
    value: Tensor, index: int, node: FunctionNode | None, ctx: FunctionCtx, inputs: Sequence[Tensor], count: int
) -> Tensor:
    """An output of forward with its place in the graph: changed inputs stay themselves, untouched ones get another "
    "handle."""
    differentiable = value.dtype.category == FLOATING and all(value is not one for one in ctx._not_differentiable)
    maker = None if node is None or not differentiable else node if count == 1 else Output(tick(), node, index)
    if any(value is one for one in ctx._dirty):
        if maker is not None and type(value.current_node()) is AccumulateGrad:
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

    def run(self, g: Any) -> None:
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
