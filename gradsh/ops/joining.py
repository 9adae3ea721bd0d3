"""Several tensors made one: one after the other, along a new dimension, as blocks, in every combination."""

from __future__ import annotations

from gradsh.backend.dtypes import int64, promote
from gradsh.engine.create import tensor as make_tensor
from gradsh.engine.op import linear
from gradsh.engine.runtime import shape_of
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import detach
from gradsh.ops.dimensions import axis_of
from gradsh.ops.expanding import expanded
from gradsh.ops.options import integer
from gradsh.ops.out import deliver
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import atleast_1d, atleast_2d, atleast_3d, flatten, reshaped, viewed
from gradsh.ops.slicing import entry, part
from gradsh.ops.structure import to_dtype, zeros


@linear(
    tensors=lambda g, i, tensors_shape, dim, starts: _piece(part(g, dim, starts[i], starts[i + 1]), tensors_shape[i]),
    sample=[
        Sample(reals(2, 1), reals(0), reals(2, 3), dim=1, starts=(0, 1, 1, 4)),
        Sample(reals(1), reals(2), dim=0, starts=(0, 1, 3)),
    ],
    at=(),
    name="cat",
    batch=lambda *tensors, dim, starts: _joined_examples(tensors, dim, starts),
)
def joined(xp, *tensors, dim, starts):
    """Tensors one after the other along a dimension; `starts` says where each begins, and the last ends."""
    filled = [tensor for tensor in tensors if tensor.shape != (0,)]
    return xp.ascontiguousarray(xp.concatenate(filled or tensors, dim))


def _joined_examples(tensors, dim, starts):
    """The same for all examples, without the empty vectors that fit whatever shape the others have."""
    rank = max(tensor.ndim for tensor in tensors)
    kept = [place for place, tensor in enumerate(tensors) if tensor.ndim == rank]
    ends = (*[starts[place] for place in kept], starts[-1])
    return joined(*[tensors[place] for place in kept], dim=dim + 1, starts=ends)


def _piece(g, shape):
    """The gradient of one of the tensors; an empty vector has fitted whatever shape the others have."""
    return reshaped(g, size=shape) if shape == (0,) else g


@linear(
    tensors=lambda g, i, dim: entry(g, dim=dim, index=i),
    sample=[Sample(reals(2, 3), reals(2, 3), dim=1), Sample(reals(), reals(), dim=0)],
    at=(),
    name="stack",
    batch=lambda *tensors, dim=0: stacked(*tensors, dim=dim + 1),
)
def stacked(xp, *tensors, dim=0):
    """Tensors of one shape along a new dimension."""
    return xp.stack(tensors, dim) if xp.ndim(tensors[0]) else xp.array(tensors)


@linear(
    tensors=lambda g, i, tensors_shape, corners: reshaped(_block(g, corners[i], corners[i + 1]), size=tensors_shape[i]),
    sample=Sample(reals(2, 1), reals(3), reals(), corners=((0, 0), (2, 1), (3, 4), (4, 5))),
    at=(),
    name="block_diag",
)
def blocks(xp, *tensors, corners):
    """A matrix of zeros with the tensors along its diagonal, each from its corner to the next one's."""
    out = xp.zeros(corners[-1], xp.dtype_of(tensors[0]).code)
    for tensor, (top, left), (bottom, right) in zip(tensors, corners, corners[1:]):
        out[top:bottom, left:right] = tensor
    return out


def _block(g, start, end):
    return part(part(g, 0, start[0], end[0]), 1, start[1], end[1])


def listed(tensors, argument="tensors"):
    """An argument that is a list of tensors, in one element type."""
    if not isinstance(tensors, list | tuple):
        raise Unfit(argument, "tuple of Tensors", tensors)
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            if state.lists and isinstance(tensor, list | tuple | float | int):
                return listed([one if isinstance(one, Tensor) else operand(one) for one in tensors], argument)
            kind = type(tensor).__name__
            raise fault(TypeError, f"expected Tensor as element {place} in argument 0, but got {kind}")
    return in_one_type(tensors)


