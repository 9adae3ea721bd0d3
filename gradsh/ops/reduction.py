"""Sums, means and products over dimensions, and the truth of all or any."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.op import constant, general, linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, floats, in_type, of_type, operand
from gradsh.ops.dimensions import axes_of, axis_of, kept_shape, reduced_count
from gradsh.ops.examples import over_flat, over_rest
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.scanning import holds_zero, running_product
from gradsh.ops.shape import reshaped
from gradsh.ops.structure import expand_to

WHOLE = "(Tensor input, *, torch.dtype dtype = None)"
SUM_OVERLOADS = (
    WHOLE,
    "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)",
)


def total(xp, x, axes, keepdim=False):
    """Sum of raw numbers over axes (None: all) as PyTorch adds them: integers in int64, halves in single precision."""
    if axes is None:
        return xp.total(x)
    char = "d" if x.__class__ is float else x.dtype.char
    if char in "df":
        return xp.sums(x, axes, keepdim)
    if char == "e":
        return xp.add.reduce(x, axes, xp.float32, None, keepdim).astype(xp.float16)
    return xp.add.reduce(x, axes, xp.int64, None, keepdim)


def unreduced(g, shape, axes, keepdim):
    """The gradient of a reduction brought back to the dimensions it has with `keepdim=True`."""
    return g if keepdim else reshaped(g, size=kept_shape(shape, axes))


@linear(
    x=lambda g, x_shape, axes, keepdim: sum_over(g, axes=axes, keepdim=keepdim),
    sample=[
        Sample(reals(2, 4), size=(2, 3, 4), axes=(1,), keepdim=False),
        Sample(reals(1, 3, 1), size=(2, 3, 4), axes=(0, 2), keepdim=True),
    ],
    at=(),
    grad_fn="ExpandBackward0",
)
def repeat_over(xp, x, *, size, axes, keepdim):
    """What was reduced over `axes` repeated along them: the transpose of a sum."""
    x = xp.asarray(x)
    out = xp.empty(size, x.dtype)
    out[...] = x if keepdim else x.reshape(kept_shape(size, axes))
    return out


# ---- sums and means


@linear(
    x=lambda g, x_shape: expand_to(g, size=x_shape),
    sample=Sample(reals(2, 3)),
    at=(),
    grad_fn="SumBackward0",
    batch=over_rest("sum_over"),
)
def sum_all(xp, x):
    """Sum of every number."""
    return xp.total(x)


@linear(
    x=lambda g, x_shape, axes, keepdim: repeat_over(g, size=x_shape, axes=axes, keepdim=keepdim),
    sample=[Sample(reals(2, 3, 4), axes=(0, 2), keepdim=False), Sample(reals(2, 3), axes=(1,), keepdim=True)],
    at=(),
    grad_fn="SumBackward1",
)
def sum_over(xp, x, *, axes, keepdim):
    """Sum over dimensions."""
    return total(xp, x, axes, keepdim)


@function(example="sum(tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)", overloads=SUM_OVERLOADS, alone=sum_all)
def sum(input, dim=..., keepdim=False, *, dtype=None):
    """Sum over dim (one or several), or over everything; integers and booleans add up to int64."""
    input = in_type(input, dtype)
    if dim is ...:
        check_alone(keepdim)
        return of_type(sum_all(input), dtype)
    return of_type(sum_over(input, axes=axes_of(dim, input.ndim), keepdim=keepdim), dtype)


def check_alone(keepdim):
    """`keepdim` needs a `dim`."""
    if keepdim:
        raise Unfit("keepdim", "given with dim", keepdim)


@linear(
    x=lambda g, x_shape: expand_to(g / max(reduced_count(x_shape), 1), size=x_shape),
    sample=Sample(reals(2, 3)),
    at=(),
    grad_fn="MeanBackward0",
    batch=over_rest("mean_over"),
)
def mean_all(xp, x):
    """Mean of every number."""
    if x.__class__ is float:
        return x
    if x.dtype.kind != "f":
        raise _no_mean(xp.dtype_of(x))
    return xp.divide(xp.total(x), x.size)


@linear(
    x=lambda g, x_shape, axes, keepdim: repeat_over(
        g / max(reduced_count(x_shape, axes), 1), size=x_shape, axes=axes, keepdim=keepdim
    ),
    sample=[Sample(reals(2, 3, 4), axes=(0, 2), keepdim=False), Sample(reals(2, 3), axes=(1,), keepdim=True)],
    at=(),
    grad_fn="MeanBackward1",
)
def mean_over(xp, x, *, axes, keepdim):
    """Mean over dimensions."""
    return xp.divide(total(xp, x, axes, keepdim), reduced_count(xp.shape(x), axes))


@function(example="mean(tensor([1.0, 2.0, 6.0]))", overloads=SUM_OVERLOADS, alone=mean_all)
def mean(input, dim=..., keepdim=False, *, dtype=None):
    """Mean over dim (one or several), or over everything."""
    input = in_type(input if isinstance(input, Tensor) else floats(input), dtype)
    if dtype is not None and dtype.category != FLOATING:
        raise _no_mean(dtype, "mean(): could not infer output dtype. Optional dtype")
    if dim is ...:
        check_alone(keepdim)
        return mean_all(input)
    if input.dtype.category != FLOATING:
        raise _no_mean(input.dtype)
    return mean_over(input, axes=axes_of(dim, input.ndim), keepdim=keepdim)


def _no_mean(dtype, what="mean(): could not infer output dtype. Input dtype"):
    from gradsh.engine.alias import TYPE_NAMES

    return fault(
        RuntimeError,
        f"{what} must be either a floating point or complex dtype. Got: {TYPE_NAMES[dtype.name]}",
        hint=".float().mean(), or write the numbers with a point: 1.0",
    )


@general(
    x=lambda g, x, x_shape, axes, keepdim: repeat_over(g, size=x_shape, axes=axes, keepdim=keepdim) * not_nan(x),
    sample=[Sample(reals(2, 3, 4), axes=(0, 2), keepdim=False), Sample(reals(2, 3), axes=(1,), keepdim=True)],
    at=(),
    grad_fn="NansumBackward0",
)
def nansum_over(xp, x, *, axes, keepdim):
    """Sum over dimensions that passes over nan."""
    return total(xp, xp.where(xp.isnan(x), xp.asarray(x).dtype.type(0), x), axes, keepdim)


@constant(at=(), batch="elementwise")
def not_nan(xp, x):
    """1 where there is a number, 0 where there is nan, in the operand's type."""
    x = xp.asarray(x)
    return xp.logical_not(xp.isnan(x)).astype(x.dtype)


