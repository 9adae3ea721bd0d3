"""The dimensions that an operation goes over: `dim=` as PyTorch takes it, checked and made non-negative."""

from __future__ import annotations

from gradsh.engine.promote import dimension_fault
from gradsh.fault import fault
from gradsh.ops.calls import Unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def axis_of(dim: Any, ndim: int, argument: str = "dim") -> int:
    """One dimension, counted from the front; a 0-d tensor has dimension 0 (and -1) too."""
    if dim.__class__ is not int:
        dim = _index(dim, argument, "int")
    if 0 <= dim < ndim:
        return dim  # type: ignore[no-any-return]
    bound = ndim or 1
    if not -bound <= dim < bound:
        raise dimension_fault(dim, ndim)
    return dim + bound if dim < 0 else dim  # type: ignore[no-any-return]


def axes_of(dim: Any, ndim: int, argument: str = "dim") -> tuple[int, ...]:
    """The dimensions to reduce, ascending: all of them where none is named. () for a 0-d tensor."""
    if dim.__class__ is int:
        axis = axis_of(dim, ndim)
        return (axis,) if ndim else ()
    if dim is None or (dim.__class__ is tuple and not dim):
        return tuple(range(ndim))
    if not isinstance(dim, list | tuple):
        return axes_of(_index(dim, argument, "tuple of ints"), ndim)
    axes = sorted(axis_of(one, ndim, argument) for one in dim)
    for one in axes:
        if axes.count(one) > 1:
            raise fault(RuntimeError, f"dim {one} appears multiple times in the list of dims")
    return tuple(axes) if axes and ndim else tuple(range(ndim))


def _index(value: Any, argument: str, wanted: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise Unfit(argument, wanted, value)
    try:
        return int(value.__index__())
    except TypeError:  # a tensor of several numbers, or of fractions
        raise Unfit(argument, wanted, value) from None


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a reduction with `keepdim=True`."""
    return tuple([1 if k in axes else length for k, length in enumerate(shape)])


def reduced_count(shape: tuple[int, ...], axes: tuple[int, ...] | None = None) -> int:
    """How many numbers go into each result of a reduction."""
    count = 1
    for k, length in enumerate(shape):
        if axes is None or k in axes:
            count *= length
    return count
