"""Losses between numbers: squared, absolute and smoothed errors, and the Gaussian and Poisson likelihoods."""

from __future__ import annotations

from math import log, pi

from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, general
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.arithmetic import abs as magnitude, sgn
from gradsh.ops.choice import where
from gradsh.ops.creation import ones_like
from gradsh.ops.distances import raised_unseen
from gradsh.ops.examples import reduced_each
from gradsh.ops.losses import apply_reduction, given, in_common, reduced, reduction_of, share
from gradsh.ops.powers import power_to_number
from gradsh.ops.reduction import mean_all, sum_all
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import unsqueezed
from gradsh.ops.unary import exp, log as logarithm


def _samples(**settings):
    return [Sample(reals(2, 3), reals(2, 3), reduction=kind, **settings) for kind in ("mean", "sum", "none")]


# ---- of the difference alone, one op each; as the slopes are odd, that for the target has the operands exchanged


def _squared_slope(g, x, x_shape, y, reduction):
    return share(g, x_shape, reduction) * 2 * (x - y)


@general(
    x=_squared_slope,
    y=lambda g, x, y, y_shape, reduction: _squared_slope(g, y, y_shape, x, reduction),
    sample=_samples(),
    at=(),
    grad_fn="MseLossBackward0",
    batch=reduced_each("squared_error"),
)
def squared_error(xp, x, y, *, reduction):
    """(x - y)^2, reduced."""
    off = xp.subtract(x, y)
    return reduced(xp, xp.multiply(off, off), reduction)


def _smoothed_slope(g, x, x_shape, y, reduction, beta):
    off = x - y
    return share(g, x_shape, reduction) * where(magnitude(off) < beta, off / beta, sgn(off))


