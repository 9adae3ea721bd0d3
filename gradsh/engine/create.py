"""Making tensors from Python's numbers and nested lists, as `torch.tensor` does."""

from __future__ import annotations

from typing import Any

from gradsh.backend.dtypes import FLOATING, DType, boolean, int64
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, number_raw, wrap
from gradsh.fault import fault

NUMBERS = (float, int, bool)


def tensor(data: Any, dtype: DType | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor that copies numbers, nested lists of numbers or tensors, or an array.

    The type is the default float type where any number has a point, else int64, or bool.
    """
    made = wrap(raw_of(data, dtype))
    if state.inference:
        from gradsh.engine.alias import inference_alias

        made.extra = inference_alias(None)
    if requires_grad:
        category = made.dtype.category
        if category != FLOATING:
            raise fault(
                RuntimeError,
                "Only Tensors of floating point and complex dtype can require gradients",
                notes=(f"these numbers are {made.dtype.name}",),
                hint=f"write them with a point (1.0), or dtype=torch.{state.default.name}",
            )
        made.requires_grad_()
    return made


def raw_of(data: Any, dtype: DType | None = None) -> Any:
    """The canonical raw value of numbers in any of the forms that `tensor` takes."""
    if isinstance(data, NUMBERS):
        try:
            return number_raw(data, dtype)
        except OverflowError:
            raise fault(RuntimeError, "value cannot be converted to type int64_t without overflow") from None
    from gradsh.backend import arrays

    if isinstance(data, Tensor):
        raw = data.raw
        if dtype is not None:
            raw = arrays.cast(raw, dtype)
        return raw.copy() if raw is data.raw and raw.__class__ is arrays.ndarray else raw
    if isinstance(data, arrays.ndarray | arrays.generic):
        raw = arrays.canonical(arrays.array(data) if data.ndim else data)
        if raw.__class__ is arrays.ndarray and raw.dtype.char not in "dfelqihbB?":
            raise fault(TypeError, f"can't convert np.ndarray of type {raw.dtype}. The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.")
        return raw if dtype is None else arrays.cast(raw, dtype)
    if isinstance(data, list | tuple | range):
        return _from_rows(data, dtype)
    if hasattr(data, "__iter__") and hasattr(data, "__len__"):
        return _from_rows(list(data), dtype)
    if isinstance(data, str):
        raise fault(TypeError, "new(): invalid data type 'str'")
    raise fault(RuntimeError, f"Could not infer dtype of {type(data).__name__}")


def _from_rows(rows: Any, dtype: DType | None) -> Any:
    from gradsh.backend import arrays

    shape = _shape(rows)
    flat: list[Any] = [rows]
    for _ in shape:
        flat = [item for row in flat for item in row]
    category, found = 0, None
    values: list[Any] = []
    for item in flat:
        if isinstance(item, Tensor):
            if item.numel() != 1:
                raise fault(ValueError, "only one element tensors can be converted to Python scalars")
            item_dtype, item = item.dtype, item.item()
            if found is None or item_dtype.category > found.category:
                found = item_dtype
        elif isinstance(item, arrays.generic):
            item = item.item()
        elif not isinstance(item, NUMBERS):
            if item is None or not isinstance(item, str):
                raise fault(RuntimeError, f"Could not infer dtype of {type(item).__name__}")
            raise fault(ValueError, f"too many dimensions '{type(item).__name__}'")
        values.append(item)
        category = max(category, 2 if isinstance(item, float) else 0 if isinstance(item, bool) else 1)
    if dtype is None:
        if not values:
            dtype = state.default
        elif found is not None and found.category >= category:
            dtype = found
        else:
            dtype = (boolean, int64, state.default)[category]
    if dtype.category == 1 and category == 2:
        values = [int(value) for value in values]
    try:
        raw = arrays.array(values, dtype.code)
    except OverflowError:
        raise fault(RuntimeError, "value cannot be converted to type int64_t without overflow" if dtype is int64 else f"value cannot be converted to type {dtype.name} without overflow") from None
    return raw.reshape(shape)


def _shape(rows: Any) -> tuple[int, ...]:
    """The shape of nested lists, checked for equal lengths at every level."""
    shape: list[int] = []
    level: list[Any] = [rows]
    while level and all(_is_row(row) for row in level):
        lengths = {len(row) for row in level}
        if len(lengths) > 1:
            first = len(level[0])
            other = next(len(row) for row in level if len(row) != first)
            raise fault(ValueError, f"expected sequence of length {first} at dim {len(shape)} (got {other})")
        shape.append(lengths.pop())
        level = [item for row in level for item in row]
        if not shape[-1]:
            break
    if any(_is_row(item) for item in level) and shape and shape[-1]:
        odd = next(item for item in level if not _is_row(item))
        raise fault(TypeError, f"not a sequence: {type(odd).__name__}") from None
    return tuple(shape)


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple | range) or isinstance(value, Tensor) and value.ndim > 0


