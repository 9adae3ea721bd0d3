"""The gamma function's family: its logarithm and derivatives of that, Hurwitz's zeta, incomplete gamma functions."""

from __future__ import annotations

import math

import numpy as np

from gradsh.backend.precision import by_library, horner, in_doubles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)

# The positive root of digamma in two parts, and digamma's Taylor coefficients there: polygamma(k, root) / k!.
ROOT, ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
AT_ROOT = (
    0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652, 0.10782405069126237,
    -0.07219956125645471, 0.04880428816414311, -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
    0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328, 0.002305126326734928,
    -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602, -0.0003454680251063077,
)  # fmt: skip


# The Taylor coefficients of lgamma at 2 from the first power on: 1 - Euler's constant, then (-1)^k (zeta(k) - 1) / k.
AT_TWO = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939,
    9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06,
    4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
    2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08, -5.183475041970047e-09,
)  # fmt: skip


@in_doubles
def lgamma(x: Doubles) -> Doubles:
    """The logarithm of |gamma(x)|; inf at 0, -1, -2, … About its roots 1 and 2 by the Taylor series at 2."""
    at_one, at_two = np.abs(x - 1) < 0.25, np.abs(x - 2) < 0.25
    return np.piecewise(
        x,
        [at_one, at_two],
        [
            lambda x: _lgamma_two_and(x - 1) - np.log1p(x - 1),
            lambda x: _lgamma_two_and(x - 2),
            lambda x: by_library(_lgamma, x),
        ],
    )


def _lgamma_two_and(step: Doubles) -> Doubles:
    return np.asarray(step * horner(step, AT_TWO[::-1]))


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


@in_doubles
def digamma(x: Doubles) -> Doubles:
    """The derivative of lgamma. At 0 it is infinite with the sign against x's, at -1, -2, … nan."""
    return np.piecewise(x, [x > 0], [_digamma_positive, _digamma_reflected])


def _digamma_positive(x: Doubles) -> Doubles:
    return np.piecewise(x, [np.abs(x - ROOT) < 0.2], [_digamma_at_root, _digamma_shifted])


def _digamma_at_root(x: Doubles) -> Doubles:
    step = (x - ROOT) - ROOT_REST
    return np.asarray(step * horner(step, AT_ROOT[::-1]))


def _digamma_shifted(x: Doubles) -> Doubles:
    """psi(x) = psi(x + 10) - 1/x - … - 1/(x + 9), and the asymptotic series at x + 10."""
    far = x + 10
    inverse = 1 / (far * far)
    series = horner(inverse, [b / (2 * k) for k, b in reversed(list(enumerate(BERNOULLI[:8], 1)))])
    total = np.log(far) - 0.5 / far - inverse * series
    for k in range(9, -1, -1):
        total = total - 1 / (x + k)
    return np.asarray(total)


def _digamma_reflected(x: Doubles) -> Doubles:
    """psi(x) = psi(1 - x) - pi / tan(pi x)."""
    part = x - np.rint(x)
    value = np.asarray(_digamma_positive(1 - x) - math.pi / np.tan(math.pi * part))
    value[(part == 0) | np.isinf(x)] = np.nan
    return np.where(x == 0, np.copysign(np.inf, -x), value)


@in_doubles
def zeta(s: Doubles, q: Doubles) -> Doubles:
    """Hurwitz's zeta function, the sum over k >= 0 of (q + k)^-s: s > 1; for q < 0 with whole s only."""
    return np.where(q > 0, _zeta_positive(s, np.where(q > 0, q, 1.0)), _zeta_negative(s, q))


def _zeta_positive(s: Doubles, q: Doubles) -> Doubles:
    """Ten terms, and the rest by Euler and Maclaurin's formula."""
    s = np.where(s > 1, s, np.where(s == 1, np.inf, np.nan))
    total = q**-s
    for k in range(1, 10):
        total = total + (q + k) ** -s
    far = q + 10
    power = far**-s
    total = total + power * far / (s - 1) + 0.5 * power
    factor = s / far
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * factor * power
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (far * far)
    return np.where(s == np.inf, np.inf, total)


def _zeta_negative(s: Doubles, q: Doubles) -> Doubles:
    """The terms with q + k < 0 are, mirrored, those of a sum from f up to -q, where f is the distance to the last."""
    whole = np.ceil(q)
    part = np.where(whole == q, 1.0, whole - q)
    mirrored = np.where(s % 2 == 0, 1.0, -1.0) * (
        _zeta_positive(s, part) - _zeta_positive(s, np.where(q < 0, 1 - q, 1.0))
    )
    value = mirrored + _zeta_positive(s, 1 - part + (part == 1))
    value = np.where(s == np.floor(s), value, np.nan)
    return np.where(whole == q, np.where(s >= 1, np.inf, np.nan), value)


