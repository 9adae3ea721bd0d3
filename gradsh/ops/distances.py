"""Distances and angles between rows, rows of bounded length, and the bilinear layer."""

from __future__ import annotations

from math import inf

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import C_TYPES, TYPE_NAMES
from gradsh.engine.op import OPS, general, linear
from gradsh.engine.promote import broadcast_fault, common_dtype
from gradsh.fault import fault
from gradsh.ops.arithmetic import abs as magnitude, sgn
from gradsh.ops.calls import floats
from gradsh.ops.choice import clamp_min, where
from gradsh.ops.dimensions import axes_of, axis_of
from gradsh.ops.einsum import summed_products
from gradsh.ops.expanding import broadcast_tensors
from gradsh.ops.norms import check_floating, legacy_norm_over, measured, norm_over, slope
from gradsh.ops.product_faults import scalar_types_fault
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, nonzero, reals
from gradsh.ops.shape import reshape, reshaped
from gradsh.ops.structure import sum_to_size

# ---- between every two rows


def _pair_slope(g, difference, out, ord):
    """The gradient of the distances by the differences; g and out have a last dimension of length 1."""
    if ord == inf:  # unlike those of a norm, ties do not share: `idist` in DistanceOpsKernel.cpp
        return where(magnitude(difference) == out, sgn(difference) * g, 0.0)
    if ord == 0:
        return difference * 0.0
    return slope(g, difference, where(out == 0, 1.0, out), ord, None)  # equal rows: 0, at higher orders too


def _every_pair(x, y):
    """All differences of rows of x and of y: (…, rows of x, rows of y, columns)."""
    *lead, rows, columns = x.shape
    *more, others, _ = y.shape
    return reshaped(x, size=(*lead, rows, 1, columns)) - reshaped(y, size=(*more, 1, others, columns))


def _column(x):
    return reshaped(x, size=(*x.shape, 1))


def _pair_rule(g, x, y, out, ord, axis):
    pulled = _pair_slope(_column(g), _every_pair(x, y), _column(out), ord)
    return sum_over(pulled, axes=(len(pulled.shape) + axis,), keepdim=False)


@general(
    x=lambda g, x, x_shape, y, out, ord: sum_to_size(_pair_rule(g, x, y, out, ord, -2), size=x_shape),
    y=lambda g, x, y, y_shape, out, ord: sum_to_size(-_pair_rule(g, x, y, out, ord, -3), size=y_shape),
    sample=[
        Sample(reals(2, 3), reals(2, 2, 3), ord=2.0),
        Sample(reals(2, 3), reals(4, 3), ord=3.0),
        Sample(reals(2, 3), reals(1, 3), ord=1.0),
        Sample(reals(2, 3), reals(1, 3), ord=inf),
    ],
    at=(),
    grad_fn="CdistBackward0",
    batch="stacked",
)
def pair_distances(xp, x, y, *, ord):
    """Distance of every row of x to every row of y; the dimensions before the last two are broadcast."""
    return measured(xp, xp.subtract(x[..., :, None, :], y[..., None, :, :]), ord, -1)


