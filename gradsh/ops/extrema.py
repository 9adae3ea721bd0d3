"""Maxima and minima over dimensions: their values, where they are, and how ties share a gradient."""

from __future__ import annotations

from gradsh.engine.op import OPS, constant, general, linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.dimensions import axes_of, axis_of, kept_shape
from gradsh.ops.examples import flat, over_rest, rest, shaped
from gradsh.ops.picking import put_along
from gradsh.ops.reduction import check_alone, unreduced
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, distinct, reals
from gradsh.ops.structure import expand_to

TIED = Made(lambda rng: rng.permutation([1.0, -0.5, 1.0, -0.5, 0.3]))
OVERLOADS = (
    "(Tensor input, *, Tensor out = None)",
    "(Tensor input, Tensor other, *, Tensor out = None)",
    "(Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)",
)


# ---- the share of each number in the gradient


@constant(at=(), batch=lambda x, y: _shares(x, y))
def share_of_all(xp, x, y):
    """What part of the gradient of an extremum y of all numbers each of them gets; ties share alike, nan with nan."""
    x = xp.asarray(x)
    ties = xp.isnan(x) if xp.isnan(y) else xp.equal(x, y)
    return ties / xp.add.reduce(ties, None, x.dtype)


def _shares(x, y):
    """`share_of_all` for all examples."""
    ones = (x.shape[0], *[1 for _ in rest(x)])
    y = shaped(y, ones)
    lost = OPS["isnan"](y)
    ties = OPS["to_dtype"](OPS["where"](lost, OPS["isnan"](x), OPS["eq"](x, y)), dtype=x.dtype)
    return ties / OPS["sum_over"](ties, axes=rest(x), keepdim=True)


@constant(at=())
def share_over(xp, x, y, *, axes, keepdim):
    """The same for extrema over some dimensions, where nan meets nothing, as in PyTorch."""
    x, y = xp.asarray(x), xp.asarray(y)
    ties = xp.equal(x, y if keepdim else y.reshape(kept_shape(x.shape, axes))).astype(x.dtype)
    return ties / xp.add.reduce(ties, axes, None, None, True)


@linear(
    x=lambda g, y: parted(g, y),
    sample=Sample(reals(3), Made(lambda rng: rng.permutation([0.0, 0.5, 0.5]))),
    at=(),
    batch="elementwise",
)
def parted(xp, x, y):
    """x * y, and 0 where y is, whatever x."""
    return xp.where(xp.not_equal(y, 0), xp.multiply(x, y), xp.asarray(x).dtype.type(0))


def _rule_all(g, x, x_shape, out):
    return parted(expand_to(g, size=x_shape), share_of_all(x, out))


def _rule_over(g, x, x_shape, out, axes, keepdim):
    return unreduced(g, x_shape, axes, keepdim) * share_over(x, out, axes=axes, keepdim=keepdim)


def _rule_along(g, indices, x_shape, axis, keepdim):
    if not x_shape:
        return g
    return put_along(
        unreduced(g, x_shape, (axis,), keepdim), unreduced(indices, x_shape, (axis,), keepdim), size=x_shape, axis=axis
    )


OVER = [Sample(distinct(2, 3, 2), axes=(0, 2), keepdim=False), Sample(TIED, axes=(0,), keepdim=True)]
ALONG = [Sample(distinct(2, 4), axis=1, keepdim=False), Sample(distinct(3, 2), axis=0, keepdim=True)]


# ---- over everything


@general(
    x=_rule_all,
    sample=[Sample(distinct(2, 3)), Sample(distinct())],
    at=(),
    grad_fn="MaxBackward1",
    batch=over_rest("max_over"),
)
def max_all(xp, x):
    """The largest number."""
    return xp.maximum.reduce(x, None)


@general(
    x=_rule_all,
    sample=[Sample(distinct(2, 3)), Sample(distinct())],
    at=(),
    grad_fn="MinBackward1",
    batch=over_rest("min_over"),
)
def min_all(xp, x):
    """The smallest number."""
    return xp.minimum.reduce(x, None)


