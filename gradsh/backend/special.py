"""Special functions that numpy has not: the error functions, the normal distribution, and small ones around log.

Everything is computed in double precision, whatever the type of the arrays, and rounded to it once.
"""

from __future__ import annotations

import math

import numpy as np

from gradsh.backend import scalars
from gradsh.backend.bessel import modified_bessel
from gradsh.backend.gamma import digamma, gammainc, gammaincc, lgamma, polygamma, zeta
from gradsh.backend.precision import by_library, horner, in_doubles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

__all__ = [
    "cube", "digamma", "erf", "erfc", "erfcx", "erfinv", "gammainc", "gammaincc", "lgamma", "log_ndtr",
    "modified_bessel", "ndtr", "ndtri", "polygamma", "signum", "sinc_derivative", "zeta",
]  # fmt: skip

SMALL = 200  # up to so many numbers one call of the C library for each is faster than a pass of numpy per term
ERF_STEP, ERF_END, ERF_TERMS = 1 / 32, 6.0, 8  # from 6 on, erf is 1 to the last bit
BLOCK = 1 << 14  # numbers worked on at a time: the intermediate arrays stay in the cache

# atanh(erf(x)) / x as a polynomial in x², the highest power first: the relative error of erf is least over |x| up to 4.2,
# beyond which erf is 1 in single precision. Within 4 units of the last place, by Lawson's reweighted least squares.
ERF_SINGLE = (
    1.418916074592713e-07, -5.668989473814958e-06, 8.763962140421055e-05, -0.0006197888851156017,
    -0.00019182776059211315, 0.10276905517646329, 1.1283792743011434,
)  # fmt: skip

# Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988):
# numerator and denominator for the middle, the shoulders and the far ends, the highest power first.
QUANTILE_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
QUANTILE_SHOULDER = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
QUANTILE_END = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def signum(x: Any) -> Any:
    """The sign as PyTorch has it: 0 for nan, and of truth values."""
    if x.dtype.kind == "f":
        return np.subtract(x > 0, x < 0, dtype=x.dtype)
    return x.copy() if x.dtype.kind == "b" else np.sign(x)


def cube(x: Any) -> Any:
    return x * x * x


# ---- error functions


def erf(x: Any) -> Any:
    """The error function: of large arrays of singles as a tanh."""
    if x.__class__ is np.ndarray and x.dtype.char == "f" and x.size > SMALL:
        return _erf_of_singles(x)
    return _erf_of_doubles(x)


def _erf_of_singles(x: Any) -> Any:
    found = horner(x * x, ERF_SINGLE)
    found *= x
    return np.tanh(found, found)


@in_doubles
def _erf_of_doubles(x: Doubles) -> Doubles:
    """Of large arrays by the Taylor series at the nearest of 193 points."""
    if x.size <= SMALL:
        return by_library(math.erf, x)
    flat = x.ravel()
    out = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        size = np.minimum(np.abs(part), ERF_END)
        index = np.rint(size * (1 / ERF_STEP))
        step = size - index * ERF_STEP
        index = np.where(np.isnan(index), 0.0, index).astype(np.intp)
        table = _erf_table()
        value = table[-1].take(index)
        for row in table[-2::-1]:
            value *= step
            value += row.take(index)
        np.copysign(value, part, out=out[start : start + BLOCK])
    return out.reshape(x.shape)


def _erf_table() -> Doubles:
    """Taylor coefficients of erf at multiples of ERF_STEP, a row for each power; by Hermite's polynomials."""
    table = _tables.get("erf")
    if table is None:
        points = np.arange(0.0, ERF_END + ERF_STEP, ERF_STEP)
        rows = [by_library(math.erf, points)]
        slope = 2 / math.sqrt(math.pi) * np.exp(-points * points)
        before, hermite = np.zeros_like(points), np.ones_like(points)
        for k in range(1, ERF_TERMS + 1):
            rows.append((-1) ** (k - 1) * slope * hermite / math.factorial(k))
            before, hermite = hermite, 2 * points * hermite - 2 * (k - 1) * before
        table = _tables["erf"] = np.array(rows)
    return table


_tables: dict[str, Doubles] = {}


@in_doubles
def erfc(x: Doubles) -> Doubles:
    """1 - erf(x), without loss for large x."""
    return by_library(math.erfc, x)


