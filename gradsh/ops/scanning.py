"""Running sums, products and extrema along a dimension."""

from __future__ import annotations

from math import inf, nan

from gradsh.engine import runtime
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import general, linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import floats, in_type, of_type, operand
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axis_of
from gradsh.ops.picking import put_along
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, distinct, nonzero, reals
from gradsh.ops.unary import exp

# A running product and its like are linear recurrences: `recurrence` is closed under differentiation, so what is
# built from it has derivatives of any order, zeros among the numbers or not.


@linear(
    x=lambda g, axis, step: shifted(g, axis=axis, step=-step),
    sample=[Sample(reals(2, 3), axis=1, step=1), Sample(reals(3, 2), axis=0, step=-1)],
    at=(),
    grad_fn="RollBackward0",
)
def shifted(xp, x, *, axis, step):
    """The numbers moved one place up (step 1) or down (-1) a dimension, 0 where none came from."""
    out = xp.zeros_like(x)
    ahead = (slice(None),) * axis + (slice(1, None),)
    behind = (slice(None),) * axis + (slice(None, -1),)
    out[ahead if step > 0 else behind] = x[behind if step > 0 else ahead]
    return out


@general(
    x=lambda g, y, axis, reverse: recurrence(g, y, axis=axis, reverse=not reverse),
    y=lambda g, y, out, axis, reverse: _link_rule(recurrence(g, y, axis=axis, reverse=not reverse), out, axis, reverse),
    sample=[Sample(reals(4), reals(4), axis=0, reverse=True), Sample(reals(2, 3), reals(2, 3), axis=1, reverse=False)],
    at=(),
    grad_fn="RecurrenceBackward0",
)
def recurrence(xp, x, y, *, axis, reverse):
    """out[k] = x[k] + y[k] out[k-1] along a dimension; reverse: out[k-1] = x[k-1] + y[k] out[k]."""
    out = xp.array(x)
    rows, links = xp.moveaxis(out, axis, 0), xp.moveaxis(xp.asarray(y), axis, 0)
    if reverse:
        for k in range(len(rows) - 1, 0, -1):
            rows[k - 1] += links[k] * rows[k]
    else:
        for k in range(1, len(rows)):
            rows[k] += links[k] * rows[k - 1]
    return out


def _link_rule(carried, out, axis, reverse):
    if reverse:
        return shifted(carried, axis=axis, step=1) * out
    return carried * shifted(out, axis=axis, step=1)


def holds_zero(x):
    """Whether any number, of a tensor or a raw value, is zero; or may be, under vmap, where numbers are not to be had."""
    raw = x.raw if isinstance(x, Tensor) else x
    if raw.__class__ is float:
        return raw == 0
    return not isinstance(raw, runtime.arrays.ndarray | runtime.arrays.generic) or not raw.all()


# ---- sums


@linear(
    x=lambda g, axis, reverse: running_sum(g, axis=axis, reverse=not reverse),
    sample=[Sample(reals(2, 3), axis=1, reverse=False), Sample(reals(3, 2), axis=0, reverse=True)],
    at=(),
    grad_fn="CumsumBackward0",
)
def running_sum(xp, x, *, axis, reverse):
    """Sum of the numbers so far along a dimension, from the other end where reversed."""
    return accumulated(xp, xp.add, x, axis, reverse)


def accumulated(xp, ufunc, x, axis, reverse=False):
    """What a ufunc accumulates along an axis; integers in int64."""
    x = xp.asarray(x)
    if not x.ndim:
        return x.astype(xp.int64) if x.dtype.kind != "f" else x.copy()
    dtype = x.dtype if x.dtype.kind == "f" else xp.int64
    if reverse:
        return xp.flip(ufunc.accumulate(xp.flip(x, axis), axis, dtype), axis).copy()
    return ufunc.accumulate(x, axis, dtype)


@function(example="cumsum(tensor([1.0, 2.0, 3.0]), dim=0)", inplace=True)
def cumsum(input, dim, *, dtype=None):
    """Sum of the numbers so far along a dimension."""
    input = in_type(input, dtype)
    return of_type(running_sum(input, axis=axis_of(dim, input.ndim), reverse=False), dtype)


# ---- products


def _running_product_rule(g, x, out, axis, reverse, exclusive):
    if x.shape[axis] < 2 and not exclusive:
        return g
    step = 1 if reverse else -1
    if not holds_zero(x):
        summed = running_sum(g * out, axis=axis, reverse=not reverse)
        return (shifted(summed, axis=axis, step=step) if exclusive else summed) / x
    if exclusive:
        g = shifted(g, axis=axis, step=step)
    links = shifted(x, axis=axis, step=1) if reverse else x
    others = running_product(x, axis=axis, reverse=reverse, exclusive=True)
    return others * recurrence(g, links, axis=axis, reverse=not reverse)


