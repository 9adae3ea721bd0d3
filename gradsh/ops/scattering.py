"""Numbers taken from, put at and added to places along a dimension, one for each place of an index tensor."""

from __future__ import annotations

from gradsh.backend.dtypes import int32, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.create import C_NAMES, NUMBERS, held
from gradsh.engine.op import OPS, general, linear
from gradsh.engine.promote import common_shape
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axis_of
from gradsh.ops.expanding import expanded
from gradsh.ops.picking import take_along
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, distinct, nonzero, reals
from gradsh.ops.shape import reshape
from gradsh.ops.slicing import part

ONCE = Made(lambda rng: rng.permutation(4)[:3].reshape(1, 3))
OFTEN = Made(lambda rng: rng.integers(0, 2, (2, 3)))

# ---- the ops


def _lanes(xp, places, dim):
    """numpy's key for an index tensor; what has no dimensions is a vector of one number."""
    return xp.lanes(xp.atleast_1d(places), dim)


@linear(
    x=lambda g, y, dim: marked(g, y, dim=dim, value=0.0),
    z=lambda g, y, dim: take_along(g, y, axis=dim),
    sample=Sample(reals(2, 4), ONCE, reals(1, 3), dim=1),
    at=(),
    name="scatter",
)
def scattered(xp, x, y, z, *, dim):
    """A copy with numbers put at places along a dimension."""
    out = xp.array(x, order="C", ndmin=1)
    out[_lanes(xp, y, dim)] = z
    return out if xp.ndim(x) else out.reshape(())


@general(
    x=lambda g, y, dim: marked(g, y, dim=dim, value=0.0),
    sample=Sample(reals(2, 4), ONCE, dim=1, value=3.0),
    at=(),
    name="scatter_number",
    grad_fn="ScatterBackward1",
)
def marked(xp, x, y, *, dim, value):
    """A copy with one number put at places along a dimension."""
    out = xp.array(x, order="C", ndmin=1)
    out[_lanes(xp, y, dim)] = value
    return out if xp.ndim(x) else out.reshape(())


@linear(
    x=lambda g: g,
    z=lambda g, y, dim: take_along(g, y, axis=dim),
    sample=Sample(reals(2, 4), OFTEN, reals(2, 3), dim=1),
    at=(),
    name="scatter_add",
)
def scatter_added(xp, x, y, z, *, dim):
    """A copy with numbers added at places along a dimension."""
    sums = xp.lane_sums(xp.asarray(z), x.shape, xp.atleast_1d(y), dim) if xp.ndim(x) else xp.sum(z)
    return xp.asarray(x + sums, order="C")


def _reduce_rules(g, x, y, z, out, dim, reduce, include_self):
    """The gradients of both operands (`scatter_reduce_backward` of torch/csrc/autograd/FunctionsManual.cpp)."""
    if reduce == "sum":
        x_g, z_g = g, take_along(g, y, axis=dim)
    elif reduce == "prod":
        x_g, z_g = _product_rules(g, x, y, z, out, dim, include_self)
    elif reduce == "mean":
        ones = z * 0 + 1
        count = scatter_added(x * 0 + (1 if include_self else 0), y, ones, dim=dim)
        x_g = g / where(count == 0, 1.0, count)
        z_g = take_along(x_g, y, axis=dim)
    else:
        x_chosen, z_chosen = where(x == out, 1.0, x * 0), where(z == take_along(out, y, axis=dim), 1.0, z * 0)
        share = g / scatter_added(x_chosen, y, z_chosen, dim=dim)
        x_g, z_g = where(x == out, share, g * 0), z_chosen * take_along(share, y, axis=dim)
    return (x_g if include_self else marked(x_g, y, dim=dim, value=0.0)), z_g


