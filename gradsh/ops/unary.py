"""Functions of one number, element by element: exponentials, logarithms, roots, trigonometry, rounding."""

from __future__ import annotations

import builtins
import math

from gradsh.backend.dtypes import FLOATING, boolean
from gradsh.engine.op import elementwise, general
from gradsh.engine.promote import broadcast_fault
from gradsh.fault import fault
from gradsh.ops.arithmetic import vanishing
from gradsh.ops.calls import operand
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, above_one, between, nonzero, positive, probabilities, reals, unit

TORCH_SPECIAL = ("torch", "Tensor", "special")

# ---- exponentials, logarithms, roots


@elementwise(x=lambda g, out: g * out, sample=reals, floating=True, example="exp(tensor([0.0, 1.0]))")
def exp(xp, x):
    """e to the power x."""
    return xp.exp(x)


@elementwise(
    x=lambda g, out: g * out * math.log(2.0),
    sample=reals,
    floating=True,
    at=TORCH_SPECIAL,
    example="exp2(tensor([0.0, 3.0]))",
)
def exp2(xp, x):
    """2 to the power x."""
    return xp.exp2(x)


@elementwise(
    x=lambda g, out: g * (out + 1), sample=reals, floating=True, at=TORCH_SPECIAL, example="expm1(tensor([0.0, 1e-12]))"
)
def expm1(xp, x):
    """exp(x) - 1, without loss near 0."""
    return xp.expm1(x)


@elementwise(x=lambda g, x: g / x, sample=positive, floating=True, example="log(tensor([1.0, 10.0]))")
def log(xp, x):
    """Natural logarithm."""
    return xp.log(x)


@elementwise(x=lambda g, x: g / (x * math.log(2.0)), sample=positive, floating=True, example="log2(tensor([1.0, 8.0]))")
def log2(xp, x):
    """Logarithm to base 2."""
    return xp.log2(x)


@elementwise(
    x=lambda g, x: g / (x * math.log(10.0)), sample=positive, floating=True, example="log10(tensor([1.0, 1000.0]))"
)
def log10(xp, x):
    """Logarithm to base 10."""
    return xp.log10(x)


@elementwise(
    x=lambda g, x: g / (x + 1),
    sample=probabilities,
    floating=True,
    at=TORCH_SPECIAL,
    grad_fn="Log1PBackward0",
    example="log1p(tensor([0.0, 1e-12]))",
)
def log1p(xp, x):
    """log(1 + x), without loss near 0."""
    return xp.log1p(x)


@elementwise(x=lambda g, out: g / (2 * out), sample=positive, floating=True, example="sqrt(tensor([4.0, 9.0]))")
def sqrt(xp, x):
    """Square root."""
    return xp.sqrt(x)


@elementwise(
    x=lambda g, out: -0.5 * g * (out * out * out), sample=positive, floating=True, example="rsqrt(tensor([4.0, 16.0]))"
)
def rsqrt(xp, x):
    """1 / sqrt(x)."""
    return xp.divide(1, xp.sqrt(x))


@elementwise(x=lambda g, out: -g * (out * out), sample=nonzero, floating=True, example="reciprocal(tensor([2.0, 4.0]))")
def reciprocal(xp, x):
    """1 / x."""
    return xp.divide(1, x)


# ---- trigonometry


@elementwise(x=lambda g, x: g * cos(x), sample=reals, floating=True, example="sin(tensor([0.0, pi / 2]))")
def sin(xp, x):
    """Sine."""
    return xp.sin(x)


@elementwise(x=lambda g, x: -g * sin(x), sample=reals, floating=True, example="cos(tensor([0.0, pi]))")
def cos(xp, x):
    """Cosine."""
    return xp.cos(x)


@elementwise(x=lambda g, out: g * (1 + out * out), sample=unit, floating=True, example="tan(tensor([0.0, pi / 4]))")
def tan(xp, x):
    """Tangent."""
    return xp.tan(x)


@elementwise(
    x=lambda g, x: g * rsqrt(1 - x * x),
    sample=unit,
    floating=True,
    at=("torch", "Tensor", "torch:arcsin", "Tensor:arcsin"),
    example="asin(tensor([0.0, 1.0]))",
)
def asin(xp, x):
    """Inverse sine."""
    return xp.arcsin(x)