@general(
    x=lambda g, x, x_shape, out, axis, reverse, exclusive: (
        _running_product_rule(g, x, out, axis, reverse, exclusive) if x_shape else g
    ),
    sample=[
        Sample(nonzero(2, 4), axis=1, reverse=False, exclusive=False),
        Sample(nonzero(4, 2), axis=0, reverse=True, exclusive=True),
        Sample(Made(lambda rng: rng.permutation([0.0, 1.5, 0.0, 2.0])), axis=0, reverse=False, exclusive=False),
        Sample(Made(lambda rng: rng.permutation([0.0, 1.5, 0.0, 2.0])), axis=0, reverse=True, exclusive=False),
        Sample(Made(lambda rng: rng.permutation([0.0, 1.5, -0.5, 2.0])), axis=0, reverse=False, exclusive=True),
    ],
    at=(),
    grad_fn="CumprodBackward0",
)
def running_product(xp, x, *, axis, reverse, exclusive):
    """Product of the numbers so far along a dimension; exclusive: of those before."""
    out = accumulated(xp, xp.multiply, x, axis, reverse)
    if not exclusive or not out.ndim or not out.shape[axis]:
        return out
    behind, ahead = slice(None, -1), slice(1, None)
    lead = (slice(None),) * axis
    moved = xp.ones_like(out)
    moved[(*lead, behind if reverse else ahead)] = out[(*lead, ahead if reverse else behind)]
    return moved


@function(example="cumprod(tensor([1.0, 2.0, 3.0]), dim=0)", inplace=True)
def cumprod(input, dim, *, dtype=None):
    """Product of the numbers so far along a dimension."""
    input = in_type(input, dtype)
    return of_type(running_product(input, axis=axis_of(dim, input.ndim), reverse=False, exclusive=False), dtype)


# ---- extrema


def _scan_rule(g, x_shape, indices, axis):
    return put_along(g, indices, size=x_shape, axis=axis) if x_shape else g


def _scan_extremum(xp, x, ufunc, axis):
    """The extremum so far along an axis and its last place; nan stays once met, at the last nan so far."""
    x = xp.asarray(x)
    if not x.ndim:
        return x.copy(), xp.zeros((), xp.int64)
    values = ufunc.accumulate(x, axis)
    lane = xp.arange(x.shape[axis]).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
    met = xp.logical_or(xp.equal(x, values), xp.isnan(x))
    return values, xp.maximum.accumulate(xp.where(met, lane, 0), axis)


@general(
    x=_scan_rule,
    sample=[Sample(distinct(2, 4), axis=1), Sample(distinct(4, 2), axis=0)],
    outputs=("values", "indices"),
    differentiable=(True, False),
    at=(),
    name="cummax",
)
def running_maximum(xp, x, *, axis):
    """The largest number so far along a dimension and its last place."""
    return _scan_extremum(xp, x, xp.maximum, axis)


@general(
    x=_scan_rule,
    sample=[Sample(distinct(2, 4), axis=1), Sample(distinct(4, 2), axis=0)],
    outputs=("values", "indices"),
    differentiable=(True, False),
    at=(),
    name="cummin",
)
def running_minimum(xp, x, *, axis):
    """The smallest number so far along a dimension and its last place."""
    return _scan_extremum(xp, x, xp.minimum, axis)


@function(example="cummax(tensor([1.0, 3.0, 2.0]), dim=0)")
def cummax(input, dim):
    """The largest number so far along a dimension, and its place, the last of several."""
    return _scanned(running_maximum, "cummax", input, dim)


@function(example="cummin(tensor([3.0, 1.0, 2.0]), dim=0)")
def cummin(input, dim):
    """The smallest number so far along a dimension, and its place, the last of several."""
    return _scanned(running_minimum, "cummin", input, dim)


def _scanned(op, name, input, dim):
    input = operand(input)
    if not input.ndim and dim.__class__ is int and not -1 <= dim <= 0:
        raise fault(IndexError, f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    return op(input, axis=axis_of(dim if input.numel() else 0, input.ndim))  # PyTorch reads no dim of nothing


# ---- logarithms of sums of exponentials


def _running_logsumexp_rule(g, x, x_shape, out, axis):
    """With r[k] = d out[k] / d out[k-1] = exp(out[k-1] - out[k]), never above 1: a recurrence from the end."""
    if not x_shape:
        return g
    links = where(out == -inf, 0.0, exp(shifted(out, axis=axis, step=1) - out))
    found = recurrence(g, links, axis=axis, reverse=True) * where(out == -inf, 0.0, exp(x - out))
    return where(out == -inf, nan, found)  # as PyTorch's logarithms of gradients have it


@general(
    x=_running_logsumexp_rule,
    sample=[Sample(reals(2, 4), axis=1), Sample(reals(4, 2), axis=0)],
    at=(),
    grad_fn="LogcumsumexpBackward0",
)
def running_logsumexp(xp, x, *, axis):
    """Logarithm of the sum of the exponentials so far along a dimension."""
    x = xp.asarray(x)
    return xp.logaddexp.accumulate(x, axis) if x.ndim else x.copy()


@function(example="logcumsumexp(tensor([1.0, 2.0, 3.0]), dim=0)")
def logcumsumexp(input, dim):
    """Logarithm of the sum of the exponentials so far along a dimension."""
    input = floats(input)
    axis = axis_of(dim, input.ndim)
    if input.dtype.category != 2:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(
            NotImplementedError, f"\"logcumsumexp_out_cpu\" not implemented for '{kind}'", hint=".float() first"
        )
    return running_logsumexp(input, axis=axis)
