"""The exponential of matrices: a Taylor polynomial, and squaring what was scaled down for it."""

from __future__ import annotations

from math import factorial, isqrt

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]

# Up to which 1-norm the polynomial of each degree is as good as the type (Bader, Blanes and Casas, "Computing the matrix
# exponential with an optimized Taylor polynomial approximation", Mathematics 7 (2019), table 1, and for single precision
# PyTorch's LinearAlgebra.cpp).
DEGREES = (1, 2, 4, 8, 12, 18)
BOUNDS = {
    "f": (
        1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02, 5.800524627688768e-01, 1.461661507209034,
        3.010066362817634,
    ),
    "d": (
        2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04, 4.991228871115323e-02, 2.996158913811580e-01,
        1.090863719290036,
    ),
}  # fmt: skip


def matrix_exponential(a: Array) -> Array:
    """exp of each of (…, n, n) matrices."""
    if a.dtype.char == "e":
        return matrix_exponential(a.astype(np.float32)).astype(a.dtype)
    if a.shape[-1] == 1 or not a.size:
        return np.exp(a)
    matrices = a.reshape(-1, *a.shape[-2:])
    norms = np.abs(matrices).sum(-2).max(-1)
    bounds = BOUNDS[a.dtype.char]
    grades = np.searchsorted(bounds, norms)  # beyond the last for what must be scaled; nan too
    out = np.empty_like(matrices)
    for grade in set(grades.tolist()):
        chosen = grades == grade
        part = matrices[chosen]
        if grade < len(DEGREES):
            out[chosen] = _taylor(part, DEGREES[grade])
        else:
            out[chosen] = _scaled(part, norms[chosen] / bounds[-1])
    return out.reshape(a.shape)


def _taylor(a: Array, degree: int) -> Array:
    """The Taylor polynomial, in blocks of powers (Paterson and Stockmeyer)."""
    width = isqrt(degree - 1) + 1
    powers = [np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape), a]
    while len(powers) <= width:
        powers.append(powers[-1] @ a)
    found: Any = None
    for start in range(degree // width * width, -1, -width):
        block = sum(powers[k] * a.dtype.type(1 / factorial(start + k)) for k in range(min(width, degree - start + 1)))
        found = block if found is None else found @ powers[width] + block
    return found  # type: ignore[no-any-return]


def _scaled(a: Array, excess: Array) -> Array:
    """exp by the polynomial of the highest degree of a / 2^s, squared s times; excess: how much too large the norms are."""
    halvings = np.where(np.isfinite(excess), np.ceil(np.log2(excess)), 0).astype(np.int64)
    found = _taylor(np.ldexp(a, -halvings[:, None, None]), DEGREES[-1])
    for k in range(int(halvings.max())):
        more = halvings > k
        found[more] = found[more] @ found[more]
    return found
