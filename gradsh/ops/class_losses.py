"""Losses of classification into one of several classes: the negative log-likelihood and the cross entropy."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.losses import reduced, reduction_of
from gradsh.ops.masking import masked_fill
from gradsh.ops.reduction import sum_all, sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, positive, reals
from gradsh.ops.scaling import over, times
from gradsh.ops.shape import reshape, viewed
from gradsh.ops.softmax import log_normalised
from gradsh.ops.structure import to_dtype

# ---- the numbers of the right classes, which are along dimension 1, or the only one


def _looked_up(xp, y, classes, ignore_index):
    """(targets in a line, which of them count or None where all do)."""
    targets = xp.asarray(y).reshape(-1)
    if not targets.size or int(targets.view("u8").max()) < classes and not 0 <= ignore_index < classes:
        return targets, None
    counting = targets != ignore_index
    stray = targets[counting & ((targets < 0) | (targets >= classes))]
    if stray.size:
        raise fault(
            IndexError,
            f"Target {stray[0]} is out of bounds.",
            notes=(f"there are {classes} classes, 0 to {classes - 1}",),
            hint=f"ignore_index={stray[0]} leaves such targets out" if stray[0] < 0 else None,
        )
    return xp.where(counting, targets, 0), counting


def _only(xp, counting, terms):
    """Terms that do not count set to 0."""
    return terms if counting is None else xp.where(counting, terms, terms.dtype.type(0))


def _total_weight(xp, targets, counting, weights):
    if weights is not None:
        return xp.add.reduce(_only(xp, counting, weights))
    return targets.size if counting is None else xp.count_nonzero(counting)


def _picked(xp, x, y, weight, reduction, ignore_index):
    x = xp.asarray(x)
    rows = xp.moveaxis(x, 1, -1).reshape(-1, x.shape[1]) if x.ndim > 2 else x.reshape(-1, x.shape[-1])
    targets, counting = _looked_up(xp, y, rows.shape[1], ignore_index)
    terms = xp.negative(rows[xp.arange(targets.size), targets])
    weights = None if weight is None else weight[targets]
    if weights is not None:
        terms = terms * weights
    terms = _only(xp, counting, terms)
    if reduction == "mean":
        count = _total_weight(xp, targets, counting, weights)
        return xp.divide(xp.add.reduce(terms), terms.dtype.type(count))
    return reduced(xp, terms.reshape(xp.shape(y)), reduction)


def _placed(xp, g, y, weight, size, reduction, ignore_index):
    """The transpose of `_picked`: zeros but for the gradient at the right classes."""
    g, classes = xp.asarray(g), size[min(len(size) - 1, 1)]
    targets, counting = _looked_up(xp, y, classes, ignore_index)
    terms = xp.negative(g.reshape(-1))
    weights = None if weight is None else weight[targets]
    if reduction == "mean":
        terms = terms / g.dtype.type(_total_weight(xp, targets, counting, weights))
    if weights is not None:
        terms = terms * weights
    out = xp.zeros((targets.size, classes), g.dtype)
    out[xp.arange(targets.size), targets] = _only(xp, counting, terms)
    if len(size) < 3:
        return out.reshape(size)
    return xp.moveaxis(out.reshape(size[0], *size[2:], classes), -1, 1)


TARGETS = Made(lambda rng: rng.integers(0, 4, 3))
SETTINGS = [{"reduction": kind, "ignore_index": ignored} for kind, ignored in (("mean", -100), ("sum", 2), ("none", 1))]


def _nll_op(name, grad_fn):
    """The same op under the two names that PyTorch has for its nodes."""

    def right_classes(xp, x, target, weight=None, *, reduction, ignore_index):
        """Minus the numbers of the right classes, weighted and reduced."""
        return _picked(xp, x, target, weight, reduction, ignore_index)

    return linear(
        x=lambda g, x_shape, target, weight, reduction, ignore_index: right_class_places(
            g, target, weight, size=x_shape, reduction=reduction, ignore_index=ignore_index
        ),
        sample=[Sample(reals(3, 4), TARGETS, positive(4), **one) for one in SETTINGS],
        at=(),
        name=name,
        grad_fn=grad_fn,
    )(right_classes)


right_classes = _nll_op("nll_loss", "NllLossBackward0")
right_classes_2d = _nll_op("nll_loss2d", "NllLoss2DBackward0")


@linear(
    x=lambda g, target, weight, reduction, ignore_index: right_classes(
        g, target, weight, reduction=reduction, ignore_index=ignore_index
    ),
    sample=[
        Sample(reals(), TARGETS, positive(4), size=(3, 4), reduction="mean", ignore_index=-100),
        Sample(reals(3), TARGETS, None, size=(3, 4), reduction="none", ignore_index=1),
    ],
    at=(),
    grad_fn="NllLossBackwardBackward0",
)
def right_class_places(xp, x, target, weight=None, *, size, reduction, ignore_index):
    """Zeros with the gradient of the loss at the right classes."""
    return _placed(xp, x, target, weight, size, reduction, ignore_index)


# ---- what programs call


def _check_weight(weight, classes, name=""):
    if weight.requires_grad:
        raise fault(
            RuntimeError,
            "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. This input cannot have "
            "requires_grad True.",
            hint="weight=weight.detach()",
        )
    if weight.ndim != 1 or weight.shape[0] != classes:
        raise fault(
            RuntimeError,
            f"{name}weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}",
        )


def _nll(input, target, weight, reduction, ignore_index):
    """The negative log-likelihood of log-probabilities, after PyTorch's checks."""
    rank, shape = input.ndim, input.shape
    if not rank:
        raise fault(ValueError, "Expected 1 or more dimensions (got 0)")
    if rank == 1:
        if target.ndim > 1 or target.ndim and target.numel() != 1:
            raise fault(RuntimeError, f"size mismatch (got input: {list(shape)}, target: {list(target.shape)})")
    elif not target.ndim or shape[0] != target.shape[0]:
        got = target.shape[0] if target.ndim else 0
        raise fault(ValueError, f"Expected input batch_size ({shape[0]}) to match target batch_size ({got}).")
    elif rank == 2 and target.ndim != 1:
        raise fault(RuntimeError, "0D or 1D target tensor expected, multi-target not supported")
    elif rank > 2 and shape[2:] != target.shape[1:]:
        _refuse_places(rank, shape, target)
    if target.dtype is not int64:
        if target.dtype.name != "uint8":
            kind = TYPE_NAMES[target.dtype.name]
            raise fault(RuntimeError, f"expected target dtype to be Long or Byte, but got {kind}", hint=".long()")
        target = to_dtype(target, dtype=int64)
    if weight is not None:
        _check_weight(weight, shape[0 if rank == 1 else 1])
    op = right_classes if rank < 3 else right_classes_2d
    loss = op(input, target, weight, reduction=reduction, ignore_index=ignore_index)
    return viewed(loss, size=loss.shape) if loss.ndim > 1 and rank != 4 else loss  # as PyTorch, which folds to 4


