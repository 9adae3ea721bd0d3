"""The signs of the eigenvectors of small symmetric matrices as PyTorch's library chooses them.

An eigenvector's sign is free. LAPACK's comes of the rotations of its QL and QR steps (`dsteqr.f`), and those changed sign
between the version that PyTorch's library follows and numpy's: up to LAPACK 3.9 a rotation's cosine is positive where it is
the larger part, since 3.10 always (`dlartg.f`, `dlartg.f90`). So the steps are gone through again with one number for each
vector: the product of a row with all of them.
"""

from __future__ import annotations

from math import copysign, hypot, sqrt
from operator import mul

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]

LARGEST = 25  # order up to which LAPACK does not divide and conquer (`SMLSIZ` of `ilaenv.f`)
MANY = 1000  # numbers of eigenvectors in a batch from which on signs are left as they are
TINY = 2.0**-1022


def with_signs(a: Array, vectors: Array, upper: bool) -> Array:
    """The eigenvectors, as columns, of symmetric matrices given by a triangle, with the signs that PyTorch gives them."""
    order = a.shape[-1]
    if not 2 < order <= LARGEST or a.size > MANY * order or not np.isfinite(vectors).all():
        return vectors
    matrices, found = a.reshape(-1, order, order), vectors.reshape(-1, order, order).copy()
    row = np.cos(np.arange(1.0, order + 1))
    epsilon = float(np.finfo(a.dtype).eps) / 2
    for matrix, columns in zip(matrices, found):
        if upper:  # the same from the last row on
            d, e, z = (part[::-1] for part in _tridiagonal(matrix[::-1, ::-1], row[::-1]))
        else:
            d, e, z = _tridiagonal(matrix, row)
        signs = np.array(_products(d, e, z, epsilon)) * (row @ columns)
        columns *= np.where(signs < 0, -1, 1)
    return found.reshape(vectors.shape)


def _tridiagonal(lower: Array, row: Array) -> tuple[list[float], list[float], list[float]]:
    """Householder's reduction (`dsytd2.f`): the diagonal, the one beside it, and the row times the reflections."""
    rest: list[list[float]] = (np.tril(lower) + np.tril(lower, -1).T).astype(np.float64).tolist()
    z: list[float] = row.tolist()
    diagonal, beside = [], []
    while len(rest) > 1:
        (corner, head, *tail), *rest = rest
        rest = [line[1:] for line in rest]
        diagonal.append(corner)
        size = sqrt(_dot(tail, tail))
        if not size:
            beside.append(head)
            continue
        beta = -copysign(hypot(head, size), head)
        tau = (beta - head) / beta
        v = [1.0, *(value / (head - beta) for value in tail)]
        w = [tau * _dot(line, v) for line in rest]
        share = 0.5 * tau * _dot(w, v)
        w = [one - share * other for one, other in zip(w, v)]
        rest = [[x - vi * wj - wi * vj for x, vj, wj in zip(line, v, w)] for line, vi, wi in zip(rest, v, w)]
        start = len(z) - len(v)
        share = tau * _dot(z[start:], v)
        z[start:] = [one - share * other for one, other in zip(z[start:], v)]
        beside.append(beta)
    return [*diagonal, rest[0][0]], beside, z


def _dot(x: list[float], y: list[float]) -> float:
    return float(sum(map(mul, x, y)))


def _products(d: list[float], e: list[float], z: list[float], epsilon: float) -> list[float]:
    """The row times the eigenvectors in the order of their eigenvalues."""
    start, count = 0, len(d)
    while start < count:
        end = start
        while end < count - 1 and abs(e[end]) > sqrt(abs(d[end])) * sqrt(abs(d[end + 1])) * epsilon:
            end += 1
        if end < count - 1:
            e[end] = 0.0
        if abs(d[end]) < abs(d[start]):
            _diagonalise(d, e, z, end, start, epsilon)
        else:
            _diagonalise(d, e, z, start, end, epsilon)
        start = end + 1
    for k in range(count - 1):
        least = min(range(k, count), key=d.__getitem__)
        d[k], d[least] = d[least], d[k]
        z[k], z[least] = z[least], z[k]
    return z


