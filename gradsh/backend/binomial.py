"""Binomial counts, as PyTorch draws them: `sample_binomial`, aten/src/ATen/native/Distributions.h."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.backend.random import Generator

# What Stirling's formula leaves of log(k!), for k up to 9.
_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def binomial(stream: Generator, counts: Any, chances: Any) -> Any:
    """How many of so many trials succeed, for each pair of two arrays of one shape."""
    import numpy as np

    def uniform() -> float:
        return float(stream.doubles(1)[0])

    pairs = zip(counts.ravel().tolist(), chances.ravel().tolist())
    drawn = [_successes(uniform, count, chance) for count, chance in pairs]
    return np.array(drawn, dtype=counts.dtype).reshape(counts.shape)


def _successes(uniform: Callable[[], float], count: float, chance: float) -> float:
    if count <= 0.0 or chance <= 0.0:
        return 0.0
    if chance >= 1.0:
        return count
    if chance > 0.5:
        return count - _less_likely(uniform, count, 1.0 - chance)
    return _less_likely(uniform, count, chance) if chance <= 0.5 else math.nan


def _less_likely(uniform: Callable[[], float], count: float, chance: float) -> float:
    """For chances up to one half."""
    if count * chance >= 10.0:
        return _by_rejection(uniform, count, chance)
    successes, trials, log_failure = 0.0, 0.0, math.log1p(-chance)
    while True:
        u = uniform()
        trials += math.ceil(math.log(u) / log_failure) if u else math.inf
        if trials > count:
            return successes
        successes += 1


def _by_rejection(uniform: Callable[[], float], count: float, chance: float) -> float:
    """Hörmann, "The generation of binomial random variates" (1993), algorithm BTRS."""
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    accepted = 0.92 - 4.2 / b
    odds = chance / (1 - chance)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + 1) * chance)
    while True:
        u, v = uniform() - 0.5, uniform()
        left = 0.5 - abs(u)
        k = math.floor((2 * a / left + b) * u + count * chance + 0.5) if left else -1
        if k < 0 or k > count:
            continue
        if left >= 0.07 and v <= accepted:
            return float(k)
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + (_tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k))
        )
        if not v or math.log(v * alpha / (a / (left * left) + b)) <= bound:
            return float(k)


def _tail(k: float) -> float:
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
