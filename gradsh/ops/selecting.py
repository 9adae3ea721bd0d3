"""Slices along a dimension, named by a vector of places, and numbers by places of the flattened tensor."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, boolean, int32, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.create import C_NAMES, NUMBERS, held
from gradsh.engine.op import general, linear
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.wrapped import Wrapped, numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axis_of
from gradsh.ops.examples import flat, shaped, spread
from gradsh.ops.index_examples import (
    same_sums,
    slice_sums_of,
    slices_added,
    slices_named,
    slices_of_each,
    slices_put,
    sums_of_each,
)
from gradsh.ops.picking import put_along, take_along
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.scattering import REDUCTIONS, check_bounds, scatter_reduced
from gradsh.ops.shape import reshape
from gradsh.ops.structure import sum_to_size, to_dtype

PLACES = Made(lambda rng: rng.integers(0, 3, (4,)))
ONCE = Made(lambda rng: rng.permutation(3)[:2])
FLAT = Made(lambda rng: rng.integers(-6, 6, (2, 2)))
FLAT_ONCE = Made(lambda rng: rng.permutation(6)[:4].reshape(2, 2))


def at(dim, key):
    return (slice(None),) * dim + (key,)


@linear(
    x=lambda g, x_shape, y, dim: slice_sums(g, y, size=x_shape, dim=dim),
    sample=[Sample(reals(3, 2), PLACES, dim=0), Sample(reals(2, 3), PLACES, dim=1)],
    at=(),
    name="index_select",
    batch={
        "x": lambda x, y, dim: chosen_slices(x, y, dim=dim + 1) if x.ndim > 1 else x,
        "y": slices_named,
        "x y": slices_of_each,
    },
)
def chosen_slices(xp, x, y, *, dim):
    """The slices at places of a dimension."""
    return xp.asarray(x[at(dim, y)], order="C") if xp.ndim(x) else x


@linear(
    x=lambda g, y, dim: chosen_slices(g, y, dim=dim),
    sample=[Sample(reals(4, 2), PLACES, size=(3, 2), dim=0), Sample(reals(2, 4), PLACES, size=(2, 3), dim=1)],
    at=(),
    grad_fn="IndexSelectBackwardBackward0",
    batch={"x": slice_sums_of(same_sums), "x y": slice_sums_of(sums_of_each)},
)
def slice_sums(xp, x, y, *, size, dim):
    """Zeros to which slices are added at places of a dimension."""
    return xp.index_sums(x, size, (y,), (dim,)) if size else xp.sum(x)


@linear(
    x=lambda g: g,
    z=lambda g, y, dim, alpha: chosen_slices(g, y, dim=dim) * alpha,
    sample=[
        Sample(reals(3, 2), PLACES, reals(4, 2), dim=0, alpha=2),
        Sample(reals(2, 3), PLACES, reals(2, 4), dim=1, alpha=1),
    ],
    at=(),
    name="index_add",
    batch=slices_added,
)
def with_slices_added(xp, x, y, z, *, dim, alpha):
    """A copy with slices added at places of a dimension."""
    z = z * alpha if alpha != 1 else z
    return x + (xp.index_sums(z, x.shape, (y,), (dim,)) if xp.ndim(x) else z)


@linear(
    x=lambda g, y, dim: with_slices_filled(g, y, 0.0, dim=dim),
    z=lambda g, y, dim: chosen_slices(g, y, dim=dim),
    sample=[Sample(reals(3, 2), ONCE, reals(2, 2), dim=0)],
    at=(),
    name="index_copy",
    batch=lambda x, y, z, dim: slices_put(x, z, y, dim),
)
def with_slices(xp, x, y, z, *, dim):
    """A copy with the slices at places of a dimension replaced."""
    out = xp.array(x, order="K", ndmin=1)
    out[at(dim, y)] = z
    return out if xp.ndim(x) else out.reshape(())


@linear(
    x=lambda g, y, dim: with_slices_filled(g, y, 0.0, dim=dim),
    z=lambda g, y, dim: sum_to_size(chosen_slices(g, y, dim=dim), size=()),
    sample=[Sample(reals(2, 3), ONCE, reals(), dim=1)],
    at=(),
    grad_fn="IndexFillBackward1",
    batch=lambda x, y, z, dim: slices_put(x, z, y, dim),
)
def with_slices_filled(xp, x, y, z, *, dim):
    """A copy with one number throughout the slices at places of a dimension."""
    out = xp.array(x, order="K", ndmin=1)
    out[at(dim, y)] = z
    return out if xp.ndim(x) else out.reshape(())


@general(
    x=lambda g, y, dim: with_slices_filled(g, y, 0.0, dim=dim),
    sample=[Sample(reals(2, 3), ONCE, dim=1, value=2.0)],
    at=(),
    grad_fn="IndexFillBackward0",
    batch=lambda x, y, dim, value: slices_put(x, value, y, dim),
)
def with_slices_marked(xp, x, y, *, dim, value):
    """As `with_slices_filled`, for Python's number."""
    out = xp.array(x, order="K", ndmin=1)
    out[at(dim, y)] = value
    return out if xp.ndim(x) else out.reshape(())


