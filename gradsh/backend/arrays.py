"""The namespace of arrays: numpy's functions, and those that numpy has not.

Importing this module imports numpy; nothing on the way to a scalar answer does. numpy's names become globals here
when they are first asked for, so Python's own `sum`, `max`, … are written `builtins.sum` in this file.
"""

from __future__ import annotations

from gradsh.backend.shield import shield

with shield:  # numpy cannot be loaded again where it was interrupted
    import numpy as np

from numpy import ndarray as ndarray  # noqa: PLC0414  (offered to those who ask here for array types)

from gradsh.backend import allocation, loading, selection
from gradsh.backend.dtypes import BY_CHAR, DType, float32 as single, float64 as double

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

float32 = np.float32
float64 = np.float64
where = selection.where


def canonical(value: Any) -> Any:
    """The raw form of whatever a kernel gave: numpy's 0-d results become floats or 0-d arrays."""
    kind = value.__class__
    if kind is ndarray or kind is float or kind is float32:
        return value
    if kind is float64:
        return float(value)
    return np.asarray(value)


def dtype_of(raw: Any) -> DType:
    """The element type of a raw value."""
    kind = raw.__class__
    if kind is float:
        return double
    if kind is float32:
        return single
    return BY_CHAR[raw.dtype.char]


def cast(raw: Any, dtype: DType) -> Any:
    """The raw value with another element type; the same object where it has that type already."""
    kind = raw.__class__
    if kind is not ndarray:
        if dtype is double:
            return float(raw)
        if dtype is single:
            return float32(raw)
        if dtype.category < 2 and kind is float32:
            raw = np.asarray(raw)
    array = np.asarray(raw)
    if 0 in array.strides and array.dtype != dtype.code:
        return _filled(empty_like(array, dtype.code), array)
    return array.astype(dtype.code, copy=False)


def empty_like(array: Any, dtype: Any = None) -> ndarray:
    """An array of the same shape and memory order; an axis spread from one element lies where PyTorch puts it."""
    array = np.asarray(array)
    if array.ndim < 2 or 0 not in array.strides:
        return np.empty_like(array, dtype)
    from gradsh.backend.memory_order import visiting_order

    order = visiting_order(array)
    made = np.empty([array.shape[axis] for axis in order], array.dtype if dtype is None else dtype)
    return made.transpose(sorted(range(array.ndim), key=order.__getitem__))


def full_like(array: Any, value: Any, dtype: Any = None) -> ndarray:
    """The same, of one number."""
    return _filled(empty_like(array, dtype), value)


def duplicate(array: Any) -> ndarray:
    """A copy in the same memory order."""
    spread = array.__class__ is ndarray and 0 in array.strides
    return _filled(empty_like(array), array) if spread else np.array(array, order="K")


def _filled(array: ndarray, value: Any) -> ndarray:
    array[...] = value
    return array


def shared(raw: Any) -> ndarray:
    """A raw value that two handles may hold: a float becomes a 0-d array."""
    return raw if raw.__class__ is ndarray else np.array(raw)


FEW = 256
_ones: dict[str, list[Any]] = {char: [None] * (FEW + 1) for char in "fd"}


def total(x: Any) -> Any:
    """The sum of all numbers as PyTorch adds them: integers in int64, halves in single precision.

    A few are added by BLAS, at a third of a ufunc's price.
    """
    if x.__class__ is not ndarray:
        return x if x.__class__ is float else total(np.asarray(x))
    of_type = _ones.get(x.dtype.char)
    if of_type is not None:
        size = x.size
        if size > FEW:
            return np.add.reduce(x, None)
        ones = of_type[size]
        if ones is None:
            ones = _column(size, x.dtype)
        return x.dot(ones) if x.ndim == 1 else x.reshape(-1).dot(ones)
    if x.dtype.char == "e":
        return np.add.reduce(x, None, float32).astype(x.dtype)
    return np.add.reduce(x, None, np.int64)


def sums(x: Any, axes: tuple[int, ...], keepdim: bool = True) -> Any:
    """The sums of floats over dimensions; rows of a few numbers are added by BLAS, as in `total`."""
    if len(axes) == 1 and x.__class__ is ndarray:
        *lead, size = x.shape
        if lead and axes[0] in (-1, len(lead)) and 0 < size <= FEW and x.dtype.char in _ones and x.flags.c_contiguous:
            return x.reshape(-1, size).dot(_column(size, x.dtype)).reshape((*lead, 1) if keepdim else lead)
    return np.add.reduce(x, axes, None, None, keepdim)  # type: ignore[call-overload]


def _column(size: int, dtype: Any) -> Any:
    ones = _ones[dtype.char][size]
    if ones is None:
        ones = _ones[dtype.char][size] = np.ones(size, dtype)
    return ones


def sum_to(raw: Any, shape: tuple[int, ...]) -> Any:
    """Sum (or, where it is the smaller one, broadcast) an array to a shape."""
    if raw.__class__ is not ndarray:
        raw = np.asarray(raw)
    if not shape:
        return total(raw)
    lead = raw.ndim - len(shape)
    if lead < 0:
        return np.broadcast_to(raw, shape).copy()
    axes = tuple(range(lead)) + tuple(k + lead for k, length in enumerate(shape) if length == 1 != raw.shape[k + lead])
    if not axes:
        return raw.reshape(shape)
    value: ndarray[Any, Any] = np.add.reduce(raw, axes, None, None, True)  # type: ignore[call-overload]
    return value.reshape(shape) if lead else value


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        value = getattr(np, name)
    except AttributeError:
        from gradsh.backend import placing

        value = getattr(placing, name, None)
        if value is None:
            from gradsh.backend import special

            value = getattr(special, name)
    globals()[name] = value
    return value


allocation.keep_freed_memory()
loading.announce()
