"""Normal numbers in blocks of sixteen, by the Box-Muller transform as PyTorch's CPU kernel computes it.

A block holds eight uniform numbers u1 and then eight u2; it becomes radius * cos(theta) and then
radius * sin(theta), where radius = sqrt(-2 log(1 - u1)) and theta = 2 pi u2
(`NormalFill16` in aten/src/ATen/native/cpu/DistributionTemplates.h).
Double precision uses the C library's functions, as Python's `math` does and numpy does not; single
precision uses AVX2 versions of the Cephes polynomials, followed here step by step.
"""

from __future__ import annotations

import math

import numpy as np

from gradsh.backend.fused import fused_multiply_add_single, single

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

BATCH = 512  # blocks transformed at a time: the intermediate arrays stay in the cache


def by_library(function: Callable[[float], float], values: Doubles) -> Doubles:
    """A function of `math` on every element: the C library's rounding, which numpy's own loops do not have."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size)


def double_pairs(uniforms: Doubles) -> Doubles:
    """Standard normal numbers from pairs of uniform ones in [0, 1): angle, then radius.

    `normal_distribution` in aten/src/ATen/core/DistributionsHelper.h.
    """
    angles, radii = uniforms.reshape(-1, 2).T
    radius = np.sqrt(-2.0 * by_library(math.log1p, -radii))
    return np.stack(_on_circle(radius, angles), axis=1).reshape(-1)


def double_blocks(uniforms: Doubles) -> Doubles:
    """Standard normal numbers from whole blocks of uniform ones in [0, 1), in double precision."""
    radii, angles = uniforms.reshape(-1, 2, 8).swapaxes(0, 1).reshape(2, -1)
    radius = np.sqrt(-2.0 * by_library(math.log, 1.0 - radii))
    return np.stack(_on_circle(radius, angles)).reshape(2, -1, 8).swapaxes(0, 1).reshape(-1)


def _on_circle(radius: Doubles, turns: Doubles) -> tuple[Doubles, Doubles]:
    theta = 2.0 * math.pi * turns
    return radius * by_library(math.cos, theta), radius * by_library(math.sin, theta)


def single_blocks(uniforms: Doubles) -> Doubles:
    """Standard normal numbers from whole blocks of uniform ones in [0, 1), singles held in doubles."""
    blocks = uniforms.reshape(-1, 2, 8)
    numbers = np.empty_like(blocks)
    for start in range(0, len(blocks), BATCH):
        u1, u2 = blocks[start : start + BATCH, 0], blocks[start : start + BATCH, 1]
        radius = single(np.sqrt(-2.0 * _log(1.0 - u1)))
        sine, cosine = _sine_cosine(single(_float(2.0 * math.pi) * u2))
        numbers[start : start + BATCH, 0] = single(radius * cosine)
        numbers[start : start + BATCH, 1] = single(radius * sine)
    return numbers.reshape(-1)


def _float(value: float) -> float:
    return float(np.float32(value))


def _polynomial(x: Doubles, *coefficients: float) -> Doubles:
    """Horner's rule in fused single precision, the highest power first."""
    value: Any = _float(coefficients[0])
    for coefficient in coefficients[1:]:
        value = fused_multiply_add_single(x, value, _float(coefficient))
    return value  # type: ignore[no-any-return]


def _log(x: Doubles) -> Doubles:
    """Natural logarithm of singles in (0, 1]: `log256_ps` of avx_mathfun.h (Cephes `logf`), sums contracted."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < _float(math.sqrt(0.5))
    exponent = exponent - low
    x = np.where(low, 2.0 * mantissa, mantissa) - 1.0
    square = single(x * x)
    y = _polynomial(
        x,
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
    y = fused_multiply_add_single(single(y * x), square, single(exponent * _float(-2.12194440e-4)))
    y = fused_multiply_add_single(square, -0.5, y)
    return fused_multiply_add_single(exponent.astype(np.float64), 0.693359375, single(x + y))


def _sine_cosine(theta: Doubles) -> tuple[Doubles, Doubles]:
    """Sine and cosine of singles in [0, 2 pi): `sincos256_ps` of avx_mathfun.h (Cephes `sinf`), sums contracted."""
    octant = (single(theta * _float(4.0 / math.pi)).astype(np.int32) + 1) & ~1
    x = theta
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):  # -pi/4 in three parts
        x = fused_multiply_add_single(octant.astype(np.float64), _float(part), x)
    square = single(x * x)
    even = _polynomial(square, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
    even = single(fused_multiply_add_single(single(even * square), square, -0.5 * square) + 1.0)
    odd = _polynomial(square, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
    odd = fused_multiply_add_single(single(odd * square), x, x)
    swapped = octant & 2 != 0
    sine = np.where(swapped, even, odd)
    cosine = np.where(swapped, odd, even)
    return np.where(octant & 4 != 0, -sine, sine), np.where((octant + 2) & 4 != 0, -cosine, cosine)
