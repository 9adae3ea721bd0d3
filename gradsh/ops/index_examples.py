"""Indexing all examples of a `vmap` at once, by index tensors that differ from example to example or do not.

Where they differ, a further index tensor tells the examples apart. numpy puts the dimensions of index tensors in the
place of those they name where these follow one another, else in front.
"""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine import runtime
from gradsh.engine.op import OPS
from gradsh.engine.promote import common_shape
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.examples import aligned, moved, spread


def _without_masks(indices, places):
    """Index tensors in which a mask that is the same for all examples is replaced by the places where it holds."""
    found, where = [], []  # type: ignore[var-annotated]
    for index, place in zip(indices, places):
        if index.dtype is boolean and not index.raw.strides[0]:
            named = OPS["nonzero_places"](OPS["select"](index, dim=0, index=0))
            columns = [spread(column, index.shape[0]) for column in OPS["unbind"](named, dim=1)]
        else:
            columns = [index]
        found += columns
        where += range(place, place + len(columns))
    _refuse_masks(found)
    return found, where


def _refuse_masks(indices):
    if any(index.dtype is boolean for index in indices):
        message = (
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
            "indexing with a boolean mask."
        )
        raise fault(RuntimeError, message, hint="torch.where(mask, a, b) keeps the shape")


def _behind(places):
    return tuple([place + 1 for place in places])


def _taken(index):
    """How many dimensions an index tensor stands for."""
    return index.ndim if index.dtype is boolean else 1


def _adjacent(indices, places):
    """Whether the dimensions that index tensors name follow one another."""
    return [place + _taken(index) for index, place in zip(indices, places)][:-1] == list(places[1:])


def _rank(indices):
    """How many dimensions index tensors have together; a mask has one."""
    return max(1 if index.dtype is boolean else index.ndim for index in indices)


def _exchanged(x, count, behind):
    """`count` dimensions behind the first one exchanged with the `behind` ones after them."""
    if not (count and behind):
        return x
    order = (0, *range(1 + count, 1 + count + behind), *range(1, 1 + count), *range(1 + count + behind, x.ndim))
    return OPS["permute"](x, dims=order)


def _with_examples(indices, places):
    """(index tensors, dimensions they begin at, their rank for one example), the first telling the examples apart."""
    rank, size = max(index.ndim for index in indices) - 1, indices[0].shape[0]
    each = wrap(runtime.arrays.arange(size).reshape(size, *(1,) * rank))
    return (each, *(aligned(index, rank) for index in indices)), (0, *_behind(places)), rank


# ---- parts taken out


def rows_named(x, y, dim):
    """Parts of one tensor, which the places of each example name."""
    _refuse_masks((y,))
    return moved(OPS["indexed"](x, y, dim=dim), dim, 0)


def same_parts(x, *indices, places):
    """The same parts of every example."""
    found = OPS["indexed_by_all"](x, *indices, places=_behind(places))
    return found if _adjacent(indices, places) else moved(found, _rank(indices), 0)


def parts_of_each(x, *indices, places):
    """Parts of every example, which its own places name."""
    indices, places = _without_masks(indices, places)
    named, where, rank = _with_examples(indices, places)
    found = OPS["indexed_by_all"](x, *named, places=where)
    return _exchanged(found, rank, places[0]) if _adjacent(indices, places) else found


# ---- parts added to zeros


def same_sums(x, *indices, size, places):
    """The transpose of `same_parts`."""
    values = x if _adjacent(indices, places) else moved(x, 0, _rank(indices))
    return OPS["index_sums"](values, *indices, size=(x.shape[0], *size), places=_behind(places))


def sums_of_each(x, *indices, size, places):
    """The transpose of `parts_of_each`."""
    indices, places = _without_masks(indices, places)
    named, where, rank = _with_examples(indices, places)
    values = _exchanged(x, places[0], rank) if _adjacent(indices, places) else x
    return OPS["index_sums"](values, *named, size=(x.shape[0], *size), places=where)


# ---- parts replaced


def same_put(x, y, *indices, places, add):
    """The same parts of every example replaced, or added to."""
    if not _adjacent(indices, places):
        return put_of_each(x, y, *[spread(index, x.shape[0]) for index in indices], places=places, add=add)
    if isinstance(y, Tensor):
        y = aligned(y, x.ndim - 1 - sum(map(_taken, indices)) + _rank(indices))
    return OPS["index_put"](x, y, *indices, places=_behind(places), add=add)


def put_of_each(x, y, *indices, places, add):
    """Parts of every example, which its own places name, replaced, or added to."""
    indices, places = _without_masks(indices, places)
    named, where, rank = _with_examples(indices, places)
    if isinstance(y, Tensor):
        around = [length for dim, length in enumerate(x.shape[1:]) if dim not in places]
        first = places[0] if _adjacent(indices, places) else 0
        parts = common_shape([tuple(index.shape[1:]) for index in indices])
        size = (x.shape[0], *around[:first], *parts, *around[first:])
        y = _exchanged(OPS["expand"](aligned(y, len(size) - 1), size=size), first, rank)
    return OPS["index_put"](x, y, *named, places=where, add=add)


# ---- slices along one dimension, each named by a vector


def slices_named(x, y, dim):
    """Slices of one tensor, which the vector of each example names."""
    return rows_named(x, y, dim) if x.ndim else NotImplemented


def slices_of_each(x, y, dim):
    """Slices of every example, which its own vector names."""
    return parts_of_each(x, y, places=(dim,)) if x.ndim > 1 else NotImplemented


def slice_sums_of(sums):
    """Slices added to zeros, by `same_sums` or `sums_of_each`."""
    return lambda x, y, size, dim: sums(x, y, size=size, places=(dim,)) if size else NotImplemented


def slices_put(x, z, y, dim):
    """Slices of every example, which its own vector names, replaced."""
    return put_of_each(x, z, y, places=(dim,), add=False) if x.ndim > 1 else NotImplemented


def slices_added(x, y, z, dim, alpha):
    """Slices of every example, which its own vector names, added to."""
    if x.ndim < 2:
        return NotImplemented
    found = sums_of_each(z, y, size=tuple(x.shape[1:]), places=(dim,))
    return x + (found * alpha if alpha != 1 else found)
