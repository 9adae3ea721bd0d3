"""One tensor made several: pieces along a dimension, and the slices of it."""

from __future__ import annotations

from gradsh.backend.dtypes import int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import copied
from gradsh.ops.dimensions import axis_of
from gradsh.ops.joining import joined, stacked
from gradsh.ops.options import integer, sizes, whole
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.slicing import part
from gradsh.ops.structure import zeros


def _pieces(xp, x, dim, lengths):
    key, pieces, start = (slice(None),) * dim, [], 0
    for length in lengths:
        pieces.append(x[(*key, slice(start, start + length))])
        start += length
    return pieces


def _even(length, size):
    """The lengths of pieces of a size, of which the last may be shorter."""
    return [size] * (length // size) + [length % size] * (length % size > 0) if length else [0]


def _rejoined(g, x_shape, dim, lengths):
    """The gradients of pieces along a dimension as one, zeros for those that nothing was asked of."""
    some = next(iter(g.values()))
    around = x_shape[:dim], x_shape[dim + 1 :]
    parts, starts = [], [0]
    for place, length in enumerate(lengths):
        parts.append(g[place] if place in g else zeros(some, shape=(*around[0], length, *around[1])))
        starts.append(starts[-1] + length)
    return joined(*parts, dim=dim, starts=tuple(starts))


@linear(
    x=lambda g, x_shape, split_size, dim: _rejoined(g, x_shape, dim, _even(x_shape[dim], split_size)),
    sample=Sample(reals(2, 5), split_size=2, dim=1),
    at=(),
    view=True,
    many=True,
    name="split",
)
def split_evenly(xp, x, *, split_size, dim):
    """Pieces of a length along a dimension; the last may be shorter."""
    return _pieces(xp, x, dim, _even(x.shape[dim], split_size))


@linear(
    x=lambda g, x_shape, split_sizes, dim: _rejoined(g, x_shape, dim, split_sizes),
    sample=Sample(reals(2, 5), split_sizes=(3, 0, 2), dim=1),
    at=(),
    view=True,
    many=True,
    name="split_with_sizes",
)
def split_in(xp, x, *, split_sizes, dim):
    """Pieces of given lengths along a dimension."""
    return _pieces(xp, x, dim, split_sizes)


def _restacked(g, x_shape, dim):
    some = next(iter(g.values()))
    shape = (*x_shape[:dim], *x_shape[dim + 1 :])
    return stacked(*[g[place] if place in g else zeros(some, shape=shape) for place in range(x_shape[dim])], dim=dim)


@linear(
    x=_restacked,
    sample=[Sample(reals(2, 3), dim=1), Sample(reals(3), dim=0)],
    at=(),
    view=True,
    many=True,
    name="unbind",
)
def slices(xp, x, *, dim):
    """Every slice along a dimension."""
    key = (slice(None),) * dim
    return [x[(*key, place, ...)] for place in range(x.shape[dim])]


# ---- the functions


def _check_dimensions(input, name):
    if not input.ndim:
        raise fault(RuntimeError, f"{name} expects at least a 1-dimensional tensor")


@function(example="split(arange(6.0), 4)", python=True)
def split(tensor, split_size_or_sections, dim=0):
    """Pieces along a dimension: of one length (the last may be shorter) or of given lengths."""
    tensor = operand(tensor, "tensor")
    size = whole(split_size_or_sections)
    if size is None:
        return split_with_sizes(tensor, split_size_or_sections, dim)
    _check_dimensions(tensor, "split")
    dim = axis_of(dim, tensor.ndim)
    if size < 0:
        raise fault(RuntimeError, f"split expects split_size be non-negative, but got split_size={size}")
    length = tensor.shape[dim]
    if not size and length:
        raise fault(
            RuntimeError,
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}",
        )
    return tuple(split_evenly(tensor, split_size=size, dim=dim))


@function(example="split_with_sizes(arange(6.0), [1, 2, 3])")
def split_with_sizes(input, split_sizes, dim=0):
    """Pieces of given lengths along a dimension."""
    input = operand(input)
    if not isinstance(split_sizes, list | tuple):
        kind = type(split_sizes).__name__
        raise fault(
            TypeError,
            f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {kind}",
        )
    _check_dimensions(input, "split")
    lengths, given = sizes("split_with_sizes", (), split_sizes, "split_sizes"), dim
    dim = axis_of(dim, input.ndim)
    if any(length < 0 for length in lengths):
        raise fault(
            RuntimeError,
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(lengths)}",
        )
    if sum(lengths) != input.shape[dim]:
        raise fault(
            RuntimeError,
            f"split_with_sizes expects split_sizes to sum exactly to {input.shape[dim]} (input tensor's size at "
            "dimension "
            f"{given}), but got split_sizes={list(lengths)}",
        )
    return tuple(split_in(input, split_sizes=lengths, dim=dim))


