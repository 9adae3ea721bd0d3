"""What all losses share: how their terms are reduced to one number, and the reading of their arguments."""

from __future__ import annotations

from gradsh.backend.dtypes import promote
from gradsh.engine.promote import broadcast_fault
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import floats, operand
from gradsh.ops.dimensions import reduced_count
from gradsh.ops.expanding import expanded
from gradsh.ops.reduction import mean_all, sum_all
from gradsh.ops.structure import to_dtype

REDUCTIONS = ("none", "mean", "sum")


def reduced(xp, terms, reduction):
    """Raw terms reduced."""
    if reduction == "none":
        return terms
    found = xp.total(terms)
    return found if reduction == "sum" else xp.divide(found, terms.size)


def share(g, shape, reduction):
    """The gradient that each term of a reduced loss gets."""
    return g / max(reduced_count(shape), 1) if reduction == "mean" else g


def apply_reduction(terms, reduction):
    """The terms of a loss composed of ops, reduced."""
    return terms if reduction == "none" else mean_all(terms) if reduction == "mean" else sum_all(terms)


def reduction_of(reduction, size_average=None, reduce=None):
    """The reduction asked for, in the present or in PyTorch's old way (size_average, reduce)."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in REDUCTIONS:
        raise fault(ValueError, f"{reduction} is not a valid value for reduction", hint='"mean", "sum" or "none"')
    return reduction


def given(value, whole=False):
    """A loss's argument as a tensor, of floats where it was a list; PyTorch's own code asks a number for its size."""
    if isinstance(value, Tensor):
        return value
    if not state.lists:
        raise fault(AttributeError, f"'{type(value).__name__}' object has no attribute 'size'")
    return operand(value) if whole else floats(value)


def in_common(input, target):
    """Two tensors expanded to one shape and brought to one element type."""
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        input, target = given(input), given(target)
    one, other = input.shape, target.shape
    if one != other:
        wrong = broadcast_fault([one, other])
        if wrong is not None:
            raise wrong
        input, target = expand_together(input, target)
    if input.dtype is not target.dtype:
        dtype = promote(input.dtype, target.dtype)
        input, target = (one if one.dtype is dtype else to_dtype(one, dtype=dtype) for one in (input, target))
    return input, target


def expand_together(input, target):
    rank = max(input.ndim, target.ndim)
    shapes = [(1,) * (rank - one.ndim) + tuple(one.shape) for one in (input, target)]
    size = tuple([b if a == 1 else a for a, b in zip(*shapes)])
    return [one if tuple(one.shape) == size else expanded(one, size=size) for one in (input, target)]
