"""The namespace of 0-d float32 values: `math` in double precision, rounded once to float32.

Operators work on `numpy.float32` itself, whose arithmetic costs a seventh of a ufunc's.
"""

from __future__ import annotations

import math

from gradsh.backend import arrays, scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

float32 = arrays.float32
OF_TWO = (math.atan2, math.hypot, math.copysign)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(scalars, name)
    if callable(function) and getattr(math, function.__name__, None) is function and name[:2] != "is":
        function = _rounded(function)
    globals()[name] = function
    return function


def _rounded(function: Callable[..., float]) -> Callable[..., Any]:
    def rounded(x: Any) -> Any:
        return float32(function(x))

    def rounded_of_two(x: Any, y: Any) -> Any:
        return float32(function(x, y))

    return rounded_of_two if function in OF_TWO else rounded


def power(x: Any, y: Any) -> Any:
    return float32(math.pow(x, y))


def divide(x: Any, y: Any) -> Any:
    return float32(x) / y
