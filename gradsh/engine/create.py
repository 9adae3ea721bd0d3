"""Making tensors from Python's numbers, nested lists and arrays, as `torch.tensor` does."""

from __future__ import annotations

from collections import deque
from itertools import chain

from gradsh.backend.dtypes import BY_CHAR, FLOATING, INTEGER, DType, boolean, int64, promote
from gradsh.engine.device import check_device
from gradsh.engine.promote import numpy_numbers
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, number_raw, scalar_dtype, wrap
from gradsh.engine.undefined import watch_data
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

NUMBERS = (float, int, bool)
LISTS = {list, tuple}
SEQUENCES = (list, tuple, range, deque)
PYTHON_TYPES = {float: "float64", int: "int64", bool: "bool"}  # as dtype=: what PyTorch takes them for
C_NAMES = {
    "int64": "int64_t",
    "int32": "int",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "float32": "float",
}


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf tensor that copies numbers, nested lists of numbers or tensors, or an array.

    The type is the default float type where any number has a point, else int64, or bool.
    """
    if dtype is not None and dtype.__class__ is not DType:
        dtype = dtype_argument(dtype, "tensor")
    if device is not None:
        check_device(device, "tensor")
    raw = raw_of(data, dtype)
    watch_data(raw)
    return leaf(raw, requires_grad)


def leaf(raw: Any, requires_grad: bool = False) -> Tensor:
    """A tensor that nothing was recorded for, around a canonical raw value."""
    made = wrap(raw)
    if state.inference:
        from gradsh.engine.alias import inference_alias

        made.extra = inference_alias(None)
    if requires_grad:
        if made.dtype.category != FLOATING:
            raise fault(
                RuntimeError,
                "Only Tensors of floating point and complex dtype can require gradients",
                notes=(f"these numbers are {made.dtype.name}",),
                hint=f"write them with a point (1.0), or dtype=torch.{state.default.name}",
            )
        made.requires_grad_()
    return made


def zeros_of(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """Zeros of a shape and type."""
    if not shape:
        return wrap(number_raw(0, dtype))
    from gradsh.backend import arrays

    return wrap(arrays.zeros(shape, dtype.code))


def ones_of(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """Ones of a shape and type."""
    if not shape:
        return wrap(number_raw(1, dtype))
    from gradsh.backend import arrays

    return wrap(arrays.ones(shape, dtype.code))


def dtype_argument(value: Any, function: str) -> DType:
    """A `dtype=` argument: an element type, or one of Python's number types for PyTorch's of that kind."""
    if isinstance(value, DType):
        return value
    from gradsh.backend.dtypes import ALIASES, BY_NAME

    if isinstance(value, type) and value in PYTHON_TYPES:
        return BY_NAME[PYTHON_TYPES[value]]
    likely = value if isinstance(value, str) and (value in BY_NAME or value in ALIASES) else "float32"
    raise fault(
        TypeError,
        f"{function}(): argument 'dtype' must be torch.dtype, not {type(value).__name__}",
        hint=f"dtype=torch.{likely}",
    )


def held(value: Any, dtype: DType, *, names: dict[str, str] | None = None) -> Any:
    """A Python number as an element type holds it: cut to an integer, and refused where it is out of range.

    names: what the message calls the type, if not by its own name (`C_NAMES`).
    """
    if dtype.category != INTEGER:
        if dtype is boolean:
            return bool(value)
        if (
            names
            and dtype.itemsize == 4
            and abs(value) > 3.4028235677973366e38
            and value not in (float("inf"), -float("inf"))
        ):
            raise _overflow(dtype, names)
        return value
    bits = 8 * dtype.itemsize
    largest = (1 << (bits - 1 if dtype.is_signed else bits)) - 1
    if isinstance(value, float):
        if not (0 if not dtype.is_signed else -largest - 1) <= value <= largest:
            raise _overflow(dtype, names)
        return int(value)
    lowest = -largest - (1 if dtype.is_signed else 0)
    if not lowest <= value <= largest:
        if dtype is int64 and names is None:
            raise fault(ValueError, "Overflow when unpacking long long")
        raise _overflow(dtype, names)
    return value if value >= 0 or dtype.is_signed else value + (1 << bits)


def _overflow(dtype: DType, names: dict[str, str] | None) -> BaseException:
    shown = (names or {}).get(dtype.name, dtype.name)
    return fault(RuntimeError, f"value cannot be converted to type {shown} without overflow")


def raw_of(data: Any, dtype: DType | None = None) -> Any:
    """The canonical raw value of numbers in any of the forms that `tensor` takes."""
    if data.__class__ is float and dtype is None:
        return number_raw(data)
    if isinstance(data, NUMBERS) and data.__class__ not in numpy_numbers:
        wanted = dtype or scalar_dtype(data)
        return number_raw(held(data, wanted), wanted)
    if isinstance(data, SEQUENCES):
        return _from_rows(data, dtype)
    from gradsh.backend import arrays

    if isinstance(data, Tensor):
        raw = data.raw
        if dtype is not None:
            raw = arrays.cast(raw, dtype)
        return raw.copy() if raw is data.raw and raw.__class__ is arrays.ndarray else raw
    if isinstance(data, arrays.ndarray | arrays.generic):
        raw = arrays.array(data)
        check_array_type(raw)
        raw = arrays.canonical(raw if raw.ndim else raw[()])
        return raw if dtype is None else arrays.cast(raw, dtype)
    raise _no_number(data)


def check_array_type(array: Any) -> None:
    """Refuse a numpy array of an element type that tensors have not."""
    if array.dtype.char not in BY_CHAR:
        raise fault(
            TypeError,
            "can't convert np.ndarray of type "
            f"{'numpy.' if array.dtype.kind in 'OSUV' else ''}{array.dtype.type.__name__}. The only supported types "
            "are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool.",
        )


def _no_number(item: Any) -> BaseException:
    if isinstance(item, str):
        return fault(TypeError, "new(): invalid data type 'str'", hint="float(…) reads a number from text")
    return fault(RuntimeError, f"Could not infer dtype of {type(item).__name__}")


# ---- nested lists


def _from_rows(rows: Any, dtype: DType | None) -> Any:
    from gradsh.backend import arrays

    shape = _shape_of_first(rows)
    level: Any = [rows]
    try:
        for length in shape:
            if not length:  # what stands in the other lists of this level is not looked at
                level = []
                break
            even = set(map(len, level)) == {length}
            if not even or not (set(map(type, level)) <= LISTS or all(map(_is_row, level))):
                raise TypeError
            level = list(chain.from_iterable(level))
    except TypeError:
        raise _uneven(rows, shape, dtype) from None
    kinds = set(map(type, level))
    if not kinds <= PYTHON_TYPES.keys():
        dtype = dtype or _common_type(level)
        level = [_number(item, len(shape), dtype) for item in level]
    elif dtype is None:
        dtype = state.default if float in kinds or not kinds else int64 if int in kinds else boolean
    if dtype.category == INTEGER and (dtype is not int64 or float in kinds):
        level = [held(item, dtype) for item in level]
    try:
        return arrays.array(level, dtype.code).reshape(shape)
    except OverflowError as error:
        if dtype is int64:
            raise fault(ValueError, "Overflow when unpacking long long") from None
        raise fault(OverflowError, str(error)) from None


def _shape_of_first(rows: Any) -> tuple[int, ...]:
    """The lengths found by following the first element of each level, which all others must have."""
    shape: list[int] = []
    while _is_row(rows) and not isinstance(rows, Tensor):
        shape.append(len(rows))
        if not shape[-1]:
            break
        rows = rows[0]
    if isinstance(rows, str):
        raise fault(ValueError, "too many dimensions 'str'", hint="[float(s) for s in …] reads numbers from text")
    return tuple(shape)


def _is_row(value: Any) -> bool:
    return isinstance(value, SEQUENCES) or getattr(value, "ndim", 0) > 0


def _common_type(items: Iterable[Any]) -> DType:
    """The element type of numbers that are not all Python's own: 0-d tensors and numpy's scalars keep theirs."""
    found: DType | None = None
    for item in items:
        if isinstance(item, NUMBERS) and item.__class__ not in numpy_numbers:
            kind = scalar_dtype(item)
        elif isinstance(item, Tensor):
            kind = item.dtype
        elif hasattr(item, "dtype") and hasattr(item, "item"):
            kind = BY_CHAR.get(item.dtype.char, state.default)
        elif _is_row(item):
            kind = _common_type(item)
        else:
            raise _no_number(item)
        found = kind if found is None else promote(found, kind)
    return found or state.default


def _number(item: Any, depth: int, dtype: DType) -> Any:
    """One element of nested lists as a Python number."""
    if isinstance(item, NUMBERS):
        return item
    if isinstance(item, Tensor):
        if item.numel() != 1:
            raise fault(
                ValueError,
                "only one element tensors can be converted to Python scalars",
                hint="torch.stack([…]) makes one tensor of several",
            )
        return item.item()
    if _is_row(item):
        what = (
            "must be real number, not list"
            if dtype.category == FLOATING
            else "'list' object cannot be interpreted as an integer"
        )
        raise fault(TypeError, what, notes=(f"the first element is a number, another one at dim {depth} is a list",))
    if hasattr(item, "item"):
        return item.item()
    raise _no_number(item)


def _uneven(rows: Any, shape: tuple[int, ...], dtype: DType | None) -> BaseException:
    """Which of the nested lists has another length than the first one of its level."""
    level = [rows]
    if dtype is None:
        try:
            _common_type(_leaves(rows))
        except Exception as error:
            return error
    for depth, length in enumerate(shape):
        for row in level:
            if isinstance(row, str) or not hasattr(row, "__len__") or (isinstance(row, Tensor) and not row.ndim):
                return fault(
                    TypeError, "not a sequence", notes=(f"at dim {depth} a list of {length} stands beside {row!r}",)
                )
            if len(row) != length:
                return fault(ValueError, f"expected sequence of length {length} at dim {depth} (got {len(row)})")
        level = [item for row in level for item in row]
    return fault(TypeError, "not a sequence")


def _leaves(rows: Any) -> list[Any]:
    """Everything in nested lists that is not a list itself, in order."""
    found: list[Any] = []
    stack = [rows]
    while stack:
        item = stack.pop()
        if _is_row(item):
            stack.extend(reversed(list(item)))
        else:
            found.append(item)
    return found
