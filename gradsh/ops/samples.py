"""What the registry-driven tests draw an op's operands from: a domain for each operand, and settings.

sample=reals                                     every operand of an elementwise op
sample=(reals, positive)                         one domain for each operand
sample=Sample(reals(2, 3), reals(3, 4))          operands of these shapes
sample=[Sample(distinct(4), dim=0), …]           several, with settings
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np


class Domain:
    """Where an operand's numbers come from: uniform in [low, high), integers, booleans, or all different and well apart."""

    __slots__ = ("high", "kind", "low")

    def __init__(self, low: float, high: float, kind: str = "float") -> None:
        self.low, self.high, self.kind = low, high, kind

    def __call__(self, *shape: int) -> Draw:
        return Draw(self, shape)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Numbers of this domain as an array."""
        if self.kind == "integer":
            return rng.integers(int(self.low), int(self.high), shape)
        if self.kind == "bool":
            return rng.random(shape) < 0.5
        if self.kind == "distinct":
            import math

            count = math.prod(shape)
            steps = (rng.permutation(count) + 0.5) / max(count, 1)
            return (self.low + (self.high - self.low) * steps).reshape(shape)
        return rng.uniform(self.low, self.high, shape)


class Draw:
    """An operand to draw: a domain and a shape."""

    __slots__ = ("domain", "shape")

    def __init__(self, domain: Domain, shape: tuple[int, ...]) -> None:
        self.domain, self.shape = domain, shape

    def __call__(self, rng: np.random.Generator) -> Any:
        return self.domain.draw(rng, self.shape)


class Made:
    """An operand made by a function of the random generator: a positive definite matrix, say."""

    __slots__ = ("make",)

    def __init__(self, make: Any) -> None:
        self.make = make

    def __call__(self, rng: np.random.Generator) -> Any:
        return self.make(rng)


class Sample:
    """Operands to draw and settings to call with."""

    __slots__ = ("operands", "settings")

    def __init__(self, *operands: Draw | Made | None, **settings: Any) -> None:
        self.operands, self.settings = operands, settings


reals = Domain(-2.0, 2.0)
positive = Domain(0.3, 3.0)
nonzero = Domain(0.5, 2.0)
unit = Domain(-0.9, 0.9)
probabilities = Domain(0.05, 0.95)
above_one = Domain(1.1, 3.0)
distinct = Domain(-2.0, 2.0, "distinct")
booleans = Domain(0, 1, "bool")


def integers(low: int, high: int) -> Domain:
    """Integers in [low, high)."""
    return Domain(low, high, "integer")


def between(low: float, high: float) -> Domain:
    """Numbers in [low, high)."""
    return Domain(low, high)
