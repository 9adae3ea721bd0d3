"""Sums, differences, products and quotients, element by element, and Python's operators for them."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL, FLOATING, boolean
from gradsh.engine.op import elementwise
from gradsh.engine.promote import NUMBERS, broadcast_fault, common_dtype
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.registry import add_operator, bind_operator, function
from gradsh.ops.samples import Sample, nonzero, reals


@elementwise(at=())
def zero(xp, x):
    """Zeros like x: the derivative of a step."""
    return xp.zeros_like(x)


def vanishing(g):
    """The rule of a step."""
    return zero(g)


def underivable(name):
    """A rule that raises, where PyTorch has no derivative."""

    def rule(g):
        raise fault(RuntimeError, f"derivative for aten::{name} is not implemented")

    return rule


def whole(value, x):
    """A number that integers are computed with, cut to one of them."""
    dtype = getattr(x, "dtype", None)
    return int(value) if dtype is not None and dtype.kind in "iu" else value


# ---- sums and differences


@elementwise(x=lambda g: g, y=lambda g: g, sample=reals, at=())
def add(xp, x, y):
    """Sum, element by element."""
    return xp.add(x, y)


SCALED = [Sample(reals(2, 3), reals(3), alpha=-0.5), Sample(reals(), reals(), alpha=2)]


@elementwise(x=lambda g: g, y=lambda g, alpha: g * alpha, sample=SCALED, at=(), grad_fn="AddBackward0")
def add_multiple(xp, x, y, *, alpha):
    """x + alpha y."""
    return x + y * alpha


def no_truth_values(x, y):
    """PyTorch's refusal to subtract truth values."""
    count = sum(value.dtype is boolean if isinstance(value, Tensor) else isinstance(value, bool) for value in (x, y))
    if count == 2:
        message = "with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
        raise fault(RuntimeError, f"Subtraction, the `-` operator, {message}", hint="x ^ y")
    if count:
        message = (
            "with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
            "operator instead."
        )
        raise fault(RuntimeError, f"Subtraction, the `-` operator, {message}", hint="~mask, or mask.float()")


@elementwise(x=lambda g: g, y=lambda g: -g, sample=reals, at=(), check=no_truth_values)
def sub(xp, x, y):
    """Difference, element by element."""
    return xp.subtract(x, y)


@elementwise(
    x=lambda g: g, y=lambda g, alpha: g * -alpha, sample=SCALED, at=(), check=no_truth_values, grad_fn="SubBackward0"
)
def sub_multiple(xp, x, y, *, alpha):
    """x - alpha y."""
    return x - y * alpha


def _reversed_fault(error, x, y, **settings):
    """Shapes that do not broadcast, the second operand's first, as PyTorch's sub has them."""
    shapes = [tuple(getattr(one, "shape", ())) for one in (y, x)]
    return broadcast_fault(shapes) if isinstance(error, ValueError) else None


def _rsub_ops(name, grad_fn):
    """The second less the first, and less a multiple of it, of a tensor or of a number."""
    common = {"at": (), "check": no_truth_values, "explain": _reversed_fault, "grad_fn": grad_fn}
    plain = elementwise(x=lambda g: -g, y=lambda g: g, sample=reals, name=name, **common)(
        lambda xp, x, y: xp.subtract(y, x)
    )
    multiple = elementwise(
        x=lambda g, alpha: g * -alpha, y=lambda g: g, sample=SCALED, name=f"{name}_multiple", **common
    )(lambda xp, x, y, *, alpha: y - x * alpha)
    return plain, multiple


rsub_ops = _rsub_ops("rsub", "RsubBackward0")
rsub_number_ops = _rsub_ops("rsub_number", "RsubBackward1")


