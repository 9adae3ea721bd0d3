"""Special functions, element by element: error functions, the gamma function's family, Bessel functions, entropy."""

from __future__ import annotations

import builtins
import math

from gradsh.backend.dtypes import BOOL
from gradsh.engine.op import elementwise
from gradsh.engine.promote import NUMBERS
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.arithmetic import sgn
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.choice import where
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, between, integers, nonzero, positive, probabilities, reals, unit
from gradsh.ops.unary import exp, log

EVERYWHERE = ("torch", "Tensor", "special")
HALF_ROOT = math.sqrt(0.5)
ROOT_PI = math.sqrt(math.pi)

# ---- error functions and the normal distribution


@elementwise(
    x=lambda g, x: g * (2 / ROOT_PI * exp(-x * x)),
    sample=reals,
    floating=True,
    at=EVERYWHERE,
    example="erf(tensor([0.0, 1.0]))",
)
def erf(xp, x):
    """The error function: 2 / sqrt(pi) times the integral of exp(-t²) from 0 to x."""
    return xp.erf(x)


@elementwise(
    x=lambda g, x: g * (-2 / ROOT_PI * exp(-x * x)),
    sample=reals,
    floating=True,
    at=EVERYWHERE,
    example="erfc(tensor([0.0, 5.0]))",
)
def erfc(xp, x):
    """1 - erf(x), without loss for large x."""
    return xp.erfc(x)


@elementwise(
    x=lambda g, x, out: g * (2 * x * out - 2 / ROOT_PI),
    sample=reals,
    floating=True,
    at=("special",),
    grad_fn="SpecialErfcxBackward0",
    example="torch.special.erfcx(tensor([0.0, 50.0]))",
)
def erfcx(xp, x):
    """exp(x²) erfc(x)."""
    return xp.erfcx(x)


@elementwise(
    x=lambda g, out: g * (ROOT_PI / 2 * exp(out * out)),
    sample=unit,
    floating=True,
    at=EVERYWHERE,
    example="erfinv(tensor([0.0, 0.5]))",
)
def erfinv(xp, x):
    """The inverse of erf."""
    return xp.erfinv(x)


@elementwise(
    x=lambda g, x: g * (1 / math.sqrt(2 * math.pi) * exp(-0.5 * x * x)),
    sample=reals,
    floating=True,
    at=("special",),
    grad_fn="MulBackward1",
    example="torch.special.ndtr(tensor([0.0, 1.96]))",
)
def ndtr(xp, x):
    """The normal distribution function: the probability below x."""
    return xp.ndtr(x)


@elementwise(
    x=lambda g, x: g * (math.sqrt(2 / math.pi) / erfcx(-HALF_ROOT * x)),
    sample=reals,
    floating=True,
    at=("special",),
    grad_fn="SpecialLogNdtrBackward0",
    example="torch.special.log_ndtr(tensor([0.0, -50.0]))",
)
def log_ndtr(xp, x):
    """The logarithm of the normal distribution function."""
    return xp.log_ndtr(x)


@elementwise(
    x=lambda g, out: g * (math.sqrt(2 * math.pi) * exp(0.5 * out * out)),
    sample=probabilities,
    floating=True,
    at=("special",),
    grad_fn="SpecialNdtriBackward0",
    example="torch.special.ndtri(tensor([0.5, 0.975]))",
)
def ndtri(xp, x):
    """The quantile of the normal distribution: the number with a probability x below it."""
    return xp.ndtri(x)


# ---- the gamma function's family


@elementwise(
    x=lambda g, x: g * digamma(x),
    sample=between(1.6, 4.0),
    floating=True,
    at=("torch", "Tensor", "special:gammaln"),
    example="lgamma(tensor([5.0]))",
)
def lgamma(xp, x):
    """The logarithm of the absolute value of the gamma function."""
    return xp.lgamma(x)


@elementwise(
    x=lambda g, x: g * polygamma_of(x, n=1),
    sample=between(1.6, 4.0),
    floating=True,
    at=("torch", "Tensor", "special", "special:psi"),
    example="digamma(tensor([1.0]))",
)
def digamma(xp, x):
    """The derivative of lgamma."""
    return xp.digamma(x)


@elementwise(
    x=lambda g, x, n: g * polygamma_of(x, n=n + 1),
    sample=[Sample(between(1.6, 4.0)(3), n=1), Sample(between(1.6, 4.0)(), n=2)],
    floating=True,
    at=(),
    name="polygamma",
)
def polygamma_of(xp, x, *, n):
    """The derivative of order n of digamma."""
    return xp.polygamma(x, n=n)