def _product_rules(g, x, y, z, out, dim, include_self):
    """Each factor's gradient is the product of the others, also where one of them is zero."""

    def product(x, z):
        return scatter_reduced(x, y, z, dim=dim, reduce="prod", include_self=include_self)

    x_filled, zero = where(x == 0, 1.0, x), where(z == 0, 1.0, z * 0)
    zeros = take_along(scatter_added(x * 0, y, zero, dim=dim), y, axis=dim)
    alone = zero * zeros == 1
    others = take_along(g * product(x, where(alone, 1.0, z)), y, axis=dim)
    return g * product(x_filled, z) / x_filled, where(
        alone, others, take_along(g * out, y, axis=dim) / where(z == 0, 1.0, z)
    )


@general(
    x=lambda g, x, y, z, out, dim, reduce, include_self: _reduce_rules(g, x, y, z, out, dim, reduce, include_self)[0],
    z=lambda g, x, y, z, out, dim, reduce, include_self: _reduce_rules(g, x, y, z, out, dim, reduce, include_self)[1],
    sample=[
        Sample(nonzero(2, 4), OFTEN, nonzero(2, 3), dim=1, reduce=reduce, include_self=include_self)
        for reduce in ("sum", "prod", "mean")
        for include_self in (True, False)
    ]
    + [
        Sample(distinct(2, 4), OFTEN, distinct(2, 3), dim=1, reduce=reduce, include_self=True)
        for reduce in ("amax", "amin")
    ],
    at=(),
    name="scatter_reduce",
)
def scatter_reduced(xp, x, y, z, *, dim, reduce, include_self):
    """A copy with numbers summed, multiplied, averaged or compared into places along a dimension."""
    found = xp.lane_reduction(xp.atleast_1d(x), xp.atleast_1d(y), xp.atleast_1d(z), dim, reduce, include_self)
    return found if xp.ndim(x) else found.reshape(())


