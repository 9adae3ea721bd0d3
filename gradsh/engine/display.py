"""What `print(tensor)` writes: its numbers, and what PyTorch tells of its type and of how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsh.engine.state import state
from gradsh.engine.text import tensor_text

if TYPE_CHECKING:
    from gradsh.engine.tensor import Tensor


def tensor_repr(tensor: Tensor) -> str:
    """The tensor as PyTorch writes it: `tensor([1., 2.], grad_fn=<AddBackward0>)`."""
    node = tensor.grad_fn
    if node is not None:
        suffixes = [f"grad_fn=<{node.name().rpartition('::')[2]}>"]
    else:
        suffixes = ["requires_grad=True"] if tensor.requires_grad else []
    return tensor_text(
        tensor.raw,
        dtype_name=tensor.dtype.name,
        default_dtype=state.default.name,
        options=state.print_options,
        suffixes=suffixes,
    )