def _scaled(plain, multiple, input, other, alpha):
    """The operation with its second operand multiplied by alpha, which must suit the type of the result."""
    if alpha == 1 and alpha.__class__ is not bool:
        return plain(input, other)
    dtype = common_dtype((operand(input), other if isinstance(other, NUMBERS) else operand(other, "other")), False)
    if isinstance(alpha, bool) and dtype.category != BOOL:
        raise fault(RuntimeError, "Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.category != FLOATING:
        raise fault(
            RuntimeError,
            "For integral input tensors, argument alpha must not be a floating point number.",
            hint="x.double()",
        )
    return multiple(input, other, alpha=bool(alpha) if dtype.category == BOOL else alpha)


@function("add", inplace=True, example="add(tensor([1.0, 2.0]), tensor([3.0, 4.0]), alpha=10)")
def sum_of(input, other, *, alpha=1):
    """input + alpha * other, element by element."""
    return _scaled(add, add_multiple, input, other, alpha)


@function(
    "sub",
    at=("torch", "Tensor", "torch:subtract", "Tensor:subtract"),
    inplace=True,
    example="sub(tensor([1.0, 2.0]), 1)",
)
def difference_of(input, other, *, alpha=1):
    """input - alpha * other, element by element."""
    if alpha != 1:
        no_truth_values(input, other)
    return _scaled(sub, sub_multiple, input, other, alpha)


@function("rsub", at=("torch",), example="rsub(tensor([1.0, 2.0]), 3)")
def reversed_difference(input, other, alpha=1):
    """other - alpha * input, element by element."""
    if alpha != 1:
        no_truth_values(input, other)
    plain, multiple = rsub_number_ops if isinstance(other, NUMBERS) else rsub_ops
    return _scaled(plain, multiple, input, other, alpha)


# ---- products and quotients


@elementwise(
    x=lambda g, y: g * y,
    y=lambda g, x: g * x,
    sample=reals,
    at=("torch", "Tensor", "torch:multiply", "Tensor:multiply"),
    example="mul(tensor([1.0, 2.0]), 3)",
)
def mul(xp, x, y):
    """Product, element by element."""
    return xp.multiply(x, y)


@elementwise(x=lambda g, y: g / y, y=lambda g, x, y: -g * ((x / y) / y), sample=(reals, nonzero), floating=True, at=())
def div(xp, x, y):
    """Quotient, element by element; integers give floats."""
    return xp.divide(x, y)


@elementwise(
    x=lambda g, out, x: -g * out / x,
    y=lambda g, x: g / x,
    sample=(nonzero, reals),
    floating=True,
    at=(),
    grad_fn="MulBackward0",
)
def rdiv(xp, x, y):
    """The second divided by the first. PyTorch multiplies with the reciprocal, hence its node's name."""
    return xp.divide(y, x)


def has_integers(xp, x, y):
    """Whether a divisor is of integers, of which none that divides may be 0."""
    dtype = getattr(y, "dtype", None)
    if dtype is None or dtype.kind not in "iu":
        return False
    if not y.all() and 0 not in xp.broadcast_shapes(xp.shape(x), y.shape):
        raise fault(RuntimeError, "ZeroDivisionError", notes=("the divisor has a 0",))
    return True


def floor_quotient(xp, x, y):
    """Quotient rounded down."""
    has_integers(xp, x, y)
    return xp.floor_divide(x, y)


def whole_quotient(xp, x, y):
    """Quotient rounded towards zero."""
    if has_integers(xp, x, y):
        return xp.floor_divide(x, y) + ((xp.remainder(x, y) != 0) & ((x < 0) != (y < 0)))
    return xp.trunc(xp.divide(x, y))


STEPS = {"x": vanishing, "y": vanishing}
div_floor = elementwise(
    **STEPS, sample=(reals, nonzero), at=(), name="div_floor", grad_fn="DivBackward2", refuses=("div_floor_cpu", "bool")
)(floor_quotient)
div_trunc = elementwise(
    **STEPS, sample=(reals, nonzero), at=(), name="div_trunc", grad_fn="DivBackward2", refuses=("div_trunc_cpu", "bool")
)(whole_quotient)
floor_divide = elementwise(
    x=underivable("floor_divide"),
    y=underivable("floor_divide"),
    name="floor_divide",
    grad_fn="NotImplemented",
    refuses=("div_floor_cpu", "bool"),
    example="floor_divide(tensor([7, -7]), 2)",
)(floor_quotient)


@function(
    "div",
    at=("torch", "Tensor", "torch:divide", "Tensor:divide"),
    inplace=True,
    example="div(tensor([7.0, -7.0]), 2, rounding_mode='floor')",
)
def quotient(input, other, *, rounding_mode=None):
    """input / other, element by element, or that rounded: 'floor' or 'trunc'."""
    if rounding_mode is None:
        return div(input, other)
    if rounding_mode == "floor":
        return div_floor(input, other)
    if rounding_mode == "trunc":
        return div_trunc(input, other)
    raise fault(
        RuntimeError, f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
    )


@function(inplace=True, example="true_divide(tensor([7, -7]), 2)")
def true_divide(input, other):
    """input / other, element by element; integers give floats."""
    return div(input, other)


# ---- remainders


def floor_rest(xp, x, y):
    """What is left of a quotient rounded down: it has the divisor's sign."""
    if has_integers(xp, x, y):
        return xp.remainder(x, y)
    rest = xp.fmod(x, y)
    return xp.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def whole_rest(xp, x, y):
    """What is left of a quotient rounded towards zero: it has the dividend's sign."""
    has_integers(xp, x, y)
    return xp.fmod(x, y)


FLOOR_REST = {"x": lambda g: g, "y": lambda g, x, y: -g * div_floor(x, y), "sample": (reals, nonzero), "at": ()}
WHOLE_REST = {"x": lambda g: g, "y": lambda g, x, y: -g * div_trunc(x, y), "sample": (reals, nonzero), "at": ()}
_remainder = elementwise(
    **FLOOR_REST, name="remainder", grad_fn="RemainderBackward1", refuses=("remainder_cpu", "bool")
)(floor_rest)
_remainder_number = elementwise(
    **FLOOR_REST, name="remainder_number", grad_fn="RemainderBackward0", refuses=("remainder_cpu", "bool")
)(floor_rest)
_remainder_of_number = elementwise(
    y=underivable("remainder"),
    at=(),
    name="remainder_of_number",
    grad_fn="NotImplemented",
    refuses=("remainder_cpu", "bool"),
)(floor_rest)
_fmod = elementwise(**WHOLE_REST, name="fmod", grad_fn="FmodBackward1", refuses=("fmod_cpu", "bool"))(whole_rest)
_fmod_number = elementwise(**WHOLE_REST, name="fmod_number", grad_fn="FmodBackward0", refuses=("fmod_cpu", "bool"))(
    whole_rest
)


@function(inplace=True, example="remainder(tensor([7.0, -7.0]), 3)")
def remainder(input, other):
    """What is left of input / other rounded down; it has the sign of other, as Python's %."""
    if isinstance(input, NUMBERS) and isinstance(other, Tensor):
        return _remainder_of_number(input, other)
    return (_remainder_number if isinstance(other, NUMBERS) else _remainder)(input, other)


@function(inplace=True, example="fmod(tensor([7.0, -7.0]), 3)")
def fmod(input, other):
    """What is left of input / other rounded towards zero; it has the sign of input."""
    return (_fmod_number if isinstance(other, NUMBERS) else _fmod)(input, other)


# ---- one operand


def no_negative_truth(error, x):
    """PyTorch's refusal to negate truth values."""
    return fault(
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead.",
        hint="~mask",
    )


@elementwise(
    x=lambda g: -g,
    sample=reals,
    explain=no_negative_truth,
    at=("torch", "Tensor", "torch:negative", "Tensor:negative"),
    example="neg(tensor([1.0, -2.0]))",
)
def neg(xp, x):
    """Negative."""
    return xp.negative(x)


@elementwise(
    x=lambda g, x: g * sgn(x),
    sample=nonzero,
    refuses=("abs_cpu", "bool"),
    at=("torch", "Tensor", "torch:absolute", "Tensor:absolute"),
    example="abs(tensor([1.0, -2.0]))",
)
def abs(xp, x):
    """Absolute value; its derivative at 0 is 0."""
    return xp.absolute(x)


@elementwise(x=vanishing, sample=nonzero, example="sign(tensor([3.0, -2.0, 0.0]))")
def sign(xp, x):
    """1, -1 or 0."""
    return xp.signum(x)


@elementwise(x=vanishing, sample=nonzero, example="sgn(tensor([3.0, -2.0, 0.0]))")
def sgn(xp, x):
    """1, -1 or 0."""
    return xp.signum(x)


@function(example="positive(tensor([1.0, -2.0]))")
def positive(input):
    """The tensor itself."""
    if operand(input).dtype is boolean:
        raise fault(RuntimeError, "The `+` operator, on a bool tensor is not supported.", hint="mask.int()")
    return input


# ---- operators

for _symbol, _op, _number in (
    ("add", add, None), ("sub", sub, None), ("mul", mul, None), ("truediv", div, None),
    ("floordiv", floor_divide, None), ("mod", _remainder, _remainder_number),
):  # fmt: skip
    add_operator(f"__{_symbol}__", _op, number=_number)
    add_operator(f"__i{_symbol}__", _op, number=_number, inplace=True)
add_operator("__radd__", add)
add_operator("__rmul__", mul)
add_operator("__rsub__", rsub_number_ops[0])
add_operator("__rtruediv__", rdiv)
add_operator("__rfloordiv__", floor_divide, reflected=True)
add_operator("__rmod__", _remainder_of_number, reflected=True)
add_operator("__neg__", neg)
add_operator("__abs__", abs)
bind_operator("__pos__", positive)
