"""Parts that index tensors name: taken out, and put in."""

from __future__ import annotations

from gradsh.engine import runtime
from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.examples import spread
from gradsh.ops.index_examples import (
    parts_of_each,
    put_of_each,
    rows_named,
    same_parts,
    same_put,
    same_sums,
    sums_of_each,
)
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.structure import sum_to_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROWS = Made(lambda rng: rng.integers(-3, 3, (2, 2)))
COLUMNS = Made(lambda rng: rng.integers(0, 4, (2,)))
COLUMNS_2 = Made(lambda rng: rng.permutation(2))
MASK = Made(lambda rng: rng.random((3, 4)) < 0.5)
SOME = Made(lambda rng: rng.permutation([True, True, False]))


def explained(error, x, *indices, places, **settings):
    """PyTorch's error for index tensors that do not fit the tensor or one another."""
    if not isinstance(error, IndexError):
        return None
    shape = tuple(x.shape)
    lists = []
    for place, index in zip(places, indices):
        raw = index.raw if isinstance(index, Tensor) else index
        if raw.dtype.char == "?":
            wrong = mask_fault(shape, raw.shape, place)
            if wrong is not None:
                return wrong
            lists += [[int(raw.sum())]] * raw.ndim
            continue
        if raw.size and not shape[place]:
            return fault(IndexError, "index is out of bounds for dimension with size 0")
        lists.append(list(raw.shape))
    wrong = _outside(shape, indices, places)
    if wrong is not None:
        return fault(IndexError, "index {} is out of bounds for dimension {} with size {}".format(*wrong))
    return fault(
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast together with shapes " + ", ".join(map(str, lists)),
    )


def mask_fault(shape, mask, place):
    """PyTorch's error for a mask that does not fit the dimensions from a place on, or None."""
    for k, length in enumerate(mask):
        if place + k >= len(shape) or shape[place + k] != length:
            return fault(
                IndexError,
                f"The shape of the mask {list(mask)} at index {k} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {place + k}",
            )
    return None


def _outside(shape, indices, places):
    """The first index outside its dimension, element by element; the indexed dimensions count alone, as in PyTorch."""
    raws: list[Any] = []
    lengths: list[int] = []
    for place, index in zip(places, indices):
        raw = index.raw if isinstance(index, Tensor) else index
        parts = raw.nonzero() if raw.dtype.char == "?" else (raw,)
        raws += parts
        lengths += shape[place : place + len(parts)]
    try:
        wide = runtime.arrays.broadcast_arrays(*raws)
    except ValueError:
        return None
    for numbers in zip(*(raw.ravel().tolist() for raw in wide)):
        for dim, (number, length) in enumerate(zip(numbers, lengths)):
            if not -length <= number < length:
                return number, dim, length
    return None


def _repeated(y, x):
    return spread(y, x.shape[0]) if isinstance(y, Tensor) else y


@linear(
    x=lambda g, y, x_shape, dim: index_sums(g, y, size=x_shape, places=(dim,)),
    sample=[Sample(reals(3, 2), ROWS, dim=0), Sample(reals(2, 4), COLUMNS, dim=1), Sample(reals(3, 4), MASK, dim=0)],
    at=(),
    grad_fn="IndexBackward0",
    explain=lambda error, x, y, dim: explained(error, x, y, places=(dim,)),
    batch={
        "x": lambda x, y, dim: indexed(x, y, dim=dim + 1),
        "y": rows_named,
        "x y": lambda x, y, dim: parts_of_each(x, y, places=(dim,)),
    },
)
def indexed(xp, x, y, *, dim):
    """The parts that one index tensor names: places along a dimension, or those where a mask holds."""
    x = xp.asarray(x)
    return xp.asarray(x[(slice(None),) * dim + (y,)] if dim else x[y], order="C")


@linear(
    x=lambda g, indices, x_shape, places: index_sums(g, *indices, size=x_shape, places=places),
    sample=[
        Sample(reals(2, 2, 4), COLUMNS_2, COLUMNS, places=(0, 2)),
        Sample(reals(3, 2, 4), SOME, COLUMNS, places=(0, 2)),
    ],
    at=(),
    grad_fn="IndexBackward0",
    explain=explained,
    batch={"x": same_parts, "x indices": parts_of_each},
)
def indexed_by_all(xp, x, *indices, places):
    """The parts that several index tensors name, each beginning at its dimension."""
    return xp.asarray(xp.asarray(x)[xp.key_of(indices, places)], order="C")


@linear(
    x=lambda g, indices, places: indexed_by_all(g, *indices, places=places),
    sample=[
        Sample(reals(2, 2, 2), ROWS, size=(3, 2), places=(0,)),
        Sample(reals(2, 2), COLUMNS_2, COLUMNS, size=(2, 2, 4), places=(0, 2)),
        Sample(reals(2, 2), SOME, COLUMNS, size=(3, 2, 4), places=(0, 2)),
    ],
    at=(),
    grad_fn="IndexPutBackward0",
    batch={"x": same_sums, "x indices": sums_of_each},
)
def index_sums(xp, x, *indices, size, places):
    """Zeros to which parts are added where index tensors say; a place named twice gets both."""
    return xp.index_sums(x, size, indices, places)


@linear(
    x=lambda g, indices, places, add: g if add else put(g, 0.0, *indices, places=places, add=False),
    y=lambda g, indices, y_shape, places: sum_to_size(indexed_by_all(g, *indices, places=places), size=y_shape),
    sample=[
        Sample(reals(3, 4), reals(2), COLUMNS_2, COLUMNS, places=(0, 1), add=False),
        Sample(reals(3, 2), reals(2, 2, 2), ROWS, places=(0,), add=True),
        Sample(reals(3, 4), reals(), MASK, places=(0,), add=False),
    ],
    at=(),
    name="index_put",
    explain=lambda error, x, y, *indices, places, **settings: explained(error, x, *indices, places=places),
    batch={
        "x": lambda x, y, *indices, **settings: same_put(x, _repeated(y, x), *indices, **settings),
        "y": lambda x, y, *indices, **settings: same_put(spread(x, y.shape[0]), y, *indices, **settings),
        "x y": same_put,
        "x y indices": put_of_each,
    },
)
def put(xp, x, y, *indices, places, add):
    """A copy with the parts that index tensors name replaced, or added to."""
    key = xp.key_of(indices, places)
    if add:
        shape = x[key].shape
        return x + xp.index_sums(xp.broadcast_to(y, shape), x.shape, indices, places)
    out = xp.array(x, order="K")
    out[key] = y
    return out