@in_doubles
def erfcx(x: Doubles) -> Doubles:
    """exp(x²) erfc(x): a product up to 3, a continued fraction beyond."""
    return np.piecewise(x, [x < 3.0], [_erfcx_product, _erfcx_fraction])


def _erfcx_product(x: Doubles) -> Doubles:
    x = np.maximum(x, -1e3)  # of which the value is inf
    high = (x * 2.0**27 + x) - x * 2.0**27  # of 26 bits: its square is exact
    low = x - high
    return np.exp(high * high) * np.exp(low * (high + x)) * by_library(math.erfc, x)


def _erfcx_fraction(x: Doubles) -> Doubles:
    """Laplace's continued fraction, from its 60th part back."""
    tail = x
    for k in range(60, 0, -1):
        tail = x + (k / 2) / tail
    return np.asarray(1 / (math.sqrt(math.pi) * tail))


# ---- the normal distribution


@in_doubles
def ndtr(x: Doubles) -> Doubles:
    """The normal distribution function: in the lower tail by erfc, which loses nothing there."""
    if x.size <= SMALL:
        return by_library(scalars.ndtr, x)
    return np.piecewise(
        x, [x < -1.0], [lambda x: 0.5 * erfc(-math.sqrt(0.5) * x), lambda x: 0.5 + 0.5 * erf(math.sqrt(0.5) * x)]
    )


@in_doubles
def log_ndtr(x: Doubles) -> Doubles:
    """The logarithm of the normal distribution function."""
    return np.piecewise(x, [x < -1.0], [_log_lower_tail, lambda x: np.log1p(-0.5 * erfc(x * math.sqrt(0.5)))])


def _log_lower_tail(x: Doubles) -> Doubles:
    return np.asarray(np.log(0.5 * erfcx(-x * math.sqrt(0.5))) - 0.5 * x * x)


@in_doubles
def ndtri(p: Doubles) -> Doubles:
    """The quantile of the normal distribution: the x with a probability p below it."""
    return _quantile(p - 0.5, np.minimum(p, 1 - p))


@in_doubles
def erfinv(x: Doubles) -> Doubles:
    """The inverse of erf; nan outside [-1, 1]."""
    return math.sqrt(0.5) * _quantile(0.5 * x, 0.5 * (1 - np.abs(x)))


def _quantile(centred: Doubles, tail: Doubles) -> Doubles:
    """The normal quantile of a probability, given as p - 1/2 and as min(p, 1 - p), both exact."""
    size = np.abs(centred)
    middle = size <= 0.425
    depth = np.sqrt(-np.log(np.where(middle, 0.5, tail)))
    far = _ratio(np.where(depth > 5, depth - 5, 0.0), *QUANTILE_END)
    near = _ratio(depth - 1.6, *QUANTILE_SHOULDER)
    outer = np.copysign(np.where(depth > 5, far, near), centred)
    outer = np.where(tail == 0, np.copysign(np.inf, centred), outer)
    centre = np.where(middle, centred, 0.0)
    return np.where(middle, centre * _ratio(0.180625 - centre * centre, *QUANTILE_MIDDLE), outer)


def _ratio(x: Doubles, above: tuple[float, ...], below: tuple[float, ...]) -> Doubles:
    return np.asarray(horner(x, above) / horner(x, below))


@in_doubles
def sinc_derivative(x: Doubles, order: int) -> Doubles:
    """The derivative of that order of sin(pi x) / (pi x).

    With t = pi x and f = sin(t) / t: near 0 by the power series, beyond by t f⁽ⁿ⁾ + n f⁽ⁿ⁻¹⁾ = sin(t + n pi/2).
    """
    t = math.pi * x
    near = np.abs(t) < order + 2
    value = np.empty_like(t)
    value[near] = _sinc_series(t[near], order)
    far = t[~near]
    turn = (np.sin(far), np.cos(far), -np.sin(far), -np.cos(far))
    found: Any = 0.0
    for k in range(order + 1):
        found = (turn[k % 4] - k * found) / far
    value[~near] = found
    return math.pi**order * value


def _sinc_series(t: Doubles, order: int) -> Doubles:
    """Sum over 2k >= n of (-1)^k t^(2k-n) / ((2k+1) (2k-n)!)."""
    first = order + order % 2
    power = t ** (first - order)
    total = np.zeros_like(t)
    for twice in range(first, first + 40 + 2 * order, 2):
        total += (-1) ** (twice // 2) * power / (twice + 1)
        power = power * t * t / ((twice - order + 1) * (twice - order + 2))
    return total