def polygamma(x: Any, n: int) -> Any:
    """The derivative of order n of digamma: (-1)^(n+1) n! zeta(n + 1, x)."""
    if n == 0:
        return digamma(x)
    return _scaled_zeta(x, n=n)


@in_doubles
def _scaled_zeta(x: Doubles, n: int) -> Doubles:
    factor = math.factorial(n) if n <= 170 else math.inf
    return np.asarray((-1) ** (n + 1) * factor * zeta(np.full_like(x, n + 1.0), x))


# ---- incomplete gamma functions


@in_doubles
def gammainc(a: Doubles, x: Doubles) -> Doubles:
    """The regularised lower incomplete gamma function P(a, x)."""
    return _incomplete(a, x, lower=True)


@in_doubles
def gammaincc(a: Doubles, x: Doubles) -> Doubles:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    return _incomplete(a, x, lower=False)


def _incomplete(a: Doubles, x: Doubles, *, lower: bool) -> Doubles:
    """P by its power series left of the transition at x = a, Q by a continued fraction right of it."""
    out = np.full(a.shape, np.nan)
    valid = (a >= 0) & (x >= 0) & ~((a == 0) & (x == 0)) & ~(np.isinf(a) & np.isinf(x))
    edge = (x == 0) | (a == 0) | np.isinf(a) | np.isinf(x)
    below = (x == 0) | np.isinf(a)
    out[valid & edge] = np.where(below[valid & edge] == lower, 0.0, 1.0)
    inner = valid & ~edge
    origin = inner & (a < 1) & (x < 1)
    out[origin] = _lower_series(a[origin], x[origin]) if lower else _upper_near_origin(a[origin], x[origin])
    left = inner & ~origin & (x <= np.maximum(a, 1.0))
    series = _lower_series(a[left], x[left])
    out[left] = series if lower else 1 - series
    right = inner & ~origin & ~left
    fraction = _upper_fraction(a[right], x[right])
    out[right] = 1 - fraction if lower else fraction
    return out


def _density(a: Doubles, x: Doubles) -> Doubles:
    """x^a exp(-x) / gamma(a + 1): for large a through x/a and Stirling's series, where powers and factors cancel."""
    large = a > 20
    size = np.where(large, a, 1.0)
    inverse = 1 / (size * size)
    series = horner(inverse, [b / (2 * k * (2 * k - 1)) for k, b in reversed(list(enumerate(BERNOULLI[:8], 1)))]) / size
    excess = (x - size) / size
    # log(1 + u) - u, for small u by its own series
    small = np.abs(excess) < 0.3
    u = np.where(small, excess, 0.0)
    ratio = u / (2 + u)
    square = ratio * ratio
    near = -u * ratio + 2 * ratio * square * horner(square, [1 / k for k in range(35, 1, -2)])
    logarithm = np.where(small, near, np.log(x / size) - excess)
    stirling = np.exp(size * logarithm - series) / np.sqrt(2 * math.pi * size)
    direct = np.exp(a * np.log(x) - x - by_library(math.lgamma, np.where(large, 1.0, a) + 1))
    return np.where(large, stirling, direct)


def _lower_series(a: Doubles, x: Doubles) -> Doubles:
    """P = x^a exp(-x) / gamma(a + 1) times the sum of x^k / ((a + 1) … (a + k))."""
    term = np.ones_like(a)
    total = np.ones_like(a)
    bottom = a
    while term.size and (term > 1e-17 * total).any():
        bottom = bottom + 1
        term = term * (x / bottom)
        total = total + term
    return total * _density(a, x)


def _upper_near_origin(a: Doubles, x: Doubles) -> Doubles:
    """Q = 1 - x^a / gamma(a + 1) (1 + a sum of (-x)^k / ((a + k) k!)), where P is almost 1."""
    near_one = _lgamma_two_and(np.minimum(a, 0.25)) - np.log1p(np.minimum(a, 0.25))  # a + 1 would be rounded
    exponent = a * np.log(x) - np.where(a < 0.25, near_one, lgamma(a + 1))
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, 20):
        term = -term * x / k
        total = total + term / (a + k)
    return np.asarray(-np.expm1(exponent) - np.exp(exponent) * a * total)


def _upper_fraction(a: Doubles, x: Doubles) -> Doubles:
    """Q = x^a exp(-x) / gamma(a) times Legendre's continued fraction, by Lentz's method as modified by Thompson."""
    tiny = 1e-300
    b = x + 1 - a
    c = np.full_like(a, 1 / tiny)
    d = value = 1 / np.where(b == 0, tiny, b)
    moving = np.ones(a.shape, bool)
    k = 0
    while moving.any():
        k += 1
        part = k * (a - k)
        b = b + 2
        d = part * d + b
        d = 1 / np.where(d == 0, tiny, d)
        c = b + part / c
        c = np.where(c == 0, tiny, c)
        value = np.where(moving, value * (c * d), value)
        moving &= np.abs(c * d - 1) > 2e-16
    return value * a * _density(a, x)
