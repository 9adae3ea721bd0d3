"""Convolutions over any number of dimensions: windows gathered into columns, and products of matrices with these.

Layouts are PyTorch's: x (N, C, *size), kernels (O, C / groups, *kernel), out (N, O, *places). Some images at a time are
laid out with the images inside: columns (groups, C / groups · kernel, n · places), so that one product serves them all.
"""

from __future__ import annotations

from math import prod

import numpy as np

from gradsh.backend.windows import padded, taps, window_counts, windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Lengths = tuple[int, ...]

BLOCK = 1 << 21  # bytes of columns that are gathered at a time: they stay in the cache, and their memory is used again


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
        step = max(1, BLOCK // max(1, each))
        for start in range(0, batch, step):
            yield slice(start, min(start + step, batch))

    def columns(self, x: Any, places: Lengths) -> Any:
        """The windows of some images as columns."""
        seen = windows(padded(x, self.padding, self.padding), self.kernel, self.stride, self.dilation, places)
        inside = 1 + len(self.kernel)
        seen = np.ascontiguousarray(seen.transpose(*range(1, 1 + inside), 0, *range(1 + inside, seen.ndim)))
        rows = x.shape[1] // self.groups * prod(self.kernel)
        return seen.reshape(self.groups, rows, len(x) * prod(places))

    def rows(self, g: Any) -> Any:
        """What is at the places of some images, (groups, O / groups, n · places)."""
        count = g.shape[1]
        inner = g.shape[0] * prod(g.shape[2:])
        return g.swapaxes(0, 1).reshape(self.groups, count // self.groups, inner)

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
    if bias is not None:
        bias = bias.reshape(count, *(1,) * len(places))
    for part in geometry.blocks(batch, channels, places, x.itemsize):
        found = np.matmul(weights, geometry.columns(x[part], places))
        found = found.reshape(count, part.stop - part.start, *places).swapaxes(0, 1)
        if bias is None:
            out[part] = found
        else:
            np.add(found, bias, out=out[part])
    return out


def convolve_back(g: Any, kernels: Any, bias: Any, size: Lengths, geometry: Geometry) -> Any:
    """The transpose of `convolve` in x: what was taken from each window is added back to an x of this size."""
    batch, _, *places = g.shape
    channels = kernels.shape[1] * geometry.groups
    weights = geometry.matrices(kernels).swapaxes(1, 2)
    out = np.empty((batch, channels, *size), g.dtype)
    if bias is not None:
        bias = bias.reshape(channels, *(1,) * len(size))
    around = (size, geometry.kernel, geometry.stride, geometry.padding, geometry.dilation, tuple(places))
    for part in geometry.blocks(batch, channels, tuple(places), g.itemsize):
        columns = np.matmul(weights, geometry.rows(g[part]))
        columns = columns.reshape(channels, *geometry.kernel, part.stop - part.start, *places)
        found = np.zeros((channels, part.stop - part.start, *size), g.dtype)
        for offsets, chosen, elements in taps(*around):
            found[elements] += columns[(slice(None), *offsets)][chosen]
        if bias is None:
            out[part] = found.swapaxes(0, 1)
        else:
            np.add(found.swapaxes(0, 1), bias, out=out[part])
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