@linear(
    x=lambda g, y, x_shape: flat_sums(g, y, size=x_shape),
    sample=Sample(reals(2, 3), FLAT),
    at=(),
    name="take",
    batch={
        "x": lambda x, y: _taken(x, y),
        "y": lambda x, y: taken(x, y),
        "x y": lambda x, y: shaped(take_along(flat(x), _along(x, y), axis=1), y.shape),
    },
)
def taken(xp, x, y):
    """The numbers at places of the flattened tensor."""
    return xp.take(x, y)


@linear(
    x=lambda g, y: taken(g, y),
    sample=Sample(reals(2, 2), FLAT, size=(2, 3)),
    at=(),
    grad_fn="TakeBackwardBackward0",
    batch={
        "x": lambda x, y, size: _flat_sums(x, spread(y, x.shape[0]), size),
        "x y": lambda x, y, size: _flat_sums(x, y, size),
    },
)
def flat_sums(xp, x, y, *, size):
    """Zeros to which numbers are added at places of the flattened tensor."""
    count = 1
    for length in size:
        count *= length
    return xp.sums_at(count, xp.where(y < 0, y + count, y), xp.asarray(x)).reshape(size)


@linear(
    x=lambda g, y, add: g if add else put_flat(g, y, 0.0, add=False),
    z=lambda g, y: taken(g, y),
    sample=[Sample(reals(2, 3), FLAT_ONCE, reals(2, 2), add=False), Sample(reals(2, 3), FLAT, reals(2, 2), add=True)],
    at=(),
    name="put",
)
def put_flat(xp, x, y, z, *, add):
    """A copy with the numbers at places of the flattened tensor replaced, or added to."""
    out = xp.array(x, order="C")
    if add:
        count = out.size
        return out + xp.sums_at(count, xp.where(y < 0, y + count, y), xp.asarray(z)).reshape(out.shape)
    out.reshape(-1)[y] = z
    return out


# ---- numbers of the flattened examples of a vmap


def _along(x, y):
    """Places of the flattened examples as vectors, none of them counted from the end."""
    y, count = flat(y), flat(x).shape[1]
    return where(y < 0, y + count, y)


def _taken(x, y):
    return shaped(chosen_slices(flat(x), _along(x, spread(y, 1))[0], dim=1), (x.shape[0], *y.shape))


def _flat_sums(x, y, size):
    count = 1
    for length in size:
        count *= length
    y = flat(y)
    found = put_along(flat(x), where(y < 0, y + count, y), size=(x.shape[0], count), axis=1)
    return shaped(found, (x.shape[0], *size))


# ---- the functions


def _vector(name, input, dim, index, kind=RuntimeError, message="index_{}(): Expected dtype int32 or int64 for index"):
    """The dimension and the vector of places, after PyTorch's checks of type and shape."""
    if not isinstance(index, Tensor):
        raise Unfit("index", "Tensor", index)
    dim = axis_of(dim, input.ndim)
    if index.dtype is not int64 and index.dtype is not int32:
        raise fault(kind, message.format(name, TYPE_NAMES[index.dtype.name]), hint=".long() makes integers of it")
    return dim, index if index.ndim else reshape(index, (1,))


@function(example="index_select(arange(6.0).view(3, 2), 0, tensor([0, 2]))")
def index_select(input, dim, index):
    """The slices at places of a dimension."""
    input = operand(input)
    dim, index = _vector("select", input, dim, index)
    if index.ndim > 1:
        raise fault(IndexError, "index_select(): Index is supposed to be a vector")
    if not input.ndim and index.numel() != 1:
        count = index.numel()
        raise fault(RuntimeError, f"index_select(): Index to scalar can have only 1 value, got {count} value(s)")
    length, raw = input.shape[dim] if input.ndim else 1, numbers_of(index)
    if raw.size and not (raw.min() >= 0 and raw.max() < length):
        if not dim:
            raise fault(IndexError, "index out of range in self", notes=(f"the dimension has length {length}",))
        wrong = next(place for place in raw.tolist() if not 0 <= place < length)
        raise fault(RuntimeError, f"INDICES element is out of DATA bounds, id={wrong} axis_dim={length}")
    return chosen_slices(input, index, dim=dim)


