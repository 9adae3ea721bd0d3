"""Poisson-distributed counts, as PyTorch draws them: `sample_poisson`, aten/src/ATen/native/Distributions.cpp."""

from __future__ import annotations

import math

from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.backend.random import Generator


def poisson(stream: Generator, rates: Any) -> Any:
    """A count for each rate of an array."""
    import numpy as np

    from gradsh.backend.arrays import empty_like
    from gradsh.backend.memory_order import visited

    counts = empty_like(rates)
    filled, wanted = visited(counts, rates)
    filled[...] = np.array([_count(stream, rate) for rate in wanted.ravel().tolist()]).reshape(filled.shape)
    return counts


def _count(stream: Generator, rate: float) -> float:
    if not rate >= 0.0:
        raise fault(RuntimeError, "invalid Poisson rate, expected rate to be non-negative")

    def uniform() -> float:
        return float(stream.doubles(1)[0])

    if rate >= 10.0:
        return _by_rejection(uniform, rate)
    count, product, least = 0, 1.0, math.exp(-rate)
    while rate:
        product *= uniform()
        if product <= least:
            break
        count += 1
    return float(count)


def _by_rejection(uniform: Any, rate: float) -> float:
    """Hörmann, "The transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS."""
    root, logarithm = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = math.log(1.1239 + 1.1328 / (b - 3.4))
    accepted = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform() - 0.5
        v = uniform()
        left = 0.5 - abs(u)
        count = math.floor((2.0 * a / left + b) * u + rate + 0.43) if left else -1
        if left >= 0.07 and v <= accepted:
            return float(count)
        if count < 0 or (left < 0.013 and v > left):
            continue
        density = -rate + count * logarithm - math.lgamma(count + 1.0)
        if not v or math.log(v) + inverse - math.log(a / (left * left) + b) <= density:
            return float(count)
