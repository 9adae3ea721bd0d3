"""A tensor times a number, over one or plus one, under the names that the nodes have inside PyTorch's own functions."""

from __future__ import annotations

from gradsh.engine.op import general, linear
from gradsh.engine.state import state
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import to_dtype


@linear(
    x=lambda g, factor: g * factor,
    sample=Sample(reals(3), factor=0.5),
    at=(),
    grad_fn="MulBackward1",
    batch="elementwise",
)
def multiplied(xp, x, *, factor):
    """x * factor."""
    return xp.multiply(x, factor)


@linear(
    x=lambda g, divisor: g / divisor,
    sample=Sample(reals(3), divisor=4.0),
    at=(),
    grad_fn="DivBackward1",
    batch="elementwise",
)
def divided(xp, x, *, divisor):
    """x / divisor."""
    return xp.divide(x, divisor)


@general(x=lambda g: g, sample=Sample(reals(3), term=4.0), at=(), grad_fn="AddBackward1", batch="elementwise")
def increased(xp, x, *, term):
    """x + term."""
    return xp.add(x, term)


def times(x, factor):
    """x * factor, of a number; integers become floats where the number is one."""
    return multiplied(_as_float(x) if isinstance(factor, float) else x, factor=factor)


def over(x, divisor):
    """x / divisor, of a number; integers become floats."""
    return divided(_as_float(x), divisor=divisor)


def _as_float(x):
    return x if x.dtype.category == 2 else to_dtype(x, dtype=state.default)
