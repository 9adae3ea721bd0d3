"""Tensors of one value and of given numbers: zeros, ones, full, eye, their `_like` and `new_` forms, as_tensor."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean, int64
from gradsh.backend.memory import check_room
from gradsh.engine.batched import made_like
from gradsh.engine.create import C_NAMES, check_array_type, held, leaf, raw_of, tensor as make_tensor
from gradsh.engine.exposure import expose
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, number_raw
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.conversion import converted
from gradsh.ops.options import TAIL, integer, number, options, sizes
from gradsh.ops.out import deliver, taken
from gradsh.ops.registry import function

function("tensor", at=("torch",), example="tensor([[1.0, 2.0], [3.0, 4.0]])")(make_tensor)


def filled(shape, value, dtype):
    """A canonical raw value of a shape in which every element is the same number."""
    check_room(shape, dtype.itemsize)
    if not shape:
        return number_raw(value, dtype)
    from gradsh.backend import arrays

    return (
        arrays.zeros(shape, dtype.code)
        if value.__class__ is int and not value
        else arrays.full(shape, value, dtype.code)
    )


def like(input, function, value, dtype, layout, device, requires_grad):
    """A tensor of another's shape, memory order and type in which every element is the same number."""
    input = operand(input)
    dtype = options(function, dtype, layout, device, input.dtype)
    value = held(value, dtype, names=C_NAMES)
    if isinstance(input, Wrapped):
        return _like_examples(input, tuple(input.shape), value, dtype, requires_grad)
    if not input.ndim:
        return leaf(number_raw(value, dtype), requires_grad)
    from gradsh.backend import arrays

    return leaf(arrays.full_like(input.raw, value, dtype.code), requires_grad)


def _like_examples(input, shape, value, dtype, requires_grad):
    """The same inside transforms: one for each example that a tensor has."""
    made = made_like(input, shape, lambda size: leaf(filled(size, value, dtype)))
    return made.requires_grad_() if requires_grad else made


def _new(self, shape, value, dtype, requires_grad):
    if isinstance(self, Wrapped):
        return _like_examples(self, shape, value, dtype, requires_grad)
    return leaf(filled(shape, value, dtype), requires_grad)


