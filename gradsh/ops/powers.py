"""Powers and roots, with PyTorch's three kinds of nodes: of a number's power, of a tensor's, and to a number."""

from __future__ import annotations

from math import inf

from gradsh.backend.dtypes import BOOL, INTEGER, float64 as double, int64
from gradsh.engine.inplace import inplace
from gradsh.engine.op import OPS, elementwise
from gradsh.engine.promote import NUMBERS, common_dtype, numpy_numbers, plain_number
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.arithmetic import zero
from gradsh.ops.calls import for_number, operand
from gradsh.ops.choice import where
from gradsh.ops.options import fits_none
from gradsh.ops.registry import bind_operator, function
from gradsh.ops.samples import Sample, positive, reals
from gradsh.ops.unary import log

SIGNATURES = (
    "(Tensor input, Tensor exponent, *, Tensor out = None)",
    "(Number self, Tensor exponent, *, Tensor out = None)",
    "(Tensor input, Number exponent, *, Tensor out = None)",
)


def _slope_to_number(g, x, exponent):
    if exponent == 0:
        return zero(g)
    if not isinstance(x, Tensor):  # a pass that records itself must find a power to go on from, as PyTorch's does
        if exponent == 2:
            return g * (2 * x)
        if exponent == 3:
            return g * (3 * x * x)
    return g * (exponent * power_to_number(x, exponent - 1))


@elementwise(
    x=_slope_to_number,
    sample=[Sample(reals(2, 3), exponent=3), Sample(positive(), exponent=-0.5), Sample(reals(3), exponent=2)],
    at=(),
    grad_fn="PowBackward0",
)
def power_to_number(xp, x, *, exponent):
    """x to a power that is a Python number, of a type no less than x's."""
    if exponent == 2:
        return xp.multiply(x, x)
    if exponent == 3:
        return xp.cube(x)
    if exponent == 0.5:
        return xp.sqrt(x)
    if exponent == -0.5:
        return xp.divide(1, xp.sqrt(x))
    if exponent == -1:
        return xp.divide(1, x)
    return xp.power(x, exponent)


def _slope_of_exponent(g, x, y, out):
    return g * where((x == 0) & (y >= 0), 0.0, out * log(x))


def whole_power(xp, x, y):
    """x to the power y; of integers, truncated where the exponent is negative."""
    if getattr(y, "dtype", None) is not None and y.dtype.kind == "i" and (y < 0).any():
        sign = xp.where(xp.remainder(y, 2) == 0, 1, x)  # -1 to an odd power
        return xp.where(y >= 0, xp.power(x, xp.maximum(y, 0)), xp.where(xp.absolute(x) == 1, sign, 0)).astype(x.dtype)
    return xp.power(x, y)


tensor_power = elementwise(
    x=lambda g, x, y: where(y == 0, 0.0, g * (y * tensor_power(x, y - 1))),
    y=_slope_of_exponent,
    sample=(positive, reals),
    at=(),
    name="pow",
    grad_fn="PowBackward1",
    refuses=("pow", "bool"),
)(whole_power)


def _slope_of_exponent_alone(g, x, y, out):
    if isinstance(x, Tensor) or getattr(x, "ndim", None):  # numbers of several examples
        return _slope_of_exponent(g, x, y, out)
    return g * where(y >= 0, 0.0, out * -inf) if x == 0 else g * (out * log(x))


number_power = elementwise(
    y=_slope_of_exponent_alone,
    sample=[Sample(positive(), reals(2, 3)), Sample(positive(), reals())],
    at=(),
    name="number_power",
    grad_fn="PowBackward2",
)(whole_power)


def _to_number(x, exponent):
    """A tensor to a power that is a Python number, in the type of both."""
    raw = x.raw
    if raw.__class__ is float or raw.dtype.char in "dfe":
        return power_to_number(x, exponent)
    dtype = common_dtype((x, exponent), False)
    if dtype.category == BOOL:
        return OPS["to_dtype"](power_to_number(OPS["to_dtype"](x, dtype=int64), int(exponent)), dtype=dtype)
    if dtype.category == INTEGER and exponent < 0:
        raise fault(
            RuntimeError, "Integers to negative integer powers are not allowed.", hint=f"x.double() ** {exponent}"
        )
    return power_to_number(OPS["to_dtype"](x, dtype=dtype), exponent)


def _power(input, exponent):
    number = isinstance(exponent, NUMBERS)
    if (isinstance(input, NUMBERS) and (number or not isinstance(exponent, Tensor))) or (
        not number and _is_strange(exponent)
    ):
        raise fits_none()
    if number:
        return _to_number(operand(input), exponent)
    return (number_power if isinstance(input, NUMBERS) else tensor_power)(input, operand(exponent, "exponent"))


def _is_strange(value):
    return not isinstance(value, Tensor) and not (state.lists and isinstance(value, list | tuple))


@function("pow", inplace=True, overloads=SIGNATURES, example="pow(tensor([1.0, 2.0]), 3)")
def power_of(input, exponent):
    """input to the power exponent, element by element."""
    if isinstance(input, NUMBERS) and isinstance(exponent, NUMBERS) and state.lists:
        return input**exponent
    return _power(input, exponent)


@function(inplace=True, overloads=SIGNATURES, example="float_power(tensor([1, 2]), 0.5)")
def float_power(input, exponent):
    """input to the power exponent, computed in float64."""
    return _power(_in_double(input), _in_double(exponent))


def _in_double(value):
    return OPS["to_dtype"](value, dtype=double) if isinstance(value, Tensor) else value


@function(inplace=True, at=("torch", "Tensor"), example="square(tensor([1.0, -2.0]))")
def square(input):
    """The square of each number."""
    return for_number(square, input) if input.__class__ in NUMBERS else _to_number(operand(input), 2)


# ---- operators


def _raised(self, exponent):
    kind = exponent.__class__
    if kind is int or kind is float or kind is bool:
        return _to_number(self, exponent)
    if isinstance(exponent, Tensor):
        return tensor_power(self, exponent)
    return _to_number(self, plain_number(exponent)) if kind in numpy_numbers else NotImplemented


def _raising(self, base):
    base = plain_number(base)
    return number_power(base, self) if isinstance(base, NUMBERS) else NotImplemented


def _raised_in_place(self, exponent):
    return inplace(_raised, self, exponent, what="**=")


bind_operator("__pow__", _raised)
bind_operator("__rpow__", _raising)
bind_operator("__ipow__", _raised_in_place)
