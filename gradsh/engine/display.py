"""What `print(tensor)` writes: its numbers, and what PyTorch tells of its type and of how it was made."""

from __future__ import annotations

from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.text import tensor_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.engine.forward import Dual


def tensor_repr(tensor: Tensor) -> str:
    """The tensor as PyTorch writes it: `tensor([1., 2.], grad_fn=<AddBackward0>)`."""
    if state.levels:
        return _within_levels(tensor)
    return _plain_repr(tensor)


def _within_levels(tensor: Tensor) -> str:
    """The same inside transforms: what a `grad` records is told with its level, and is no history of the tensor's."""
    from gradsh.engine.level import GRAD

    node = tensor.current_node()
    recording = [level for level in state.levels if level.kind == GRAD and node is not None and node.seq > level.start]
    if not recording:
        return _plain_repr(tensor)
    text = _plain_repr(wrap(tensor.raw))
    for level in recording:
        text = nested_repr(f"GradTrackingTensor(lvl={level.number}, value=", text)
    return text


def nested_repr(head: str, inner: str) -> str:
    """The text of a tensor of a level, around that of the tensor inside."""
    body = "\n".join(f"    {line}" if line else line for line in inner.split("\n"))
    return f"{head}\n{body}\n)"


def dual_repr(tensor: Dual) -> str:
    """A tensor with a tangent as PyTorch writes it, in a transform or at a `dual_level`."""
    from gradsh.engine.level import DUAL

    inner = repr(tensor.primal)
    if not tensor.level.alive:
        return inner
    if tensor.level.kind != DUAL:
        return nested_repr(f"GradTrackingTensor(lvl={tensor.level.number}, value=", inner)
    return _plain_repr(tensor.primal, (f"tangent={tensor.tangent}",))


def _plain_repr(tensor: Tensor, more: tuple[str, ...] = ()) -> str:
    try:
        node = tensor.grad_fn
        made_by = None if node is None else node.name().rpartition("::")[2]
    except RuntimeError:  # a view whose base was changed in place in a way that its history cannot follow
        made_by = "Invalid"
    if made_by is not None:
        suffixes = [f"grad_fn=<{made_by}>"]
    else:
        suffixes = ["requires_grad=True"] if tensor.requires_grad else []
    return tensor_text(
        tensor.raw,
        dtype_name=tensor.dtype.name,
        default_dtype=state.default.name,
        options=state.print_options,
        suffixes=[*suffixes, *more],
    )
