"""Pooling to a given size: means and maxima over parts of nearly the same length."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.backend.memory import check_room
from gradsh.engine.op import constant, general, linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.arithmetic import vanishing
from gradsh.ops.average_pooling import in_singles
from gradsh.ops.calls import operand
from gradsh.ops.pooling import put_at_like
from gradsh.ops.pooling_faults import check_one, check_range, unsupported
from gradsh.ops.reduction import mean_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, distinct, reals
from gradsh.ops.shape import squeezed_at, unsqueezed
from gradsh.ops.spatial import lengths

# counts: how many parts there are along each of the last dimensions.


def _averaged(xp, x, *, counts):
    """The mean of each part."""
    from gradsh.backend.pooling import part_lengths, part_sums

    def compute(x):
        return part_sums(x, counts) / xp.asarray(part_lengths(x.shape[x.ndim - len(counts) :], counts), x.dtype)

    return in_singles(xp, compute, x)


@linear(
    x=lambda g, x_shape, dims: part_means(g, counts=x_shape[len(x_shape) - dims :]),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 5), dims=1), Sample(reals(2, 2, 3), reals(2, 3, 2), dims=2)],
    at=(),
    batch="stacked",
)
def spread_means(xp, x, y, *, dims):
    """The transpose of taking means: every number over the length of its part, added to all of it in the shape of y."""
    from gradsh.backend.pooling import part_lengths, part_sums_back

    size = y.shape[y.ndim - dims :]

    def compute(x):
        return part_sums_back(x / xp.asarray(part_lengths(size, x.shape[x.ndim - dims :]), x.dtype), size)

    return in_singles(xp, compute, x)


def _mean_op(name, grad_fn):
    return linear(
        x=lambda g, x, counts: spread_means(g, x, dims=len(counts)),
        sample=[Sample(reals(2, 5), counts=(3,)), Sample(reals(1, 4, 2), counts=(3, 3))],
        at=(),
        batch="stacked",
        name=name,
        grad_fn=grad_fn,
    )(_averaged)


part_means = _mean_op("part_means", "SpreadMeansBackward0")
MEANS = {dims: _mean_op(f"adaptive_avg_pool{dims}d", f"AdaptiveAvgPool{dims}DBackward0") for dims in (2, 3)}


@constant(at=(), batch="stacked")
def places_of_part_maxima(xp, x, *, counts):
    """Where in the last dimensions, taken as one, the largest number of each part is."""
    from gradsh.backend.pooling import part_maxima

    return part_maxima(x, counts)[1]


def _largest(xp, x, *, counts):
    """The largest number of each part."""
    from gradsh.backend.pooling import part_maxima

    return part_maxima(x, counts)[0]


def _slope(g, x, counts):
    return put_at_like(g, x, places_of_part_maxima(x, counts=counts), dims=len(counts), once=False)


MAXIMA = {
    dims: general(
        x=_slope,
        sample=[Sample(distinct(2, 5), counts=(3,)), Sample(distinct(1, 4, 2), counts=(3, 3))],
        at=(),
        batch="stacked",
        name=f"adaptive_max_pool{dims}d",
        grad_fn=f"AdaptiveMaxPool{dims}DBackward0",
    )(_largest)
    for dims in (2, 3)
}


# ---- checks


def _check_rank(input, dims, name, colon):
    if input.ndim not in (dims + 1, dims + 2):
        shape = list(input.shape)
        raise fault(RuntimeError, f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {shape}")


def _check_full(input, name, first):
    for dim in range(first, input.ndim):
        if not input.shape[dim]:
            raise fault(
                RuntimeError,
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {dim} being empty",
            )


def _with_default(output_size, input):
    """A size asked for, with None replaced by the input's own; Python's errors, as PyTorch's own Python code has them."""
    if isinstance(output_size, int):
        return output_size
    if not isinstance(output_size, list | tuple):
        raise fault(TypeError, f"object of type '{type(output_size).__name__}' has no len()")
    shape = input.shape
    if len(shape) <= len(output_size):
        raise fault(ValueError, f"Input dimension should be at least {len(output_size) + 1}")
    defaults = shape[len(shape) - len(output_size) :]
    return [default if one is None else one for one, default in zip(output_size, defaults)]


def _counts(output_size, dims, name):
    found = lengths(output_size, name, "output_size", " (position 2)")
    return found * dims if len(found) == 1 < dims and isinstance(output_size, int) else found


# ---- means