# ---- the functions

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def _checked(name, input, dim, index, source=None, reduce="sum"):
    """The dimension, after PyTorch's checks of an index tensor; whether it fits a dimension is looked at last."""
    if not isinstance(index, Tensor):
        raise Unfit("index", "Tensor", index)
    dim = axis_of(dim, input.ndim)
    if not index.numel():
        return dim
    if index.dtype is not int64 and index.dtype is not int32:
        raise fault(
            RuntimeError, f"{name}(): Expected dtype int32/int64 for index", hint=".long() makes integers of it"
        )
    for what, tensor in (("input" if name == "gather" else "self", input), ("src", source)):
        if tensor is not None and (index.ndim or 1) != (tensor.ndim or 1):
            raise fault(
                RuntimeError,
                f"Index tensor must have the same number of dimensions as {what} tensor",
                notes=(f"the index has shape {tuple(index.shape)}, the {what} {tuple(tensor.shape)}",),
            )
    sizes, have = list(index.shape), list(input.shape)
    fits = all(k == dim or a <= b for k, (a, b) in enumerate(zip(sizes, have)))
    if name == "gather":
        for k, (a, b) in enumerate(zip(sizes, have)):
            if k != dim and a > b:
                raise fault(
                    RuntimeError,
                    f"Size does not match at dimension {k} expected index {sizes} to be no larger than self {have} "
                    "apart from "
                    f"dimension {dim}",
                )
    elif not fits or (source is not None and any(a > b for a, b in zip(sizes, source.shape))):
        message = f"Expected index {sizes} to be no larger than self {have} apart from dimension {dim}"
        if source is not None:
            message += f" and to be no larger size than src {list(source.shape)}"
        raise fault(RuntimeError, message)
    if reduce not in REDUCTIONS:
        raise fault(RuntimeError, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    check_bounds(index, dim, input.shape[dim] if input.ndim else 1)
    return dim


def check_bounds(index, dim, length, kind=RuntimeError):
    """Refuse places outside a dimension; here they are not counted from the end."""
    raw = numbers_of(index)
    if raw.size and not (raw.min() >= 0 and raw.max() < length):
        wrong = next(place for place in raw.ravel().tolist() if not 0 <= place < length)
        raise fault(kind, f"index {wrong} is out of bounds for dimension {dim} with size {length}")


@function(example="gather(arange(6.0).view(2, 3), 1, tensor([[0, 2], [1, 1]]))")
def gather(input, dim, index, *, sparse_grad=False):
    """The numbers at places along a dimension, one for each place of the index tensor."""
    input = operand(input)
    return take_along(input, index, axis=_checked("gather", input, dim, index))


def _fitted(input, index, source):
    """The part of a source that an index tensor reaches."""
    if source.dtype is not input.dtype:
        raise fault(RuntimeError, "scatter(): Expected self.dtype to be equal to src.dtype")
    for dim, length in enumerate(index.shape):
        if source.ndim and source.shape[dim] > length:
            source = part(source, dim, 0, length)
    return source


SCATTER = (
    "(Tensor input, int dim, Tensor index, Tensor src)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)",
    "(Tensor input, int dim, Tensor index, Number value)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce)",
)


@function(inplace=True, example="zeros(2, 3).scatter(1, tensor([[0], [2]]), 1.0)", overloads=SCATTER)
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """A copy with numbers put at places along a dimension (or added, multiplied: `reduce`)."""
    input, source = operand(input), value if src is None else src
    if not isinstance(source, (Tensor, *NUMBERS)):
        raise Unfit("src", "Tensor", source)
    number = not isinstance(source, Tensor)
    dim = _checked("scatter", input, dim, index, None if number else source)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise fault(RuntimeError, "reduce argument must be either add or multiply.")
        whole = index.new_full(index.shape, source, dtype=input.dtype) if number else _fitted(input, index, source)
        reduce = "sum" if reduce == "add" else "prod"
        return scatter_reduced(input, index, whole, dim=dim, reduce=reduce, include_self=True)
    if number:
        return marked(input, index, dim=dim, value=held(source, input.dtype, names=C_NAMES))
    return scattered(input, index, _fitted(input, index, source), dim=dim)


@function(inplace=True, example="zeros(3).scatter_add(0, tensor([0, 2, 0]), ones(3))")
def scatter_add(input, dim, index, src):
    """A copy with numbers added at places along a dimension."""
    input, src = operand(input), operand(src, "src")
    dim = _checked("scatter", input, dim, index, src)
    return scatter_added(input, index, _fitted(input, index, src), dim=dim)


@function(inplace=True, example="zeros(3).scatter_reduce(0, tensor([0, 2, 0]), ones(3), 'sum')")
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy with numbers summed, multiplied, averaged or compared into places along a dimension."""
    input, src = operand(input), operand(src, "src")
    dim = _checked("scatter", input, dim, index, src, reduce)
    src = _fitted(input, index, src)
    return scatter_reduced(input, index, src, dim=dim, reduce=reduce, include_self=bool(include_self))


@function(example="take_along_dim(tensor([[3.0, 1.0], [2.0, 4.0]]), tensor([[1], [0]]), dim=1)")
def take_along_dim(input, indices, dim=None):
    """As `gather`, with the other dimensions broadcast; in the flattened tensor where no dim is given."""
    input = operand(input)
    if not isinstance(indices, Tensor):
        raise Unfit("indices", "Tensor", indices)
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    if input.ndim != indices.ndim:
        raise fault(
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices",
        )
    if indices.dtype is not int64:
        name = TYPE_NAMES[indices.dtype.name]
        raise fault(RuntimeError, f"torch.take_along_dim(): dtype of indices should be Long but got {name}")
    dim = axis_of(dim, input.ndim)
    indices = OPS["remainder"](
        indices, input.shape[dim] if input.ndim else 1
    )  # as in PyTorch, at any distance from the end
    shapes = [list(one.shape) for one in (input, indices)]
    for shape in shapes:
        shape[dim : dim + 1] = [1] if shape else []
    common = common_shape([tuple(shape) for shape in shapes])
    wide = [(*common[:dim], *one.shape[dim : dim + 1], *common[dim + 1 :]) for one in (input, indices)]
    input, indices = (expanded(one, size=size) for one, size in zip((input, indices), wide))
    return gather(input, dim, indices)