def _diagonalise(d: list[float], e: list[float], z: list[float], here: int, last: int, epsilon: float) -> None:
    """QL steps from the first number of a block to its last, QR steps the other way."""
    step = 1 if last >= here else -1
    beside = min(0, step)  # e of here + beside lies between here and here + step
    for _ in range(60 * len(d)):
        if (last - here) * step < 0:
            return
        far = here
        while far != last and e[far + beside] ** 2 > epsilon**2 * abs(d[far]) * abs(d[far + step]) + TINY:
            far += step
        if far != last:
            e[far + beside] = 0.0
        if far == here:
            here += step
            continue
        if far == here + step:
            low = min(here, far)
            d[low], d[low + 1], cosine, sine = _two_by_two(d[low], e[low], d[low + 1])
            e[low] = 0.0
            _rotate(z, low, cosine, sine)
            here += 2 * step
            continue
        _step(d, e, z, here, far, step)


def _step(d: list[float], e: list[float], z: list[float], here: int, far: int, step: int) -> None:
    """One implicit step with Wilkinson's shift, from the far end of a block."""
    beside = min(0, step)
    between, p = e[here + beside], d[here]
    g = (d[here + step] - p) / (2.0 * between)
    g = d[far] - p + between / (g + copysign(hypot(g, 1.0), g))
    sine, cosine, p = 1.0, 1.0, 0.0
    for outer in range(far, here, -step):
        inner = outer - step
        place = min(outer, inner)
        f, b = sine * e[place], cosine * e[place]
        cosine, sine, r = _rotation(g, f)
        if outer != far:
            e[place + step] = r
        g = d[outer] - p
        r = (d[inner] - g) * sine + 2.0 * cosine * b
        p = sine * r
        d[outer] = g + p
        g = cosine * r - b
        _rotate(z, place, cosine, -step * sine)
    d[here] -= p
    e[here + beside] = g


def _rotation(f: float, g: float) -> tuple[float, float, float]:
    """(c, s, r) with c f + s g = r and c g = s f, as LAPACK 3.9 has it."""
    if g == 0.0:
        return 1.0, 0.0, f
    if f == 0.0:
        return 0.0, 1.0, g
    r = sqrt(f * f + g * g)
    cosine, sine = f / r, g / r
    return (-cosine, -sine, -r) if abs(f) > abs(g) and cosine < 0.0 else (cosine, sine, r)


def _rotate(z: list[float], place: int, cosine: float, sine: float) -> None:
    other = z[place + 1]
    z[place], z[place + 1] = sine * other + cosine * z[place], cosine * other - sine * z[place]


def _two_by_two(a: float, b: float, c: float) -> tuple[float, float, float, float]:
    """The eigenvalues of (a b; b c), the larger in size first, and the first one's eigenvector (`dlaev2.f`)."""
    total, difference, twice = a + c, a - c, b + b
    root = hypot(difference, twice)
    large, small = (a, c) if abs(a) > abs(c) else (c, a)
    sign = -1.0 if total < 0.0 else 1.0
    first = 0.5 * (total + sign * root)
    second = (large / first) * small - (b / first) * b if total else -first
    other = 1.0 if difference >= 0.0 else -1.0
    cosine = difference + other * root
    if abs(cosine) > abs(twice):
        tangent = -twice / cosine
        sine = 1.0 / sqrt(1.0 + tangent * tangent)
        cosine = tangent * sine
    elif twice == 0.0:
        cosine, sine = 1.0, 0.0
    else:
        tangent = -cosine / twice
        cosine = 1.0 / sqrt(1.0 + tangent * tangent)
        sine = tangent * cosine
    return (first, second, -sine, cosine) if sign == other else (first, second, cosine, sine)
