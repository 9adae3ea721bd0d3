"""Arrays addressed by strides and by the places of their elements: parts of memory, sums of what falls together.

A layout is (shape of the whole, its strides or None where it lies in C order, shape of a part, its strides, its
offset), counted in elements, as `engine.inplace.geometry` describes a view.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy import ndarray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Layout = tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], tuple[int, ...], int]


def strided_pair(raw: Any, layout: Layout, fresh: bool = True) -> tuple[Any, Any]:
    """An array (a copy where `fresh`) laid out as the whole, and the part of it."""
    shape, strides, part_shape, part_strides, offset = layout
    raw = np.asarray(raw)
    size = raw.itemsize
    if strides is None:
        memory = whole = np.array(raw, order="C", copy=fresh or None)
    else:
        memory = np.zeros(1 + last_place(shape, strides), raw.dtype)
        whole = ndarray(shape, raw.dtype, memory, 0, [step * size for step in strides])
        whole[...] = raw
    if not whole.size or 0 in part_shape:
        return whole, np.zeros(part_shape, raw.dtype)
    return whole, ndarray(part_shape, raw.dtype, memory, offset * size, [step * size for step in part_strides])


def last_place(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> int:
    """The place in memory of the last element, -1 where there is none."""
    if 0 in shape:
        return -1
    if strides is None:
        return prod(shape) - 1
    return sum((length - 1) * step for length, step in zip(shape, strides, strict=True))


class _Window:
    """What numpy makes an array of: an address, a shape, strides, and the array whose memory it is."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, base: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        about = dict(base.__array_interface__)
        about |= {"data": (about["data"][0] + offset, False), "shape": shape, "strides": strides}
        self.__array_interface__, self.base = about, base


def strided_view(raw: Any, layout: Layout) -> Any:
    """The part of a whole as a view, where the whole lies in memory as the layout has it; else a view of a copy."""
    shape, strides, part_shape, part_strides, offset = layout
    size = raw.itemsize
    if 0 in part_shape:
        return np.zeros(part_shape, raw.dtype)
    if not raw.flags.c_contiguous if strides is None else raw.strides != tuple([step * size for step in strides]):
        raw = strided_pair(raw, (shape, strides, (), (), 0))[0]
    return np.asarray(_Window(raw, offset * size, part_shape, tuple([step * size for step in part_strides])))


def strided_sums(raw: Any, layout: Layout) -> Any:
    """The transpose of `strided_view`: zeros of the whole's shape to which the part's elements are added."""
    shape, strides, part_shape, part_strides, offset = layout
    raw = np.asarray(raw)
    if _disjoint(part_shape, part_strides):
        whole, part = strided_pair(np.zeros(shape, raw.dtype), layout, fresh=False)
        part[...] = raw
        return whole
    places = np.full(part_shape, offset)
    for axis, (length, step) in enumerate(zip(part_shape, part_strides, strict=True)):
        places += (np.arange(length) * step).reshape((length, *(1,) * (len(part_shape) - axis - 1)))
    ends = last_place(shape, strides), offset + last_place(part_shape, part_strides)
    memory = sums_at(1 + max(ends), places, raw)
    whole = (memory.shape, None, shape, strides or _row_strides(shape), 0)
    return np.array(strided_view(memory, whole))


def _disjoint(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether no element is seen twice, as far as sorting the strides can tell."""
    last = 0
    for step, length in sorted(zip(strides, shape, strict=True)):
        if length > 1:
            if step <= last:
                return False
            last += (length - 1) * step
    return True


def _row_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of C order."""
    return tuple([prod(shape[axis + 1 :]) for axis in range(len(shape))])


def sums_at(count: int, places: Any, values: Any) -> Any:
    """`count` zeros to which values are added at their places, those that fall together one after the other."""
    if not values.size:
        return np.zeros(count, values.dtype)
    if values.dtype.kind == "f":
        sums = np.bincount(places.ravel(), values.ravel(), count)
        return sums if values.dtype.char == "d" else sums.astype(values.dtype)
    out = np.zeros(count, values.dtype)
    np.add.at(out, places, values)
    return out


def key_of(indices: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    """numpy's key for index arrays that begin at these dimensions; a mask takes as many dimensions as it has."""
    key: list[Any] = []
    dim = 0
    for index, place in zip(indices, places, strict=True):
        key += [slice(None)] * (place - dim)
        key.append(index)
        dim = place + (index.ndim if index.dtype.char == "?" else 1)
    return tuple(key)


def index_sums(values: Any, size: tuple[int, ...], indices: tuple[Any, ...], places: tuple[int, ...]) -> Any:
    """The transpose of indexing: zeros of a size to which values are added at index arrays."""
    key = key_of(indices, places)
    values = np.asarray(values)
    if all(index.dtype.char == "?" for index in indices):
        out = np.zeros(size, values.dtype)
        out[key] = values
        return out
    if len(indices) == 1 and not places[0]:
        rows = indices[0].ravel()
        return row_sums(size[0], np.where(rows < 0, rows + size[0], rows), values.reshape(rows.size, *size[1:]))
    count = prod(size)
    return sums_at(count, np.arange(count).reshape(size)[key], values).reshape(size)


def row_sums(count: int, rows: Any, values: Any) -> Any:
    """`count` rows of zeros to which rows of values are added at their places."""
    shape = values.shape[1:]
    width = prod(shape)
    if width == 1:
        return sums_at(count, rows, values).reshape(count, *shape)
    out = np.zeros((count, *shape), values.dtype)
    if not (values.size and len(rows)):
        return out
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if len(starts) == len(rows):
        out[rows] = values
    else:
        out[ordered[starts]] = np.add.reduceat(values[order], starts)
    return out


def lanes(index: Any, axis: int) -> tuple[Any, ...]:
    """numpy's key for the places that an index names along an axis, each in its own lane of the other dimensions."""
    key: list[Any] = [
        np.arange(length).reshape((length, *(1,) * (index.ndim - dim - 1))) for dim, length in enumerate(index.shape)
    ]
    key[axis] = index
    return tuple(key)


def lane_sums(values: Any, size: tuple[int, ...], index: Any, axis: int) -> Any:
    """Zeros of a size to which values are added at places along an axis."""
    if not index.size:
        return np.zeros(size, values.dtype)
    places = np.zeros(index.shape, np.int64)
    for key, step in zip(lanes(index, axis), _row_strides(size), strict=True):
        places += key * step
    return sums_at(prod(size), places, np.asarray(values)).reshape(size)


def lane_reduction(x: Any, index: Any, values: Any, axis: int, reduce: str, include_self: bool) -> Any:
    """A copy of x with values reduced into places along an axis: "sum", "prod", "mean", "amax" or "amin"."""
    out = np.array(x, order="C")
    key = lanes(index, axis)
    kind = out.dtype.kind
    if not include_self:
        if reduce in ("amax", "amin"):
            ends = np.iinfo(out.dtype) if kind in "iu" else None
            lowest, highest = (ends.min, ends.max) if ends else (False, True) if kind == "b" else (-np.inf, np.inf)
            out[key] = lowest if reduce == "amax" else highest
        else:
            out[key] = reduce == "prod"
    if reduce == "prod":
        np.multiply.at(out, key, values)
    elif reduce in ("amax", "amin"):
        (np.maximum if reduce == "amax" else np.minimum).at(out, key, values)
    else:
        out += lane_sums(values, out.shape, index, axis)
    if reduce == "mean":
        count = lane_sums(np.ones(index.shape, out.dtype), out.shape, index, axis) + bool(include_self)
        count[count == 0] = 1
        out = out / count if kind == "f" else out // count
    return out
