"""Commands that run a backward pass and show gradients."""

from __future__ import annotations

from gradsh.engine import backward as passes
from gradsh.engine.node import AccumulateGrad
from gradsh.engine.tensor import Tensor
from gradsh.fault import Site, fault
from gradsh.repl.commands.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Flag, Value, Values
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("backward")
def backward(
    session: Session, z: Value, *, with_: Value | None = None, retain: Flag = False, create: Flag = False
) -> Record | None:
    """Run the backward pass from a value.  :backward z [with v] [retain=True] [create=True]

    Adds to the .grad of every leaf that z depends on. `with v` is the incoming gradient, which a value of more than one
    number needs; retain=True keeps the graph for another pass; create=True records the pass itself, for higher derivatives.
    """
    tensor = tensor_of(z)
    _need_seed(z, tensor, with_)
    tensor.backward(None if with_ is None else _seed(with_, tensor), retain or None, create)
    if not session.answers_directly:
        return None
    from gradsh.view.gradients import LeavesRecord

    rows = []
    for node in passes.reachable([tensor.current_node()]):
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None and leaf.grad is not None:
            rows.append((session.name_of(leaf) or "a leaf without a name", leaf.grad, session.runs_of(leaf)[0]))
    return LeavesRecord(z.text, rows)


@command("grad")
def grad(session: Session, x: Values, *, of: Value | None = None, with_: Value | None = None) -> list[Record]:
    """Show the accumulated gradient of leaves, or the derivative of one value by others.  :grad x [, y …] [of z [with v]]

    Without `of` it shows x.grad, which backward passes add to. With `of z` it computes dz/dx and leaves x.grad alone; z may
    have been computed from x in any way, and x need not be a leaf.
    """
    from gradsh.view.gradients import GradRecord

    targets = [(value, tensor_of(value)) for value in x]
    if of is None:
        return [
            GradRecord(
                value.text, None, _accumulated(value, tensor), runs=session.runs_of(tensor), alone=len(targets) == 1
            )
            for value, tensor in targets
        ]
    z = tensor_of(of)
    _need_seed(of, z, with_)
    wanted = [tensor for _, tensor in targets]
    for value, tensor in targets:
        if not tensor.requires_grad:
            raise fault(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                span=value.span,
                notes=(f"{value.text} does not require a gradient",),
                hint=f"make it require one before {of.text} is computed: {value.text}.requires_grad_()",
            )
    found = passes.grad(z, wanted, None if with_ is None else _seed(with_, z), retain_graph=True, allow_unused=True)
    for index, ((value, tensor), result) in enumerate(zip(targets, found, strict=True)):
        if result is None:
            raise _unconnected(index, value, tensor, of, z)
    return [
        GradRecord(value.text, of.text, result, alone=len(targets) == 1)
        for (value, _), result in zip(targets, found, strict=True)
        if result is not None
    ]


@command("zero")
def zero(session: Session, x: Values = ()) -> None:
    """Clear gradients: of every variable, module and optimiser, or of those named.  :zero [x …]"""
    values = [value.value for value in x] or [value for _, value in session.variables()]
    for value in values:
        if isinstance(value, Tensor):
            value.grad = None
        elif callable(getattr(value, "zero_grad", None)) and not isinstance(value, type):
            value.zero_grad()


def tensor_of(value: Value) -> Tensor:
    """The tensor that an argument is, or a fault that says what it is instead."""
    if isinstance(value.value, Tensor):
        return value.value
    raise fault(
        TypeError,
        f"{value.text} is no tensor: it is {type(value.value).__name__}",
        span=value.span,
        hint=f"tensor({value.text}) makes one" if isinstance(value.value, int | float | list | tuple) else None,
    )


def _seed(value: Value, like: Tensor) -> Tensor:
    if isinstance(value.value, Tensor):
        return value.value
    from gradsh.engine.create import tensor

    return tensor(value.value, dtype=like.dtype)


def _need_seed(value: Value, tensor: Tensor, seed: Value | None) -> None:
    """Refuse a value that needs an incoming gradient and has none, or has no graph, in terms of its name."""
    if not tensor.requires_grad:
        raise fault(
            RuntimeError,
            "element 0 of tensors does not require grad and does not have a grad_fn",
            span=value.span,
            notes=(
                f"nothing that {value.text} was computed from requires a gradient, or it was computed under no_grad or "
                "detached",
            ),
            hint="make an input require one: x = param(2.0), or x.requires_grad_()",
        )
    if seed is None and tensor.numel() != 1:
        raise fault(
            RuntimeError,
            "grad can be implicitly created only for scalar outputs",
            span=value.span,
            notes=(f"{value.text} has shape {tuple(tensor.shape)}: {tensor.numel()} numbers",),
            hint=f":backward {value.text}.sum(), or :backward {value.text} with torch.ones_like({value.text})",
        )


def _accumulated(value: Value, tensor: Tensor) -> Tensor:
    """x.grad, or a fault that says why there is none."""
    if tensor.grad is not None:
        return tensor.grad
    text, node = value.text, tensor.grad_fn
    notes: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()
    if not tensor.requires_grad:
        message = f"{text} has no gradient: it does not require one"
        hint = f"{text}.requires_grad_() before it is used, or {text} = param(…)"
    elif node is not None:
        message = f"{text} has no gradient: it is not a leaf, so its gradient was not kept"
        sites = ((f"{text} was computed by {node.name()}: {{}}", node.code, node.lasti),)
        hint = f":grad {text} of z, or {text}.retain_grad() before :backward"
    else:
        message = f"{text} has no gradient yet: no backward pass has reached it"
        hint = f":backward z for a z that was computed from {text}; :grad {text} of z needs none"
    raise fault(RuntimeError, message, span=value.span, notes=notes, sites=sites, hint=hint)


def _unconnected(index: int, value: Value, tensor: Tensor, of: Value, z: Tensor) -> BaseException:
    return fault(
        RuntimeError,
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
        span=value.span,
        notes=(f"{of.text} does not depend on {value.text}, so the derivative is zero",),
        hint=f":graph {of.text} shows what it depends on",
    )