@function("polygamma", at=("torch", "special"), example="polygamma(1, tensor([1.0]))")
def derivative_of_digamma(n, input):
    """The derivative of order n of digamma."""
    if n.__class__ is not int:
        raise Unfit("n", "int", n)
    if n < 0:
        raise fault(RuntimeError, "polygamma(n, x) does not support negative n.")
    return polygamma_of(operand(input), n=n)


@function("polygamma", at=("Tensor",), inplace=True, example="tensor([1.0]).polygamma(1)")
def own_derivative_of_digamma(self, n):
    """The derivative of order n of digamma."""
    return derivative_of_digamma(n, self)


def _sum_of_digammas(g, x, order):
    total = digamma(x + 0.0)  # which has no -0, as PyTorch's sum has none
    for k in range(1, order):
        total = total + digamma(x - k / 2)
    return g * total


@elementwise(x=_sum_of_digammas, sample=[Sample(between(2.0, 4.0)(3), order=3)], floating=True, at=(), name="mvlgamma")
def mvlgamma_of(xp, x, *, order):
    """The logarithm of the multivariate gamma function."""
    total = order * (order - 1) / 4 * math.log(math.pi)
    for k in range(order):
        total = total + xp.lgamma(x - k / 2)
    return total


@function(at=("torch", "Tensor", "special:multigammaln"), inplace=True, example="mvlgamma(tensor([3.0]), 2)")
def mvlgamma(input, p):
    """The logarithm of the multivariate gamma function of dimension p."""
    if p.__class__ is not int:
        raise Unfit("p", "int", p)
    x = operand(input)
    if x.dtype.category == BOOL:
        raise fault(RuntimeError, "The input tensor may not be a boolean tensor.")
    if p < 1:
        raise fault(RuntimeError, "p has to be greater than or equal to 1")
    return mvlgamma_of(x, order=p)


def _no_derivative(of, argument):
    def rule(g):
        raise fault(NotImplementedError, f"the derivative for '{of}{argument}' is not implemented.")

    return rule


ZETA = {
    "x": _no_derivative("zeta", ""),
    "y": lambda g, x, y: g * -x * zeta_of(x + 1, y),
    "sample": [Sample(integers(2, 5)(3), positive(3))],
    "floating": True,
    "at": (),
}
zeta_tensors = elementwise(**ZETA, name="special_zeta", grad_fn="SpecialZetaBackward0")(lambda xp, x, y: xp.zeta(x, y))
zeta_of_number = elementwise(**ZETA, name="zeta_of_number", grad_fn="SpecialZetaBackward1")(
    lambda xp, x, y: xp.zeta(x, y)
)
zeta_at_number = elementwise(**ZETA, name="zeta_at_number", grad_fn="SpecialZetaBackward2")(
    lambda xp, x, y: xp.zeta(x, y)
)


@function("zeta", at=("special",), example="torch.special.zeta(tensor([2.0]), 1.0)")
def zeta_of(input, other):
    """Hurwitz's zeta function: the sum of (k + other) to the power -input over k = 0, 1, …"""
    if isinstance(other, NUMBERS):
        return zeta_at_number(input, other)
    return (zeta_of_number if isinstance(input, NUMBERS) else zeta_tensors)(input, other)


def _gamma_density(g, x, y):
    return g * exp((x - 1) * log(y) - y - lgamma(x))


@elementwise(
    x=_no_derivative("igamma: ", "input"),
    y=_gamma_density,
    sample=[Sample(integers(1, 4)(3), positive(3))],
    numbers=False,
    refuses=("igamma_cpu", "bool integer"),
    at=("torch", "Tensor", "special:gammainc"),
    example="igamma(tensor([2.0]), tensor([1.0]))",
)
def igamma(xp, x, y):
    """The regularised lower incomplete gamma function."""
    return xp.gammainc(x, y)


@elementwise(
    x=_no_derivative("igammac: ", "input"),
    y=lambda g, x, y: -_gamma_density(g, x, y),
    sample=[Sample(integers(1, 4)(3), positive(3))],
    numbers=False,
    refuses=("igammac_cpu", "bool integer"),
    at=("torch", "Tensor", "special:gammaincc"),
    example="igammac(tensor([2.0]), tensor([1.0]))",
)
def igammac(xp, x, y):
    """The regularised upper incomplete gamma function."""
    return xp.gammaincc(x, y)


# ---- Bessel functions: the derivative of I of order n is the mean of those of orders n - 1 and n + 1


@elementwise(
    x=lambda g, x, order: g * (0.5 * (bessel(x, order=builtins.abs(order - 1)) + bessel(x, order=order + 1))),
    sample=[Sample(reals(3), order=2), Sample(reals(), order=3)],
    floating=True,
    at=(),
)
def bessel(xp, x, *, order):
    """The modified Bessel function of the first kind, of that order."""
    return xp.modified_bessel(x, order=order)


