"""Comparisons, tests and logic, element by element: what answers True or False, and operations on bits."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL, FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.batched import Batched
from gradsh.engine.op import constant, elementwise
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.registry import add_operator, bind_operator, function

# ---- comparisons


@elementwise(result="bool", inplace=True, example="eq(tensor([1.0, 2.0]), 2)")
def eq(xp, x, y):
    """Whether numbers are equal."""
    return xp.equal(x, y)


@elementwise(
    result="bool",
    inplace=True,
    at=("torch", "Tensor", "torch:not_equal", "Tensor:not_equal"),
    example="ne(tensor([1.0, 2.0]), 2)",
)
def ne(xp, x, y):
    """Whether numbers differ."""
    return xp.not_equal(x, y)


@elementwise(
    result="bool",
    inplace=True,
    at=("torch", "Tensor", "torch:less", "Tensor:less"),
    example="lt(tensor([1.0, 2.0]), 2)",
)
def lt(xp, x, y):
    """Whether the first number is less."""
    return xp.less(x, y)


@elementwise(
    result="bool",
    inplace=True,
    at=("torch", "Tensor", "torch:less_equal", "Tensor:less_equal"),
    example="le(tensor([1.0, 2.0]), 2)",
)
def le(xp, x, y):
    """Whether the first number is less or equal."""
    return xp.less_equal(x, y)


@elementwise(
    result="bool",
    inplace=True,
    at=("torch", "Tensor", "torch:greater", "Tensor:greater"),
    example="gt(tensor([1.0, 2.0]), 1)",
)
def gt(xp, x, y):
    """Whether the first number is greater."""
    return xp.greater(x, y)


@elementwise(
    result="bool",
    inplace=True,
    at=("torch", "Tensor", "torch:greater_equal", "Tensor:greater_equal"),
    example="ge(tensor([1.0, 2.0]), 2)",
)
def ge(xp, x, y):
    """Whether the first number is greater or equal."""
    return xp.greater_equal(x, y)


for _name, _op in (("eq", eq), ("ne", ne), ("lt", lt), ("le", le), ("gt", gt), ("ge", ge)):
    add_operator(f"__{_name}__", _op)


# ---- tests of one number


@elementwise(result="bool", example="isnan(tensor([1.0, nan]))")
def isnan(xp, x):
    """Whether it is nan."""
    return xp.isnan(x)


@elementwise(result="bool", example="isinf(tensor([1.0, inf]))")
def isinf(xp, x):
    """Whether it is infinite."""
    return xp.isinf(x)


@elementwise(result="bool", example="isfinite(tensor([1.0, inf, nan]))")
def isfinite(xp, x):
    """Whether it is neither infinite nor nan."""
    return xp.isfinite(x)


@elementwise(result="bool", example="isposinf(tensor([inf, -inf]))")
def isposinf(xp, x):
    """Whether it is inf."""
    return xp.equal(x, xp.inf)


@elementwise(result="bool", example="isneginf(tensor([inf, -inf]))")
def isneginf(xp, x):
    """Whether it is -inf."""
    return xp.equal(x, -xp.inf)


@elementwise(result="bool", example="isreal(tensor([1.0]))")
def isreal(xp, x):
    """Whether it has no imaginary part, as all numbers here."""
    return xp.equal(x, x) | xp.not_equal(x, x)


@elementwise(result="bool", example="signbit(tensor([1.0, -1.0]))")
def signbit(xp, x):
    """Whether its sign is minus, of zeros too."""
    return xp.less(x, 0) if getattr(x, "dtype", None) is not None and x.dtype.kind != "f" else xp.signbit(x)


@elementwise(result="bool", inplace=True, example="logical_not(tensor([0.0, 2.0]))")
def logical_not(xp, x):
    """Whether it is 0."""
    return xp.logical_not(x)


# ---- logic


@elementwise(result="bool", inplace=True, numbers=False, example="logical_and(tensor([0.0, 2.0]), tensor([1.0, 1.0]))")
def logical_and(xp, x, y):
    """Whether both are not 0."""
    return xp.logical_and(x, y)


@elementwise(result="bool", inplace=True, numbers=False, example="logical_or(tensor([0.0, 2.0]), tensor([0.0, 0.0]))")
def logical_or(xp, x, y):
    """Whether one is not 0."""
    return xp.logical_or(x, y)


@elementwise(result="bool", inplace=True, numbers=False, example="logical_xor(tensor([0.0, 2.0]), tensor([1.0, 1.0]))")
def logical_xor(xp, x, y):
    """Whether just one is not 0."""
    return xp.logical_xor(x, y)


# ---- bits


@elementwise(refuses=("bitwise_and_cpu", "floating"), example="bitwise_and(tensor([6, 3]), 5)")
def bitwise_and(xp, x, y):
    """The bits that both have."""
    return xp.bitwise_and(x, y)


@elementwise(refuses=("bitwise_or_cpu", "floating"), example="bitwise_or(tensor([6, 3]), 5)")
def bitwise_or(xp, x, y):
    """The bits that one of both has."""
    return xp.bitwise_or(x, y)


@elementwise(refuses=("bitwise_xor_cpu", "floating"), example="bitwise_xor(tensor([6, 3]), 5)")
def bitwise_xor(xp, x, y):
    """The bits that just one has."""
    return xp.bitwise_xor(x, y)


@elementwise(refuses=("bitwise_not_cpu", "floating"), example="bitwise_not(tensor([True, False]))")
def bitwise_not(xp, x):
    """The other bits."""
    return xp.invert(x)


def shifted_left(xp, x, y):
    """x times 2 to the power y."""
    return xp.left_shift(x, y)


def shifted_right(xp, x, y):
    """x divided by 2 to the power y, rounded down."""
    return xp.right_shift(x, y)


bitwise_left_shift = elementwise(
    name="bitwise_left_shift", refuses=("lshift_cpu", "floating bool"), example="bitwise_left_shift(tensor([1, 3]), 2)"
)(shifted_left)
bitwise_right_shift = elementwise(
    name="bitwise_right_shift",
    refuses=("rshift_cpu", "floating bool"),
    example="bitwise_right_shift(tensor([8, 3]), 1)",
)(shifted_right)


@elementwise(refuses=("gcd_cpu", "floating bool"), numbers=False, example="gcd(tensor([12, 9]), tensor([8, 6]))")
def gcd(xp, x, y):
    """The greatest common divisor."""
    return xp.gcd(x, y)


@elementwise(refuses=("lcm_cpu", "floating bool"), numbers=False, example="lcm(tensor([4, 6]), tensor([6, 9]))")
def lcm(xp, x, y):
    """The least common multiple."""
    return xp.lcm(x, y)


def _inverted(self):
    if self.dtype.category == FLOATING:
        raise fault(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


for _name, _op in (
    ("and", bitwise_and), ("or", bitwise_or), ("xor", bitwise_xor), ("lshift", bitwise_left_shift),
    ("rshift", bitwise_right_shift),
):  # fmt: skip
    add_operator(f"__{_name}__", _op)
    add_operator(f"__i{_name}__", _op, inplace=True)
    add_operator(f"__r{_name}__", _op, reflected=True)
bind_operator("__invert__", _inverted)


# ---- closeness


@constant(at=(), batch="elementwise")
def close(xp, x, y, *, rtol, atol, equal_nan):
    """Whether two numbers differ by no more than atol + rtol |y|."""
    near = x == y
    if xp.dtype_of(x).category != BOOL:
        near = near | (xp.isfinite(y) & (xp.absolute(x - y) <= atol + rtol * xp.absolute(y)))
    return near | ((x != x) & (y != y)) if equal_nan else near


@function(example="isclose(tensor([1.0, 2.0]), tensor([1.0, 2.1]))")
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether numbers differ by no more than atol + rtol |other|."""
    x, y = operand(input), operand(other, "other")
    if x.dtype is not y.dtype:
        raise fault(
            RuntimeError, f"{TYPE_NAMES[x.dtype.name]} did not match {TYPE_NAMES[y.dtype.name]}", hint="x.to(y.dtype)"
        )
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if not bound >= 0:
            raise fault(RuntimeError, f"{name} must be greater than or equal to zero, but got {bound:g}")
    return close(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


@function(example="allclose(tensor([1.0]), tensor([1.0 + 1e-9]))")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all numbers are close: one True or False."""
    if isinstance(input, Batched) or isinstance(other, Batched):
        raise fault(
            RuntimeError,
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature.",
            hint="torch.isclose(…).all()",
        )
    return bool(isclose(input, other, rtol, atol, equal_nan).raw.all())


@function(example="equal(tensor([1.0]), tensor([1.0]))")
def equal(input, other):
    """Whether two tensors have one shape and the same numbers: one True or False."""
    x, y = operand(input), operand(other, "other")
    if isinstance(x, Batched) or isinstance(y, Batched):
        message = "Batching rule not implemented for aten::equal. We could not generate a fallback."
        raise fault(RuntimeError, message, hint="(a == b).all()")
    return x.shape == y.shape and bool(eq(x, y).raw.all())
