"""The negative log-likelihood of classes, from the logarithms of their probabilities."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, int64
from gradsh.engine import runtime
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, linear
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import floats
from gradsh.ops.examples import flat, folded, reduced as reduced_terms, shaped, with_classes
from gradsh.ops.losses import reduced, reduction_of
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Made, Sample, positive, reals
from gradsh.ops.shape import viewed
from gradsh.ops.structure import expand_to, to_dtype, zeros

# ---- the numbers of the right classes, which are along dimension 1, or the only one

# `plain` is set where every target is a class and none is ignored: the common case, found once.


def all_count(target, classes, ignore_index):
    """Whether every target is a class and none is ignored; PyTorch's error for one that is neither."""
    xp, targets = runtime.arrays, numbers_of(target).reshape(-1)
    if not targets.size:
        return True
    if xp.maximum.reduce(targets.view(xp.uint64)) < classes and not 0 <= ignore_index < classes:
        return True
    stray = targets[(targets != ignore_index) & ((targets < 0) | (targets >= classes))]
    if stray.size:
        raise fault(
            IndexError,
            f"Target {stray[0]} is out of bounds.",
            notes=(f"there are {classes} classes, 0 to {classes - 1}",),
            hint=f"ignore_index={stray[0]} leaves such targets out" if stray[0] < 0 else None,
        )
    return not (targets == ignore_index).any()


def _looked_up(xp, y, ignore_index):
    """(targets in a line, with class 0 for those ignored, and which of them count)."""
    targets = y.reshape(-1)
    counting = targets != ignore_index
    return xp.where(counting, targets, 0), counting


def _total_weight(xp, targets, counting, weight):
    return xp.count_nonzero(counting) if weight is None else xp.add.reduce(xp.where(counting, weight[targets], 0))


def _picked(xp, x, y, weight, reduction, ignore_index, plain):
    rows = xp.moveaxis(x, 1, -1).reshape(-1, x.shape[1]) if x.ndim > 2 else x if x.ndim == 2 else x.reshape(1, -1)
    if plain and weight is None:
        targets = y if y.ndim == 1 else y.reshape(-1)
        terms = rows[xp.arange(targets.size), targets]
        if reduction == "mean":
            return -xp.divide(xp.add.reduce(terms), targets.size)
        return -reduced(xp, terms.reshape(y.shape), reduction)
    targets, counting = _looked_up(xp, y, ignore_index)
    terms = -rows[xp.arange(targets.size), targets]
    if weight is not None:
        terms *= weight[targets]
    terms = xp.where(counting, terms, terms.dtype.type(0))
    if reduction == "mean":
        return xp.divide(xp.add.reduce(terms), terms.dtype.type(_total_weight(xp, targets, counting, weight)))
    return reduced(xp, terms.reshape(y.shape), reduction)


def _placed(xp, g, y, weight, size, reduction, ignore_index, plain):
    """The transpose of `_picked`: zeros but for the gradient at the right classes."""
    classes = size[min(len(size) - 1, 1)]
    terms = xp.asarray(g).reshape(-1)
    out = xp.zeros((y.size, classes), terms.dtype)
    if plain and weight is None:
        targets = y.reshape(-1)
        terms = -terms / (targets.size if reduction == "mean" else 1)
    else:
        targets, counting = _looked_up(xp, y, ignore_index)
        terms = -terms
        if reduction == "mean":
            terms = terms / terms.dtype.type(_total_weight(xp, targets, counting, weight))
        if weight is not None:
            terms = terms * weight[targets]
        terms = xp.where(counting, terms, terms.dtype.type(0))
    out[xp.arange(targets.size), targets] = terms
    if len(size) < 3:
        return out.reshape(size)
    return xp.moveaxis(out.reshape(size[0], *size[2:], classes), -1, 1)


TARGETS = Made(lambda rng: rng.integers(0, 4, 3))
SETTINGS = [
    {"reduction": kind, "ignore_index": ignored, "plain": plain}
    for kind, ignored, plain in (("mean", -100, True), ("sum", 2, False), ("none", 1, False))
]


def _nll_op(name, grad_fn):
    """The same op under the two names that PyTorch has for its nodes."""

    def right_classes(xp, x, target, weight=None, *, reduction, ignore_index, plain):
        """Minus the numbers of the right classes, weighted and reduced."""
        return _picked(xp, x, target, weight, reduction, ignore_index, plain)

    return linear(
        x=lambda g, x_shape, target, weight, reduction, ignore_index, plain: right_class_places(
            g, target, weight, size=x_shape, reduction=reduction, ignore_index=ignore_index, plain=plain
        ),
        sample=[Sample(reals(3, 4), TARGETS, weight, **one) for one in SETTINGS for weight in (positive(4), None)],
        at=(),
        batch=with_classes(lambda *operands, **settings: _losses_of_each(OPS[name], *operands, **settings)),
        name=name,
        grad_fn=grad_fn,
    )(right_classes)


right_classes = _nll_op("nll_loss", "NllLossBackward0")
right_classes_2d = _nll_op("nll_loss2d", "NllLoss2DBackward0")