@function(at=("torch",), python=True, example="cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))")
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distance of every row of x1 to every row of x2."""
    if compute_mode not in (
        "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
    ):  # fmt: skip
        raise fault(ValueError, f"{compute_mode} is not a valid value for compute_mode")
    x1, x2 = floats(x1, "x1"), floats(x2, "x2")
    for name, value in (("X1", x1), ("X2", x2)):
        if value.ndim < 2:
            raise fault(RuntimeError, f"cdist only supports at least 2D tensors, {name} got: {value.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        sizes = f"X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        raise fault(RuntimeError, f"X1 and X2 must have the same number of columns. {sizes}")
    for name, value in (("X1", x1), ("X2", x2)):
        if value.dtype.category != 2:
            kind = TYPE_NAMES[value.dtype.name]
            raise fault(RuntimeError, f"cdist only supports floating-point dtypes, {name} got: {kind}")
    if not p >= 0:
        raise fault(RuntimeError, "cdist only supports non-negative p values")
    wrong = broadcast_fault([x1.shape[:-2], x2.shape[:-2]])
    if wrong is None and x1.numel() and x2.numel():
        wrong = scalar_types_fault(None, x1, x2)
    if wrong is not None:
        raise wrong
    return pair_distances(x1, x2, ord=float(p))


@linear(x=lambda g: upper_placed(g), sample=Sample(reals(3, 3)), at=(), grad_fn="TriuBackward0")
def upper_part(xp, x):
    """The numbers of a square matrix above its diagonal, row by row."""
    return x[xp.triu_indices(len(x), 1)]


@linear(x=lambda g: upper_part(g), sample=Sample(reals(3)), at=(), grad_fn="TriuBackward0")
def upper_placed(xp, x):
    """A square matrix with these numbers above its diagonal, zeros elsewhere."""
    rows = round((1 + (1 + 8 * len(x)) ** 0.5) / 2)
    out = xp.zeros((rows, rows), x.dtype)
    out[xp.triu_indices(rows, 1)] = x
    return out


def _own_pair_rule(g, x, out, ord):
    if len(x.shape) and x.shape[0] < 2:
        return x * 0.0
    pulled = _pair_slope(_column(upper_placed(g)), _every_pair(x, x), _column(upper_placed(out)), ord)
    return sum_over(pulled, axes=(1,), keepdim=False) - sum_over(pulled, axes=(0,), keepdim=False)


@general(
    x=_own_pair_rule,
    sample=[Sample(reals(3, 2), ord=2.0), Sample(nonzero(3, 2), ord=3.0)],
    at=(),
    grad_fn="PdistBackward0",
)
def own_pair_distances(xp, x, *, ord):
    """Distance of every row to those after it."""
    first, second = xp.triu_indices(len(x), 1)
    return measured(xp, x[first] - x[second], ord, -1)


@function(at=("F", "torch"), python=False, example="F.pdist(tensor([[0.0, 0.0], [3.0, 4.0]]))")
def pdist(input, p=2):
    """The p-norm distance of every row to those after it."""
    input = floats(input)
    if input.ndim != 2:
        raise fault(RuntimeError, f"pdist only supports 2D tensors, got: {input.ndim}D")
    if input.dtype.category != FLOATING:
        raise fault(RuntimeError, "pdist only supports floating-point dtypes", hint=".float() first")
    if p < 0:
        raise fault(RuntimeError, "pdist only supports non-negative p values")
    return own_pair_distances(input, ord=float(p))


# ---- between matching rows


@function(at=("F", "torch"), python=False, example="F.pairwise_distance(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))")
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps over the last dimension."""
    difference = OPS["sub"](floats(x1, "x1"), floats(x2, "x2")) + eps
    check_floating(difference)
    return legacy_norm_over(difference, ord=float(p), axes=axes_of(-1, difference.ndim), keepdim=keepdim)


@general(x=lambda g: g, at=(), sample=Sample(nonzero(3), low=0.1), grad_fn="CloneBackward0", batch="elementwise")
def raised_unseen(xp, x, *, low):
    """The numbers, at least `low`, with the derivative of a copy: PyTorch bounds norms behind autograd's back."""
    return xp.maximum(x, low)


@function(at=("F", "torch"), python=False, example="F.cosine_similarity(tensor([1.0, 0.0]), tensor([1.0, 1.0]), dim=0)")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Cosine of the angle between vectors along dim."""
    x1, x2 = floats(x1, "x1"), floats(x2, "x2")
    common = common_dtype((x1, x2), floating=False)
    if common.category != 2:
        kind = TYPE_NAMES[common.name]
        raise fault(RuntimeError, f"expected common dtype to be floating point, yet common dtype is {kind}")
    wrong = broadcast_fault([x1.shape, x2.shape])
    if wrong is not None:
        raise wrong
    x1, x2 = (x if x.dtype is common else OPS["to_dtype"](x, dtype=common) for x in broadcast_tensors(x1, x2))
    axes = axes_of(axis_of(dim, x1.ndim), x1.ndim)
    lengths = [raised_unseen(norm_over(x, ord=2.0, axes=axes, keepdim=True), low=eps) for x in (x1, x2)]
    return sum_over((x1 / lengths[0]) * (x2 / lengths[1]), axes=axes, keepdim=False)


@function(at=("F",), example="F.normalize(tensor([[3.0, 4.0]]))")
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Vectors along dim divided by their p-norm, or by eps where that is larger."""
    input = floats(input)
    check_floating(input)
    length = norm_over(input, ord=float(p), axes=axes_of(dim, input.ndim), keepdim=True)
    return OPS["div"](input, clamp_min(length, eps).expand_as(input))


