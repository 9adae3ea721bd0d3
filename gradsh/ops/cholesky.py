"""Cholesky's factorisation of positive definite matrices, and what is solved with it."""

from __future__ import annotations

from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.calls import alike_floats, floats
from gradsh.ops.diagonals import lower as lower_part
from gradsh.ops.matrix_faults import (
    NOT_INVERTIBLE,
    NOT_POSITIVE,
    check_kernel,
    check_numbers,
    check_square,
    check_success,
)
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.solving import columns_first, regular
from gradsh.ops.structure import sum_to_size
from gradsh.ops.triangular import check_legacy, triangular_solution_of


def positive_definite(*batch, order=3):
    """Positive definite matrices to draw; not symmetric, as only one triangle is read."""
    import numpy as np

    return Made(lambda rng: rng.uniform(-0.5, 0.5, (*batch, order, order)) + 3 * np.eye(order))


def _slope(g, factor, upper):
    """L^-T (the lower triangle of L^T g, symmetric) L^-1: `cholesky_backward` in FunctionsManual.cpp."""
    if upper:
        g, factor = g.mT, factor.mT
    product = factor.mT @ g
    symmetric = (lower_part(product, diagonal=0) + lower_part(product, diagonal=-1).mT) * 0.5
    left = triangular_solution_of(factor.mT, symmetric, upper=True, left=True, unitriangular=False)
    return triangular_solution_of(factor, left, upper=False, left=False, unitriangular=False)


def _factor(xp, x, upper):
    from gradsh.backend.factoring import cholesky

    if upper:
        x = xp.swapaxes(x, -1, -2)
    factor, info = cholesky(x)
    return columns_first(xp, xp.swapaxes(factor, -1, -2) if upper else factor), info


# Only one triangle is read, of which the gradient is that of a symmetric matrix: differences of numbers show it for one.
SAMPLES = [Sample(positive_definite(order=1), upper=False), Sample(positive_definite(2, order=1), upper=True)]


@general(
    x=lambda g, L, upper: _slope(g, L, upper),
    sample=SAMPLES,
    at=(),
    outputs=("L", "info"),
    differentiable=(True, False),
    name="linalg_cholesky_ex",
    batch="stacked",
)
def factor_and_success(xp, x, *, upper):
    """The triangular factor of matrices, and the order of the first leading minor that is not positive, or 0."""
    return _factor(xp, x, upper)


@general(x=lambda g, out, upper: _slope(g, out, upper), sample=SAMPLES, at=(), name="cholesky", batch="stacked")
def factor_of(xp, x, *, upper):
    """The triangular factor of positive definite matrices."""
    factor, info = _factor(xp, x, upper)
    check_success(info, "cholesky", NOT_POSITIVE)
    return factor


@function(
    "linalg_cholesky_ex", at=("linalg:cholesky_ex",), example="linalg.cholesky_ex(tensor([[4.0, 2.0], [2.0, 3.0]]))"
)
def cholesky_ex(input, *, upper=False, check_errors=False):
    """The triangular factor of matrices, and for each the order of the leading minor that is not positive, or 0."""
    input = floats(input)
    check_square(input, "linalg.cholesky")
    check_numbers(input, "linalg.cholesky")
    check_kernel(input, "cholesky_cpu")
    found = factor_and_success(input, upper=bool(upper))
    if check_errors:
        check_success(found.info, "linalg.cholesky_ex", NOT_POSITIVE)
    return found


@function("linalg_cholesky", at=("linalg:cholesky",), example="linalg.cholesky(tensor([[4.0, 2.0], [2.0, 3.0]]))")
def linalg_cholesky(input, *, upper=False):
    """The lower triangular L of each positive definite matrix L L^T, or L^T with upper=True."""
    factor, info = cholesky_ex(floats(input), upper=upper)
    check_success(info, "linalg.cholesky", NOT_POSITIVE)
    return factor


@function(example="cholesky(tensor([[4.0, 2.0], [2.0, 3.0]]))")
def cholesky(input, upper=False):
    """The lower triangular L of each positive definite matrix L L^T, or L^T with upper=True."""
    input = floats(input)
    check_square(input, "cholesky")
    check_kernel(input, "cholesky_cpu")
    return factor_of(input, upper=bool(upper))


# ---- solving


def _turned(x, upper):
    return x.mT if upper else x


def _factor_slope(common, factor, upper):
    """-(S + S^T) L, where S is the gradient of the inverse of L L^T between two inverses."""
    return -(factor @ common if upper else common @ factor)


def _inverse_slope(g, x, out, upper):
    return _factor_slope(out @ (g + g.mT) @ out, x, upper)


@general(
    x=_inverse_slope,
    sample=SAMPLES,
    at=(),
    name="cholesky_inverse",
    batch="stacked",
)
def inverse_by_factor(xp, x, *, upper):
    """The inverse of the matrices that triangular matrices are factors of."""
    from gradsh.backend.factoring import first_zero, triangular_solution

    if upper:
        x = xp.swapaxes(x, -1, -2)
    check_success(first_zero(xp.diagonal(x, 0, -2, -1)), "cholesky_inverse", NOT_INVERTIBLE)
    half = triangular_solution(x, xp.eye(x.shape[-1], dtype=x.dtype), upper=False)
    return columns_first(xp, xp.swapaxes(half, -1, -2) @ half)


@function(example="cholesky_inverse(tensor([[2.0, 0.0], [1.0, 1.5]]))")
def cholesky_inverse(input, upper=False):
    """The inverse of L L^T from the triangular L, or L^T with upper=True."""
    input = floats(input)
    check_square(input, "cholesky_inverse")
    check_kernel(input, "cholesky_inverse_out_cpu")
    return inverse_by_factor(input, upper=bool(upper))


def _solve_factor(g, x_shape, x, out, upper):
    right = solution_by_factor(x, g, upper=upper) @ out.mT
    return sum_to_size(_factor_slope(right + right.mT, x, upper), size=x_shape)


@general(
    x=_solve_factor,
    y=lambda g, x, y_shape, upper: sum_to_size(solution_by_factor(x, g, upper=upper), size=y_shape),
    sample=Sample(regular(order=1), reals(2, 1, 3), upper=False),
    at=(),
    name="cholesky_solve",
    batch="stacked",
)
def solution_by_factor(xp, x, y, *, upper):
    """X of A X = y, where x is the triangular factor of A."""
    from gradsh.backend.factoring import triangular_solution

    lower, turned = (xp.swapaxes(x, -1, -2), x) if upper else (x, xp.swapaxes(x, -1, -2))
    return columns_first(xp, triangular_solution(turned, triangular_solution(lower, y, upper=False), upper=True))


@function(example="cholesky_solve(tensor([[1.0], [2.0]]), tensor([[2.0, 0.0], [1.0, 1.5]]))")
def cholesky_solve(input, input2, upper=False):
    """X of A X = input from the triangular factor L of A = L L^T, or L^T with upper=True."""
    input, input2 = alike_floats((input, "input"), (input2, "input2"))
    for name, value in (("b", input), ("u", input2)):
        if value.ndim < 2:
            raise fault(
                RuntimeError, f"{name} should have at least 2 dimensions, but has {value.ndim} dimensions instead"
            )
    check_legacy(input, input2, "cholesky_solve")
    check_kernel(input, "cholesky_solve_cpu")
    return solution_by_factor(input2, input, upper=bool(upper))
