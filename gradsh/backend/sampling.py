"""Numbers at positions between those of a grid: where positions lie, and which numbers are around them.

Formulas: aten/src/ATen/native/GridSampler.h. Positions (N, *out, dims) count in elements, the last dimension of the
image first; taps are the numbers around a position, over all dimensions together.
"""

from __future__ import annotations

from math import prod

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Lengths = tuple[int, ...]

SHARPNESS = -0.75  # of cubic convolution

# The weights of the taps along one dimension, as polynomials of the part of the way to the next number.
POLYNOMIALS = {
    "nearest": [[1.0]],
    "bilinear": [[1.0, 0.0], [-1.0, 1.0]],
    "bicubic": [
        [0.0, 1.0, 0.0, 0.0],
        [SHARPNESS, 0.0, -SHARPNESS, 0.0],
        [-2 * SHARPNESS, -(SHARPNESS + 3), 2 * SHARPNESS + 3, SHARPNESS],
        [SHARPNESS, SHARPNESS + 2, -(SHARPNESS + 2), -SHARPNESS],
    ],
}
FIRST_TAP = {"nearest": 0, "bilinear": 0, "bicubic": -1}


def positions(grid: Any, size: Lengths, corners: bool) -> Any:
    """From -1 … 1 to elements, along each dimension; -1 and 1 are the middles of the corners or their outer edges."""
    lengths = np.array(size[::-1], grid.dtype)
    if corners:
        return (grid + 1) / 2 * (lengths - 1)
    return ((grid + 1) * lengths - 1) / 2


def contained(places: Any, length: int, padding: str, corners: bool) -> tuple[Any, Any]:
    """Positions along one dimension brought into the image as a padding says, and the slope of doing so."""
    slope = np.ones_like(places)
    if padding == "zeros":
        return places, slope
    if padding == "reflection":
        places, slope = _reflected(places, *((0, 2 * (length - 1)) if corners else (-1, 2 * length - 1)))
    slope = np.where((places <= 0) | (places >= length - 1), slope.dtype.type(0), slope)
    return np.clip(places, 0, length - 1), slope


def _reflected(places: Any, twice_low: int, twice_high: int) -> tuple[Any, Any]:
    """Reflected between two ends, which are given doubled."""
    if twice_low == twice_high:
        return np.zeros_like(places), np.zeros_like(places)
    low, span = places.dtype.type(twice_low / 2), places.dtype.type((twice_high - twice_low) / 2)
    off = places - low
    sign = np.where(off < 0, places.dtype.type(-1), places.dtype.type(1))
    off = np.abs(off)
    extra, flips = np.fmod(off, span), np.floor(off / span)
    even = np.fmod(flips, 2) == 0
    return np.where(even, extra + low, span - extra + low), np.where(even, sign, -sign)


def taps(found: Any, size: Lengths, mode: str, padding: str, corners: bool) -> tuple[Any, Any]:
    """The places in the image, taken as one dimension, of the taps (N, *out, taps), and which of them are in it.

    found: the positions, brought into the image for all modes but bicubic, whose taps are brought there one by one.
    """
    dims = len(size)
    count = len(POLYNOMIALS[mode][0])
    places: Any = np.zeros((*found.shape[:-1], *(1,) * dims), np.int64)
    inside: Any = np.ones(places.shape, bool)
    for dim, length in enumerate(size):
        along = found[..., dims - 1 - dim]
        first = np.rint(along) if mode == "nearest" else np.floor(along)
        each = first[..., None] + np.arange(FIRST_TAP[mode], FIRST_TAP[mode] + count)
        if mode == "bicubic":
            each = contained(each, length, padding, corners)[0]
        each = np.clip(each, -1, length).astype(np.int64)
        shape = (*found.shape[:-1], *[count if k == dim else 1 for k in range(dims)])
        inside = inside & ((each >= 0) & (each < length)).reshape(shape)
        places = places * length + np.clip(each, 0, length - 1).reshape(shape)
    flat = (*found.shape[:-1], count**dims)
    return places.reshape(flat), np.broadcast_to(inside, places.shape).reshape(flat)


def at_taps(x: Any, places: Any) -> Any:
    """The numbers of every channel of images (N, C, *size) at places (N, *out, taps)."""
    batch, channels = x.shape[:2]
    flat = x.reshape(batch, channels, prod(x.shape[2:]))
    rows = places.reshape(batch, 1, prod(places.shape[1:]))
    found = np.take_along_axis(flat, np.broadcast_to(rows, (batch, channels, rows.shape[2])), 2)
    return found.reshape(batch, channels, *places.shape[1:])


def onto_taps(g: Any, places: Any, size: Lengths) -> Any:
    """The transpose of `at_taps`, to images of a size."""
    from gradsh.backend.placing import sums_at

    batch, channels, length = g.shape[0], g.shape[1], prod(size)
    starts = (np.arange(batch * channels) * length).reshape(batch, channels, *(1,) * (g.ndim - 2))
    return sums_at(batch * channels * length, starts + places[:, None], g).reshape(batch, channels, *size)
