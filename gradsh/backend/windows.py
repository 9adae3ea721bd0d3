"""Windows that slide over the last dimensions of an array: seen by strides, or one of their elements at a time.

A window has `kernel` elements along each dimension, `dilation` apart; windows begin `stride` apart. What is seen has the
dimensions (*lead, *kernel, *places): the elements of a window first, then the windows.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy import ndarray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Lengths = tuple[int, ...]


def window_counts(size: Lengths, kernel: Lengths, stride: Lengths, dilation: Lengths) -> Lengths:
    """How many windows fit along each dimension."""
    return tuple([(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(size, kernel, stride, dilation, strict=True)])


def padded(x: Any, before: Lengths, after: Lengths, value: float = 0) -> Any:
    """An array with so many copies of a value around its last dimensions; itself where there are none."""
    if not any(before) and not any(after):
        return x
    lead = x.ndim - len(before)
    sizes = [n + b + a for n, b, a in zip(x.shape[lead:], before, after, strict=True)]
    shape = (*x.shape[:lead], *sizes)
    out: Any = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
    out[(..., *[slice(b, b + n) for b, n in zip(before, x.shape[lead:], strict=True)])] = x
    return out


def windows(
    x: Any, kernel: Lengths, stride: Lengths, dilation: Lengths, places: Lengths | None = None, tail: int = 0
) -> Any:
    """The windows of an array (all, or the first `places`), as a view of it or of a copy in C order.

    tail: how many dimensions there are behind those that windows slide over.
    """
    x = np.ascontiguousarray(x)
    lead = x.ndim - len(kernel) - tail
    over = slice(lead, lead + len(kernel))
    if places is None:
        places = window_counts(x.shape[over], kernel, stride, dilation)
    return ndarray(
        (*x.shape[:lead], *kernel, *places, *x.shape[over.stop :]),
        x.dtype,
        x,
        0,
        (
            *x.strides[:lead],
            *[step * d for step, d in zip(x.strides[over], dilation, strict=True)],
            *[step * s for step, s in zip(x.strides[over], stride, strict=True)],
            *x.strides[over.stop :],
        ),
    )


def taps(
    size: Lengths, kernel: Lengths, stride: Lengths, padding: Lengths, dilation: Lengths, places: Lengths
) -> Iterator[tuple[Lengths, tuple[slice, ...], tuple[slice, ...]]]:
    """For each element of a window its offsets, the windows in which it lies within the array, and where it does."""
    sides = []
    for n, k, s, p, d, count in zip(size, kernel, stride, padding, dilation, places, strict=True):
        side = []
        for offset in range(k):
            shift = offset * d - p
            first, last = max(0, -(shift // s)), min(count, (n - 1 - shift) // s + 1)
            if first < last:
                elements = slice(first * s + shift, (last - 1) * s + shift + 1, s)
                side.append((offset, slice(first, last), elements))
        sides.append(side)
    for found in product(*sides):
        offsets, chosen, elements = zip(*found, strict=True)
        yield offsets, chosen, elements


def picked(x: Any, places: tuple[Any, ...]) -> Any:
    """The numbers at places along each of the last dimensions."""
    lead = x.ndim - len(places)
    for axis, index in enumerate(places, lead):
        x = x.take(index, axis)
    return x


def picked_sums(x: Any, places: tuple[Any, ...], size: Lengths) -> Any:
    """The transpose of `picked`: zeros of a size to which numbers are added at their places."""
    lead = x.ndim - len(places)
    for axis, index in enumerate(places, lead):
        x = sums_along(x, np.asarray(index, np.int64), size[axis - lead], axis)
    return x


def sums_along(x: Any, index: Any, count: int, axis: int) -> Any:
    """What is at the same place along an axis summed, for each of `count` places."""
    out = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    if not x.size:
        return out
    if (index[1:] < index[:-1]).any():
        order = np.argsort(index, kind="stable")
        index, x = index[order], x.take(order, axis)
    starts = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
    sums = x if len(starts) == len(index) else np.add.reduceat(x, starts, axis)
    out[(slice(None),) * axis + (index[starts],)] = sums
    return out
