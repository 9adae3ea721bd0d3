"""Arithmetic on two operands, element by element, and Python's operators on tensors."""

from __future__ import annotations

from gradsh.engine.op import OPS, elementwise
from gradsh.ops.registry import add_operator
from gradsh.ops.samples import nonzero, reals


@elementwise(x=lambda g: g, y=lambda g: g, sample=reals)
def add(xp, x, y):
    """Sum, element by element."""
    return xp.add(x, y)


@elementwise(x=lambda g: g, y=lambda g: -g, sample=reals)
def sub(xp, x, y):
    """Difference, element by element."""
    return xp.subtract(x, y)


@elementwise(x=lambda g, y: g * y, y=lambda g, x: g * x, sample=reals)
def mul(xp, x, y):
    """Product, element by element."""
    return xp.multiply(x, y)


@elementwise(x=lambda g, y: g / y, y=lambda g, x, y: -g * x / (y * y), sample=(reals, nonzero), floating=True)
def div(xp, x, y):
    """Quotient, element by element; integers give floats."""
    return xp.divide(x, y)


@elementwise(x=lambda g: -g, sample=reals)
def neg(xp, x):
    """Negative."""
    return xp.negative(x)


for _name in ("add", "sub", "mul"):
    add_operator(f"__{_name}__", OPS[_name])
    add_operator(f"__i{_name}__", OPS[_name], inplace=True)
add_operator("__radd__", OPS["add"])
add_operator("__rmul__", OPS["mul"])
add_operator("__rsub__", OPS["sub"], reflected=True)
add_operator("__truediv__", OPS["div"])
add_operator("__rtruediv__", OPS["div"], reflected=True)
add_operator("__itruediv__", OPS["div"], inplace=True)
add_operator("__neg__", OPS["neg"])