# ---- over dimensions, ties sharing


@general(x=_rule_over, sample=OVER[:1], at=(), grad_fn="AmaxBackward0")
def max_over(xp, x, *, axes, keepdim):
    """The largest number over dimensions."""
    return xp.maximum.reduce(x, axes, None, None, keepdim)


@general(x=_rule_over, sample=OVER[:1], at=(), grad_fn="AminBackward0")
def min_over(xp, x, *, axes, keepdim):
    """The smallest number over dimensions."""
    return xp.minimum.reduce(x, axes, None, None, keepdim)


@general(
    x=lambda g, x, x_shape, min, max, axes, keepdim: _both(
        [
            None if one is None else _rule_over(one, x, x_shape, out, axes, keepdim)
            for one, out in zip(g, (min, max), strict=True)
        ]
    ),
    sample=OVER[:1],
    outputs=("min", "max"),
    returns="aminmax",
    at=(),
    grad_fn="AminmaxBackward0",
)
def extremes_over(xp, x, *, axes, keepdim):
    """The smallest and the largest number over dimensions."""
    return xp.minimum.reduce(x, axes, None, None, keepdim), xp.maximum.reduce(x, axes, None, None, keepdim)


def _both(parts):
    low, high = parts
    return high if low is None else low if high is None else low + high


# ---- along one dimension, with places


@general(
    x=_rule_along,
    sample=ALONG,
    outputs=("values", "indices"),
    differentiable=(True, False),
    returns="max",
    at=(),
    grad_fn="MaxBackward0",
)
def max_along(xp, x, *, axis, keepdim):
    """The largest number along a dimension and its first place."""
    return _extreme(xp, x, xp.maximum, xp.argmax, axis, keepdim)


@general(
    x=_rule_along,
    sample=ALONG,
    outputs=("values", "indices"),
    differentiable=(True, False),
    returns="min",
    at=(),
    grad_fn="MinBackward0",
)
def min_along(xp, x, *, axis, keepdim):
    """The smallest number along a dimension and its first place."""
    return _extreme(xp, x, xp.minimum, xp.argmin, axis, keepdim)


def _extreme(xp, x, ufunc, search, axis, keepdim):
    x = xp.asarray(x)
    if not x.ndim:
        return x.copy(), xp.zeros((), xp.int64)
    return ufunc.reduce(x, axis, None, None, keepdim), search(x, axis, None, keepdims=keepdim)


# ---- what programs call


def _extremum(input, dim, other, keepdim, all_op, along_op, binary):
    input = operand(input)
    if other is None and isinstance(dim, Tensor) and not keepdim:
        other = dim
    if other is not None:
        return OPS[binary](input, operand(other, "other"))
    name = binary[:3]
    if dim is ...:
        check_alone(keepdim)
        check_not_empty(input, name)
        return all_op(input)
    axis = axis_of(dim, input.ndim)
    check_not_empty(input, name, axis)
    return along_op(input, axis=axis, keepdim=keepdim)


def check_not_empty(input, name, axis=None):
    """PyTorch's error for an extremum of no numbers."""
    shape = input.shape
    if axis is None:
        if 0 in shape:
            raise fault(
                RuntimeError,
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument.",
            )
    elif shape and shape[axis] == 0:
        raise fault(IndexError, f"{name}(): Expected reduction dim {axis} to have non-zero size.")


@function(example="max(tensor([[1.0, 5.0], [3.0, 4.0]]), dim=1)", overloads=OVERLOADS)
def max(input, dim=..., keepdim=False, *, other=None):
    """Largest number of all; with dim, the largest along it, with places; of two tensors, the larger elements."""
    return _extremum(input, dim, other, keepdim, max_all, max_along, "maximum")