@function(example="chunk(arange(7.0), 3)")
def chunk(input, chunks, dim=0):
    """At most that many pieces of equal length along a dimension; the last may be shorter."""
    input, chunks = operand(input), integer(chunks, "chunks")
    _check_dimensions(input, "chunk")
    if chunks < 1:
        raise fault(RuntimeError, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = axis_of(dim, input.ndim)
    length = input.shape[dim]
    if not length:
        return tuple(split_in(input, split_sizes=(0,) * chunks, dim=dim))
    return tuple(split_evenly(input, split_size=-(-length // chunks), dim=dim))


@function(at=("torch",), example="unsafe_chunk(arange(7.0), 3)")
def unsafe_chunk(input, chunks, dim=0):
    """As `chunk`; the pieces may be changed in place."""
    return tuple(copied(piece) for piece in chunk(input, chunks, dim))


@function(at=("torch",), example="unsafe_split(arange(7.0), 3)")
def unsafe_split(input, split_size, dim=0):
    """As `split`; the pieces may be changed in place."""
    return tuple(copied(piece) for piece in split(input, split_size, dim))


TENSOR_SPLIT = (
    "(Tensor input, tuple of ints indices, int dim = 0)",
    "(Tensor input, Tensor tensor_indices_or_sections, int dim = 0)",
    "(Tensor input, int sections, int dim = 0)",
)


@function(example="tensor_split(arange(7.0), 3)", overloads=TENSOR_SPLIT)
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Pieces along a dimension: that many, as equal as can be, or those that begin at given places."""
    input = operand(input)
    if not input.ndim:
        raise fault(
            RuntimeError,
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
        )
    dim, where = axis_of(dim, input.ndim), indices_or_sections
    if where is None:
        where = sections if indices is None else indices
    if isinstance(where, Tensor):
        if where.dtype is not int64:
            kind = TYPE_NAMES[where.dtype.name]
            message = f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {kind}"
            raise fault(RuntimeError, message)
        if where.ndim > 1:
            raise fault(
                RuntimeError,
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {where.ndim} dims",
            )
        where = where.tolist()
    length = input.shape[dim]
    if isinstance(where, list | tuple):
        ends = [*sizes("tensor_split", (), where, "indices"), length] if where else [length]
        starts = [0, *ends[:-1]]
    else:
        count = integer(where, "sections")
        if count < 1:
            raise fault(RuntimeError, f"number of sections must be larger than 0, got {count}")
        small, longer = divmod(length, count)
        starts = [k * small + min(k, longer) for k in range(count)]
        ends = [*starts[1:], length]
    return tuple(_slice(input, dim, start, end) for start, end in zip(starts, ends))


def _slice(input, dim, start, end):
    """A slice with Python's meaning of its ends."""
    start, end, _ = slice(start, end).indices(input.shape[dim])
    return part(input, dim, start, max(start, end))


def _split_along(name, axis, least):
    """`hsplit`, `vsplit` and `dsplit`: `tensor_split` along a dimension, into equal pieces for a number of them."""
    overloads = ("(Tensor input, tuple of ints indices)", "(Tensor input, int sections)")

    def splitter(input, indices_or_sections=None, *, indices=None, sections=None):
        input, where = operand(input), indices_or_sections
        if where is None:
            where = sections if indices is None else indices
        if where is None:
            raise Unfit("indices", "tuple of ints", where)
        if input.ndim < least:
            raise fault(
                RuntimeError,
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
                "dimensions!",
            )
        dim = min(axis, input.ndim - 1)
        count = whole(where)
        if count is not None and (not count or input.shape[dim] % count):
            raise fault(
                RuntimeError,
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{input.shape[dim]} is "
                f"not divisible by the split_size {count}!",
            )
        return tensor_split(input, where, dim)

    splitter.__name__ = name
    which = ("first", "second", "third")[axis]
    splitter.__doc__ = f"Pieces along the {which} dimension: equal ones, or those that begin at given places."
    return function(example=f"{name}(arange(8.0).view(2, 2, 2), 2)", overloads=overloads)(splitter)


hsplit = _split_along("hsplit", 1, 1)
vsplit = _split_along("vsplit", 0, 2)
dsplit = _split_along("dsplit", 2, 3)


@function(example="unbind(arange(6.0).view(2, 3))")
def unbind(input, dim=0):
    """The slices along a dimension, without it."""
    input = operand(input)
    if not input.ndim:
        raise fault(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    return tuple(slices(input, dim=axis_of(dim, input.ndim)))
