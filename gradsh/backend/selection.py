"""`where` on large arrays of floats by operations on their bits: numpy's own waits for each number's branch."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGE = 1500  # numbers from which on it is worth it
BLOCK = 1 << 14  # numbers worked on at a time: the masks stay in the cache
WHOLE = {"d": np.dtype(np.int64), "f": np.dtype(np.int32)}


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y, as `numpy.where`."""
    if condition.__class__ is ndarray and condition.size > LARGE and condition.flags.c_contiguous:
        like = x if x.__class__ is ndarray and x.ndim else y
        whole = WHOLE.get(like.dtype.char) if like.__class__ is ndarray and condition.dtype.char == "?" else None
        if whole is not None:
            one, other = _bits(x, like, condition, whole), _bits(y, like, condition, whole)
            if one is not None and other is not None:
                return _chosen(condition, one, other, whole).view(like.dtype)
    return np.where(condition, x, y)


def _bits(value: Any, like: Any, condition: Any, whole: Any) -> Any:
    """The bits of an array of the result's shape and type, or of a number that takes this type; else None."""
    if value.__class__ is ndarray and value.ndim:
        fits = value.shape == condition.shape and value.dtype == like.dtype and value.flags.c_contiguous
        return value.reshape(-1).view(whole) if fits else None
    if value.__class__ in (float, int) or getattr(value, "dtype", None) == like.dtype:
        return np.array(value, like.dtype).view(whole)
    return None


def _chosen(condition: Any, one: Any, other: Any, whole: Any) -> Any:
    out = np.empty(condition.shape, whole)
    flat, condition = out.reshape(-1), condition.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        part = slice(start, start + BLOCK)
        first, second = one[part] if one.ndim else one, other[part] if other.ndim else other
        mask = condition[part].astype(whole)
        if not one.ndim and not one:  # the number 0.0, all of whose bits are 0
            np.subtract(mask, 1, mask)
            np.bitwise_and(mask, second, flat[part])
            continue
        np.negative(mask, mask)  # all ones where the condition holds
        if not other.ndim and not other:
            np.bitwise_and(mask, first, flat[part])
        else:
            np.bitwise_and(mask, np.bitwise_xor(first, second), mask)
            np.bitwise_xor(mask, second, flat[part])
    return out