def _refuse_places(rank, shape, target):
    if rank == 4 and target.ndim != 3:
        raise fault(
            RuntimeError,
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}",
        )
    if rank == 4:
        raise fault(
            RuntimeError,
            f"input and target batch or spatial sizes don't match: target {list(target.shape)}, input {list(shape)}",
        )
    raise fault(RuntimeError, f"Expected target size {[shape[0], *shape[2:]]}, got {list(target.shape)}")


def _operand(value, name, argument, position):
    if isinstance(value, Tensor):
        return value
    from gradsh.ops.registry import tensor_argument

    return tensor_argument(value, name, argument, position)


@function(at=("F",), example="F.nll_loss(log_softmax(tensor([[1.0, 3.0]]), dim=1), tensor([1]))")
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Mean of minus the log-probability of the right class."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _operand(input, "nll_loss_nd", "input", 1), _operand(target, "nll_loss_nd", "target", 2)
    return _nll(input, target, weight, reduction, ignore_index)


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
    """Mean of minus the log-probability of the right class, from scores; targets are classes, or their probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        input = _operand(input, "cross_entropy_loss", "input", 1)
        target = _operand(target, "cross_entropy_loss", "target", 2)
    if input.shape == target.shape:
        return _with_probabilities(input, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing > 1:
        got = f"{label_smoothing:g}"
        raise fault(RuntimeError, f"label_smoothing must be between 0.0 and 1.0. Got: {got}")
    log_probabilities = _log_probabilities(input)
    loss = _nll(log_probabilities, target, weight, reduction, ignore_index)
    if not label_smoothing > 0:
        return loss
    smooth = _smooth_loss(log_probabilities, target, weight, reduction, ignore_index)
    classes = input.shape[0 if input.ndim == 1 else 1]
    return times(loss, 1 - label_smoothing) + times(smooth, label_smoothing / classes)


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
            "Expected floating point type for target with class probabilities, got "
            f"{TYPE_NAMES[target.dtype.name]}",
        )
    if ignore_index >= 0:
        raise fault(RuntimeError, "ignore_index is not supported for floating point target")
    axis = 0 if input.ndim == 1 else 1
    classes = input.shape[axis] if input.ndim else 1
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        _check_weight(weight.detach(), classes, "cross_entropy: ")
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
