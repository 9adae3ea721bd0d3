"""Losses with a margin: between pairs and triples of numbers or vectors, and between the scores of classes."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, constant, general
from gradsh.engine.promote import common_shape
from gradsh.engine.state import state
from gradsh.fault import fault
from gradsh.ops.activation import log_sigmoid
from gradsh.ops.choice import clamp_min, where
from gradsh.ops.distances import pairwise_distance
from gradsh.ops.examples import reduced as reduced_terms, reduced_each, with_classes
from gradsh.ops.losses import apply_reduction, given, reduced, reduction_of, share
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, positive, reals
from gradsh.ops.shape import reshaped
from gradsh.ops.unary import sigmoid

KINDS = ("mean", "sum", "none")

# ---- pairs and triples


@function(at=("F",), example="F.hinge_embedding_loss(tensor([0.3, 0.4]), tensor([1.0, -1.0]))")
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """Mean of the distances of pairs that are alike (1), and of what those of others (-1) lack to the margin."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    margin = margin if input.dtype.category == FLOATING else int(margin)  # it is a number of the input's type
    terms = where(target != 1, clamp_min(margin - input, 0), 0) + where(target != -1, input, 0)
    return terms.mean() if reduction == "mean" else apply_reduction(terms, reduction)


@function(at=("F",), example="F.margin_ranking_loss(tensor([1.0]), tensor([2.0]), tensor([1.0]), margin=0.5)")
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Mean of what input1 lacks to be above input2 by the margin (target 1), or below it (-1)."""
    reduction = reduction_of(reduction, size_average, reduce)
    input1, input2, target = given(input1), given(input2), given(target)
    if not input1.ndim == input2.ndim == target.ndim:
        raise fault(
            RuntimeError,
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape!r}, input2: {input2.shape!r}, target: {target.shape!r} ",
        )
    return apply_reduction(clamp_min(-target * (input1 - input2) + margin, 0), reduction)


@function(at=("F",), example="F.cosine_embedding_loss(ones(1, 2), tensor([[1.0, 0.0]]), tensor([1.0]))")
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Mean of 1 - cosine for pairs that are alike (1), and of the cosine above the margin for others (-1)."""
    reduction = reduction_of(reduction, size_average, reduce)
    input1, input2, target = given(input1), given(input2), given(target)
    if target.ndim > 1:
        raise fault(RuntimeError, "0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        shapes = f"{list(input1.shape)} and {list(input2.shape)}"
        raise fault(
            RuntimeError,
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{shapes}.",
        )

    def product(one, other):
        return sum_over(OPS["mul"](one, other), axes=(target.ndim,), keepdim=False)

    lengths = ((product(input1, input1) + 1e-12) * (product(input2, input2) + 1e-12)).sqrt()
    cosine = product(input1, input2) / lengths
    terms = where(target == 1, 1 - cosine, 0.0) + where(target == -1, clamp_min(cosine - margin, 0), 0.0)
    return apply_reduction(terms, reduction)


def _check_triple(anchor, positive, negative):
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise fault(
            RuntimeError,
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs",
        )


def _triplet(distance, triple, margin, swap, reduction):
    anchor, positive, negative = triple
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = OPS["minimum"](far, distance(positive, negative))
    return apply_reduction(clamp_min(margin + near - far, 0), reduction)


@function(at=("F",), example="F.triplet_margin_loss(zeros(1, 2), ones(1, 2), 3 * ones(1, 2))")
def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """Mean of what the anchor's distance to the negative lacks to exceed that to the positive by the margin."""
    reduction = reduction_of(reduction, size_average, reduce)
    if margin <= 0:
        raise fault(ValueError, f"margin must be greater than 0, got {margin}")
    triple = [given(one) for one in (anchor, positive, negative)]
    _check_triple(*triple)
    return _triplet(lambda one, other: pairwise_distance(one, other, p, eps), triple, margin, swap, reduction)


@function(at=("F",), example="F.triplet_margin_with_distance_loss(zeros(1, 2), ones(1, 2), 3 * ones(1, 2))")
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """As `triplet_margin_loss`, with a distance of one's own."""
    reduction = reduction_of(reduction)
    if margin <= 0:
        raise fault(ValueError, f"margin must be greater than 0, got {margin}")
    triple = [given(one) for one in (anchor, positive, negative)]
    _check_triple(*triple)
    return _triplet(distance_function or pairwise_distance, triple, margin, swap, reduction)


# ---- the scores of classes


def _spread(g, x_shape, reduction):
    """The gradient of the loss of each row, as a column."""
    g = share(g, x_shape[:-1], reduction)
    return reshaped(g, size=(*x_shape[:-1], 1)) if reduction == "none" else g


@constant(at=(), batch=lambda x, target: at_classes(x, target))
def at_classes(xp, x, target):
    """1 at the class of each row of x."""
    return xp.equal(xp.arange(x.shape[-1]), xp.asarray(target)[..., None]).astype(x.dtype)


def _class_weights(xp, x, target, weight):
    """The weight of each row's class over the number of classes, as a column."""
    weights = xp.ones(xp.shape(target), x.dtype) if weight is None else xp.asarray(weight)[target]
    return (weights / x.shape[-1]).astype(x.dtype)[..., None]


@constant(at=(), batch=with_classes(lambda x, target, weight: class_weights(x, target, weight)))
def class_weights(xp, x, target, weight=None):
    """The weight of each row's class over the number of classes, as a column."""
    return _class_weights(xp, x, target, weight)


def _lacking(x, target, margin):
    """(what each score lacks to be below its row's class by the margin, or 0, also at the class; 1 at the class)"""
    right = at_classes(x, target)
    last = (len(x.shape) - 1,)
    lacking = margin - sum_over(x * right, axes=last, keepdim=True) + x
    return where((lacking > 0) & (right == 0), lacking, 0.0), right


def _multi_margin_rule(g, x, x_shape, target, weight, power, margin, reduction):
    lacking, right = _lacking(x, target, margin)
    pulls = where(lacking > 0, 1.0, 0.0) if power == 1 else lacking * 2
    pulls = pulls - right * sum_over(pulls, axes=(len(x_shape) - 1,), keepdim=True)
    return _spread(g, x_shape, reduction) * class_weights(x, target, weight) * pulls


CLASSES = Made(lambda rng: rng.integers(0, 4, 3))


@general(
    x=_multi_margin_rule,
    sample=[
        Sample(reals(3, 4), CLASSES, weight, power=power, margin=1.0, reduction=kind)
        for power, kind, weight in zip((1, 2, 2), KINDS, (None, positive(4), None))
    ],
    at=(),
    grad_fn="MultiMarginLossBackward0",
    batch=with_classes(
        lambda x, target, weight, reduction, **settings: reduced_terms(
            multi_margin(x, target, weight, reduction="none", **settings), reduction
        )
    ),
)
def multi_margin(xp, x, target, weight=None, *, power, margin, reduction):
    """What other scores lack to be below that of the class by the margin, to a power, over the classes; reduced."""
    target = xp.asarray(target)
    if xp.logical_or(target < 0, target >= x.shape[-1]).any():
        raise fault(RuntimeError, "target out of range", notes=(f"there are {x.shape[-1]} classes",))
    lacking = xp.maximum(margin - xp.take_along_axis(x, target[..., None], -1) + x, 0)
    xp.put_along_axis(lacking, target[..., None], 0, -1)
    terms = xp.add.reduce((lacking**power) * _class_weights(xp, x, target, weight), -1)
    return reduced(xp, xp.asarray(terms), reduction)


@function(at=("F",), example="F.multi_margin_loss(tensor([[0.1, 0.2, 0.4]]), tensor([2]))")
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean of what other classes' scores lack to be below the right one's by the margin, to the power p (1 or 2)."""
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise fault(ValueError, "only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise fault(ValueError, "weight must be one-dimensional")
    input, target = given(input), given(target, whole=True)
    rows, classes = (1 if input.ndim < 2 else input.shape[0]), (input.shape[-1] if input.ndim else 1)
    if input.ndim > 2 or not classes:
        got = list(input.shape)
        message = f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {got}"
        raise fault(RuntimeError, message)
    if tuple(target.shape) not in ((rows,), ()) or (input.ndim > 1 and not target.ndim):
        raise fault(
            RuntimeError,
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{rows}], but got {list(target.shape)}. Input has shape {list(input.shape)}.",
        )
    if target.dtype is not int64:
        raise fault(
            RuntimeError, f"expected scalar type Long but found {TYPE_NAMES[target.dtype.name]}", hint=".long()"
        )
    if weight is not None and weight.shape[0] != classes:
        raise fault(RuntimeError, f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if input.ndim < 2 and target.ndim:
        target = target.reshape(())
    input = input if input.ndim else input.reshape((1,))
    if input.dtype.category != FLOATING:
        kind = TYPE_NAMES[input.dtype.name]
        message = f"\"multi_margin_loss_cpu_kernel\" not implemented for '{kind}'"
        raise fault(NotImplementedError, message, hint=".float()")
    return multi_margin(input, target, weight, power=int(p), margin=float(margin), reduction=reduction)


# ---- several classes at once


def _multilabel_pulls(xp, x, target):
    """(loss of each row, its derivative): labels are those before the first -1 of each row of the target."""
    if xp.logical_or(target < -1, target >= x.shape[-1]).any():
        raise fault(RuntimeError, "argument #2 'target' is out of range")
    rows, places = x.reshape(-1, x.shape[-1]), target.reshape(-1, x.shape[-1])
    losses, pulls = xp.zeros(len(rows), x.dtype), xp.zeros(rows.shape, x.dtype)
    for k, (row, labels) in enumerate(zip(rows, places.tolist())):
        if -1 in labels:
            labels = labels[: labels.index(-1)]
        others = xp.ones(len(row), bool)
        others[labels] = False
        for label in labels:
            lacking = xp.where(others, 1 - row[label] + row, 0)
            above = lacking > 0
            losses[k] += lacking[above].sum()
            pulls[k] += above
            pulls[k, label] -= above.sum()
    return (losses / x.shape[-1]).reshape(x.shape[:-1]), (pulls / x.shape[-1]).reshape(x.shape)


@constant(at=(), batch=lambda x, target: multilabel_pulls(x, target))
def multilabel_pulls(xp, x, target):
    """The derivative of each row's loss."""
    return _multilabel_pulls(xp, x, target)[1]


@general(
    x=lambda g, x, x_shape, target, reduction: _spread(g, x_shape, reduction) * multilabel_pulls(x, target),
    sample=[
        Sample(reals(2, 4), Made(lambda rng: rng.permutation([[1, 3, -1, 0], [2, -1, 0, 0]])), reduction=kind)
        for kind in KINDS
    ],
    at=(),
    grad_fn="MultilabelMarginLossBackward0",
    batch=lambda x, target, reduction: reduced_terms(multilabel_margin(x, target, reduction="none"), reduction),
)
def multilabel_margin(xp, x, target, *, reduction):
    """What the scores of other classes lack to be below those of the labels by 1, over the classes; reduced."""
    return reduced(xp, xp.asarray(_multilabel_pulls(xp, x, target)[0]), reduction)


@function(at=("F",), example="F.multilabel_margin_loss(tensor([[0.1, 0.2, 0.4]]), tensor([[2, -1, 0]]))")
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Mean of what other classes' scores lack to be below those of the labels by 1; labels end at the first -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target, whole=True)
    if input.shape != target.shape:
        shapes = f"{list(target.shape)} for input of size: {list(input.shape)}"
        raise fault(RuntimeError, f"inconsistent target size: {shapes}")
    return multilabel_margin(input, target, reduction=reduction)


@function(at=("F",), example="F.multilabel_soft_margin_loss(tensor([[1.0, -2.0]]), tensor([[1.0, 0.0]]))")
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes of the binary cross entropy of scores."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    yes, no = OPS["mul"](target, log_sigmoid(input)), OPS["mul"](1 - target, log_sigmoid(-input))
    terms = -(yes + no)
    if weight is not None:
        terms = OPS["mul"](terms, weight)
    axes = (terms.ndim - 1,) if terms.ndim else ()
    return apply_reduction(
        sum_over(terms, axes=axes, keepdim=False) / (input.shape[-1] if input.ndim else 1), reduction
    )


@general(
    x=lambda g, x, x_shape, target, reduction: share(g, x_shape, reduction) * (sigmoid(-target * x) * -target),
    sample=[Sample(reals(2, 3), Made(lambda rng: rng.choice([-1.0, 1.0], (2, 3))), reduction=kind) for kind in KINDS],
    at=(),
    grad_fn="SoftMarginLossBackward0",
    batch=reduced_each("soft_margin"),
)
def soft_margin(xp, x, target, *, reduction):
    """log(1 + exp(-target x)), reduced."""
    return reduced(xp, xp.asarray(xp.log1p(xp.exp(xp.negative(xp.multiply(target, x))))), reduction)


@function(at=("F",), example="F.soft_margin_loss(tensor([0.5, -1.0]), tensor([1.0, -1.0]))")
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Mean of log(1 + exp(-target input)), targets 1 or -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = given(input), given(target)
    if target.requires_grad:
        raise fault(
            RuntimeError,
            "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. This input "
            "cannot have requires_grad True.",
            hint="target.detach()",
        )
    wide = common_shape([tuple(input.shape), tuple(target.shape)])
    if input.dtype.category != FLOATING:
        kinds = [TYPE_NAMES[(target.dtype if target.dtype.category == FLOATING else state.default).name]]
        kinds.append(TYPE_NAMES[input.dtype.name])
        raise fault(RuntimeError, "result type {} can't be cast to the desired output type {}".format(*kinds))
    if wide != tuple(input.shape):
        sizes = list(input.shape), list(wide)
        raise fault(RuntimeError, "output with shape {} doesn't match the broadcast shape {}".format(*sizes))
    return soft_margin(input, target, reduction=reduction)
