"""Tensors in another element type or place: `to` and its short forms, `type`, `numpy`."""

from __future__ import annotations

from gradsh.backend import dtypes
from gradsh.backend.dtypes import FLOATING, DType
from gradsh.engine.alias import tensor_type
from gradsh.engine.create import PYTHON_TYPES, dtype_argument, leaf
from gradsh.engine.device import check_device, device as device_type, no_cuda
from gradsh.engine.exposure import expose
from gradsh.engine.op import constant
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import fault
from gradsh.ops.calls import Unfit
from gradsh.ops.registry import bind_operator, function
from gradsh.ops.structure import to_dtype

SHORT = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)"


@constant(at=(), batch="elementwise")
def cut(xp, x, *, dtype):
    """The same numbers in an element type without fractions, through which no gradient passes."""
    return xp.cast(x, dtype)


def converted(tensor, dtype, copy=False):
    """The tensor in an element type: itself where it has that type, unless a copy is asked for."""
    if tensor.dtype is dtype and not copy:
        return tensor
    if dtype.category == FLOATING:
        made = to_dtype(tensor, dtype=dtype)
        if made.raw is tensor.raw and hasattr(made.raw, "copy"):
            made.raw = made.raw.copy()
        return made
    if isinstance(tensor, Wrapped):
        return cut(tensor, dtype=dtype)
    from gradsh.backend import arrays

    raw = arrays.cast(tensor.raw, dtype)
    return leaf(raw.copy() if raw is tensor.raw else raw)


@function(
    at=("Tensor",),
    example="ones(2).to(torch.float32)",
    overloads=(
        f"(torch.device device = None, torch.dtype dtype = None, {SHORT}",
        f"(torch.dtype dtype, {SHORT}",
        f"(Tensor tensor, {SHORT}",
    ),
)
def to(self, *target, device=None, dtype=None, other=None, non_blocking=False, copy=False, memory_format=None):
    """The tensor in an element type, on a device, or like another tensor; itself where nothing changes."""
    first, *rest = target or (None,)
    if isinstance(first, Tensor):
        other = first
    elif _is_dtype(first):
        dtype = first
    elif first is not None:
        device = first
        if not isinstance(device, device_type | str | int):
            raise Unfit("device", "torch.device", device)
    if rest and _is_dtype(rest[0]):
        dtype, *rest = rest
    if len(rest) > 1:
        copy = rest[1]
    if other is not None:
        dtype = other.dtype
    if device is not None:
        check_device(device, "to")
    return converted(self, self.dtype if dtype is None else dtype_argument(dtype, "to"), copy)


def _is_dtype(value):
    return isinstance(value, DType) or (isinstance(value, type) and value in PYTHON_TYPES)


def _short_form(name, dtype):
    def short(self, *, memory_format=None):
        return converted(self, dtype)

    short.__doc__ = f"The tensor as {dtype.name}; itself where it is."
    function(name, at=("Tensor",), example=f"ones(2).{name}()")(short)


for _name, _dtype in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16), ("int", dtypes.int32),
    ("long", dtypes.int64), ("short", dtypes.int16), ("char", dtypes.int8), ("byte", dtypes.uint8),
    ("bool", dtypes.boolean),
):  # fmt: skip
    _short_form(_name, _dtype)


@function("type", at=("Tensor",), example="ones(2).type(torch.int64)")
def type_of(self, dtype=None, non_blocking=False):
    """The name of the tensor's type, `torch.DoubleTensor` say; or with an argument the tensor in that type."""
    from gradsh.ops.legacy import named_type

    if dtype is None:
        return tensor_type(self)
    return converted(self, dtype if isinstance(dtype, DType) else named_type(dtype))


@function(at=("Tensor",), example="ones(2).type_as(tensor(1))")
def type_as(self, other):
    """The tensor in another one's element type."""
    if not isinstance(other, Tensor):
        raise Unfit("other", "Tensor", other)
    return converted(self, other.dtype)


@function(at=("Tensor",), example="ones(2).cpu()")
def cpu(self, memory_format=None):
    """The tensor itself: it is on the processor."""
    return self


@function(at=("Tensor",))
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """PyTorch's error, for there is no other device; the tensor itself after `:set cuda cpu`."""
    from gradsh.engine.state import state

    if not state.cuda_as_cpu:
        raise no_cuda()
    return self


@function(at=("Tensor",))
def numpy(self, *, force=False):
    """A numpy array that shares the tensor's memory."""
    if self.requires_grad and not force:
        raise fault(
            RuntimeError,
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            hint=".detach().numpy()",
        )
    from gradsh.backend import arrays

    self.raw = arrays.shared(self.raw)
    expose(self.raw)
    return self.raw


def _as_array(self, dtype=None, copy=None):
    array = numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


def _from_result(self, array, context=None, return_scalar=False):
    """What numpy's functions of a tensor give: a tensor again."""
    from gradsh.backend import arrays

    array = arrays.shared(array)
    return leaf(array.astype("u1") if array.dtype.char == "?" else array)


bind_operator("__array__", _as_array)
bind_operator("__array_wrap__", _from_result)