def _scaled_slope(g, x, out, order):
    mean = 0.5 * (scaled_bessel(x, order=builtins.abs(order - 1)) + scaled_bessel(x, order=order + 1))
    return g * (mean - sgn(x) * out)


@elementwise(x=_scaled_slope, sample=[Sample(nonzero(3), order=2), Sample(nonzero(), order=3)], floating=True, at=())
def scaled_bessel(xp, x, *, order):
    """The modified Bessel function of the first kind, times exp(-|x|)."""
    return xp.modified_bessel(x, order=order, scaled=True)


@elementwise(
    x=lambda g, x: g * bessel(x, order=1), sample=reals, floating=True, at=EVERYWHERE, example="i0(tensor([0.0, 1.0]))"
)
def i0(xp, x):
    """The modified Bessel function of the first kind, of order 0."""
    return xp.modified_bessel(x, order=0)


@elementwise(
    x=lambda g, x, out: _scaled_slope(g, x, out, 0),
    sample=nonzero,
    floating=True,
    at=("special",),
    grad_fn="SpecialI0EBackward0",
    example="torch.special.i0e(tensor([0.0, 1.0]))",
)
def i0e(xp, x):
    """exp(-|x|) times the modified Bessel function of order 0."""
    return xp.modified_bessel(x, order=0, scaled=True)


@elementwise(
    x=lambda g, x: g * (0.5 * (bessel(x, order=0) + bessel(x, order=2))),
    sample=reals,
    floating=True,
    at=("special",),
    grad_fn="SpecialI1Backward0",
    example="torch.special.i1(tensor([0.0, 1.0]))",
)
def i1(xp, x):
    """The modified Bessel function of the first kind, of order 1."""
    return xp.modified_bessel(x, order=1)


@elementwise(
    x=lambda g, x, out: _scaled_slope(g, x, out, 1),
    sample=nonzero,
    floating=True,
    at=("special",),
    grad_fn="SpecialI1EBackward0",
    example="torch.special.i1e(tensor([0.0, 1.0]))",
)
def i1e(xp, x):
    """exp(-|x|) times the modified Bessel function of order 1."""
    return xp.modified_bessel(x, order=1, scaled=True)


# ---- entropy, odds, sinc


@elementwise(
    x=lambda g, x: g * where(x != x, x, -log(x) - 1),
    sample=positive,
    floating=True,
    at=("special",),
    grad_fn="SpecialEntrBackward0",
    example="torch.special.entr(tensor([0.0, 0.5]))",
)
def entr(xp, x):
    """-x log(x), the entropy: 0 at 0, -inf below."""
    return xp.where(x > 0, -x * xp.log(xp.where(x > 0, x, 1.0)), xp.where(x == 0, 0.0, xp.where(x < 0, -xp.inf, x)))


def _logit_slope(g, x, eps):
    inner = g / (x * (1 - x))
    recorded = isinstance(x, Tensor)
    if recorded:  # then PyTorch goes by another formula, which differs at -0 and nan
        low, otherwise = (0, math.nan) if eps is None else (eps, 0.0)
        return where((x >= low) & (x <= 1 - low), inner, otherwise)
    if eps is None:
        return where((x < 0) | (x > 1), math.nan, where((x == 0) | (x == 1), g * math.inf, inner))
    return where((x < eps) | (x > 1 - eps), 0.0, inner)


@elementwise(
    x=_logit_slope,
    sample=[Sample(probabilities(2, 3)), Sample(probabilities(), eps=0.01)],
    floating=True,
    at=EVERYWHERE,
    example="logit(tensor([0.5, 0.9]))",
)
def logit(xp, x, *, eps=None):
    """log(x / (1 - x)), the inverse of sigmoid; eps keeps x that far from 0 and 1."""
    if eps is not None:
        x = xp.minimum(xp.maximum(x, eps), 1 - eps)
    return xp.log(xp.divide(x, 1 - x))


@elementwise(
    x=lambda g, x, order: g * sinc_derivative(x, order=order + 1),
    sample=[Sample(reals(3), order=1), Sample(reals(), order=2)],
    floating=True,
    at=(),
)
def sinc_derivative(xp, x, *, order):
    """The derivative of that order of sinc."""
    return xp.sinc_derivative(x, order=order)


@elementwise(
    x=lambda g, x: g * sinc_derivative(x, order=1),
    sample=reals,
    floating=True,
    at=EVERYWHERE,
    example="sinc(tensor([0.0, 0.5]))",
)
def sinc(xp, x):
    """sin(pi x) / (pi x), 1 at 0."""
    return xp.sinc(x)
