"""Maxima and sums over windows, or over parts of nearly the same length, of the last dimensions of an array.

A geometry is (kernel, stride, padding, dilation, places): elements of a window, how far apart windows begin, how much is
around the array, how far apart a window's elements are, and how many windows there are, each for every dimension.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from gradsh.backend.placing import sums_at
from gradsh.backend.windows import taps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Lengths = tuple[int, ...]
    Geometry = tuple[Lengths, Lengths, Lengths, Lengths, Lengths]


def lowest(dtype: Any) -> Any:
    """The smallest number of an element type."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def maxima(x: Any, geometry: Geometry) -> Any:
    """The largest number of each window; nan where there is one."""
    lead, size = _parted(x, geometry)
    out: Any = np.full((*lead, *geometry[-1]), lowest(x.dtype), x.dtype)
    for _, chosen, elements in taps(size, *geometry):
        part = out[(..., *chosen)]
        np.maximum(part, x[(..., *elements)], out=part)
    return out


def maxima_places(x: Any, out: Any, geometry: Geometry) -> Any:
    """Where in its last dimensions, taken as one, an array has the maxima `out`: the first of equals, the last nan."""
    _, size = _parted(x, geometry)
    numbers: Any = np.arange(prod(size)).reshape(size)
    places: Any = np.zeros(out.shape, np.int64)
    around = list(taps(size, *geometry))
    for _, chosen, elements in reversed(around):
        np.copyto(places[(..., *chosen)], numbers[elements], where=x[(..., *elements)] == out[(..., *chosen)])
    if out.dtype.kind == "f" and np.isnan(out).any():
        for _, chosen, elements in around:
            np.copyto(places[(..., *chosen)], numbers[elements], where=np.isnan(x[(..., *elements)]))
    return places


def maxima_back(g: Any, x: Any, out: Any, geometry: Geometry) -> Any:
    """The numbers of g at the places of the maxima `out` of x, added where a place is named twice; 0 elsewhere."""
    lead, size = _parted(x, geometry)
    if not _apart(geometry) or (out.dtype.kind == "f" and np.isnan(out).any()):
        return onto_places(g, maxima_places(x, out, geometry), size, _apart(geometry))
    found: Any = np.zeros((*lead, *size), g.dtype)
    free: Any = np.ones(out.shape, bool)
    whole = np.dtype(f"i{g.itemsize}")
    bits: Any = np.ascontiguousarray(g).view(whole)  # masked as integers: fast, and 0 whatever the number is
    for _, chosen, elements in taps(size, *geometry):
        hit = x[(..., *elements)] == out[(..., *chosen)]
        hit &= free[(..., *chosen)]
        free[(..., *chosen)] ^= hit
        found[(..., *elements)] = (bits[(..., *chosen)] & -hit.astype(whole)).view(g.dtype)
    return found


def _apart(geometry: Geometry) -> bool:
    """Whether no two windows share an element."""
    kernel, stride, _, dilation, _ = geometry
    return all(s > (k - 1) * d for k, s, d in zip(kernel, stride, dilation, strict=True))


def _parted(x: Any, geometry: Geometry) -> tuple[Lengths, Lengths]:
    lead = x.ndim - len(geometry[0])
    return x.shape[:lead], x.shape[lead:]


def at_places(x: Any, places: Any, dims: int) -> Any:
    """The numbers at places in the last dimensions, taken as one."""
    lead = x.ndim - dims
    flat = x.reshape(*x.shape[:lead], prod(x.shape[lead:]))
    found = np.take_along_axis(flat, places.reshape(*x.shape[:lead], -1 if places.size else 0), lead)
    return found.reshape(places.shape)


def onto_places(x: Any, places: Any, size: Lengths, once: bool) -> Any:
    """Zeros of a size to which numbers are added at their places; once: no place is named twice."""
    lead = x.shape[: x.ndim - len(size)]
    count, length = prod(lead), prod(size)
    if not x.size:
        return np.zeros((*lead, *size), x.dtype)
    starts = (np.arange(count) * length).reshape(*lead, *(1,) * len(size))
    if not once:
        return sums_at(count * length, starts + places, x).reshape(*lead, *size)
    out = np.zeros(count * length, x.dtype)
    out[(starts + places).ravel()] = x.ravel()
    return out.reshape(*lead, *size)


# ---- sums


def totals(x: Any, geometry: Geometry) -> Any:
    """The sum of each window, of what lies within the array."""
    lead, size = _parted(x, geometry)
    out: Any = np.zeros((*lead, *geometry[-1]), x.dtype)
    for _, chosen, elements in taps(size, *geometry):
        part = out[(..., *chosen)]
        part += x[(..., *elements)]
    return out


def totals_back(g: Any, size: Lengths, geometry: Geometry) -> Any:
    """The transpose of `totals`: every number added to all elements of its window."""
    lead = g.shape[: g.ndim - len(size)]
    out: Any = np.zeros((*lead, *size), g.dtype)
    for _, chosen, elements in taps(size, *geometry):
        part = out[(..., *elements)]
        part += g[(..., *chosen)]
    return out


