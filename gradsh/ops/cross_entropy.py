"""Cross entropy of scores with classes or with their probabilities."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine import runtime
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, general
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.class_losses import TARGETS, all_count, check_weight, class_operand, nll_of
from gradsh.ops.examples import folded, reduced as reduced_terms, shaped
from gradsh.ops.losses import reduced, reduction_of, share
from gradsh.ops.masking import masked_fill
from gradsh.ops.reduction import sum_all, sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.scaling import over, times
from gradsh.ops.shape import reshape, reshaped
from gradsh.ops.softmax import log_normalised, normalised
from gradsh.ops.structure import expand_to

# The common case (a class for each row of scores, all of them counting) is one op, as are its derivatives, where
# PyTorch has log_softmax and nll_loss.


def _exponentials(xp, x):
    """(numbers less the largest of their row, their exponentials, the sums of these)"""
    shifted = x - xp.maximum.reduce(x, 1, None, None, True)
    weights = xp.exp(shifted)
    return shifted, weights, xp.add.reduce(weights, 1)


@general(
    x=lambda g, x, target, reduction: slope_of_scores(g, x, target, reduction=reduction),
    sample=[Sample(reals(3, 4), TARGETS, reduction=kind) for kind in ("mean", "sum", "none")],
    at=(),
    grad_fn="NllLossBackward0",
    through={"x": "LogSoftmaxBackward0"},
    batch=lambda x, target, reduction: reduced_terms(
        shaped(entropy_of_classes(folded(x), folded(target), reduction="none"), target.shape), reduction
    ),
)
def entropy_of_classes(xp, x, target, *, reduction):
    """Logarithm of the sum of the exponentials of each row, less the score of its class; reduced."""
    shifted, _, sums = _exponentials(xp, x)
    return reduced(xp, xp.log(sums) - shifted[xp.arange(len(x)), target], reduction)


def _slope_by_gradient(g, x, y, target, reduction):
    products = g * slope_of_scores(x * 0 + 1, y, target, reduction=reduction)
    return sum_over(products, axes=(1,), keepdim=False) if reduction == "none" else sum_all(products)


def _slope_by_scores(g, x, y, y_shape, reduction):
    weights = normalised(y, axes=(1,))
    if reduction == "none":
        x = reshaped(x, size=(y_shape[0], 1))
    return share(x, y_shape[:1], reduction) * weights * (g - sum_over(g * weights, axes=(1,), keepdim=True))


@general(
    x=_slope_by_gradient,
    y=_slope_by_scores,
    sample=[
        Sample(reals(), reals(3, 4), TARGETS, reduction="mean"),
        Sample(reals(3), reals(3, 4), TARGETS, reduction="none"),
    ],
    at=(),
    grad_fn="NllLossBackwardBackward0",
    batch=lambda x, y, target, reduction: _slope_of_each(x, y, target, reduction),
)
def slope_of_scores(xp, x, y, target, *, reduction):
    """The derivative by the scores y: x (softmax(y) - 1 at the class), over the number of rows for the mean."""
    _, weights, sums = _exponentials(xp, y)
    weights /= sums[:, None]
    weights[xp.arange(len(y)), target] -= 1
    weights *= x[:, None] if reduction == "none" else share(x, y.shape[:1], reduction)
    return weights


def _slope_of_each(x, y, target, reduction):
    """`slope_of_scores` for all examples."""
    if reduction != "none":
        x = expand_to(shaped(share(x, target.shape[1:], reduction), (x.shape[0], 1)), size=tuple(target.shape))
    return shaped(slope_of_scores(folded(x), folded(y), folded(target), reduction="none"), y.shape)


# ---- what programs call


@function(at=("F",), example="F.cross_entropy(tensor([[1.0, 3.0], [2.0, 0.0]]), tensor([1, 0]))")
def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """Mean of minus the log-probability of the right class, from scores; targets are classes or probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        input = class_operand(input, "cross_entropy_loss", "input", 1)
        target = class_operand(target, "cross_entropy_loss", "target", 2)
    if weight is None and not label_smoothing > 0 and _is_common(input, target, ignore_index):
        return entropy_of_classes(input, target, reduction=reduction)
    if input.shape == target.shape:
        return _with_probabilities(input, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing > 1:
        got = f"{label_smoothing:g}"
        raise fault(RuntimeError, f"label_smoothing must be between 0.0 and 1.0. Got: {got}")
    log_probabilities = _log_probabilities(input)
    loss = nll_of(log_probabilities, target, weight, reduction, ignore_index)
    if not label_smoothing > 0:
        return loss
    smooth = _smooth_loss(log_probabilities, target, weight, reduction, ignore_index)
    classes = input.shape[0 if input.ndim == 1 else 1]
    return times(loss, 1 - label_smoothing) + times(smooth, label_smoothing / classes)


def _is_common(input, target, ignore_index):
    """Whether there is a class for each row of scores, all of them counting."""
    x, y, array = input.raw, target.raw, runtime.arrays.ndarray
    if x.__class__ is not array or y.__class__ is not array or x.ndim != 2 or y.ndim != 1 or len(x) != len(y):
        return False
    return x.dtype.char in "df" and y.dtype.char in "lq" and all_count(target, x.shape[1], ignore_index)


def _log_probabilities(input):
    if input.dtype.category != FLOATING:
        kernel = "log_softmax_lastdim_kernel_impl" if input.ndim < 3 else "log_softmax_kernel_impl"
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for '{kind}'", hint=".float()")
    return log_normalised(input, axes=(0 if input.ndim == 1 else 1,) if input.ndim else ())


def _per_class(weight, input):
    """Weights of the classes in the dimensions of the scores."""
    return reshape(weight, (1, -1, *(1 for _ in input.shape[2:]))) if input.ndim > 1 else weight


def _smooth_loss(log_probabilities, target, weight, reduction, ignore_index):
    """The loss against all classes alike, which label smoothing mixes in."""
    axis = 0 if log_probabilities.ndim == 1 else 1
    terms = log_probabilities if weight is None else log_probabilities * _per_class(weight, log_probabilities)
    ignored = target == ignore_index
    terms = masked_fill(-sum_over(terms, axes=(axis,), keepdim=False), ignored, 0.0)
    if reduction == "none":
        return terms
    found = sum_all(terms)
    if reduction == "sum":
        return found
    counting = ignored.logical_not()
    if weight is None:
        return found / counting.sum()
    return found / weight[target.masked_select(counting)].sum()


def _with_probabilities(input, target, weight, reduction, ignore_index, label_smoothing):
    if target.dtype.category != FLOATING:
        raise fault(
            RuntimeError,
            f"Expected floating point type for target with class probabilities, got {TYPE_NAMES[target.dtype.name]}",
        )
    if ignore_index >= 0:
        raise fault(RuntimeError, "ignore_index is not supported for floating point target")
    axis = 0 if input.ndim == 1 else 1
    classes = input.shape[axis] if input.ndim else 1
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        check_weight(weight.detach(), classes, "cross_entropy: ")
    log_probabilities = _log_probabilities(input)
    if label_smoothing > 0:
        target = times(target, 1 - label_smoothing) + label_smoothing / classes
    terms = OPS["mul"](log_probabilities, target)
    if weight is not None:
        terms = OPS["mul"](terms, _per_class(weight, input))
    if reduction == "none":
        return -sum_over(terms, axes=(axis,) if input.ndim else (), keepdim=False)
    found = -sum_all(terms)
    return found if reduction == "sum" else over(found, input.numel() / classes)
