"""Convolutions over any number of dimensions: windows gathered into columns, and products of matrices with these.

Layouts are PyTorch's: x (N, C, *size), kernels (O, C / groups, *kernel), out (N, O, *places). Some images at a time are
laid out with the images innermost: columns (groups, C / groups · kernel, places · n). One product serves them all, and
rows of small images are not moved one by one.
"""

from __future__ import annotations

from math import prod

import numpy as np

from gradsh.backend.windows import taps, window_counts, windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Lengths = tuple[int, ...]

BLOCK = 1 << 20  # bytes of columns of small images at a time: they stay in the cache, and their memory is used again
LARGE = 1024  # places from which on an image is treated alone, which needs no other layout


class Geometry:
    """Where the windows of a convolution lie."""

    __slots__ = ("dilation", "groups", "kernel", "padding", "stride")

    def __init__(self, kernel: Lengths, stride: Lengths, padding: Lengths, dilation: Lengths, groups: int) -> None:
        self.kernel, self.stride, self.padding, self.dilation, self.groups = kernel, stride, padding, dilation, groups

    def places(self, size: Lengths) -> Lengths:
        """How many windows fit along each dimension."""
        whole = tuple([n + 2 * p for n, p in zip(size, self.padding, strict=True)])
        return window_counts(whole, self.kernel, self.stride, self.dilation)

    def blocks(self, batch: int, channels: int, places: Lengths, itemsize: int) -> Iterator[slice]:
        """Parts of a batch whose columns are to be in memory together."""
        each = channels * prod(self.kernel) * prod(places) * itemsize
        step = 1 if prod(places) >= LARGE else max(1, BLOCK // max(1, each))
        for start in range(0, batch, step):
            yield slice(start, min(start + step, batch))

    def columns(self, x: Any, places: Lengths) -> Any:
        """The windows of some images as columns."""
        moved = np.moveaxis(x, 0, -1)
        if any(self.padding):
            channels, *size, count = moved.shape
            whole = np.zeros((channels, *[n + 2 * p for n, p in zip(size, self.padding, strict=True)], count), x.dtype)
            whole[(slice(None), *[slice(p, p + n) for n, p in zip(size, self.padding, strict=True)])] = moved
            moved = whole
        seen = windows(moved, self.kernel, self.stride, self.dilation, places, tail=1)
        rows = x.shape[1] // self.groups * prod(self.kernel)
        return np.array(seen, order="C").reshape(self.groups, rows, prod(places) * len(x))

    def rows(self, g: Any) -> Any:
        """What is at the places of some images, (groups, O / groups, places · n)."""
        count = g.shape[1]
        return np.moveaxis(g, 0, -1).reshape(self.groups, count // self.groups, prod(g.shape[2:]) * len(g))

    def matrices(self, kernels: Any) -> Any:
        """The kernels as rows: (groups, O / groups, C / groups · kernel)."""
        return kernels.reshape(self.groups, kernels.shape[0] // self.groups, prod(kernels.shape[1:]))


def convolve(x: Any, kernels: Any, bias: Any, geometry: Geometry, places: Lengths | None = None) -> Any:
    """What every kernel gives at every place: the sum of its products with the window there, and its bias.

    places: how many of the windows that fit are wanted along each dimension, if not all.
    """
    batch, channels, *size = x.shape
    count = kernels.shape[0]
    if places is None:
        places = geometry.places(tuple(size))
    weights = geometry.matrices(kernels)
    out = np.empty((batch, count, *places), x.dtype)
    for part in geometry.blocks(batch, channels, places, x.itemsize):
        columns = geometry.columns(x[part], places)
        if part.stop - part.start == 1:
            np.matmul(weights, columns, out=out[part].reshape(*weights.shape[:2], columns.shape[2]))
            if bias is not None:
                out[part] += bias.reshape(count, *(1,) * len(places))
        else:
            found = np.matmul(weights, columns).reshape(count, *places, part.stop - part.start)
            _put(out[part], np.moveaxis(found, -1, 0), bias)
    return out


def _put(out: Any, found: Any, bias: Any) -> None:
    """Fill a part of the output, with the bias of each channel."""
    if bias is None:
        out[...] = found
    else:
        np.add(found, bias.reshape(-1, *(1,) * (out.ndim - 2)), out=out)


def convolve_back(g: Any, kernels: Any, bias: Any, size: Lengths, geometry: Geometry) -> Any:
    """The transpose of `convolve` in x: what was taken from each window is added back to an x of this size."""
    batch, _, *places = g.shape
    channels = kernels.shape[1] * geometry.groups
    weights = geometry.matrices(kernels).swapaxes(1, 2)
    out = np.empty((batch, channels, *size), g.dtype)
    around = list(taps(size, geometry.kernel, geometry.stride, geometry.padding, geometry.dilation, tuple(places)))
    whole = slice(None)
    for part in geometry.blocks(batch, channels, tuple(places), g.itemsize):
        count = part.stop - part.start
        columns = np.matmul(weights, geometry.rows(g[part])).reshape(channels, *geometry.kernel, *places, count)
        found = np.zeros((channels, *size, count), g.dtype)
        for offsets, chosen, elements in around:
            found[(whole, *elements)] += columns[(whole, *offsets, *chosen)]
        _put(out[part], np.moveaxis(found, -1, 0), bias)
    return out


def convolve_kernels(x: Any, g: Any, geometry: Geometry) -> Any:
    """The transpose of `convolve` in the kernels: sums over places of g times the windows of x there."""
    batch, channels, *_ = x.shape
    _, count, *places = g.shape
    groups, kernel = geometry.groups, geometry.kernel
    total = np.zeros((groups, channels // groups * prod(kernel), count // groups), g.dtype)
    for part in geometry.blocks(batch, channels, tuple(places), x.itemsize):
        total += np.matmul(geometry.columns(x[part], tuple(places)), geometry.rows(g[part]).swapaxes(1, 2))
    return total.swapaxes(1, 2).reshape(count, channels // groups, *kernel)
