"""Gamma-distributed numbers, as PyTorch draws them: `sample_gamma`, aten/src/ATen/native/Distributions.h."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.backend.random import Generator


def standard_gamma(stream: Generator, shapes: Any, dtype_name: str | None = None) -> Any:
    """A number for each shape parameter of an array, in its type or in another."""
    import numpy as np

    kind = np.dtype(dtype_name or shapes.dtype).type
    drawn = [_number(stream, kind(shape), kind) for shape in np.ravel(shapes)]
    return np.maximum(np.array(drawn, dtype=kind), np.finfo(kind).tiny).reshape(shapes.shape)


def dirichlet(stream: Generator, concentrations: Any) -> Any:
    """Rows of gamma-distributed doubles over their sums."""
    import numpy as np

    drawn = standard_gamma(stream, concentrations, "float64")
    kind = concentrations.dtype.type
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(kind)
    return np.clip(shares, np.finfo(kind).tiny, np.nextafter(kind(1), kind(0)))


def _number(stream: Generator, shape: Any, kind: Any) -> float:
    """Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); the constants are singles."""
    scale = 1.0
    if shape < 1:
        if shape == 0:
            return 0.0
        scale *= (1.0 - float(stream.doubles(1)[0])) ** float(kind(1) / shape)
        shape = shape + kind(1)
    d = float(shape - kind(_THIRD))
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        y = 0.0
        while y <= 0.0:
            x = float(stream._normal_one_by_one(1, 0.0, 1.0)[0])
            y = 1.0 + c * x
        v = y * y * y
        u = 1.0 - float(stream.doubles(1)[0])
        square = x * x
        if u < 1.0 - _SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


_THIRD = 0.3333333432674408  # 1.0f / 3.0f
_SQUEEZE = 0.03310000151395798  # 0.0331f
