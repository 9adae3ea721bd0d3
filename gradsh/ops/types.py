"""Element types as values: their names, limits, promotion; and what kind of numbers a tensor holds."""

from __future__ import annotations

from gradsh.backend import dtypes
from gradsh.backend.dtypes import BOOL, FLOATING, DType, boolean, promote
from gradsh.engine.alias import tensor_type
from gradsh.engine.create import NUMBERS
from gradsh.engine.device import device
from gradsh.engine.promote import common_dtype
from gradsh.engine.state import state
from gradsh.engine.tensor import Size, Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.options import layout, memory_format, strided
from gradsh.ops.registry import constant, function, readable

for _dtype in dtypes.ALL:
    constant(_dtype.name, _dtype)
for _name, _dtype in dtypes.ALIASES.items():
    constant(_name, _dtype)
for _name, _value in (
    ("Tensor", Tensor), ("Size", Size), ("dtype", DType), ("device", device), ("layout", layout),
    ("memory_format", memory_format), ("strided", strided), ("inf", float("inf")), ("nan", float("nan")),
    ("pi", 3.141592653589793), ("e", 2.718281828459045), ("newaxis", None),
):  # fmt: skip
    constant(_name, _value)
for _name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
    constant(_name, memory_format(_name))
readable(device, ("type", "index"))
readable(layout, ())


class finfo:
    """The limits of a floating type: `torch.finfo(torch.float32).eps`."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    __module__ = "torch"

    def __init__(self, type=None):
        kind = state.default if type is None else type
        if not isinstance(kind, DType):
            raise fault(
                TypeError, f"finfo(): argument 'type' (position 1) must be torch.dtype, not {kind.__class__.__name__}"
            )
        if kind.category != FLOATING:
            message = "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            raise fault(TypeError, message, hint=f"torch.iinfo({kind!r})" if kind is not boolean else None)
        digits, lowest, highest, decimals = {8: (52, -1022, 1023, 15), 4: (23, -126, 127, 6), 2: (10, -14, 15, 3)}[
            kind.itemsize
        ]
        self.bits, self.dtype, self.eps = 8 * kind.itemsize, kind.name, 2.0**-digits
        self.max = (2.0 - self.eps) * 2.0**highest
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**lowest
        self.resolution = float(f"1e-{decimals}")

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


class iinfo:
    """The limits of an integer type: `torch.iinfo(torch.int32).max`."""

    __slots__ = ("bits", "dtype", "max", "min")
    __module__ = "torch"

    def __init__(self, type):
        if not isinstance(type, DType):
            raise fault(
                TypeError, f"iinfo(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}"
            )
        if type.category == FLOATING:
            message = "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            raise fault(TypeError, message, hint=f"torch.finfo({type!r})")
        if type.category == BOOL:
            raise fault(TypeError, "torch.bool is not supported by torch.iinfo")
        self.bits, self.dtype = 8 * type.itemsize, type.name
        self.max = (1 << (self.bits - type.is_signed)) - 1
        self.min = -self.max - 1 if type.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


for _kind in (finfo, iinfo):
    constant(_kind.__name__, _kind)
    readable(_kind, _kind.__slots__)


# ---- promotion


@function(
    at=("torch",),
    example="result_type(tensor([1, 2]), 1.5)",
    overloads=(
        "(Tensor tensor, Tensor other)",
        "(Number scalar, Tensor tensor)",
        "(Tensor tensor, Number other)",
        "(Number scalar1, Number scalar2)",
    ),
)
def result_type(tensor, other):
    """The element type that arithmetic on two values gives."""
    for value in (tensor, other):
        if not isinstance(value, (Tensor, *NUMBERS)):
            raise Unfit("value", "Number", value)
    return common_dtype((tensor, other), False)


@function(at=("torch",), example="promote_types(torch.int32, torch.float16)")
def promote_types(type1, type2):
    """The smallest element type that holds both."""
    for name, value in (("type1", type1), ("type2", type2)):
        if not isinstance(value, DType):
            raise Unfit(name, "torch.dtype", value)
    return promote(type1, type2)


@function(at=("torch",), example="can_cast(torch.float64, torch.int64)")
def can_cast(from_, to):
    """Whether promotion allows to write one element type over another."""
    for name, value in (("from_", from_), ("to", to)):
        if not isinstance(value, DType):
            raise Unfit(name, "torch.dtype", value)
    return from_.category <= to.category


# ---- what a value is


@function(at=("torch",), python=True)
def is_tensor(obj):
    """Whether a value is a tensor."""
    return isinstance(obj, Tensor)


@function(at=("torch",), python=True)
def typename(obj):
    """The name of a value's type, a tensor's with its element type."""
    if isinstance(obj, Tensor):
        return tensor_type(obj)
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__name__ if kind.__module__ in ("builtins", None) else f"{kind.__module__}.{kind.__qualname__}"


@function()
def is_floating_point(input):
    """Whether a tensor holds floats."""
    return operand(input).dtype.category == FLOATING


@function()
def is_complex(input):
    """Whether a tensor holds complex numbers: never."""
    operand(input)
    return False


@function()
def is_signed(input):
    """Whether a tensor's element type has negative numbers."""
    return operand(input).dtype.is_signed


@function()
def is_nonzero(input):
    """Whether the one number of a tensor is not zero."""
    return bool(operand(input))
