"""Differences of neighbours along a dimension, and integrals by the trapezoidal rule."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.op import OPS
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.dimensions import axis_of
from gradsh.ops.joining import cat
from gradsh.ops.registry import function
from gradsh.ops.scaling import over, times
from gradsh.ops.shape import reshape
from gradsh.ops.slicing import part


def _neighbours(input, axis):
    """All but the first and all but the last along a dimension."""
    length = input.shape[axis]
    return part(input, axis, min(1, length), length), part(input, axis, 0, max(length - 1, 0))


@function(example="diff(tensor([1.0, 4.0, 9.0]))")
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours along dim, n times over; prepend and append lengthen the input first."""
    input = operand(input)
    if not input.ndim:
        raise fault(RuntimeError, "diff expects input to be at least one-dimensional")
    if n < 0:
        raise fault(RuntimeError, f"order must be non-negative but got {n}")
    if n == 0 and prepend is None and append is None:
        return input.clone()
    axis = axis_of(dim, input.ndim)
    ends = [None if one is None else operand(one, name) for one, name in ((prepend, "prepend"), (append, "append"))]
    for end in ends:
        if end is not None:
            _check_end(input, end, axis)
    if ends != [None, None]:
        input = cat([one for one in (ends[0], input, ends[1]) if one is not None], axis)
    if n == 0:
        return input.clone()
    for _ in range(min(n, input.shape[axis])):
        after, before = _neighbours(input, axis)
        input = OPS["logical_xor"](after, before) if input.dtype is boolean else OPS["sub"](after, before)
    return input


def _check_end(input, end, axis):
    if end.ndim != input.ndim:
        raise fault(RuntimeError, "diff expects prepend or append to be the same dimension as input")
    for k, (length, other) in enumerate(zip(input.shape, end.shape)):
        if k != axis and length != other:
            raise fault(
                RuntimeError,
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({k}) = {length}, but got tensor.size({k}) = {other}",
            )


# ---- integrals

OVERLOADS = ("(Tensor y, Tensor x, *, int dim = -1)", "(Tensor y, *, Number dx = 1, int dim = -1)")


def _steps(x, y, axis, name):
    """The distances of the sample points, in the dimensions of y."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[axis]:
            raise fault(RuntimeError, f"{name}: There must be one `x` value for each sample point")
        x = reshape(x, tuple([-1 if k == axis else 1 for k in range(y.ndim)]))
    elif x.ndim < y.ndim:
        x = reshape(x, (1,) * (y.ndim - x.ndim) + tuple(x.shape))
    after, before = _neighbours(x, axis)
    return OPS["sub"](after, before)


def _check_numbers(y, x, name):
    """Values to integrate, and where they are: numbers, not truths."""
    if boolean in (y.dtype, y.dtype if x is None else x.dtype):
        which = "`y`" if x is None else "`x` or `y`"
        raise fault(RuntimeError, f"{name}: received a bool input for {which}, but bool is not supported")


@function(at=("torch", "torch:trapz"), example="trapezoid(tensor([1.0, 2.0, 3.0]))", overloads=OVERLOADS)
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """Integral of y along dim by the trapezoidal rule, the points at distances dx or at x."""
    y, x = operand(y, "y"), x if x is None else operand(x, "x")
    if not y.ndim:
        shown = dim if x is None else axis_of(dim, 0)
        raise fault(IndexError, f"Dimension specified as {shown} but tensor has no dimensions")
    axis = axis_of(dim, y.ndim)
    _check_numbers(y, x, "trapezoid")
    if not y.shape[axis]:
        return y.detach().sum(axis)
    if x is not None:
        after, before = _neighbours(y, axis)
        areas = OPS["mul"](after + before, _steps(x, y, axis, "trapezoid"))
        return over(areas.sum(axis), 2.0)
    return times(y.sum(axis) - (y.select(axis, 0) + y.select(axis, -1)) * 0.5, dx)


@function(at=("torch",), example="cumulative_trapezoid(tensor([1.0, 2.0, 3.0]))", overloads=OVERLOADS)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """Integral of y so far along dim by the trapezoidal rule, the points at distances dx or at x."""
    y, x = operand(y, "y"), x if x is None else operand(x, "x")
    axis = axis_of(dim, y.ndim) if y.ndim or x is not None else 0
    _check_numbers(y, x, "cumulative_trapezoid")
    if not y.ndim:
        raise fault(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    after, before = _neighbours(y, axis)
    if x is not None:
        areas = OPS["mul"](after + before, _steps(x, y, axis, "cumulative_trapezoid"))
        return over(areas.cumsum(axis), 2.0)
    return ((dx / 2.0) * (after + before)).cumsum(axis)