def _renorm_rule(g, x, ord, axes, bound):
    length = norm_over(x, ord=ord, axes=axes, keepdim=True)
    along = slope(sum_over(x * g, axes=axes, keepdim=True), x, length, ord, axes)
    inverse = 1.0 / (length + 1e-7)
    return where(length > bound, bound * inverse * (g - inverse * along), g)


@general(
    x=_renorm_rule,
    sample=Sample(reals(3, 4), ord=2.0, axes=(1,), bound=1.0),
    at=(),
    grad_fn="RenormBackward0",
)
def bounded_norm(xp, x, *, ord, axes, bound):
    """Slices shortened to a norm of at most `bound`."""
    length = measured(xp, x, ord, axes, True)
    return xp.multiply(x, xp.where(length > bound, bound / (length + 1e-7), 1.0).astype(x.dtype))


@function(example="renorm(tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1.0)", inplace=True)
def renorm(input, p, dim, maxnorm):
    """The slices along dim, each shortened to a p-norm of at most maxnorm."""
    input = floats(input)
    if p <= 0:
        raise fault(RuntimeError, "renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise fault(RuntimeError, f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise fault(RuntimeError, f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    axis = axis_of(dim, input.ndim)
    check_floating(input)
    axes = tuple([k for k in range(input.ndim) if k != axis])
    return bounded_norm(input, ord=float(p), axes=axes, bound=float(maxnorm))


# ---- bilinear


@function(at=("F", "torch"), python=False, example="F.bilinear(ones(1, 2), ones(1, 3), ones(4, 2, 3))")
def bilinear(input1, input2, weight, bias=None):
    """x1^T W x2 + bias for every row, W one matrix per output."""
    input1, input2, weight = floats(input1, "input1"), floats(input2, "input2"), floats(weight, "weight")
    bias = bias if bias is None else floats(bias, "bias")
    named = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    if len({one.dtype.name for one in named.values()}) > 1:
        got = ", ".join(f"{name}: {C_TYPES[one.dtype.name]}" for name, one in named.items())
        raise fault(RuntimeError, f"All tensors must have the same dtype, got {got}")
    if input1.ndim != input2.ndim:
        raise fault(RuntimeError, f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for k in range(input1.ndim - 1):
        if input1.shape[k] != input2.shape[k]:
            got = f"{input1.shape[k]} and {input2.shape[k]}"
            raise fault(RuntimeError, f"bilinear(): input batch dimensions do not match at dim {k}: got {got}")
    axis_of(2, weight.ndim)
    for k, value in ((1, input1), (2, input2)):
        if value.shape[-1] != weight.shape[k]:
            got = f"got {value.shape[-1]} but expected {weight.shape[k]}"
            raise fault(RuntimeError, f"bilinear(): input{k} size does not match weight size: {got}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        got = f"got {bias.shape[0]} but expected {weight.shape[0]}"
        raise fault(RuntimeError, f"bilinear(): bias size does not match weight size: {got}")
    if weight.ndim > 3:
        raise fault(RuntimeError, "number of dimensions must match")
    rows = input1.shape[:-1].numel()
    flat = [reshape(x, (rows, x.shape[-1])) for x in (input1, input2)]
    found = summed_products([flat[0], weight, flat[1]], ["bi", "oij", "bj"], "bo")
    found = reshape(found.contiguous(), (*input1.shape[:-1], weight.shape[0]))
    return found if bias is None else OPS["add"](found, bias)