@function(at=("torch",), example="zeros(2, 3)")
def zeros(*shape, size=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Zeros of a shape."""
    shape = sizes("zeros", shape, size)
    if any(length < 0 for length in shape):
        raise fault(RuntimeError, "zeros: Dimension size must be non-negative.", notes=(f"the shape is {shape}",))
    made = leaf(filled(shape, 0, options("zeros", dtype, layout, device, taken(out))), requires_grad)
    return made if out is None else deliver(out, made, "zeros", dtype)


@function(at=("torch",), example="ones(2, 3)")
def ones(*shape, size=None, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones of a shape."""
    made = leaf(
        filled(sizes("ones", shape, size), 1, options("ones", dtype, layout, device, taken(out))), requires_grad
    )
    return made if out is None else deliver(out, made, "ones", dtype)


@function(at=("torch",), example="empty(2, 3)")
def empty(
    *shape,
    size=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """A tensor of a shape to be written to; it holds zeros until then."""
    made = leaf(
        filled(sizes("empty", shape, size), 0, options("empty", dtype, layout, device, taken(out))), requires_grad
    )
    return made if out is None else deliver(out, made, "empty", dtype)


@function(at=("torch",), example="full((2, 3), 7.0)")
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """One number in every element of a shape."""
    if not isinstance(size, list | tuple):
        raise Unfit("size", "tuple of ints", size)
    fill_value = number(fill_value, "fill_value")
    default = boolean if isinstance(fill_value, bool) else int64 if isinstance(fill_value, int) else state.default
    dtype = options("full", dtype, layout, device, taken(out) or default)
    made = leaf(filled(sizes("full", (size,)), held(fill_value, dtype, names=C_NAMES), dtype), requires_grad)
    return made if out is None else deliver(out, made, "full", None)


@function(at=("torch",), example="scalar_tensor(3)")
def scalar_tensor(s, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A number as a 0-d tensor of the default type."""
    dtype = options("scalar_tensor", dtype, layout, device)
    return leaf(number_raw(held(number(s, "s"), dtype, names=C_NAMES), dtype), requires_grad)


@function(
    at=("torch",),
    example="eye(3)",
    overloads=(f"(int n, *, Tensor out = None, {TAIL}", f"(int n, int m, *, Tensor out = None, {TAIL}"),
)
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones on the diagonal of an n by m matrix, zeros elsewhere."""
    n = integer(n, "n")
    m = n if m is None else integer(m, "m")
    for name, length in (("n", n), ("m", m)):
        if length < 0:
            raise fault(RuntimeError, f"{name} must be greater or equal to 0, got {length}")
    dtype = options("eye", dtype, layout, device, taken(out))
    check_room((n, m), dtype.itemsize)
    from gradsh.backend import arrays

    made = leaf(arrays.eye(n, m, dtype=dtype.code), requires_grad)
    return made if out is None else deliver(out, made, "eye", dtype)


# ---- like another tensor


@function(at=("torch",), example="zeros_like(ones(2, 3))")
def zeros_like(
    input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None
):
    """Zeros of another tensor's shape and type."""
    return like(input, "zeros_like", 0, dtype, layout, device, requires_grad)


@function(at=("torch",), example="ones_like(zeros(2, 3))")
def ones_like(
    input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None
):
    """Ones of another tensor's shape and type."""
    return like(input, "ones_like", 1, dtype, layout, device, requires_grad)


@function(at=("torch",), example="empty_like(zeros(2, 3))")
def empty_like(
    input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None
):
    """A tensor to be written to, of another tensor's shape and type; it holds zeros until then."""
    return like(input, "empty_like", 0, dtype, layout, device, requires_grad)


@function(at=("torch",), example="full_like(zeros(2, 3), 7)")
def full_like(
    input,
    fill_value,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """One number in every element of another tensor's shape, in its type."""
    return like(input, "full_like", number(fill_value, "fill_value"), dtype, layout, device, requires_grad)


@function(at=("Tensor",), example="ones(2).new_zeros(3)")
def new_zeros(self, *shape, size=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Zeros of a shape, in this tensor's type."""
    dtype = options("new_zeros", dtype, layout, device, self.dtype)
    return _new(self, sizes("new_zeros", shape, size), 0, dtype, requires_grad)


@function(at=("Tensor",), example="zeros(2).new_ones(3)")
def new_ones(self, *shape, size=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones of a shape, in this tensor's type."""
    dtype = options("new_ones", dtype, layout, device, self.dtype)
    return _new(self, sizes("new_ones", shape, size), 1, dtype, requires_grad)


@function(at=("Tensor",), example="zeros(2).new_empty(3)")
def new_empty(self, *shape, size=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of a shape to be written to, in this tensor's type; it holds zeros until then."""
    dtype = options("new_empty", dtype, layout, device, self.dtype)
    return _new(self, sizes("new_empty", shape, size), 0, dtype, requires_grad)


@function(at=("Tensor",), example="zeros(2).new_full((3,), 7.0)")
def new_full(self, size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """One number in every element of a shape, in this tensor's type."""
    dtype = options("new_full", dtype, layout, device, self.dtype)
    value = held(number(fill_value, "fill_value"), dtype, names=C_NAMES)
    return _new(self, sizes("new_full", (size,)), value, dtype, requires_grad)


@function(at=("Tensor",), example="zeros(2).new_tensor([1, 2])")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A copy of numbers, in this tensor's type."""
    return leaf(raw_of(data, options("new_tensor", dtype, layout, device, self.dtype)), requires_grad)


# ---- from what is there


@function(at=("torch",), example="as_tensor([1.0, 2.0])")
def as_tensor(data, dtype=None, device=None):
    """The tensor itself, a tensor that shares a numpy array's memory, or a new one where neither will do."""
    wanted = options("as_tensor", dtype, None, device)
    dtype = None if dtype is None else wanted
    if isinstance(data, Tensor):
        return data if dtype is None else converted(data, dtype)
    if (
        type(data).__module__ == "numpy"
        and hasattr(data, "strides")
        and data.ndim
        and (dtype is None or data.dtype == dtype.code)
    ):
        return from_numpy(data)
    return leaf(raw_of(data, dtype))


@function(at=("torch",), example="asarray([1.0, 2.0])")
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """As `as_tensor`, or with `copy=True` always a new tensor."""
    made = as_tensor(obj, dtype, device)
    if copy:
        made = made.clone() if made is obj else leaf(raw_of(made))
    return made.requires_grad_() if requires_grad else made


@function(at=("torch",))
def from_numpy(array):
    """A tensor that shares the memory of a numpy array."""
    from gradsh.backend import arrays

    if not isinstance(array, arrays.ndarray):
        raise fault(TypeError, f"expected np.ndarray (got {type(array).__name__})", hint="torch.tensor(…) copies lists")
    check_array_type(array)
    if any(stride < 0 for stride in array.strides):
        raise fault(
            ValueError,
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) ",
        )
    expose(array)
    return leaf(array)


@function(at=("torch",), example="empty_strided((2, 3), (1, 2))")
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of a shape whose elements lie in memory as the strides say; it holds zeros."""
    shape, strides = sizes("empty_strided", (size,)), sizes("empty_strided", (stride,))
    if len(shape) != len(strides):
        raise fault(
            RuntimeError, f"mismatch in length of strides and shape. Size: {list(shape)}, Stride: {list(strides)}"
        )
    dtype = options("empty_strided", dtype, layout, device)
    from gradsh.backend import arrays

    reach = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    check_room((reach,), dtype.itemsize)
    memory = arrays.zeros(max(reach, 1), dtype.code)
    return leaf(
        arrays.lib.stride_tricks.as_strided(memory, shape, [s * dtype.itemsize for s in strides]), requires_grad
    )
