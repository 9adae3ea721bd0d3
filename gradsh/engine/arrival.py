"""What happens to a gradient where it arrives: hooks see it and may replace it, a tensor keeps or accumulates it."""

from __future__ import annotations

from _weakref import ref
from collections.abc import Iterable

from gradsh.engine import runtime
from gradsh.engine.alias import C_TYPES, TYPE_NAMES, check_saved_out, tensor_type
from gradsh.engine.node import PENDING, AccumulateGrad, Extra, Node, extra_of
from gradsh.engine.op import OPS
from gradsh.engine.state import state, tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.engine.node import Released

    Hooks = dict[int, Callable[..., Any]]


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook off again; `with` does so at its end."""

    __module__ = "torch.utils.hooks"
    next_id = 0

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Take the hook off; more than once does no harm."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def hooked(hooks: Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    """Register a hook behind the others."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _single_node(tensor: Tensor) -> Node | None:
    """A tensor's node, that of one operation only."""
    node = tensor.current_node()
    if node is not None and node.resolved() is not node:
        node = tensor.node = node.resolved()
    return node


def hook_tensor(tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Have a hook called with the tensor's gradient whenever one arrives."""
    node = _single_node(tensor)
    if node is None:
        raise fault(
            RuntimeError,
            "cannot register a hook on a tensor that doesn't require gradient",
            hint="x.requires_grad_() makes a leaf require one",
        )
    extra = extra_of(node)
    if extra.hooks is None:
        extra.hooks = {}
    return hooked(extra.hooks, hook)


def hook_leaf(tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Have a hook called with a leaf each time after its `.grad` was added to."""
    node = tensor.current_node()
    if node is None:
        raise fault(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
    if not isinstance(node, AccumulateGrad):
        raise fault(
            RuntimeError,
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            hint=".register_hook(…)",
        )
    if node.post_accumulate is None:
        node.post_accumulate = {}
    return hooked(node.post_accumulate, hook)


def retain_grad(tensor: Tensor) -> None:
    """Have a tensor that is no leaf keep its gradient in `.grad`."""
    node = _single_node(tensor)
    if node is None:
        raise fault(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False")
    if not isinstance(node, AccumulateGrad):
        extra_of(node).retain = ref(tensor)


def retains_grad(tensor: Tensor) -> bool:
    """Whether `retain_grad` was called for a tensor that is no leaf."""
    node = tensor.current_node()
    return (
        node is not None and node.extra is not None and node.extra.retain is not None and node.extra.retain() is tensor
    )


# ---- in a backward pass


def arrive(node: Node, extra: Extra, g: Any, create: bool) -> Any:
    """What the tensor's own hooks and `retain_grad` make of a gradient that has arrived."""
    if extra.hooks:
        value = as_tensor(g)
        for hook in list(extra.hooks.values()):
            value = _replaced(hook, value)
        g = value if create else value.raw
        node.own = False
    if extra.retain is not None:
        tensor = extra.retain()
        if tensor is not None:
            add_grad(tensor, g, create, owned=False)
    return g


def prepare(node: Node, extra: Extra, g: Any, create: bool) -> Any:
    """What a node's hooks make of the gradient to pass on; refuses a saved output that has changed since."""
    if extra.changed is not None:
        check_saved_out(node)
    if extra.pre:
        several = g.__class__ is dict
        values = tuple(as_tensor(g.get(k)) for k in range(max(g) + 1)) if several else (as_tensor(g),)
        for pre in list(extra.pre.values()):
            values = _replaced_all(pre, values, (values,))
        raws = [value if create or value is None else value.raw for value in values]
        g = {k: raw for k, raw in enumerate(raws) if raw is not None} if several else raws[0]
        node.own = False
    return g


class Relay(Node):
    """Stands in the place of an operand's node: holds what one operation passes on, until hooks have seen it."""

    __slots__ = ()

    def run(self, g: Any, mark: Released | None = None) -> None:
        assert self.p is not None
        if self.p.g is PENDING:
            self.p.g, self.p.own = g, False
        else:
            runtime.accumulate(self.p, g)

    def run_recorded(self, g: Any) -> None:
        assert self.p is not None
        if self.p.g is PENDING:
            self.p.g, self.p.own = g, False
        else:
            runtime.accumulate_recorded(self.p, g)


def run_observed(node: Node, g: Any, create: bool, observe: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
    """Run a node and hand on what `observe` makes of the gradients of its operands, None where it gives none."""
    p, q, more = node.p, node.q, node.more
    parents = list(node.parents())
    relays = [None if parent is None else Relay(tick(), parent) for parent in parents]
    for relay in relays:
        if relay is not None:
            relay.g = PENDING
    count = node.operand_count()
    node.p, node.q = [*relays[:count], None, None][:2]
    if more is not None:
        node.more = tuple(relays[count:])
    try:
        (node.run_recorded if create else node.run)(g)
    finally:
        node.p, node.q, node.more = p, q, more
    given = tuple(None if relay is None or relay.g is PENDING else as_tensor(relay.g) for relay in relays)
    for relay, value in zip(relays, observe(given), strict=True):
        if relay is not None:
            relay.g = None
            if value is not None:
                (relay.run_recorded if create else relay.run)(value if create else value.raw)


def call_node_hooks(hooks: Hooks, given: tuple[Any, ...], g: Any) -> tuple[Any, ...]:
    """The gradients of a node's operands after its hooks (`grad_fn.register_hook`)."""
    arrived = tuple(as_tensor(g.get(k)) for k in range(max(g) + 1)) if g.__class__ is dict else (as_tensor(g),)
    for hook in list(hooks.values()):
        given = _replaced_all(hook, given, (given, arrived))
    return given


def as_tensor(g: Any) -> Any:
    """A gradient as hooks see it."""
    return g if isinstance(g, Tensor) or g is None else wrap(runtime.canonical(g))


def add_grad(tensor: Tensor, g: Any, create: bool, owned: bool) -> None:
    """Accumulate a gradient on a tensor; into the existing array where the graph of the gradient is not wanted."""
    before = tensor.grad
    if create:
        g = as_tensor(g)
        tensor.grad = OPS["replaced"](wrap(g.raw), g) if before is None else OPS["add"](before, g)
        if state.ledger is not None:
            state.ledger(tensor, before, g)
        return
    if isinstance(g, Tensor):
        g = g.raw
    if before is None:
        kind = g.__class__
        if kind is not float and kind is not runtime.float32:
            if g.ndim and not (owned and g.base is None):
                g = g.copy()
            g = runtime.canonical(g)
        tensor.grad = wrap(g)
    elif before.raw.__class__ is float or (not before.ndim and before.extra is None):
        before.raw = runtime.canonical(before.raw + g)
    else:
        before.raw += g
    if state.ledger is not None:
        state.ledger(tensor, before, g)


def assign_grad(tensor: Tensor, value: Any) -> None:
    """`tensor.grad = value` as a program writes it: a tensor of the same shape and type, or None."""
    if value is not None:
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            raise fault(TypeError, f"assigned grad expected to be a Tensor or None but got grad of type {kind}")
        if value is tensor:
            raise fault(RuntimeError, "can't assign Variable as its own grad")
        if value.shape != tensor.shape:
            raise fault(
                RuntimeError,
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(tensor.shape)}'. "
                "Please ensure that the gradient and the tensor are the same size",
            )
        if value.dtype is not tensor.dtype:
            raise fault(
                RuntimeError,
                f"attempting to assign a gradient with dtype '{C_TYPES[value.dtype.name]}' to a tensor with "
                f"grad_dtype '{TYPE_NAMES[tensor.dtype.name]}'. The gradient must match the tensor's grad_dtype "
                "(defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific "
                "dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor "
                "and its gradient may break downstream systems that assume they match.",
                hint=f".to({tensor.dtype!r})",
            )
    tensor.grad = value


# ---- what hooks return


def _replaced(hook: Callable[..., Any], value: Tensor) -> Tensor:
    """The gradient that a hook leaves: its result, or the same where it returns None."""
    result = hook(value)
    if result is None:
        return value
    _check(hook, value, result)
    return result  # type: ignore[no-any-return]


def _replaced_all(hook: Callable[..., Any], values: tuple[Any, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    result = hook(*args)
    if result is None:
        return values
    if isinstance(result, Tensor):
        result = (result,)
    if not isinstance(result, Iterable):
        raise fault(TypeError, f"expected tuple, but hook returned '{type(result).__name__}'")
    found = tuple(result)
    if len(found) != len(values):
        raise fault(
            RuntimeError,
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(found)}, but expected "
            f"{len(values)})",
        )
    for value, new in zip(values, found, strict=True):
        if value is not None and new is not None:
            _check(hook, value, new)
    return found


def _check(hook: Callable[..., Any], value: Tensor, result: Any) -> None:
    if not isinstance(result, Tensor):
        raise fault(TypeError, f"expected Variable, but hook returned '{type(result).__name__}'")
    if result.shape != value.shape:
        raise fault(
            RuntimeError,
            f"hook '{_name(hook)}' has changed the size of value",
            notes=(f"it got {tuple(value.shape)} and returned {tuple(result.shape)}",),
        )
    if result.dtype is not value.dtype:
        types = f"was {tensor_type(value)} got {tensor_type(result)}"
        raise fault(RuntimeError, f"hook '{_name(hook)}' has changed the type of value ({types})")


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
