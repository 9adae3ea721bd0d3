"""Special functions against values computed with 60 digits (`data/special.json`), in every form their operands take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradsh.backend import scalars, special
from gradsh.backend.selection import LARGE, where

if TYPE_CHECKING:
    from collections.abc import Callable

TRUTH: dict[str, list[list[float]]] = json.loads((Path(__file__).parent / "data" / "special.json").read_text())


def function(name: str) -> Callable[..., Any]:
    kind, _, order = name.partition(" ")
    if kind == "polygamma":
        return lambda x: special.polygamma(x, n=int(order))
    if kind == "sinc":
        return lambda x: special.sinc_derivative(x, order=int(order))
    bessel = {"i0": (0, False), "i0e": (0, True), "i1": (1, False), "i1e": (1, True), "I2": (2, False)}
    if kind in bessel:
        n, scaled = bessel[kind]
        return lambda x: special.modified_bessel(x, order=n, scaled=scaled)
    if kind == "trigamma":
        return lambda x: special.polygamma(x, n=1)
    found: Callable[..., Any] = getattr(special, kind)
    return found


@pytest.fixture(autouse=True)
def ieee_answers() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", TRUTH)
def test_truth(name: str) -> None:
    *operands, expected = np.array(TRUTH[name]).T
    np.testing.assert_allclose(function(name)(*operands), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", TRUTH)
def test_one_number_is_an_array_of_one(name: str) -> None:
    for *operands, expected in TRUTH[name]:
        found = function(name)(*operands)
        assert isinstance(found, np.float64)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", TRUTH)
def test_singles_stay_singles(name: str) -> None:
    *operands, _ = np.array(TRUTH[name], np.float32).T
    found = function(name)(*operands)
    assert found.dtype == np.float32
    exact = function(name)(*(operand.astype(np.float64) for operand in operands))
    np.testing.assert_allclose(found, exact.astype(np.float32), rtol=2e-7, atol=0)


@pytest.mark.parametrize("name", TRUTH)
def test_shapes_and_nothing(name: str) -> None:
    *operands, _ = np.array(TRUTH[name]).T
    flat = function(name)(*operands)
    np.testing.assert_array_equal(function(name)(*(operand[:, None] for operand in operands)), flat[:, None])
    assert function(name)(*(operand[:0] for operand in operands)).shape == (0,)


def test_nan_is_handed_on() -> None:
    for name, rows in TRUTH.items():
        assert np.isnan(function(name)(*[np.array([np.nan])] * (len(rows[0]) - 1))).all(), name


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("erf", [(np.inf, 1.0), (-np.inf, -1.0)]),
        ("erfc", [(np.inf, 0.0), (-np.inf, 2.0)]),
        ("erfcx", [(np.inf, 0.0), (-np.inf, np.inf)]),
        ("erfinv", [(1.0, np.inf), (-1.0, -np.inf), (1.5, np.nan)]),
        ("ndtri", [(0.0, -np.inf), (1.0, np.inf), (-0.1, np.nan)]),
        ("lgamma", [(0.0, np.inf), (-2.0, np.inf), (np.inf, np.inf)]),
        ("digamma", [(0.0, -np.inf), (-0.0, np.inf), (-3.0, np.nan), (np.inf, np.inf)]),
        ("trigamma", [(0.0, np.inf), (-1.0, np.inf)]),
    ],
)
def test_ends(name: str, points: list[tuple[float, float]]) -> None:
    x, expected = np.array(points).T
    np.testing.assert_array_equal(function(name)(x), expected)


def test_large_arrays_agree_with_small_ones() -> None:
    """Large arrays take other ways than small ones."""
    x = np.random.default_rng(0).normal(0, 2, 5000)
    for name in ("erf", "ndtr"):
        one_by_one = np.array([getattr(scalars, name)(value) for value in x.tolist()])
        np.testing.assert_allclose(getattr(special, name)(x), one_by_one, rtol=1e-15, atol=0)
        singles = getattr(special, name)(x.astype(np.float32))
        np.testing.assert_allclose(singles, one_by_one, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i8"])
def test_where_is_that_of_numpy(kind: str) -> None:
    rng = np.random.default_rng(1)
    shape = (LARGE // 30, 40)
    x, y = (rng.normal(0, 5, (2, *shape))).astype(kind)
    if kind[0] == "f":
        x.reshape(-1)[:5] = y.reshape(-1)[3:8] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    condition = rng.random(shape) < 0.5
    pairs: list[tuple[Any, Any]] = [
        (x, y), (x, 0.0), (0.0, y), (x, 2.5), (-1, y), (x, -0.0), (x, y[:1]), (x.T.copy().T, y), (1.0, 2.0),
        (x, np.float32(2)), (x, np.array(1.5)),
    ]  # fmt: skip
    for one, other in pairs:
        for mask in (condition, condition[:1], condition.T.copy().T):
            found, expected = where(mask, one, other), np.where(mask, one, other)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
