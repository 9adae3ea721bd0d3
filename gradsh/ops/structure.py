"""Ops that the engine itself needs: undoing broadcasts, changing type, parts of memory."""

from __future__ import annotations

from gradsh.engine.op import linear
from gradsh.ops.examples import aligned, shaped
from gradsh.ops.samples import Sample, reals


@linear(
    x=lambda g, x_shape: expand_to(g, size=x_shape),
    sample=[Sample(reals(2, 3), size=(1, 3)), Sample(reals(2, 3), size=(3,))],
    at=(),
    batch=lambda x, size: _summed(x, size),
)
def sum_to_size(xp, x, *, size):
    """Sum over the dimensions along which `size` would be broadcast to this shape."""
    return xp.sum_to(x, size)


@linear(
    x=lambda g, x_shape: sum_to_size(g, size=x_shape),
    sample=Sample(reals(1, 3), size=(2, 3)),
    at=(),
    grad_fn="ExpandBackward0",
    batch=lambda x, size: _expanded(x, size),
)
def expand_to(xp, x, *, size):
    """A copy broadcast to a shape."""
    out = xp.empty(size, xp.dtype_of(x).code)
    out[...] = x
    return out


@linear(x=lambda g, x_dtype: to_dtype(g, dtype=x_dtype), at=(), grad_fn="ToCopyBackward0", batch="elementwise")
def to_dtype(xp, x, *, dtype):
    """The same numbers in another element type."""
    return xp.cast(x, dtype)


# ---- for all examples, along the first dimension


def _summed(x, size):
    missing = x.ndim - 1 - len(size)
    if missing < 0:
        return _expanded(x, size)
    return shaped(sum_to_size(x, size=(x.shape[0], *(1,) * missing, *size)), (x.shape[0], *size))


def _expanded(x, size):
    return expand_to(aligned(x, len(size)), size=(x.shape[0], *size))


def for_all(x, geometry):
    """The geometry of a part of each example, in elements of the memory that holds all of them one after the other."""
    whole, strides, part, steps, offset = geometry
    reach = 1
    for length in whole:
        reach *= length
    count = x.shape[0]
    return (count, *whole), strides and (reach, *strides), (count, *part), (reach, *steps), offset


def summed(g, shape, dtype):
    """The gradient of what was broadcast and cast: summed to its shape, in its type."""
    return to_dtype(sum_to_size(g, size=shape), dtype=dtype)


# A part of a tensor's memory, as `inplace.geometry` describes it: (shape of the whole, its strides or None where it lies in
# C order, shape of the part, its strides, its offset), in elements.
GEOMETRY = ((3, 4), None, (2, 2), (4, 2), 5)
TURNED = ((3, 4), (1, 3), (4, 2), (3, 2), 0)


@linear(
    x=lambda g, geometry: strided_spread(g, geometry=geometry),
    sample=[Sample(reals(3, 4), geometry=GEOMETRY), Sample(reals(3, 4), geometry=TURNED)],
    at=(),
    grad_fn="AsStridedBackward0",
    batch=lambda x, geometry: strided_part(x, geometry=for_all(x, geometry)),
)
def strided_part(xp, x, *, geometry):
    """A copy of the part of a tensor that a view covers."""
    return xp.strided_pair(x, geometry, fresh=False)[1].copy()


@linear(
    x=lambda g, geometry: strided_part(g, geometry=geometry),
    sample=[Sample(reals(2, 2), geometry=GEOMETRY), Sample(reals(4, 2), geometry=TURNED)],
    at=(),
    grad_fn="AsStridedBackwardBackward0",
    batch=lambda x, geometry: strided_spread(x, geometry=for_all(x, geometry)),
)
def strided_spread(xp, x, *, geometry):
    """Zeros to which the numbers of a part are added."""
    return xp.strided_sums(x, geometry)


@linear(
    x=lambda g, geometry: strided_put(g, 0.0, geometry=geometry),
    y=lambda g, geometry, y_shape, y_dtype: summed(strided_part(g, geometry=geometry), y_shape, y_dtype),
    sample=[Sample(reals(3, 4), reals(2, 2), geometry=GEOMETRY), Sample(reals(3, 4), reals(2), geometry=TURNED)],
    at=(),
    grad_fn="CopySlices",
    batch=lambda x, y, geometry, copied: strided_put(x, aligned(y, len(geometry[2])), geometry=for_all(x, geometry)),
)
def strided_put(xp, x, y, *, geometry, copied=False):
    """A copy of a tensor with the part that a view covers replaced, by what broadcasts to it.

    copied: the new part is a copy of `y`, whose own numbers later changes of the tensor leave alone.
    """
    whole, part = xp.strided_pair(x, geometry)
    part[...] = y
    return whole


@linear(
    x=lambda g, x_shape: zeros(g, shape=x_shape),
    at=(),
    sample=Sample(reals(2), shape=(3,)),
    batch=lambda x, shape: zeros(x, shape=(x.shape[0], *shape)),
)
def zeros(xp, x, *, shape):
    """Zeros of a shape, in the type of another tensor."""
    return xp.zeros(shape, xp.dtype_of(x).code)