def elements(tensors):
    """What several arguments, or a list, hold: tensors, or lists where the shell's defaults allow them."""
    found = []
    for place, tensor in enumerate(tensors):
        try:
            found.append(operand(tensor))
        except Unfit:
            kind = type(tensor).__name__
            raise fault(TypeError, f"expected Tensor as element {place} in argument 0, but got {kind}") from None
    return found


def in_one_type(tensors):
    """Tensors in the element type that holds the numbers of all."""
    if not tensors:
        return tensors
    dtype = first = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype is not first:
            break
    else:
        return tensors
    for tensor in tensors:
        dtype = promote(dtype, tensor.dtype)
    return [tensor if tensor.dtype is dtype else to_dtype(tensor, dtype=dtype) for tensor in tensors]


def _concatenated(tensors, dim):
    """`cat`, with PyTorch's checks; as there, an empty vector fits everything."""
    if not tensors:
        raise fault(ValueError, "torch.cat(): expected a non-empty list of Tensors")
    shapes = [shape_of(tensor.raw) for tensor in tensors]
    for place, shape in enumerate(shapes):
        if not shape:
            raise fault(
                RuntimeError,
                f"zero-dimensional tensor (at position {place}) cannot be concatenated",
                hint="torch.stack([…]) makes a vector of numbers",
            )
    first = next((shape for shape in shapes if shape != (0,)), shapes[0])
    dim, starts = axis_of(dim, len(first)), [0]
    before, after = first[:dim], first[dim + 1 :]
    for place, shape in enumerate(shapes):
        if shape == (0,) and len(first) > 1:
            starts.append(starts[-1])
            continue
        if len(shape) != len(first):
            message = f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            raise fault(
                RuntimeError, message, notes=(f"the shapes are {', '.join(str(tuple(one)) for one in shapes)}",)
            )
        if shape[:dim] != before or shape[dim + 1 :] != after:
            want, have = next((a, b) for k, (a, b) in enumerate(zip(first, shape)) if k != dim and a != b)
            raise fault(
                RuntimeError,
                f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} "
                "for tensor "
                f"number {place} in the list.",
                notes=(f"the shapes are {', '.join(str(tuple(one)) for one in shapes)}",),
            )
        starts.append(starts[-1] + shape[dim])
    return joined(*tensors, dim=dim, starts=tuple(starts))


@function(at=("torch",), example="cat([ones(2), zeros(3)])")
def cat(tensors, dim=0, *, out=None):
    """Tensors one after the other along a dimension."""
    found = _concatenated(listed(tensors), dim)
    return found if out is None else deliver(out, found, "cat")


@function(at=("torch",), example="concat([ones(2), zeros(3)])")
def concat(tensors, dim=0, *, out=None):
    """Tensors one after the other along a dimension: another name of `cat`."""
    return cat(tensors, dim, out=out)


@function(at=("torch",), example="concatenate([ones(2), zeros(3)])")
def concatenate(tensors, dim=0, *, out=None):
    """Tensors one after the other along a dimension: `cat` under numpy's name."""
    return cat(tensors, dim, out=out)


@function(at=("torch",), example="stack([ones(2), zeros(2)])")
def stack(tensors, dim=0, *, out=None):
    """Tensors of one shape along a new dimension."""
    tensors = listed(tensors)
    if not tensors:
        raise fault(RuntimeError, "stack expects a non-empty TensorList")
    shape = shape_of(tensors[0].raw)
    dim = axis_of(dim, len(shape) + 1)
    for place, tensor in enumerate(tensors):
        other = shape_of(tensor.raw)
        if other != shape:
            raise fault(
                RuntimeError,
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(other)} at "
                f"entry {place}",
            )
    found = stacked(*tensors, dim=dim)
    return found if out is None else deliver(out, found, "stack")


def _nonempty(tensors, name):
    tensors = listed(tensors)
    if not tensors:
        raise fault(RuntimeError, f"{name} expects a non-empty TensorList")
    return tensors


@function(at=("torch",), example="hstack([ones(2), zeros(3)])")
def hstack(tensors, *, out=None):
    """Tensors side by side: along the second dimension, vectors along the first."""
    tensors = atleast_1d(_nonempty(tensors, "hstack"))
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1, out=out)


