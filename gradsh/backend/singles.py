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
ONE = float32(1)  # its product with a float is that float rounded, at a third of the price of float32(…)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = scalars.in_double(name)
    if function is None:
        function = getattr(scalars, name)
    elif function in OF_TWO:
        function = _rounded_of_two(function)
    else:
        function = _rounded(function)
    globals()[name] = function
    return function


OF_TWO = (math.atan2, math.hypot, math.copysign)


def _rounded(function: Callable[..., float]) -> Callable[..., Any]:
    return lambda x: ONE * function(x)


def _rounded_of_two(function: Callable[..., float]) -> Callable[..., Any]:
    return lambda x, y: ONE * function(x, y)


def power(x: Any, y: Any) -> Any:
    return ONE * math.pow(x, y)


def divide(x: Any, y: Any) -> Any:
    return float32(x) / y
