"""Numbers moved to other places and repeated: flip, roll, rot90, tile, repeat, kron."""

from __future__ import annotations

from gradsh.backend.dtypes import int32, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.arithmetic import mul
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import copied_in_rows
from gradsh.ops.dimensions import axis_of
from gradsh.ops.examples import aligned, flat, shaped
from gradsh.ops.expanding import expanded
from gradsh.ops.options import integer, sizes, whole
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import flatten, reshape, reshaped, unsqueezed, viewed
from gradsh.ops.structure import sum_to_size


@linear(
    x=lambda g, dims: flipped(g, dims=dims),
    sample=[Sample(reals(2, 3), dims=(0, 1)), Sample(reals(3), dims=(0,)), Sample(reals(), dims=())],
    at=(),
    name="flip",
)
def flipped(xp, x, *, dims):
    """Dimensions in reverse order."""
    return xp.duplicate(xp.flip(x, dims))


@linear(
    x=lambda g, shifts, dims: rolled(g, shifts=tuple([-shift for shift in shifts]), dims=dims),
    sample=[Sample(reals(2, 3), shifts=(1, -2), dims=(0, 1)), Sample(reals(2, 3), shifts=(2,), dims=())],
    at=(),
    name="roll",
    batch=lambda x, shifts, dims: _rolled(x, shifts, dims),
)
def rolled(xp, x, *, shifts, dims):
    """The numbers moved along dimensions, or along the flattened tensor; those that leave come back at the start."""
    return xp.ascontiguousarray(xp.roll(x, shifts, dims or None)) if xp.ndim(x) else x


def _rolled(x, shifts, dims):
    if dims:
        return rolled(x, shifts=shifts, dims=tuple([dim + 1 for dim in dims]))
    return shaped(rolled(flat(x), shifts=shifts, dims=(1,) * len(shifts)), x.shape)


@linear(
    x=lambda g, k, dims: rotated(g, k=-k, dims=dims),
    sample=[
        Sample(reals(2, 3), k=1, dims=(0, 1)),
        Sample(reals(2, 3, 2), k=2, dims=(2, 0)),
        Sample(reals(2, 3), k=0, dims=(0, 1)),
    ],
    at=(),
    grad_fn="Rot90Backward0",
)
def rotated(xp, x, *, k, dims):
    """A quarter turn, k times, from the first of two dimensions to the second."""
    return xp.duplicate(xp.rot90(x, k, dims))


def _summed_copies(g, x_shape, repeats):
    """The sum over the copies that `repeat` made."""
    new = len(repeats) - len(x_shape)
    split, kept = [], []
    for copies, length in zip(repeats, (1,) * new + tuple(x_shape)):
        split += [copies, length]
        kept += [1, length]
    return reshaped(sum_to_size(reshaped(g, size=tuple(split)), size=tuple(kept)), size=x_shape)


@linear(
    x=_summed_copies,
    sample=[Sample(reals(2, 3), repeats=(2, 1)), Sample(reals(3), repeats=(2, 3)), Sample(reals(), repeats=(2,))],
    at=(),
    name="repeat",
    batch=lambda x, repeats: repeated(aligned(x, len(repeats)), repeats=(1, *repeats)),
)
def repeated(xp, x, *, repeats):
    """The whole repeated along every dimension."""
    return xp.ascontiguousarray(xp.tile(x, repeats)) if repeats else x


# ---- the functions


@function(example="flip(arange(6.0).view(2, 3), [0, 1])", several="dims")
def flip(input, *order, dims=None):
    """Dimensions in reverse order."""
    input = operand(input)
    order = tuple([axis_of(dim, input.ndim) for dim in sizes("flip", order, dims, "dims")])
    for place, dim in enumerate(order):
        if dim in order[:place]:
            raise fault(RuntimeError, f"dim {dim} appears multiple times in the list of dims")
    return flipped(input, dims=order if input.ndim else ())


@function(example="fliplr(arange(6.0).view(2, 3))")
def fliplr(input):
    """The second dimension in reverse order."""
    input = operand(input)
    if input.ndim < 2:
        raise fault(RuntimeError, "Input must be >= 2-d.")
    return flipped(input, dims=(1,))


@function(example="flipud(arange(6.0).view(2, 3))")
def flipud(input):
    """The first dimension in reverse order."""
    input = operand(input)
    if input.ndim < 1:
        raise fault(RuntimeError, "Input must be >= 1-d.")
    return flipped(input, dims=(0,))


def _integers(value, argument):
    """One integer, or several, as a tuple."""
    return tuple(integer(one, argument) for one in (value if isinstance(value, list | tuple) else (value,)))


