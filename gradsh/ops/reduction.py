"""Sums and means over dimensions."""

from __future__ import annotations

from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import expand_to


@linear(x=lambda g, x_shape: expand_to(g, size=x_shape), sample=Sample(reals(2, 3)), at=(), grad_fn="SumBackward0")
def sum_all(xp, x):
    """Sum of every number."""
    return xp.sum(x)


@function(example="tensor([[1.0, 2.0], [3.0, 4.0]]).sum()")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over dim (one or several), or over everything."""
    return sum_all(input)