@linear(
    x=lambda g, target, weight, reduction, ignore_index, plain: right_classes(
        g, target, weight, reduction=reduction, ignore_index=ignore_index, plain=plain
    ),
    sample=[
        Sample(reals(), TARGETS, positive(4), size=(3, 4), reduction="mean", ignore_index=-100, plain=True),
        Sample(reals(3), TARGETS, None, size=(3, 4), reduction="none", ignore_index=1, plain=False),
    ],
    at=(),
    grad_fn="NllLossBackwardBackward0",
    batch=with_classes(lambda *operands, **settings: _places_of_each(*operands, **settings)),
)
def right_class_places(xp, x, target, weight=None, *, size, reduction, ignore_index, plain):
    """Zeros with the gradient of the loss at the right classes."""
    return _placed(xp, x, target, weight, size, reduction, ignore_index, plain)


# ---- for all examples, along the first dimension


def _losses_of_each(op, x, target, weight, reduction, **settings):
    rows, targets = (x, shaped(target, (x.shape[0],))) if x.ndim == 2 else (folded(x), folded(target))
    terms = shaped(op(rows, targets, weight, reduction="none", **settings), target.shape)
    if reduction != "mean" or (settings["plain"] and weight is None):
        return reduced_terms(terms, reduction)
    return reduced_terms(terms, "sum") / _weights_of_each(rows, target, targets, weight, settings)


def _weights_of_each(rows, target, targets, weight, settings):
    """The sum of the weights of the targets that count."""
    ones = right_classes(rows * 0 - 1, targets, weight, reduction="none", **settings)
    return reduced_terms(shaped(ones, target.shape), "sum")


def _places_of_each(x, target, weight, size, reduction, **settings):
    count, *others = size
    whole = (x.shape[0], *size) if len(size) == 1 else (x.shape[0] * count, *others)
    targets = shaped(target, whole[:1]) if len(size) == 1 else folded(target)
    if reduction == "mean":
        plain = settings["plain"] and weight is None
        rows = zeros(x, shape=whole)
        x = x / (len(flat(target)[0]) if plain else _weights_of_each(rows, target, targets, weight, settings))
    if reduction != "none":
        x = expand_to(shaped(x, (x.shape[0], *(1,) * (target.ndim - 1))), size=tuple(target.shape))
    terms = shaped(x, targets.shape)
    found = right_class_places(terms, targets, weight, size=whole, reduction="none", **settings)
    return shaped(found, (x.shape[0], *size))


# ---- what programs call


def check_weight(weight, classes, name=""):
    if weight.requires_grad:
        raise fault(
            RuntimeError,
            "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. This input "
            "cannot have requires_grad True.",
            hint="weight=weight.detach()",
        )
    if weight.ndim != 1 or weight.shape[0] != classes:
        raise fault(
            RuntimeError,
            f"{name}weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.shape)}",
        )


def nll_of(input, target, weight, reduction, ignore_index):
    """The negative log-likelihood of log-probabilities, after PyTorch's checks."""
    rank, shape = input.ndim, input.shape
    if not rank:
        raise fault(ValueError, "Expected 1 or more dimensions (got 0)")
    if rank == 1:
        if target.ndim > 1:
            raise fault(RuntimeError, "0D or 1D target tensor expected, multi-target not supported")
        if target.ndim and target.numel() != 1:
            got = target.numel()
            raise fault(ValueError, f"For 1D input, 1D target must have size 1, but got target size: {got}")
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
    classes = shape[0 if rank == 1 else 1]
    if weight is not None:
        check_weight(weight, classes)
    if input.dtype.category != FLOATING:
        kernel = "nll_loss_out_frame" if rank < 3 else "nll_loss2d_forward_out_frame"
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for '{kind}'", hint=".float()")
    plain = all_count(target, classes, ignore_index)
    op = right_classes if rank < 3 else right_classes_2d
    loss = op(input, target, weight, reduction=reduction, ignore_index=ignore_index, plain=plain)
    return viewed(loss, size=loss.shape) if loss.ndim > 1 and rank != 4 else loss  # as PyTorch, which folds to 4


def _refuse_places(rank, shape, target):
    if rank == 4 and target.ndim != 3:
        raise fault(
            RuntimeError,
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}",
        )
    if rank == 4:
        sizes = f"(got input: {list(shape)} , target: {list(target.shape)}"  # so in PyTorch
        raise fault(RuntimeError, f"size mismatch {sizes}")
    raise fault(RuntimeError, f"Expected target size {[shape[0], *shape[2:]]}, got {list(target.shape)}")


def class_operand(value, name, argument, position):
    """Scores (the first argument) or classes as a tensor."""
    if isinstance(value, Tensor):
        return value
    found = tensor_argument(value, name, argument, position)
    return floats(found.tolist()) if position == 1 else found


@function(at=("F",), example="F.nll_loss(log_softmax(tensor([[1.0, 3.0]]), dim=1), tensor([1]))")
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Mean of minus the log-probability of the right class."""
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = class_operand(input, "nll_loss_nd", "input", 1), class_operand(target, "nll_loss_nd", "target", 2)
    return nll_of(input, target, weight, reduction, ignore_index)