@elementwise(
    x=lambda g, x: -g * rsqrt(1 - x * x),
    sample=unit,
    floating=True,
    at=("torch", "Tensor", "torch:arccos", "Tensor:arccos"),
    example="acos(tensor([0.0, 1.0]))",
)
def acos(xp, x):
    """Inverse cosine."""
    return xp.arccos(x)


@elementwise(
    x=lambda g, x: g / (x * x + 1),
    sample=reals,
    floating=True,
    at=("torch", "Tensor", "torch:arctan", "Tensor:arctan"),
    example="atan(tensor([0.0, 1.0]))",
)
def atan(xp, x):
    """Inverse tangent."""
    return xp.arctan(x)


@elementwise(x=lambda g, x: g * cosh(x), sample=reals, floating=True, example="sinh(tensor([0.0, 1.0]))")
def sinh(xp, x):
    """Hyperbolic sine."""
    return xp.sinh(x)


@elementwise(x=lambda g, x: g * sinh(x), sample=reals, floating=True, example="cosh(tensor([0.0, 1.0]))")
def cosh(xp, x):
    """Hyperbolic cosine."""
    return xp.cosh(x)


@elementwise(
    x=lambda g, out: g * (1 - out * out),
    sample=reals,
    floating=True,
    at=("torch", "Tensor", "F"),
    example="tanh(tensor([0.0, 1.0]))",
)
def tanh(xp, x):
    """Hyperbolic tangent."""
    return xp.tanh(x)


@elementwise(
    x=lambda g, x: g * rsqrt(x * x + 1),
    sample=reals,
    floating=True,
    at=("torch", "Tensor", "torch:arcsinh", "Tensor:arcsinh"),
    example="asinh(tensor([0.0, 1.0]))",
)
def asinh(xp, x):
    """Inverse hyperbolic sine."""
    return xp.arcsinh(x)


@elementwise(
    x=lambda g, x: g * rsqrt(x * x - 1),
    sample=above_one,
    floating=True,
    at=("torch", "Tensor", "torch:arccosh", "Tensor:arccosh"),
    example="acosh(tensor([1.0, 2.0]))",
)
def acosh(xp, x):
    """Inverse hyperbolic cosine."""
    return xp.arccosh(x)


@elementwise(
    x=lambda g, x: g / (1 - x * x),
    sample=unit,
    floating=True,
    at=("torch", "Tensor", "torch:arctanh", "Tensor:arctanh"),
    example="atanh(tensor([0.0, 0.5]))",
)
def atanh(xp, x):
    """Inverse hyperbolic tangent."""
    return xp.arctanh(x)


@elementwise(
    x=lambda g: g * (math.pi / 180),
    sample=reals,
    floating=True,
    grad_fn="Deg2RadBackward0",
    example="deg2rad(tensor([180.0]))",
)
def deg2rad(xp, x):
    """Degrees in radians."""
    return xp.multiply(x, math.pi / 180)


@elementwise(
    x=lambda g: g * (180 / math.pi),
    sample=reals,
    floating=True,
    grad_fn="Rad2DegBackward0",
    example="rad2deg(tensor([pi]))",
)
def rad2deg(xp, x):
    """Radians in degrees."""
    return xp.multiply(x, 180 / math.pi)


@elementwise(
    x=lambda g, out: g * ((1 - out) * out),
    sample=reals,
    floating=True,
    at=("torch", "Tensor", "F", "special:expit"),
    example="sigmoid(tensor([0.0, 2.0]))",
)
def sigmoid(xp, x):
    """1 / (1 + exp(-x))."""
    return xp.divide(1, 1 + xp.exp(-x))


@elementwise(x=vanishing, sample=nonzero, floating=True, inplace=False, example="angle(tensor([1.0, -1.0]))")
def angle(xp, x):
    """The angle of a number in the complex plane: 0, or pi where it is negative."""
    return xp.where(x != x, x, xp.where(x < 0, math.pi, xp.zeros_like(x)))


# ---- rounding: the derivative is 0

BETWEEN_STEPS = between(0.1, 0.4)


@elementwise(x=vanishing, sample=BETWEEN_STEPS, refuses=("floor_vml_cpu", "bool"), example="floor(tensor([1.5, -1.5]))")
def floor(xp, x):
    """The largest whole number that is not above x."""
    return xp.floor(x)