def _means(input, counts, dims):
    name = f"adaptive_avg_pool{dims}d"
    if len(counts) != dims:
        raise fault(RuntimeError, f"{name}: output_size must be {dims}")
    if min(counts) < 0:
        got = ", ".join(map(str, counts))
        raise fault(
            RuntimeError, f"{name}: elements of output_size must be greater than or equal to 0 but received {{{got}}}"
        )
    if counts == (1,) * dims and input.ndim >= dims:
        if input.dtype.category != FLOATING:
            return input.mean(tuple(range(-dims, 0)), keepdim=True)
        return mean_over(input, axes=tuple(range(input.ndim - dims, input.ndim)), keepdim=True)
    _check_rank(input, dims, name, "")
    _check_full(input, name, input.ndim - 2 if dims == 2 else 1)
    if input.dtype.category != FLOATING:
        raise unsupported(input, name if dims == 2 else f"{name}_cpu")
    return MEANS[dims](input, counts=counts)


@function(at=("torch", "F"), python=False, example="adaptive_avg_pool1d(ones(1, 1, 5), 2)")
def adaptive_avg_pool1d(input, output_size):
    """Means over output_size parts of the last dimension."""
    name = "adaptive_avg_pool1d"
    input, counts = operand(input), lengths(output_size, name, "output_size", " (position 2)")
    check_range(input, name)
    check_one(counts, name, "output_size")
    return squeezed_at(_means(unsqueezed(input, dim=-2), (1, *counts), 2), dim=-2)


def _means_of_rank(dims):
    name = f"adaptive_avg_pool{dims}d"

    def pool(input, output_size):
        input = sized(input)
        return _means(input, _counts(_with_default(output_size, input), dims, name), dims)

    pool.__doc__ = f"Means over parts of the last {dims} dimensions, as many as output_size says."
    size = ", ".join(["4"] * dims)
    return function(name, at=("F",), example=f"F.{name}(ones(1, 1, {size}), 2)")(pool)


def sized(input, lacking="size"):
    """The argument of a function whose Python code in PyTorch asks it for its size at once."""
    from gradsh.engine.state import state

    if not isinstance(input, Tensor):
        if not state.lists:
            raise fault(AttributeError, f"'{type(input).__name__}' object has no attribute '{lacking}'")
        return operand(input)
    return input


adaptive_avg_pool2d, adaptive_avg_pool3d = _means_of_rank(2), _means_of_rank(3)


# ---- maxima


def _maxima(input, counts, dims, with_places):
    name = f"adaptive_max_pool{dims}d"
    _check_rank(input, dims, name, ":")
    _check_full(input, name, 1)
    if len(counts) != dims:
        raise fault(RuntimeError, f"{name}(): internal error: output_size.size() must be {dims}")
    check_room((*input.shape[: input.ndim - dims], *counts), input.dtype.itemsize)
    if input.dtype.category != FLOATING:
        raise unsupported(input, name if dims == 2 else f"{name}_cpu")
    out = MAXIMA[dims](input, counts=counts)
    return out, places_of_part_maxima(input, counts=counts) if with_places else None


def _maxima_of_line(input, output_size, with_places):
    name = "adaptive_max_pool1d"
    counts = lengths(output_size, name, "output_size", " (position 2)")
    check_range(input, name)
    check_one(counts, name, "output_size")
    _check_full(input, name, 1)
    out, places = _maxima(unsqueezed(input, dim=-2), (1, *counts), 2, with_places)
    return squeezed_at(out, dim=-2), places if places is None else squeezed_at(places, dim=-2)


@function("adaptive_max_pool1d", at=("torch",), example="adaptive_max_pool1d(rand(1, 1, 5), 2)")
def maxima_of_line(input, output_size):
    """Maxima over output_size parts of the last dimension, and where they are."""
    return _maxima_of_line(operand(input), output_size, True)


def _maxima_of_rank(dims):
    name = f"adaptive_max_pool{dims}d"

    def compute(input, output_size, with_places):
        input = sized(input)
        if dims == 1:
            return _maxima_of_line(input, output_size, with_places)
        return _maxima(input, _counts(_with_default(output_size, input), dims, name), dims, with_places)

    def pool(input, output_size, return_indices=False):
        found = compute(input, output_size, return_indices)
        return found if return_indices else found[0]

    def with_indices(input, output_size, return_indices=False):
        return compute(input, output_size, True)

    last = "the last dimension" if dims == 1 else f"the last {dims} dimensions"
    pool.__doc__ = f"Maxima over parts of {last}, as many as output_size says; return_indices: and where they are."
    with_indices.__doc__ = f"Maxima over parts of {last}, and where they are."
    size = ", ".join(["4"] * dims)
    function(f"{name}_with_indices", at=("F",))(with_indices)
    return function(name, at=("F",), example=f"F.{name}(rand(1, 1, {size}), 2)")(pool)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_maxima_of_rank(dims) for dims in (1, 2, 3))