@function(at=("torch",), example="vstack([ones(3), zeros(3)])")
def vstack(tensors, *, out=None):
    """Tensors below one another: along the first dimension, vectors as rows."""
    return cat(atleast_2d(_nonempty(tensors, "vstack")), 0, out=out)


@function(at=("torch",), example="row_stack([ones(3), zeros(3)])")
def row_stack(tensors, *, out=None):
    """Tensors below one another: another name of `vstack`."""
    return vstack(tensors, out=out)


@function(at=("torch",), example="dstack([ones(3), zeros(3)])")
def dstack(tensors, *, out=None):
    """Tensors behind one another: along the third dimension."""
    return cat(atleast_3d(_nonempty(tensors, "dstack")), 2, out=out)


@function(at=("torch",), example="column_stack([ones(3), zeros(3)])")
def column_stack(tensors, *, out=None):
    """Tensors side by side, vectors as columns."""
    tensors = _nonempty(tensors, "column_stack")
    columns = [viewed(tensor, size=(tensor.numel(), 1)) if tensor.ndim < 2 else tensor for tensor in tensors]
    return hstack(columns, out=out)


@function(at=("torch",), example="block_diag(ones(2, 2), ones(1, 3))")
def block_diag(*tensors):
    """A matrix of zeros with the tensors along its diagonal."""
    parts = listed(tensors) or [wrap(zeros(0.0, shape=(1, 0)))]
    corners = [(0, 0)]
    for place, tensor in enumerate(parts):
        if tensor.ndim > 2:
            raise fault(
                RuntimeError,
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has {tensor.ndim} "
                "dimensions",
            )
        rows, columns = (1, 1, *tensor.shape)[-2:]
        corners.append((corners[-1][0] + rows, corners[-1][1] + columns))
    return blocks(*parts, corners=tuple(corners))


# ---- combinations


def _grids(tensors, indexing):
    """One tensor for each vector, all of one shape, along whose own dimension it varies."""
    if not tensors:
        raise fault(RuntimeError, "meshgrid expects a non-empty TensorList")
    for tensor in tensors:
        if tensor.ndim > 1:
            raise fault(
                RuntimeError,
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor.tolist()}",
            )
        if tensor.dtype is not tensors[0].dtype:
            raise fault(RuntimeError, "meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        message = f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        raise fault(RuntimeError, message)
    order = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        order[:2] = 1, 0
    shape = [1] * len(tensors)
    for tensor, axis in zip(tensors, order):
        shape[axis] = tensor.numel()
    grids = []
    for tensor, axis in zip(tensors, order):
        row = viewed(tensor, size=tuple([length if k == axis else 1 for k, length in enumerate(shape)]))
        grids.append(expanded(row, size=tuple(shape)))
    return tuple(grids)


@function(at=("torch",), example="meshgrid(arange(2.0), arange(3.0), indexing='ij')", python=True)
def meshgrid(*tensors, indexing="ij"):
    """Every combination of the numbers of vectors, as one grid for each vector."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return _grids(elements(given), indexing)


def _vector(tensor):
    if tensor.ndim != 1:
        raise fault(RuntimeError, f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    return tensor


@function(at=("torch",), example="cartesian_prod(arange(2.0), arange(3.0))", python=True)
def cartesian_prod(*tensors):
    """Every combination of the numbers of vectors, a row each."""
    for tensor in elements(tensors):
        _vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in _grids(tensors, "ij")], 1)


@function(at=("torch",), example="combinations(arange(4.0), 2)")
def combinations(input, r=2, with_replacement=False):
    """Every choice of r numbers of a vector, a row each."""
    input, r = _vector(operand(input)), integer(r, "r")
    if r < 0:
        raise fault(RuntimeError, f"Expect a non-negative number, but got {r}")
    if not r:
        return zeros(detach(input), shape=(0,))
    import itertools

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.numel()), r))
    return stack([input[make_tensor([row[k] for row in rows], dtype=int64)] for k in range(r)], 1)
