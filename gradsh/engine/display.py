"""What `print(tensor)` writes: its numbers, and what PyTorch tells of its type and of how it was made."""

from __future__ import annotations

from gradsh.engine.state import state
from gradsh.engine.text import tensor_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.engine.tensor import Tensor


def tensor_repr(tensor: Tensor) -> str:
    """The tensor as PyTorch writes it: `tensor([1., 2.], grad_fn=<AddBackward0>)`."""
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
        suffixes=suffixes,
    )
