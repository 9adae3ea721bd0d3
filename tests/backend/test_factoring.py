"""Factoring, solving and decomposing against what defines them, and PyTorch's answers to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradsh.backend import factoring, small_matrices
from gradsh.backend.eigenvector_signs import with_signs
from gradsh.backend.matrix_exponential import matrix_exponential
from gradsh.backend.spectrum import least_squares, pseudo_inverse, rank, svd

DATA = Path(__file__).parent / "data"
SYSTEMS, SIGNS = (json.loads((DATA / f"{name}.json").read_text()) for name in ("systems", "signs"))
SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (16, 16), (17, 17), (40, 40), (50, 23), (23, 50), (3, 2, 4, 4), (2, 20, 20)]


def draw(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@pytest.fixture(params=[True, False], ids=["small", "vectorised"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once as it is, once without the way for single small matrices."""
    if not request.param:
        monkeypatch.setattr(small_matrices, "FEW", 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("both_ways")
def test_factors(shape: tuple[int, ...]) -> None:
    a = draw(*shape)
    rows, columns = shape[-2:]
    lu, pivots, info = factoring.factored(a)
    count = min(rows, columns)
    lower, upper = np.tril(lu[..., :count], -1) + np.eye(rows, count), np.triu(lu[..., :count, :])
    order = factoring.row_order(pivots - 1, rows)
    np.testing.assert_allclose(np.take_along_axis(a, order[..., None], -2), lower @ upper, atol=1e-12)
    assert np.abs(lower).max() <= 1 and not info.any()


@pytest.mark.parametrize("shape", [(3, 3), (12, 12), (20, 20), (2, 3, 3), (2, 20, 20)])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.usefixtures("both_ways")
def test_solutions(shape: tuple[int, ...], adjoint: bool) -> None:
    a, b = draw(*shape), draw(4, 1, shape[-1], 3) if len(shape) > 2 else draw(shape[-1], 3)
    lu, pivots, _ = factoring.factored(a)
    found = factoring.factors_solution(lu, pivots, b, adjoint=adjoint)
    np.testing.assert_allclose(
        (a.swapaxes(-1, -2) if adjoint else a) @ found, np.broadcast_to(b, found.shape), atol=1e-10
    )
    np.testing.assert_allclose(a @ factoring.solution(a, b)[0], np.broadcast_to(b, found.shape), atol=1e-10)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.usefixtures("both_ways")
def test_triangular_solutions(upper: bool, unit: bool) -> None:
    for order in (1, 4, 16, 17, 40):
        a, b = draw(order, order) / order + np.eye(order), draw(order, 2)
        triangle = (np.triu if upper else np.tril)(a)
        if unit:
            triangle = triangle - np.diag(np.diag(triangle)) + np.eye(order)
        found = factoring.triangular_solution(a, b, upper=upper, unit=unit)
        np.testing.assert_allclose(triangle @ found, b, atol=1e-10)


@pytest.mark.usefixtures("both_ways")
def test_a_singular_matrix_is_told_by_the_place_of_its_pivot() -> None:
    singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    assert factoring.factored(singular)[2] == 3
    assert factoring.factored(np.zeros((2, 2)))[2] == 1
    np.testing.assert_array_equal(factoring.factored(np.stack([np.eye(3), singular]))[2], [0, 3])
    with np.errstate(all="ignore"):
        assert not np.isfinite(factoring.solution(singular, np.ones((3, 1)))[0]).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 2, 2), (2, 0, 3)])
def test_nothing_to_factor(shape: tuple[int, ...]) -> None:
    lu, pivots, info = factoring.factored(np.zeros(shape))
    assert lu.shape == shape and pivots.shape == (*shape[:-2], min(shape[-2:])) and info.shape == shape[:-2]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system['dtype']}-{len(system['matrix'])}")
@pytest.mark.usefixtures("both_ways")
def test_to_the_last_bit(system: dict[str, Any]) -> None:
    """What PyTorch 2.13 answers on an x86-64 processor."""

    def array(name: str) -> Any:
        return np.array(system[name], system["dtype"])

    a = array("matrix")
    lu, pivots, _ = factoring.factored(a)
    np.testing.assert_array_equal(lu, array("lu"))
    np.testing.assert_array_equal(pivots, system["pivots"])
    np.testing.assert_array_equal(
        factoring.factors_solution(lu, pivots, array("right")[:, None])[:, 0], array("solution")
    )
    if len(a) <= 8:
        np.testing.assert_array_equal(
            factoring.factors_solution(lu, pivots, np.eye(len(a), dtype=a.dtype)), array("inverse")
        )
    if "cholesky" in system:
        np.testing.assert_array_equal(factoring.cholesky(array("positive"))[0], array("cholesky"))


