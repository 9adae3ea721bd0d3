"""`torch.compile`: a function or module as it is, since the numbers are the same without compiling."""

from __future__ import annotations

from gradsh.ops.registry import function


@function(
    "compile",
    at=("torch",),
    example="torch.compile(torch.sin)",
    python=True,
)
def compiled(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """The function or module itself; without one, a decorator."""
    return (lambda function: function) if model is None else model