@function(example="min(tensor([[1.0, 5.0], [3.0, 4.0]]), dim=1)", overloads=OVERLOADS)
def min(input, dim=..., keepdim=False, *, other=None):
    """Smallest number of all; with dim, the smallest along it, with places; of two tensors, the smaller elements."""
    return _extremum(input, dim, other, keepdim, min_all, min_along, "minimum")


def _over(input, dim, keepdim, name, op):
    input = operand(input)
    axes = axes_of(dim, input.ndim)
    if dim is None or (dim.__class__ is tuple and not dim):
        check_not_empty(input, name)
    else:
        for one in dim if isinstance(dim, list | tuple) else (dim,):
            check_not_empty(input, name, one)
    return op(input, axes=axes, keepdim=keepdim)


@function(example="amax(tensor([[1.0, 5.0], [3.0, 4.0]]), dim=0)")
def amax(input, dim=(), keepdim=False):
    """Largest number over dim (one or several), or of all; ties share the gradient."""
    return _over(input, dim, keepdim, "amax", max_over)


@function(example="amin(tensor([[1.0, 5.0], [3.0, 4.0]]), dim=0)")
def amin(input, dim=(), keepdim=False):
    """Smallest number over dim (one or several), or of all; ties share the gradient."""
    return _over(input, dim, keepdim, "amin", min_over)


@function(example="aminmax(tensor([3.0, 1.0, 2.0]))")
def aminmax(input, *, dim=None, keepdim=False):
    """Smallest and largest number along dim, or of all."""
    input = operand(input)
    if dim is None:
        if 0 in input.shape:
            raise fault(
                RuntimeError,
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
            )
        axes = axes_of(None, input.ndim)
    else:
        axis = axis_of(dim, input.ndim)
        if input.ndim and not input.shape[axis]:
            raise fault(IndexError, f"aminmax: Expected reduction dim {axis} to have non-zero size.")
        axes = (axis,) if input.ndim else ()
    return extremes_over(input, axes=axes, keepdim=keepdim)


def _place_in_each(name):
    """The rule of a place along an axis, or in each example flattened."""

    def rule(x, axis, keepdim):
        if axis is not None and x.ndim > 1:
            return OPS[name](x, axis=axis + 1, keepdim=keepdim)
        found = OPS[name](flat(x), axis=1, keepdim=False)
        return shaped(found, (x.shape[0], *(1,) * (x.ndim - 1))) if keepdim else found

    return rule


@constant(at=(), batch=_place_in_each("largest_place"))
def largest_place(xp, x, *, axis, keepdim):
    """The first place of the largest number along an axis, or in the flattened tensor."""
    return xp.argmax(x, axis if xp.ndim(x) else None, keepdims=keepdim)


@constant(at=(), batch=_place_in_each("smallest_place"))
def smallest_place(xp, x, *, axis, keepdim):
    """The first place of the smallest number along an axis, or in the flattened tensor."""
    return xp.argmin(x, axis if xp.ndim(x) else None, keepdims=keepdim)


def _place(input, dim, keepdim, name, op):
    input = operand(input)
    if not input.dtype.category:
        raise fault(RuntimeError, f"{name}(): does not support bool input", hint=".long() makes integers of truths")
    if dim is None:
        if 0 in input.shape:
            raise fault(IndexError, f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return op(input, axis=None, keepdim=keepdim)
    axis = axis_of(dim, input.ndim)
    check_not_empty(input, name, axis)
    return op(input, axis=axis, keepdim=keepdim)


@function(example="argmax(tensor([3.0, 9.0, 2.0]))")
def argmax(input, dim=None, keepdim=False):
    """Place of the largest number, along dim or in the flattened tensor; the first of several."""
    return _place(input, dim, keepdim, "argmax", largest_place)


@function(example="argmin(tensor([3.0, 9.0, 2.0]))")
def argmin(input, dim=None, keepdim=False):
    """Place of the smallest number, along dim or in the flattened tensor; the first of several."""
    return _place(input, dim, keepdim, "argmin", smallest_place)