def test_cholesky_factors() -> None:
    for shape in ((1, 1), (4, 4), (9, 9), (3, 2, 2), (2, 30, 30)):
        a = draw(*shape)
        a = a @ a.swapaxes(-1, -2) + np.eye(shape[-1])
        factor, info = factoring.cholesky(a)
        np.testing.assert_allclose(factor @ factor.swapaxes(-1, -2), a, atol=1e-10)
        assert not info.any() and not np.triu(factor, 1).any()
    indefinite = np.stack([np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan)])
    np.testing.assert_array_equal(factoring.cholesky(indefinite)[1], [0, 3, 1])


@pytest.mark.parametrize("rows", range(1, 9))
@pytest.mark.parametrize("full", [False, True])
def test_singular_values(rows: int, full: bool) -> None:
    for columns in range(1, 9):
        a = draw(2, rows, columns)
        u, s, vh = svd(a, full)
        count = min(rows, columns)
        np.testing.assert_allclose((u[..., :count] * s[..., None, :]) @ vh[..., :count, :], a, atol=1e-12)
        np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), atol=1e-12)
        for vectors in (u, vh.swapaxes(-1, -2)):
            assert vectors.shape[-1] == (vectors.shape[-2] if full else count)
            square = vectors.swapaxes(-1, -2) @ vectors
            np.testing.assert_allclose(square, np.broadcast_to(np.eye(vectors.shape[-1]), square.shape), atol=1e-12)


@pytest.mark.parametrize(
    "case", SIGNS, ids=lambda case: f"{case['kind']}-{len(case['matrix'])}x{len(case['matrix'][0])}"
)
def test_signs_of_vectors(case: dict[str, Any]) -> None:
    """Eigenvectors and singular vectors as PyTorch 2.13 gives them, alone and in a batch."""
    a = np.array(case["matrix"])
    for matrices in (a, np.stack([a, a])):
        if case["kind"] == "eigh":
            vectors = with_signs(matrices, np.linalg.eigh(matrices, case["triangle"])[1], case["triangle"] == "U")
            np.testing.assert_allclose(vectors, np.broadcast_to(case["left"], vectors.shape), atol=1e-9)
        else:
            u, _, vh = svd(matrices, False)
            np.testing.assert_allclose(u, np.broadcast_to(case["left"], u.shape), atol=1e-9)
            np.testing.assert_allclose(vh, np.broadcast_to(case["right"], vh.shape), atol=1e-9)


def test_signs_change_nothing_else() -> None:
    for shape in ((2, 2), (3, 3), (4, 5, 5), (30, 30)):
        a = draw(*shape)
        a = a + a.swapaxes(-1, -2)
        vectors = np.linalg.eigh(a)[1]
        np.testing.assert_array_equal(np.abs(with_signs(a, vectors, False)), np.abs(vectors))
    for a in (np.zeros((4, 4)), np.eye(3), np.ones((5, 5))):
        vectors = np.linalg.eigh(a)[1]
        np.testing.assert_array_equal(np.abs(with_signs(a, vectors, False)), np.abs(vectors))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 5, 3)])
@pytest.mark.parametrize("missing", [0, 1])
def test_pseudo_inverses(shape: tuple[int, ...], missing: int) -> None:
    """Penrose's four conditions."""
    inner = min(shape[-2:]) - missing
    a = draw(*shape[:-1], inner) @ draw(*shape[:-2], inner, shape[-1])
    found = pseudo_inverse(a, False, None, None)
    np.testing.assert_allclose(a @ found @ a, a, atol=1e-10)
    np.testing.assert_allclose(found @ a @ found, found, atol=1e-10)
    for product in (a @ found, found @ a):
        np.testing.assert_allclose(product, product.swapaxes(-1, -2), atol=1e-10)
    assert (rank(a, False, None, None) == inner).all()
    b = draw(*shape[:-1], 2)
    solution, ranks, _ = least_squares(a, b, None, False)
    np.testing.assert_allclose(solution, found @ b, atol=1e-10)
    assert (ranks == inner).all()
    if not missing:
        np.testing.assert_allclose(least_squares(a, b, None, True)[0], found @ b, atol=1e-10)


@pytest.mark.parametrize("size", [1e-9, 1e-5, 1e-2, 0.2, 1.0, 30.0])
def test_exponentials(size: float) -> None:
    """Of symmetric matrices by their eigenvalues, alone and among others of other sizes."""
    a = draw(3, 4, 4)
    a = (a + a.swapaxes(-1, -2)) * np.array([size, 1e-3, 5.0])[:, None, None]
    values, vectors = np.linalg.eigh(a)
    expected = (vectors * np.exp(values)[:, None, :]) @ vectors.swapaxes(-1, -2)
    np.testing.assert_allclose(matrix_exponential(a), expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(
        matrix_exponential(a[0]), expected[0], rtol=1e-10, atol=1e-12 * np.abs(expected[0]).max()
    )
    np.testing.assert_allclose(matrix_exponential(a[1].astype("f")), expected[1], rtol=1e-5)