@function(example="nansum(tensor([1.0, nan, 2.0]))")
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over dim, or over everything, in which nan counts as 0."""
    input = in_type(input, dtype)
    return nansum_over(input, axes=axes_of(dim, input.ndim), keepdim=keepdim)


@function(example="nanmean(tensor([1.0, nan, 2.0]))")
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """Mean over dim, or over everything, of the numbers that are not nan."""
    input = floats(input)
    if input.dtype.category != FLOATING:
        from gradsh.engine.alias import TYPE_NAMES

        kind = TYPE_NAMES[input.dtype.name]
        raise fault(RuntimeError, f"nanmean(): expected input to have floating point or complex dtype but got {kind}")
    input = in_type(input, dtype)
    if input.dtype.category != FLOATING:
        raise _no_mean(input.dtype, "nanmean(): could not infer output dtype. Optional dtype")
    axes = axes_of(dim, input.ndim)
    return nansum_over(input, axes=axes, keepdim=keepdim) / sum_over(not_nan(input), axes=axes, keepdim=keepdim)


# ---- products


def _prod_rule(g, x, out, axis):
    """d(product)/dx: the product of the others, by division where no number is zero; g and out have every dimension."""
    if not holds_zero(x):
        return g * (out / x)
    if x.shape[axis] == 1:
        return g
    before = running_product(x, axis=axis, reverse=False, exclusive=True)
    return g * before * running_product(x, axis=axis, reverse=True, exclusive=True)


def _product(xp, x, axis, keepdim):
    x = xp.asarray(x)
    return xp.multiply.reduce(x, axis, x.dtype if x.dtype.kind == "f" else xp.int64, None, keepdim)


@general(
    x=lambda g, x, x_shape, out: (
        reshaped(_prod_rule(g, reshaped(x, size=(-1,)), out, 0), size=x_shape) if x_shape else g
    ),
    sample=[Sample(reals(2, 3)), Sample(Made(lambda rng: rng.permutation([0.0, 1.5, -0.7, 2.0])))],
    at=(),
    grad_fn="ProdBackward0",
    batch=over_flat("prod_over"),
)
def prod_all(xp, x):
    """Product of every number."""
    return _product(xp, x, None, False)


@general(
    x=lambda g, x, x_shape, out, axis, keepdim: (
        _prod_rule(unreduced(g, x_shape, (axis,), keepdim), x, unreduced(out, x_shape, (axis,), keepdim), axis)
        if x_shape
        else g
    ),
    sample=[
        Sample(reals(2, 3, 2), axis=1, keepdim=False),
        Sample(Made(lambda rng: rng.permutation([[0.0, 1.5], [0.0, 2.0], [-0.4, 0.6]])), axis=0, keepdim=True),
    ],
    at=(),
    grad_fn="ProdBackward1",
)
def prod_over(xp, x, *, axis, keepdim):
    """Product over a dimension."""
    return _product(xp, x, axis if xp.ndim(x) else None, keepdim)


@function(
    example="prod(tensor([2.0, 3.0, 4.0]))",
    overloads=(WHOLE, "(Tensor input, int dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)"),
)
def prod(input, dim=..., keepdim=False, *, dtype=None):
    """Product over a dimension, or of every number."""
    input = in_type(input, dtype)
    if dim is ...:
        check_alone(keepdim)
        return of_type(prod_all(input), dtype)
    return of_type(prod_over(input, axis=axis_of(dim, input.ndim), keepdim=keepdim), dtype)


# ---- truth


@constant(at=())
def all_over(xp, x, *, axes, keepdim):
    """Whether every number over dimensions is nonzero."""
    return _truth(xp, xp.logical_and, x, axes, keepdim)


@constant(at=())
def any_over(xp, x, *, axes, keepdim):
    """Whether any number over dimensions is nonzero."""
    return _truth(xp, xp.logical_or, x, axes, keepdim)


def _truth(xp, ufunc, x, axes, keepdim):
    x = xp.asarray(x)
    found = ufunc.reduce(x, axes, None, None, keepdim)
    return found.astype(x.dtype) if x.dtype.char == "B" else found  # uint8 stays uint8 in PyTorch


TRUTH_OVERLOADS = (
    "(Tensor input, *, Tensor out = None)",
    "(Tensor input, tuple of ints dim = None, bool keepdim = False, *, Tensor out = None)",
    "(Tensor input, int dim, bool keepdim = False, *, Tensor out = None)",
)


@function(example="all(tensor([1.0, 0.0]) > -1)", overloads=TRUTH_OVERLOADS)
def all(input, dim=None, keepdim=False):
    """Whether every number (over dim) is nonzero."""
    input = operand(input)
    axes = () if isinstance(dim, list | tuple) and not dim else axes_of(dim, input.ndim)
    return all_over(input, axes=axes, keepdim=keepdim)


@function(example="any(tensor([1.0, 0.0]) > 0)", overloads=TRUTH_OVERLOADS)
def any(input, dim=None, keepdim=False):
    """Whether any number (over dim) is nonzero."""
    input = operand(input)
    axes = () if isinstance(dim, list | tuple) and not dim else axes_of(dim, input.ndim)
    return any_over(input, axes=axes, keepdim=keepdim)


@constant(at=())
def nonzero_count(xp, x, *, axes):
    """How many numbers over dimensions are nonzero."""
    return xp.add.reduce(xp.not_equal(x, 0), axes, xp.int64)


@function(
    example="count_nonzero(tensor([0.0, 2.0, 3.0]))",
    overloads=("(Tensor input, int dim = None)", "(Tensor input, tuple of ints dim)"),
)
def count_nonzero(input, dim=None):
    """How many numbers (over dim) are nonzero."""
    input = operand(input)
    return nonzero_count(input, axes=axes_of(dim, input.ndim))
