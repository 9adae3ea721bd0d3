"""Fused multiply-add on arrays, which numpy has not: x * y + z with a single rounding.

PyTorch's random kernels are compiled for AVX2, where the compiler contracts a product and a sum
into one instruction; the last bit of most numbers depends on it.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

SPLITTER = 2.0**27 + 1.0  # cuts a double's 53 bits in two halves (Veltkamp)
BATCH = 4096  # numbers computed at a time: the intermediate arrays stay in the cache
SAFE_FACTOR, SAFE_TERM = 2.0**800, 2.0**1000  # below these no part of a sum or product overflows or is lost


def fused_multiply_add(x: Doubles, y: float, z: float) -> Doubles:
    """x * y + z in double precision, rounded once; x has one dimension.

    Product and sums with their errors, of which the last is rounded to odd so that it cannot show:
    Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
    rounding to odd", IEEE Transactions on Computers 57 (2008).
    """
    if z == 0.0 or abs(y) in (0.0, 1.0):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return x * y + z
    if not (1.0 / SAFE_FACTOR < abs(y) < SAFE_FACTOR and abs(z) < SAFE_TERM):
        return np.array([_exactly(value, y, z) for value in x.tolist()])
    y_high, y_low = _halves(np.array([y]))
    result = np.empty_like(x)
    for start in range(0, len(x), BATCH):
        part = x[start : start + BATCH]
        product = part * y
        high, low = _halves(part)
        error = low * y_low - (((product - high * y_high) - low * y_high) - high * y_low)
        term, term_error = _two_sum(error, z)
        total, total_error = _two_sum(product, term)
        result[start : start + BATCH] = total + _to_odd(*_two_sum(term_error, total_error))
    return result


def fused_multiply_add_single(x: Doubles, y: Doubles | float, z: Doubles | float) -> Doubles:
    """x * y + z in single precision, rounded once; singles in, singles out, all held in doubles.

    A product of singles is exact in double, so only the sum can be rounded twice: where it falls
    halfway between two singles without being there, it is first moved to the side of its error.
    """
    product = x * y
    total = product + z
    halfway = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if halfway.any():
        terms = z[halfway] if isinstance(z, np.ndarray) else z
        total[halfway] = _to_odd(*_two_sum(product[halfway], terms))
    return single(total)


def single(values: Doubles) -> Doubles:
    """Rounded to single precision, still held in doubles; a sum, product or root of singles is then right."""
    return values.astype(np.float32).astype(np.float64)


def add_product(terms: Doubles, x: float, y: float) -> Doubles:
    """x * y + each of the terms in double precision, rounded once."""
    product = x * y
    high, low = _halves(np.array([x, y]))
    error = low[0] * low[1] - (((product - high[0] * high[1]) - low[0] * high[1]) - high[0] * low[1])
    term, term_error = _two_sum(terms, error)
    total, total_error = _two_sum(term, product)
    return total + _to_odd(*_two_sum(term_error, total_error))


def _exactly(x: float, y: float, z: float) -> float:
    """The same for one number of any size, by rational arithmetic; inf and nan as IEEE has them."""
    try:
        return float(Fraction(x) * Fraction(y) + Fraction(z))
    except (OverflowError, ValueError):
        return x * y + z if isfinite(z) or not isfinite(y) else z


def _halves(values: Doubles) -> tuple[Doubles, Doubles]:
    scaled = SPLITTER * values
    high = scaled - (scaled - values)
    return high, values - high


def _two_sum(a: Doubles, b: Doubles | float) -> tuple[Doubles, Doubles]:
    """The rounded sum and what rounding lost (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _to_odd(total: Doubles, error: Doubles) -> Doubles:
    """The sum of both rounded to odd: where inexact, the neighbour whose last bit is set."""
    bits = total.view(np.int64)
    outward = np.where((error > 0.0) == (total > 0.0), 1, -1)
    return np.where((error != 0.0) & (bits & 1 == 0), bits + outward, bits).view(np.float64)
