"""What `print(tensor)` writes: its numbers, and what PyTorch tells of its type and of how it was made."""

from __future__ import annotations

from gradsh.engine.state import state
from gradsh.engine.tensor import Parameter, Tensor, wrap
from gradsh.engine.text import tensor_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PLAIN = (Tensor, Parameter)


def tensor_repr(tensor: Tensor) -> str:
    """The tensor as PyTorch writes it: `tensor([1., 2.], grad_fn=<AddBackward0>)`."""
    return _within_levels(tensor) if state.levels or tensor.__class__ not in PLAIN else _plain_repr(tensor)


def _within_levels(tensor: Tensor) -> str:
    """The same inside transforms: in one another what the levels make of the numbers, the innermost outside.

    What a `grad` records is told with its level, and is no history of the tensor's.
    """
    from gradsh.engine.batched import Batched
    from gradsh.engine.level import DUAL, GRAD
    from gradsh.engine.wrapped import Wrapped

    heads, tangents = [], []
    while isinstance(tensor, Wrapped):
        level = tensor.level
        if isinstance(tensor, Batched):
            heads.append((level.number, f"BatchedTensor(lvl={level.number}, bdim=0, value="))
        elif level.alive and level.kind == DUAL:
            tangents.append(f"tangent={tensor.parts[1]}")
        elif level.alive:
            heads.append((level.number, f"GradTrackingTensor(lvl={level.number}, value="))
        tensor = tensor.inner
    node = tensor.current_node()
    recording = [level for level in state.levels if level.kind == GRAD and node is not None and node.seq > level.start]
    heads += [(level.number, f"GradTrackingTensor(lvl={level.number}, value=") for level in recording]
    text = _plain_repr(wrap(tensor.raw) if recording else tensor, tangents)
    for _, head in sorted(heads):
        text = f"{head}\n{_indented(text)}\n)"
    return text


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))


def _plain_repr(tensor: Tensor, more: Iterable[str] = ()) -> str:
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
