"""The namespace of scalars: `math` under the names that kernels use, for Python floats.

A function may raise ArithmeticError or ValueError where IEEE arithmetic has an answer (`exp(1000.)`,
`log(0.)`); the engine then runs the kernel again on arrays, so that the common case pays nothing.
A name that `math` has not is taken from the arrays' namespace.
"""

from __future__ import annotations

import math
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

inf = math.inf
nan = math.nan
pi = math.pi
e = math.e

add = operator.add
subtract = operator.sub
multiply = operator.mul
divide = operator.truediv
floor_divide = operator.floordiv
fmod = math.fmod
negative = operator.neg
positive = operator.pos
absolute = math.fabs
exp = math.exp
exp2 = math.exp2
expm1 = math.expm1
log = math.log
log1p = math.log1p
log2 = math.log2
log10 = math.log10
sqrt = math.sqrt
sin = math.sin
cos = math.cos
tan = math.tan
arcsin = math.asin
arccos = math.acos
arctan = math.atan
arctan2 = math.atan2
sinh = math.sinh
cosh = math.cosh
tanh = math.tanh
arcsinh = math.asinh
arccosh = math.acosh
arctanh = math.atanh
erf = math.erf
erfc = math.erfc
power = math.pow
hypot = math.hypot
copysign = math.copysign
isnan = math.isnan
isinf = math.isinf
isfinite = math.isfinite
less = operator.lt
less_equal = operator.le
greater = operator.gt
greater_equal = operator.ge
equal = operator.eq
not_equal = operator.ne


def in_double(name: str) -> Callable[..., float] | None:
    """The function of `math` that a name is here, where it gives numbers: other precisions round what it gives."""
    function = globals().get(name)
    known = callable(function) and getattr(math, function.__name__, None) is function
    return function if known and not name.startswith("is") else None


def ndtr(x: float) -> float:
    """The normal distribution function."""
    return 0.5 * math.erfc(-math.sqrt(0.5) * x)


def cube(x: float) -> float:
    return math.pow(x, 3.0)


def square(x: float) -> float:
    return x * x


def zeros_like(x: float) -> float:
    return 0.0


def signum(x: float) -> float:
    """The sign as PyTorch has it: 0 for nan."""
    return float((x > 0.0) - (x < 0.0))


def floor(x: float) -> float:
    return math.copysign(math.floor(x), x)


def ceil(x: float) -> float:
    return math.copysign(math.ceil(x), x)


def trunc(x: float) -> float:
    return math.copysign(math.trunc(x), x)


def rint(x: float) -> float:
    return math.copysign(round(x), x)


def reciprocal(x: float) -> float:
    return 1.0 / x


def maximum(x: float, y: float) -> float:
    return x if x > y or x != x else y


def minimum(x: float, y: float) -> float:
    return x if x < y or x != x else y


def fmax(x: float, y: float) -> float:
    return y if x != x or y > x else x


def fmin(x: float, y: float) -> float:
    return y if x != x or y < x else x


def logaddexp(x: float, y: float) -> float:
    if not math.isfinite(x - y):
        raise ValueError("infinite")
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def where(condition: Any, x: float, y: float) -> float:
    return x if condition else y


def logical_and(x: float, y: float) -> bool:
    return bool(x and y)


def logical_or(x: float, y: float) -> bool:
    return bool(x or y)


def logical_not(x: float) -> bool:
    return not x


def __getattr__(name: str) -> Callable[..., Any]:
    from gradsh.backend import arrays

    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(arrays, name)
    if not callable(function):
        return function  # type: ignore[no-any-return]

    def on_arrays(*values: Any, **settings: Any) -> Any:
        return arrays.canonical(function(*values, **settings))

    globals()[name] = on_arrays
    return on_arrays