@elementwise(x=vanishing, sample=BETWEEN_STEPS, refuses=("ceil_vml_cpu", "bool"), example="ceil(tensor([1.5, -1.5]))")
def ceil(xp, x):
    """The smallest whole number that is not below x."""
    return xp.ceil(x)


@elementwise(
    x=vanishing,
    sample=BETWEEN_STEPS,
    refuses=("trunc_vml_cpu", "bool"),
    at=("torch", "Tensor", "torch:fix", "Tensor:fix"),
    example="trunc(tensor([1.5, -1.5]))",
)
def trunc(xp, x):
    """The whole part."""
    return xp.trunc(x)


@elementwise(
    x=lambda g: g, sample=BETWEEN_STEPS, refuses=("frac_cpu", "bool integer"), example="frac(tensor([1.5, -1.5]))"
)
def frac(xp, x):
    """What is left of the whole part."""
    return x - xp.trunc(x)


@elementwise(x=vanishing, sample=BETWEEN_STEPS, refuses=("round_vml_cpu", "bool"), at=(), name="round")
def nearest(xp, x):
    """The nearest whole number, the even one of two."""
    return x.copy() if getattr(x, "dtype", None) is not None and x.dtype.kind != "f" else xp.rint(x)


@elementwise(
    x=vanishing,
    sample=[Sample(BETWEEN_STEPS(2, 3), decimals=0)],
    refuses=("round_cpu", "bool integer"),
    at=(),
    grad_fn="RoundBackward1",
)
def round_to(xp, x, *, decimals):
    """Rounded to that many places after the point."""
    scale = 10.0 ** builtins.abs(decimals)
    return xp.rint(x * scale) / scale if decimals > 0 else xp.rint(x / scale) * scale


round_to_none = elementwise(
    x=vanishing,
    sample=BETWEEN_STEPS,
    refuses=("round_vml_cpu", "bool integer"),
    at=(),
    name="round_to_none",
    grad_fn="RoundBackward1",
)(lambda xp, x: xp.rint(x))


@function(at=("torch", "Tensor", "special"), inplace=True, example="round(tensor([1.25, 2.5]), decimals=1)")
def round(input, *, decimals=None):
    """The nearest number with that many places after the point, the even one of two."""
    if decimals is None:
        return nearest(input)
    return round_to(input, decimals=decimals) if decimals else round_to_none(input)


# ---- parts of numbers


SAME = ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg")


@function(at=tuple(f"{place}:{name}" for place in ("torch", "Tensor") for name in SAME))
def real(input):
    """The real part: the tensor itself, which has no imaginary one."""
    return operand(input)


@function()
def imag(input):
    """The imaginary part, which no tensor here has."""
    raise fault(RuntimeError, "imag is not implemented for tensors with non-complex dtypes.")


@general(
    x=lambda g, exponent: ldexp(g, -exponent) if g is not None else None,
    outputs=("mantissa", "exponent"),
    differentiable=(True, False),
    at=("torch", "Tensor"),
    sample=Sample(positive(3)),
    example="frexp(tensor([10.0]))",
    batch="elementwise",
)
def frexp(xp, x):
    """Mantissa in [0.5, 1) and power of 2 whose product is x."""
    x = xp.asarray(x)
    if x.dtype.kind != "f":
        raise fault(RuntimeError, "torch.frexp() only supports floating-point dtypes", hint="x.float()")
    mantissa, exponent = xp.frexp(x)
    return mantissa, xp.asarray(exponent, "i4")


@elementwise(
    x=lambda g, y: ldexp(g, y),
    y=lambda g, out: g * out * math.log(2.0),
    sample=reals,
    numbers=False,
    check=lambda x, y: _check_exponent(x, y),
    floating=True,
    example="ldexp(tensor([1.0]), tensor([3]))",
)
def ldexp(xp, x, y):
    """x times 2 to the power y."""
    return x * xp.exp2(y)


def _check_exponent(x, y):
    if y.dtype is boolean and x.dtype.category == FLOATING:
        refusal = fault(NotImplementedError, "\"ldexp_cpu_exp\" not implemented for 'Bool'", hint=".long()")
        raise broadcast_fault([x.shape, y.shape]) or refusal
