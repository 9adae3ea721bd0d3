"""Helpers of the special functions: doubles in, doubles out, and polynomials."""

from __future__ import annotations

from functools import wraps

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


def in_doubles(function: Callable[..., Doubles]) -> Callable[..., Any]:
    """A function of arrays of doubles made one of any numbers: broadcast first, rounded to their own type at the end.

    Operands of no dimension give a scalar, as numpy's own functions do. What is not an array or a number of numpy's
    or Python's floats (a setting, given by name) is passed on.
    """

    @wraps(function)
    def on_any(*operands: Any, **settings: Any) -> Any:
        kind = np.result_type(*operands)
        arrays = [np.asarray(operand, np.float64) for operand in operands]
        if len(arrays) > 1:
            arrays = list(np.broadcast_arrays(*arrays))
        value = function(*arrays, **settings)
        return (value if kind.kind != "f" else value.astype(kind, copy=False))[()]

    return on_any


def by_library(function: Callable[[float], float], x: Doubles) -> Doubles:
    """A function of `math` on every number."""
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with these coefficients, that of the highest power first."""
    value = coefficients[0] * x
    for coefficient in coefficients[1:-1]:
        value += coefficient
        value *= x
    value += coefficients[-1]
    return value


def chebyshev(t: Doubles, coefficients: Sequence[float]) -> Doubles:
    """The sum of Chebyshev polynomials with these coefficients, by Clenshaw's recurrence."""
    after = value = np.zeros_like(t)
    for coefficient in coefficients[:0:-1]:
        after, value = value, 2 * t * value - after + coefficient
    return t * value - after + coefficients[0]