@general(
    x=_smoothed_slope,
    y=lambda g, x, y, y_shape, reduction, beta: _smoothed_slope(g, y, y_shape, x, reduction, beta),
    sample=_samples(beta=0.7),
    at=(),
    grad_fn="SmoothL1LossBackward0",
    batch=reduced_each("smoothed_error"),
)
def smoothed_error(xp, x, y, *, reduction, beta):
    """|x - y|, with a parabola where that is less than beta; reduced."""
    size = xp.absolute(xp.subtract(x, y))
    return reduced(xp, xp.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


def _huber_slope(g, x, x_shape, y, reduction, delta):
    off = x - y
    return share(g, x_shape, reduction) * where(magnitude(off) < delta, off, sgn(off) * delta)


@general(
    x=_huber_slope,
    y=lambda g, x, y, y_shape, reduction, delta: _huber_slope(g, y, y_shape, x, reduction, delta),
    sample=_samples(delta=0.7),
    at=(),
    grad_fn="HuberLossBackward0",
    batch=reduced_each("huber_error"),
)
def huber_error(xp, x, y, *, reduction, delta):
    """(x - y)^2 / 2, with straight lines where |x - y| is more than delta; reduced."""
    size = xp.absolute(xp.subtract(x, y))
    return reduced(xp, xp.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


# ---- what programs call


def _check_floating(input, kernel):
    if input.dtype.category != 2:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for '{kind}'", hint=".float() first")


def _weighted(terms, weight, input, reduction, over_weights):
    """Terms times weights, reduced; the mean by the sum of the weights or by their number."""
    if weight.shape != input.shape:
        raise fault(ValueError, "Weights and input must have the same size.")
    terms = OPS["mul"](terms, weight)
    if reduction == "none":
        return terms
    if reduction == "mean" and not over_weights:
        return mean_all(terms)
    return sum_all(terms) / sum_all(weight) if reduction == "mean" else sum_all(terms)


@function(at=("F",), example="F.mse_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]))")
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Mean squared error."""
    reduction = reduction_of(reduction, size_average, reduce)
    one, other = in_common(input, target)
    if weight is not None:
        return _weighted(power_to_number(one - other, 2), weight, input, reduction, over_weights=True)
    if one.dtype.category != 2:
        _check_floating(one, "mse_cpu")
    return squared_error(one, other, reduction=reduction)


@function(at=("F",), example="F.l1_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]))")
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Mean absolute error."""
    reduction = reduction_of(reduction, size_average, reduce)
    one, other = in_common(input, target)
    terms = magnitude(one - other)
    if weight is not None:
        return _weighted(terms, weight, input, reduction, over_weights=True)
    return terms.mean() if reduction == "mean" else apply_reduction(terms, reduction)


@function(at=("F",), example="F.smooth_l1_loss(tensor([1.0, 2.0]), tensor([0.5, 4.0]))")
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Mean absolute error with a parabola where it is less than beta."""
    if beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction)
    reduction = reduction_of(reduction, size_average, reduce)
    one, other = in_common(input, target)
    if beta < 0:
        raise fault(RuntimeError, "smooth_l1_loss does not support negative values for beta.")
    _check_floating(one, "smooth_l1_cpu")
    return smoothed_error(one, other, reduction=reduction, beta=float(beta))


@function(at=("F",), example="F.huber_loss(tensor([1.0, 2.0]), tensor([0.5, 4.0]))")
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the squared error, with straight lines where the error is more than delta; the mean."""
    reduction = reduction_of(reduction)
    one, other = in_common(input, target)
    if delta <= 0:
        raise fault(RuntimeError, "huber_loss does not support non-positive values for delta.")
    if input.dtype.category < one.dtype.category:
        kinds = TYPE_NAMES[one.dtype.name], TYPE_NAMES[input.dtype.name]
        raise fault(RuntimeError, "result type {} can't be cast to the desired output type {}".format(*kinds))
    _check_floating(one, "huber_cpu")
    if weight is not None:
        terms = huber_error(one, other, reduction="none", delta=float(delta))
        return _weighted(terms, weight, input, reduction, over_weights=False)
    return huber_error(one, other, reduction=reduction, delta=float(delta))


# ---- likelihoods


def _variances(var, input):
    """The variances of gaussian_nll_loss, checked as PyTorch checks them."""
    if isinstance(var, float):
        if var < 0:
            raise fault(ValueError, "var has negative entry/entries")
        return ones_like(input) * var
    var = given(var)
    if numbers_of((var < 0).any()).any():
        raise fault(ValueError, "var has negative entry/entries")
    one, other = tuple(input.shape), tuple(var.shape)
    if one != other:
        if one[:-1] == other:
            return unsqueezed(var, dim=var.ndim)
        if len(one) != len(other) or sum(b for a, b in zip(one, other) if a != b) != 1:
            raise fault(ValueError, "var is of incorrect size")
    return var


@function(at=("F",), example="F.gaussian_nll_loss(tensor([1.0]), tensor([2.0]), tensor([0.5]))")
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log-likelihood of target under normal distributions with means `input` and variances `var`."""
    input, target = given(input), given(target)
    var = _variances(var, input)
    if reduction not in ("none", "mean", "sum"):
        raise fault(ValueError, f"{reduction} is not valid")
    var = raised_unseen(var, low=eps)
    terms = 0.5 * (logarithm(var) + power_to_number(input - target, 2) / var)
    return apply_reduction(terms + 0.5 * log(2 * pi) if full else terms, reduction)


@function(at=("F",), example="F.poisson_nll_loss(tensor([1.0]), tensor([2.0]))")
def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """Negative log-likelihood of target under Poisson distributions with the logarithms of their rates in input."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    product = OPS["mul"](target, input if log_input else logarithm(input + eps))
    terms = (exp(input) if log_input else input) - product
    if full:
        stirling = target * logarithm(target) - target + 0.5 * logarithm(2 * pi * target)
        terms = terms + stirling.masked_fill(target <= 1, 0)
    return apply_reduction(terms, reduction)