@function(example="roll(arange(5.0), 2)")
def roll(input, shifts, dims=()):
    """The numbers moved along dimensions, or along the flattened tensor; those that leave come back at the start."""
    input, shifts, dims = operand(input), _integers(shifts, "shifts"), _integers(dims, "dims")
    if not shifts:
        raise fault(RuntimeError, "`shifts` required")
    if (dims or len(shifts) > 1) and len(dims) != len(shifts):
        raise fault(
            RuntimeError,
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}",
        )
    if dims and not input.ndim:
        raise fault(IndexError, f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return rolled(input, shifts=shifts, dims=tuple([axis_of(dim, input.ndim, "dims") for dim in dims]))


@function(example="rot90(arange(6.0).view(2, 3))")
def rot90(input, k=1, dims=(0, 1)):
    """A quarter turn, k times, from the first of two dimensions to the second."""
    input, k, dims = operand(input), integer(k, "k"), _integers(dims, "dims")
    ndim = input.ndim
    if len(dims) != 2:
        raise fault(RuntimeError, f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise fault(RuntimeError, f"expected total dims >= 2, but got total dims = {ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == ndim:
        message = f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        raise fault(RuntimeError, message)
    dims = axis_of(dims[0], ndim), axis_of(dims[1], ndim)
    return rotated(input, k=k % 4, dims=dims)


@function(at=("Tensor",), example="arange(3.0).repeat(2, 2)")
def repeat(self, *times, repeats=None):
    """The whole repeated along every dimension, new ones in front."""
    times = sizes("repeat", times, repeats, "repeats")
    if len(times) < self.ndim:
        raise fault(
            RuntimeError,
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
            hint=f".tile{tuple(times)}, which repeats along the last dimensions"
            if len(times) > 1
            else f".tile({times[0]})"
            if times
            else None,
        )
    for length, copies in zip((1,) * (len(times) - self.ndim) + tuple(self.shape), times):
        if copies < 0:
            shape = [
                copies * length for length, copies in zip((1,) * (len(times) - self.ndim) + tuple(self.shape), times)
            ]
            raise fault(RuntimeError, f"Trying to create tensor with negative dimension {copies * length}: {shape}")
    return repeated(self, repeats=times)


@function(example="tile(arange(3.0), (2, 2))", several="dims")
def tile(input, *times, dims=None):
    """The whole repeated along its last dimensions, or new ones in front."""
    input = operand(input)
    times = sizes("tile", times, dims, "dims")
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


REPEAT_INTERLEAVE = (
    "(Tensor input, Tensor repeats, int dim = None, *, int output_size = None)",
    "(Tensor repeats, *, int output_size = None)",
    "(Tensor input, int repeats, int dim = None, *, int output_size = None)",
)


@function(example="repeat_interleave(arange(3.0), 2)", overloads=REPEAT_INTERLEAVE)
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Every number (or slice along a dimension) repeated in place; `repeats` is one count, or one for each."""
    input = operand(input)
    if repeats is None:
        return _places(input)
    if dim is None:
        input, dim = flatten(input), 0
    given, dim = dim, axis_of(dim, input.ndim)
    if not isinstance(repeats, Tensor):
        if isinstance(repeats, float) or whole(repeats) is None:
            raise Unfit("repeats", "int", repeats)
        if repeats < 0:
            raise fault(RuntimeError, "Repeats must be non-negative")
        input = input if input.ndim else reshape(input, (1,))
        shape = input.shape
        wide = expanded(unsqueezed(input, dim=dim + 1), size=(*shape[: dim + 1], repeats, *shape[dim + 1 :]))
        return viewed(copied_in_rows(wide), size=(*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
    length = input.shape[dim] if input.ndim else 1
    if repeats.ndim > 1:
        raise fault(RuntimeError, "repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() == 1:
        repeats = expanded(reshape(repeats, (1,)), size=(length,))
    if repeats.numel() != length:
        raise fault(
            RuntimeError,
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.numel()} and "
            f"input.size({given}) = {length}",
        )
    return input.index_select(dim, _places(repeats))


def _places(repeats):
    """Every place as often as it is to be repeated."""
    from gradsh.backend import arrays
    from gradsh.engine.tensor import wrap

    if repeats.dtype not in (int32, int64):
        name = TYPE_NAMES[repeats.dtype.name]
        raise fault(NotImplementedError, f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if repeats.ndim != 1:
        raise fault(RuntimeError, "repeat_interleave only accept 1D vector as repeat")
    raw = repeats.raw
    if (raw < 0).any():
        raise fault(RuntimeError, "repeats can not be negative")
    return wrap(arrays.repeat(arrays.arange(len(raw), dtype=raw.dtype), raw))


@function(example="kron(eye(2), ones(2, 2))")
def kron(input, other):
    """Kronecker product: a copy of `other` for every number of `input`, times that number."""
    input, other = operand(input), operand(other, "other")
    ndim = max(input.ndim, other.ndim)
    left, right = ((1,) * (ndim - one.ndim) + tuple(one.shape) for one in (input, other))
    rows = reshaped(input, size=tuple([n for length in left for n in (length, 1)]))
    columns = reshaped(other, size=tuple([n for length in right for n in (1, length)]))
    return reshaped(mul(rows, columns), size=tuple([a * b for a, b in zip(left, right)]))