def window_lengths(size: Lengths, geometry: Geometry, include_padding: bool) -> Any:
    """How many elements each window has, of the array or of its padding too (which ends where it was asked to)."""
    counts: Any = np.ones((), np.int64)
    for n, k, s, p, count in zip(size, *geometry[:3], geometry[-1], strict=True):
        starts = np.arange(count) * s - p
        ends = np.minimum(starts + k, n + p)
        if not include_padding:
            starts, ends = np.maximum(starts, 0), np.minimum(ends, n)
        counts = counts[..., None] * (ends - starts)
    return counts


# ---- parts of nearly the same length


def parts(length: int, count: int) -> list[slice]:
    """A length cut into so many parts, which overlap where it is no multiple."""
    return [slice(k * length // count, -(-(k + 1) * length // count)) for k in range(count)]


def part_sums(x: Any, counts: Lengths) -> Any:
    """The sum of each part of the last dimensions."""
    lead = x.ndim - len(counts)
    for axis, count in enumerate(counts, lead):
        before: tuple[Any, ...] = (slice(None),) * axis
        out = np.empty((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
        for place, part in enumerate(parts(x.shape[axis], count)):
            np.add.reduce(x[(*before, part)], axis, out=out[(*before, place)])
        x = out
    return x


def part_sums_back(g: Any, size: Lengths) -> Any:
    """The transpose of `part_sums`: every number added to all of its part."""
    lead = g.ndim - len(size)
    for axis, length in enumerate(size, lead):
        before = (slice(None),) * axis
        out = np.zeros((*g.shape[:axis], length, *g.shape[axis + 1 :]), g.dtype)
        for place, part in enumerate(parts(length, g.shape[axis])):
            out[(*before, part)] += g[(*before, slice(place, place + 1))]
        g = out
    return g


def part_lengths(size: Lengths, counts: Lengths) -> Any:
    """How many numbers each part has."""
    found: Any = np.ones((), np.int64)
    for length, count in zip(size, counts, strict=True):
        found = found[..., None] * np.array([part.stop - part.start for part in parts(length, count)], np.int64)
    return found


def maxima_of(x: Any, cells: Iterator[tuple[Any, Any]], places: Any, out: Any) -> None:
    """Fill `out` with the maxima of boxes, and `places` with where they are: (key of a result, slices of a box) for each."""
    for key, box in cells:
        some = x[(..., *box)]
        lead, shape = some.shape[: some.ndim - len(box)], some.shape[some.ndim - len(box) :]
        flat = some.reshape(*lead, prod(shape))
        found = flat.argmax(-1)
        out[key] = best = np.take_along_axis(flat, found[..., None], -1)[..., 0]
        if np.isnan(best).any():
            last = flat.shape[-1] - 1 - np.isnan(flat)[..., ::-1].argmax(-1)
            found = np.where(np.isnan(best), last, found)
        place: Any = 0
        inside = np.unravel_index(found, shape)
        for length, part, index in zip(x.shape[x.ndim - len(box) :], box, inside, strict=True):
            place = place * length + part.start + index
        places[key] = place


def part_maxima(x: Any, counts: Lengths) -> tuple[Any, Any]:
    """The largest number of each part, and where in the last dimensions, taken as one, it is."""
    lead, size = x.shape[: x.ndim - len(counts)], x.shape[x.ndim - len(counts) :]
    out, places = np.empty((*lead, *counts), x.dtype), np.empty((*lead, *counts), np.int64)
    sides = [enumerate(parts(length, count)) for length, count in zip(size, counts, strict=True)]
    cells = (((..., *[k for k, _ in cell]), tuple(part for _, part in cell)) for cell in product(*sides))
    maxima_of(x, cells, places, out)
    return out, places


def fraction_maxima(x: Any, samples: Any, kernel: Lengths, counts: Lengths) -> tuple[Any, Any]:
    """Maxima of windows that lie at random, and where they are; samples (N, C, dims) in [0, 1) say how.

    Of two dimensions the first sample is for the last (aten/src/ATen/native/FractionalMaxPool2d.cpp).
    """
    dims = len(kernel)
    lead, size = x.shape[: x.ndim - dims], x.shape[x.ndim - dims :]
    out, places = np.empty((*lead, *counts), x.dtype), np.empty((*lead, *counts), np.int64)
    samples = np.broadcast_to(samples, (*samples.shape[:-1], dims)).reshape(*lead, dims)
    for plane in np.ndindex(*lead):
        chances = samples[plane][::-1] if dims == 2 else samples[plane]
        sides = [
            list(enumerate([slice(start, start + k) for start in _starts(chance, n, count, k)]))
            for chance, n, count, k in zip(chances, size, counts, kernel, strict=True)
        ]
        cells = ((tuple(k for k, _ in cell), tuple(part for _, part in cell)) for cell in product(*sides))
        maxima_of(x[plane], cells, places[plane], out[plane])
    return out, places


def _starts(chance: Any, length: int, count: int, kernel: int) -> list[int]:
    """`generate_intervals`: where windows begin, in the precision of the numbers."""
    starts = []
    if count > 1:
        step = chance.dtype.type(length - kernel) / chance.dtype.type(count - 1)
        first = int(chance * step)
        starts = [int((chance.dtype.type(k) + chance) * step) - first for k in range(count - 1)]
    return [*starts, length - kernel] if count else []
