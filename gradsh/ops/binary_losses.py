"""Losses of yes or no, one for each number, and the divergence of distributions."""

from __future__ import annotations

from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, general
from gradsh.engine.promote import broadcast_fault
from gradsh.fault import fault
from gradsh.ops.activation import log_sigmoid
from gradsh.ops.choice import where
from gradsh.ops.examples import reduced_each
from gradsh.ops.expanding import broadcast_shapes
from gradsh.ops.losses import apply_reduction, given, reduced, reduction_of, share
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, positive, probabilities, reals
from gradsh.ops.unary import exp, log, sigmoid

KINDS = ("mean", "sum", "none")


def _weighted(g, weight):
    return g if weight is None else g * weight


# ---- of probabilities


def _probability_slope(g, x, x_shape, y, weight, reduction):
    """(x - y) / (x (1 - x)), whose denominator PyTorch keeps from 0."""
    spread = x * (1 - x)
    return _weighted(share(g, x_shape, reduction) * ((x - y) / where(spread < 1e-12, 1e-12, spread)), weight)


@general(
    x=_probability_slope,
    y=lambda g, x, x_shape, weight, reduction: _weighted(
        share(g, x_shape, reduction) * (log(1.0 - x) - log(x)), weight
    ),
    sample=[
        Sample(probabilities(2, 3), probabilities(2, 3), weight, reduction=kind)
        for kind, weight in zip(KINDS, (None, positive(3), positive(2, 3)))
    ],
    at=(),
    grad_fn="BinaryCrossEntropyBackward0",
    batch=reduced_each("entropy_of_probabilities"),
)
def entropy_of_probabilities(xp, x, y, weight=None, *, reduction):
    """-(y log x + (1 - y) log(1 - x)), the logarithms no less than -100; weighted and reduced."""
    for name, value in (("input", x), ("target", y)):
        if not xp.logical_and(xp.greater_equal(value, 0), xp.less_equal(value, 1)).all():
            hint = "F.binary_cross_entropy_with_logits takes scores of any size" if name == "input" else None
            raise fault(RuntimeError, f"all elements of {name} should be between 0 and 1", hint=hint)
    terms = (y - 1) * xp.maximum(xp.log1p(xp.negative(x)), -100) - y * xp.maximum(xp.log(x), -100)
    return reduced(xp, xp.asarray(terms if weight is None else terms * weight), reduction)


@function(at=("F",), example="F.binary_cross_entropy(tensor([0.9, 0.2]), tensor([1.0, 0.0]))")
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean of minus the log-probability of yes (1) or no (0), input the probabilities of yes."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    if input.shape != target.shape:
        raise fault(
            ValueError,
            f"Using a target size ({target.shape!r}) that is different to the input size ({input.shape!r}) is "
            "deprecated. Please ensure they have the same size.",
        )
    if weight is not None:
        wide = broadcast_shapes(target.shape, weight.shape)
    if input.dtype is not target.dtype:
        found, wanted = TYPE_NAMES[target.dtype.name], TYPE_NAMES[input.dtype.name]
        raise fault(RuntimeError, f"Found dtype {found} but expected {wanted}", hint=f".to(torch.{input.dtype.name})")
    if input.dtype.category != 2:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"binary_cross_entropy\" not implemented for '{kind}'", hint=".float()")
    if weight is not None and wide != target.shape:
        sizes = list(input.shape), list(wide)
        raise fault(RuntimeError, "output with shape {} doesn't match the broadcast shape {}".format(*sizes))
    return entropy_of_probabilities(input, target, weight, reduction=reduction)


# ---- of scores


def _score_slope(g, x, x_shape, y, weight, pos_weight, reduction):
    if pos_weight is None:
        own = sigmoid(x) - y
    else:
        positives = pos_weight * y
        own = (positives + 1 - y) * sigmoid(x) - positives
    return _weighted(share(g, x_shape, reduction) * own, weight)


def _score_slope_of_target(g, x, x_shape, weight, pos_weight, reduction):
    own = -x if pos_weight is None else log_sigmoid(-x) - pos_weight * log_sigmoid(x)
    return _weighted(share(g, x_shape, reduction) * own, weight)


@general(
    x=_score_slope,
    y=_score_slope_of_target,
    sample=[
        Sample(reals(2, 3), probabilities(2, 3), None, None, reduction="mean"),
        Sample(reals(2, 3), probabilities(2, 3), positive(3), positive(1), reduction="sum"),
        Sample(reals(2, 3), probabilities(2, 3), positive(2, 3), positive(3), reduction="none"),
    ],
    at=(),
    grad_fn="BinaryCrossEntropyWithLogitsBackward0",
    batch=reduced_each("entropy_of_scores"),
)
def entropy_of_scores(xp, x, y, weight=None, pos_weight=None, *, reduction):
    """Cross entropy of sigmoid(x) with y, positive targets weighted by pos_weight, all by weight; reduced."""
    loss = xp.maximum(xp.negative(x), 0) + xp.log1p(xp.exp(xp.negative(xp.absolute(x))))  # -log sigmoid(x)
    if pos_weight is not None:
        loss = loss * ((pos_weight - 1) * y + 1)
    terms = (1 - y) * x + loss
    return reduced(xp, xp.asarray(terms if weight is None else terms * weight), reduction)


@function(at=("F",), example="F.binary_cross_entropy_with_logits(tensor([2.0, -1.0]), tensor([1.0, 0.0]))")
def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Mean of minus the log-probability of yes (1) or no (0); sigmoid of the scores is the probability of yes."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    if input.shape != target.shape:
        raise fault(ValueError, f"Target size ({target.shape!r}) must be the same as input size ({input.shape!r})")
    for other, one in ((pos_weight, target), (input, weight)):
        wrong = None if one is None or other is None else broadcast_fault([other.shape, one.shape])
        if wrong is not None:
            raise wrong
    if input.dtype.category != 2:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"log_sigmoid_cpu\" not implemented for '{kind}'", hint=".float()")
    if target.dtype.category != 2:
        names = TYPE_NAMES[input.dtype.name], TYPE_NAMES[target.dtype.name]
        raise fault(
            RuntimeError,
            f"result type {names[0]} can't be cast to the desired output type {names[1]}",
            hint=f"target.to(torch.{input.dtype.name})",
        )
    if input.dtype is not target.dtype:  # PyTorch computes in place of 1 - target
        input = OPS["to_dtype"](input, dtype=target.dtype)
    return entropy_of_scores(input, target, weight, pos_weight, reduction=reduction)


# ---- of distributions


@function(at=("F",), example="F.kl_div(tensor([0.5, 0.5]).log(), tensor([0.9, 0.1]), reduction='sum')")
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Kullback-Leibler divergence of target from input, which is given by logarithms; 'batchmean' is its mean."""
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    reduction = "sum" if by_batch else reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    if input.dtype.category != 2 or target.dtype.category != 2:
        raise fault(RuntimeError, "kl_div: Integral inputs not supported.", hint=".float()")
    terms = exp(target) * (target - input) if log_target else target.xlogy(target) - target * input
    found = apply_reduction(terms, reduction)
    return found / input.shape[0] if by_batch and input.ndim else found
