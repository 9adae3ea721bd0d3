"""Linear algebra beyond its recorded answers: derivatives where only a triangle is read or a basis is free to turn.

The registry's test varies every number of an operand; these functions see a symmetric matrix, or no signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradsh.backend.dtypes import float64
from gradsh.engine.backward import grad
from gradsh.engine.create import tensor
from gradsh.engine.forward import jvp
from gradsh.engine.state import state
from gradsh.ops.index import load_all
from gradsh.ops.registry import NAMESPACES

load_all()

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[[Any], Any]

torch, linalg = NAMESPACES["torch"], NAMESPACES["linalg"]


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    before = state.default
    state.default = float64
    with np.errstate(all="ignore"):
        yield
    state.default = before


def gradient(out: Any, x: Any, create_graph: bool = False) -> Any:
    return grad(out, x, create_graph=create_graph)[0]


def symmetric(x: Any) -> Any:
    return x + x.mT


def positive(x: Any) -> Any:
    return x @ x.mT + torch["eye"](x.shape[-1])


def square_root(x: Any) -> Any:
    values, vectors = linalg["eigh"](positive(x))
    return vectors * values.sqrt() @ vectors.mT


def nearest_rotation(x: Any) -> Any:
    u, _, vh = linalg["svd"](x)
    return u @ vh


def squares_of_factors(x: Any) -> Any:
    _, lower, upper = linalg["lu"](x)
    return lower @ lower + upper @ upper


def orthogonal_times_squares(x: Any) -> Any:
    q, r = linalg["qr"](x)
    return q @ (r * r)


FUNCTIONS: dict[str, tuple[tuple[int, ...], Function]] = {
    "cholesky": ((3, 3), lambda x: linalg["cholesky"](positive(x))),
    "cholesky, upper": ((2, 3, 3), lambda x: torch["cholesky"](positive(x), upper=True)),
    "inverse by Cholesky": ((3, 3), lambda x: torch["cholesky_inverse"](linalg["cholesky"](positive(x)))),
    "inverse by an upper factor": ((3, 3), lambda x: torch["cholesky_inverse"](positive(x).triu(), upper=True)),
    "solution by Cholesky": ((3, 3), lambda x: torch["cholesky_solve"](x[:, :2], positive(x).tril())),
    "eigenvalues": ((2, 3, 3), lambda x: linalg["eigvalsh"](symmetric(x))),
    "squares of eigenvectors": ((3, 3), lambda x: linalg["eigh"](symmetric(x)).eigenvectors ** 2),
    "square root": ((3, 3), square_root),
    "squares of left vectors": ((4, 2), lambda x: linalg["svd"](x, full_matrices=False).U ** 2),
    "squares of right vectors": ((2, 4), lambda x: linalg["svd"](x, full_matrices=False).Vh ** 2),
    "nearest rotation": ((3, 3), nearest_rotation),
    "first columns of all left vectors": ((4, 2), lambda x: linalg["svd"](x).U[:, :2] ** 2),
    "own product of an inverse": ((3, 3), lambda x: linalg["inv"](x) @ linalg["inv"](x)),
    "symmetric pseudo-inverse": ((3, 3), lambda x: linalg["pinv"](symmetric(x), hermitian=True)),
    "projection": ((4, 2), lambda x: x @ linalg["pinv"](x)),
    "LU": ((3, 3), squares_of_factors),
    "QR": ((4, 3), orthogonal_times_squares),
    "wide QR": ((2, 4), orthogonal_times_squares),
    "norms": ((3, 3), lambda x: linalg["matrix_norm"](x, 2) + linalg["matrix_norm"](x, "nuc") + linalg["cond"](x)),
    "residuals": ((4, 2), lambda x: linalg["lstsq"](x, x[:, :1] ** 2, driver="gelsd").residuals),
    "power": ((3, 3), lambda x: linalg["matrix_power"](x, -3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    """Raw = recorded = forward mode = central differences, to second order."""
    shape, function = FUNCTIONS[name]
    rng = np.random.default_rng(3)
    point, direction = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape)
    weights = rng.uniform(-1, 1, function(tensor(point)).shape)

    def loss(x: Any) -> Any:
        return (function(x) * tensor(weights)).sum()

    def slope(at: np.ndarray) -> np.ndarray:
        x = tensor(at, requires_grad=True)
        return np.asarray(gradient(loss(x), x).raw)

    raw = slope(point)
    x = tensor(point, requires_grad=True)
    recorded = gradient(loss(x), x, create_graph=True)
    np.testing.assert_allclose(recorded.raw, raw, rtol=1e-9, atol=1e-10)

    step = 1e-6
    numeric = (loss(tensor(point + step * direction)).item() - loss(tensor(point - step * direction)).item()) / (
        2 * step
    )
    along = (raw * direction).sum()
    np.testing.assert_allclose(along, numeric, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(loss, [tensor(point)], [tensor(direction)])[1].raw, along, rtol=1e-9, atol=1e-9)

    step = 1e-5
    second = gradient((recorded * tensor(direction)).sum(), x).raw
    numeric_second = (slope(point + step * direction) - slope(point - step * direction)) / (2 * step)
    np.testing.assert_allclose(second, numeric_second, rtol=1e-5, atol=1e-5 * np.abs(second).max())


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_second_derivative_of_a_singular_determinant(rank: int) -> None:
    """det is a polynomial: its second derivatives are the minors, whatever the rank."""
    rng = np.random.default_rng(rank)
    point = rng.integers(-2, 3, (3, rank)).astype(float) @ rng.integers(-2, 3, (rank, 3)).astype(float)
    x = tensor(point, requires_grad=True)
    cofactors = gradient(linalg["det"](x), x, create_graph=True)
    minors = np.array(
        [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(point, i, 0), j, 1)) for j in range(3)] for i in range(3)]
    )
    np.testing.assert_allclose(cofactors.raw, minors, atol=1e-12)
    direction = rng.uniform(-1, 1, (3, 3))
    found = gradient((cofactors * tensor(direction)).sum(), x).raw
    expected = np.zeros((3, 3))
    for i, j in np.ndindex(3, 3):  # d(minor of k, l)/d(x of i, j), by the remaining entry
        for k, l in np.ndindex(3, 3):
            if i != k and j != l:
                row, column = 3 - i - k, 3 - j - l
                sign = (-1) ** (k + l) * (1 if (i < row) == (j < column) else -1)
                expected[i, j] += sign * direction[k, l] * point[row, column]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_triangle_is_all_that_is_read() -> None:
    full = np.array([[4.0, np.nan, np.nan], [1.0, 3.0, np.nan], [0.5, 0.2, 2.0]])
    lower = np.tril(full) + np.tril(full, -1).T
    for function in (linalg["cholesky"], linalg["eigvalsh"], torch["cholesky"]):
        np.testing.assert_array_equal(function(tensor(full)).raw, function(tensor(lower)).raw)


def test_singular_matrices_among_others() -> None:
    batch = tensor(np.stack([np.eye(2), [[1.0, 2.0], [2.0, 4.0]], np.zeros((2, 2))]))
    assert linalg["inv_ex"](batch).info.tolist() == [0, 2, 1]
    assert linalg["solve_ex"](batch, tensor(np.ones(2))).info.tolist() == [0, 2, 1]
    assert linalg["cholesky_ex"](batch).info.tolist() == [0, 2, 1]
    assert linalg["lu_factor_ex"](batch).info.tolist() == [0, 2, 1]