def _around(shape, dim):
    return (*shape[:dim], *shape[dim + 1 :])


@function(inplace=True, example="zeros(3).index_add(0, tensor([0, 2, 0]), ones(3))")
def index_add(input, dim, index, source, *, alpha=1):
    """A copy with slices, times alpha, added at places of a dimension."""
    input, source = operand(input), operand(source, "source")
    message = "index_{}_(): Expected dtype int32/int64 for index but got: {}"
    dim, vector = _vector("add", input, dim, index, message=message)
    if vector.ndim > 1:
        kind, size = TYPE_NAMES[index.dtype.name], list(index.shape)
        raise fault(
            IndexError,
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {kind} and size: "
            f"{size}",
        )
    if source.dtype is not input.dtype:
        have, want = TYPE_NAMES[input.dtype.name], TYPE_NAMES[source.dtype.name]
        raise fault(RuntimeError, f"index_add_(): self ({have}) and source ({want}) must have the same scalar type")
    if input.ndim != source.ndim or _around(input.shape, dim) != _around(source.shape, dim):
        raise fault(
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}",
        )
    count = source.shape[dim] if source.ndim else 1
    if count != vector.numel() and not source.ndim:
        raise fault(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    if count != vector.numel():
        raise fault(
            RuntimeError,
            f"index_add_(): Number of indices ({vector.numel()}) should be equal to source.size(dim): "
            f"({count}), for dim: {dim}",
        )
    length = input.shape[dim] if input.ndim else 1
    places = numbers_of(vector)
    if places.size and input.ndim < 2 and not (places.min() >= 0 and places.max() < length):
        raise fault(IndexError, "index out of range in self", notes=(f"dimension {dim} has size {length}",))
    check_bounds(vector, dim, length)
    alpha = bool(alpha) if input.dtype is boolean else alpha
    return with_slices_added(input, vector, source, dim=dim, alpha=alpha)


@function(inplace=True, example="zeros(3).index_copy(0, tensor([0, 2]), ones(2))")
def index_copy(input, dim, index, source):
    """A copy with the slices at places of a dimension replaced."""
    input, source = operand(input), operand(source, "source")
    dim, index = _vector("copy", input, dim, index, message="index_{}_(): Expected a long tensor for index, but got {}")
    if index.ndim > 1:
        raise fault(IndexError, f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if source.dtype is not input.dtype:
        have, want = TYPE_NAMES[input.dtype.name], TYPE_NAMES[source.dtype.name]
        raise fault(
            RuntimeError,
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {have} and (source) "
            f"{want}",
        )
    if source.ndim and source.ndim != (input.ndim or 1):
        raise fault(
            IndexError,
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({input.ndim})",
        )
    if source.ndim and _around(input.shape, dim) != _around(source.shape, dim):
        slices = list(_around(input.shape, dim)), list(_around(source.shape, dim))
        raise fault(
            RuntimeError,
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{slices[0]} at dimension {dim} and source slice shape: {slices[1]} at dimension 0.",
        )
    if not source.ndim and index.numel() != 1:
        message = f"index_copy_(): When source is scalar, index should have one element (got {index.numel()})"
        raise fault(IndexError, message)
    count = source.shape[dim] if source.ndim else 1
    if count != index.numel():
        raise fault(
            IndexError,
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) ({count})",
        )
    raw, length = numbers_of(index), input.shape[dim] if input.ndim else 1
    if raw.size and not (raw.min() >= 0 and raw.max() < length):
        wrong = next(place for place in raw.tolist() if not 0 <= place < length)
        raise fault(IndexError, f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {length}")
    return with_slices(input, index, source, dim=dim)


FILL = ("(Tensor input, int dim, Tensor index, Tensor value)", "(Tensor input, int dim, Tensor index, Number value)")


@function(inplace=True, example="zeros(3).index_fill(0, tensor([0, 2]), 1.0)", overloads=FILL)
def index_fill(input, dim, index, value):
    """A copy with one number throughout the slices at places of a dimension."""
    from gradsh.backend import arrays

    input = operand(input)
    if not isinstance(value, (Tensor, *NUMBERS)):
        raise Unfit("value", "Tensor", value)
    if isinstance(value, Tensor) and value.ndim:
        raise fault(
            RuntimeError,
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).",
        )
    dim, index = _vector("fill", input, dim, index, IndexError, "index_{}_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise fault(RuntimeError, "Index has to be a vector/scalar")
    length = input.shape[dim] if input.ndim else 1
    for place in numbers_of(index).ravel().tolist():
        if not -length <= place < length:
            raise fault(IndexError, f"index {place} is out of bounds for dimension {dim} with size {length}")
    if not isinstance(index, Wrapped):  # each once, so that the gradient of the value counts it once
        index = wrap(arrays.unique(index.raw % max(length, 1)))
    if isinstance(value, Tensor):
        value = value if value.dtype is input.dtype else to_dtype(value, dtype=input.dtype)
        return with_slices_filled(input, index, value, dim=dim)
    return with_slices_marked(input, index, dim=dim, value=held(value, input.dtype, names=C_NAMES))


def _check_flat(index, count, empty):
    if index.numel() and not count:
        raise fault(IndexError, empty)
    for place in numbers_of(index).ravel().tolist():
        if not -count <= place < count:
            message = f"out of range: tried to access index {place} on a tensor of {count} elements."
            raise fault(IndexError, message)


@function(example="take(arange(6.0).view(2, 3), tensor([0, 5]))")
def take(input, index):
    """The numbers at places of the flattened tensor."""
    input = operand(input)
    if not isinstance(index, Tensor):
        raise Unfit("index", "Tensor", index)
    if index.dtype is not int64:
        raise fault(RuntimeError, f"take(): Expected a long tensor for index, but got {TYPE_NAMES[index.dtype.name]}")
    _check_flat(index, input.numel(), "take(): tried to take from an empty tensor")
    return taken(input, index)


@function(at=("Tensor",), inplace=True, example="zeros(4).put(tensor([0, 3]), ones(2))")
def put(self, index, source, accumulate=False):
    """A copy with the numbers at places of the flattened tensor replaced, or added to."""
    source = operand(source, "source")
    if not isinstance(index, Tensor):
        raise Unfit("index", "Tensor", index)
    if index.dtype is not int64:
        raise fault(RuntimeError, f"put_(): Expected a long tensor for index, but got {TYPE_NAMES[index.dtype.name]}")
    if source.dtype is not self.dtype:
        have, want = TYPE_NAMES[self.dtype.name], TYPE_NAMES[source.dtype.name]
        raise fault(
            RuntimeError,
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {have} and source.dtype "
            f"= {want}",
        )
    if source.numel() != index.numel():
        raise fault(
            IndexError,
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}",
        )
    _check_flat(index, self.numel(), "put_(): Tried to put elements into an empty tensor")
    source = source if source.shape == index.shape else reshape(source, tuple(index.shape))
    return put_flat(self, index, source, add=bool(accumulate))


@function(inplace=True, example="ones(3).index_reduce(0, tensor([0, 2, 0]), full((3,), 2.0), 'prod')")
def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy with slices multiplied, averaged or compared into places of a dimension."""
    input, source = operand(input), operand(source, "source")
    if reduce not in REDUCTIONS[1:]:
        message = f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        raise fault(RuntimeError, message)
    dim, index = _vector("reduce", input, dim, index)
    check_bounds(index, dim, input.shape[dim])
    places = reshape(index, tuple([-1 if k == dim else 1 for k in range(input.ndim)]))
    places = places.expand(source.shape)
    return scatter_reduced(input, places, source, dim=dim, reduce=reduce, include_self=bool(include_self))


@function(at=("torch",), example="unravel_index(tensor(5), (2, 3))", python=True)
def unravel_index(indices, shape):
    """The indices, one tensor for each dimension, of places of a flattened tensor of a shape."""
    indices, lengths = operand(indices, "indices"), (shape,) if isinstance(shape, int) else tuple(shape)
    if indices.dtype.category == FLOATING:
        raise fault(TypeError, f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    if any(length < 0 for length in lengths):
        raise fault(ValueError, f"'shape' cannot have negative values, but got {lengths}")
    found, step = [], 1
    for length in reversed(lengths):
        found.append(indices // step % length)
        step *= length
    return tuple(found[::-1])
