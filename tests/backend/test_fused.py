"""Fused multiply-add rounds the exact x * y + z once, which rational arithmetic tells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gradsh.backend.fused import fused_multiply_add, fused_multiply_add_single

random = np.random.default_rng(20)
FACTORS = [0.7, -1.0, 1.0, 0.0, -3.3e-7, 2.0**-60 / 3, 1e200, 1e-200, 5e-324, 1.7e308]
TERMS = [0.0, 0.3, -0.35, 1e16, -1e-30, 1e300, -1e308, 5e-324]


@pytest.mark.parametrize("y", FACTORS)
@pytest.mark.parametrize("z", TERMS)
def test_doubles(y: float, z: float) -> None:
    x = np.concatenate([random.random(5000), [0.0, 0.5, -z / y if y and abs(z / y) < 1e16 else 1.0]])
    exact = [Fraction(value) * Fraction(y) + Fraction(z) for value in x.tolist()]
    assert fused_multiply_add(x, y, z).tolist() == [float(value) for value in exact]


def test_infinities_and_nans_are_those_of_ieee_arithmetic() -> None:
    inf = np.inf
    assert fused_multiply_add(np.array([-8.0, 8.0]), 1.7e308, inf).tolist() == [inf, inf]
    assert fused_multiply_add(np.array([-8.0, 8.0]), 1.7e308, 1.0).tolist() == [-inf, inf]
    assert np.isnan(fused_multiply_add(np.array([0.0, 1.0]), inf, -inf)).all()


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_singles_are_the_nearest_to_the_exact_result(scale: float) -> None:
    x, y, z = (random.standard_normal((3, 20000)) * scale).astype(np.float32).astype(np.float64)
    z[:5000] = -(x * y)[:5000].astype(np.float32)  # what is left is small
    results = fused_multiply_add_single(x, y, z)
    for a, b, c, result in zip(x.tolist(), y.tolist(), z.tolist(), results.astype(np.float32), strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        error = abs(Fraction(float(result)) - exact)
        for side in (np.float32(-np.inf), np.float32(np.inf)):
            assert error <= abs(Fraction(float(np.nextafter(result, side))) - exact)


def test_a_sum_that_double_precision_rounds_to_halfway_goes_to_its_own_side() -> None:
    x, z = np.array([2.0**-24 * (1 + 2.0**-15)]), 1 + 2.0**-23
    assert fused_multiply_add_single(x, 1 - 2.0**-15, z).tolist() == [z]  # 2**-54 below halfway
    assert fused_multiply_add_single(x, 1 + 2.0**-15, z).tolist() == [1 + 2.0**-22]
    halfway = np.array([2.0**-24])
    assert fused_multiply_add_single(halfway, 1.0, z).tolist() == [1 + 2.0**-22]  # exactly: to even
    assert fused_multiply_add_single(halfway, 1.0, 1.0).tolist() == [1.0]
