"""Rows of a table by their numbers: embedding, and one_hot."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, int32, int64
from gradsh.engine import runtime
from gradsh.engine.alias import TYPE_NAMES, tensor_type
from gradsh.engine.inplace import overwrite
from gradsh.engine.op import constant, linear
from gradsh.engine.state import no_grad
from gradsh.engine.tensor import wrap
from gradsh.engine.wrapped import Wrapped, numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import checked, operand
from gradsh.ops.examples import shaped, spread
from gradsh.ops.options import integer
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals

NUMBERS = Made(lambda rng: rng.integers(0, 4, (2, 3)))

# padding: the number of a row that gets no gradient, or -1; scale: a row's gradient is divided by how often it was named.


@linear(
    x=lambda g, y, x_shape, padding, scale: rows_back(g, y, size=x_shape, padding=padding, scale=scale),
    sample=[
        Sample(reals(4, 2), NUMBERS, padding=-1, scale=False),
        Sample(reals(4, 2), Made(lambda rng: rng.permutation(3)), padding=3, scale=True),
    ],
    at=(),
    name="embedding",
    batch={
        "x": lambda x, y, **settings: _rows_of_each(x, spread(y, x.shape[0]), **settings),
        "y": lambda x, y, scale=False, **settings: (
            NotImplemented if scale else rows_of_table(x, y, scale=scale, **settings)
        ),
        "x y": lambda x, y, **settings: _rows_of_each(x, y, **settings),
    },
)
def rows_of_table(xp, x, y, *, padding=-1, scale=False):
    """The rows of x that y names."""
    return x.take(y, 0)


def _rows_of_each(x, y, padding=-1, scale=False):
    """The rows that each example names of its own table, as rows of one table of all of them."""
    if scale or padding >= 0:
        return NotImplemented
    size, count, *rest = x.shape
    starts = wrap(runtime.arrays.arange(size).reshape(size, *[1 for _ in y.shape[1:]]) * count)
    return rows_of_table(shaped(x, (size * count, *rest)), y + starts)


@linear(
    x=lambda g, y, padding, scale: rows_named(g, y, padding=padding, scale=scale),
    sample=[
        Sample(reals(2, 3, 2), NUMBERS, size=(4, 2), padding=-1, scale=False),
        Sample(reals(2, 3, 2), NUMBERS, size=(4, 2), padding=1, scale=True),
    ],
    at=(),
    grad_fn="EmbeddingDenseBackwardBackward0",
)
def rows_back(xp, x, y, *, size, padding, scale):
    """Zeros of a table's size to whose rows y the rows of x are added."""
    rows = y.ravel()
    values = _weighted(xp, x.reshape(rows.size, *size[1:]), rows, padding, scale)
    return xp.row_sums(size[0], rows, values)


@linear(
    x=lambda g, y, x_shape, padding, scale: rows_back(g, y, size=x_shape, padding=padding, scale=scale),
    sample=Sample(reals(4, 2), NUMBERS, padding=1, scale=True),
    at=(),
    grad_fn="EmbeddingBackward0",
)
def rows_named(xp, x, y, *, padding, scale):
    """The transpose of `rows_back`: rows, without that of the padding and divided by how often they are named."""
    rows = y.ravel()
    found = _weighted(xp, x.take(rows, 0), rows, padding, scale)
    return found.reshape(*y.shape, *x.shape[1:])


def _weighted(xp, values, rows, padding, scale):
    """Values for rows, 0 for the padding's row, over how often each row is named."""
    if padding >= 0:
        values = xp.where((rows == padding)[:, None], values.dtype.type(0), values)
    if scale and rows.size:
        values = values / xp.bincount(rows)[rows].astype(values.dtype)[:, None]
    return values


def check_indices(indices, name):
    if indices.dtype not in (int64, int32):
        got = "CPUBoolType" if indices.dtype.category == 0 else tensor_type(indices)
        raise fault(
            RuntimeError,
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{got} instead (while checking arguments for {name})",
            hint=".long()",
        )


@function("embedding", at=("torch",), example="torch.embedding(rand(4, 2), tensor([1, 3]))")
def embedding_of(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of a table that indices name."""
    weight, indices, padding = (
        operand(weight, "weight"),
        operand(indices, "indices"),
        integer(padding_idx, "padding_idx"),
    )
    if weight.ndim != 2:
        raise fault(RuntimeError, "'weight' must be 2-D")
    check_indices(indices, "embedding")
    raw = numbers_of(indices)
    if raw.size and not weight.shape[0]:
        raise fault(RuntimeError, "index_select(): self indexing axis dim should be positive")
    if raw.size and (raw.min() < 0 or raw.max() >= weight.shape[0]):
        raise fault(IndexError, "index out of range in self", notes=(f"the table has {weight.shape[0]} rows",))
    return rows_of_table(weight, indices, padding=padding, scale=bool(scale_grad_by_freq))


embedding_called = checked(embedding_of, "embedding")


@function(at=("torch",))
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scale those of the rows of a table that indices name and whose norm is larger, to a norm, in place."""
    from gradsh.backend import arrays
    from gradsh.ops.norms import measured

    weight, indices = operand(input), operand(indices, "indices")
    check_indices(indices, "embedding_renorm_")
    rows = arrays.unique(indices.raw)
    if rows.size and weight.dtype.category != FLOATING:
        got = TYPE_NAMES[weight.dtype.name]
        message = f"norm(): input dtype should be either floating point or complex. Got {got} instead."
        raise fault(RuntimeError, message)
    if rows.size and (rows[0] < 0 or rows[-1] >= weight.shape[0]):
        raise fault(IndexError, "index out of range in self")
    values = weight.raw[rows]
    norms = measured(arrays, values.astype(arrays.float64), norm_type, (1,))
    large = norms > max_norm
    if large.any():
        moved = weight.raw.copy()
        factors = (max_norm / (norms[large] + 1e-7)).astype(moved.dtype)
        moved[rows[large]] = values[large] * factors[:, None]
        with no_grad():
            overwrite(weight, wrap(moved), "embedding_renorm_")
    return weight


@function(at=("F",), example="F.embedding(tensor([1, 3]), rand(4, 2))")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of a table that input names; the row padding_idx gets no gradient."""
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx:
        count = weight.shape[0]
        if not -count <= padding_idx < count:
            raise fault(AssertionError, "Padding_idx must be within num_embeddings")
        padding_idx += count if padding_idx < 0 else 0
    if max_norm is not None:
        embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)
    return embedding_called(weight, input, padding_idx, scale_grad_by_freq, sparse)


# ---- one_hot


@constant(at=(), batch="stacked")
def places_as_rows(xp, x, *, count):
    """For each number a row of zeros with a 1 at its place."""
    return xp.equal(xp.asarray(x)[..., None], xp.arange(count)).astype(xp.int64)


@function(at=("F",), python=False, example="F.one_hot(tensor([0, 2]), 3)")
def one_hot(input, num_classes=-1):
    """For each class a row of zeros with a 1 at its place."""
    input, count = operand(input), integer(num_classes, "num_classes")
    if input.dtype is not int64:
        raise fault(RuntimeError, "one_hot is only applicable to index tensor of type LongTensor.", hint=".long()")
    raw = numbers_of(input)
    if isinstance(input, Wrapped) and count <= 0:
        message = "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
        raise fault(RuntimeError, message)
    if not raw.size:
        if count <= 0:
            raise fault(RuntimeError, "Can not infer total number of classes from empty tensor.", hint="num_classes=3")
    elif raw.min() < 0:
        raise fault(RuntimeError, "Class values must be non-negative.")
    elif count == -1:
        count = int(raw.max()) + 1
    elif count <= raw.max():
        raise fault(RuntimeError, "Class values must be smaller than num_classes.")
    return places_as_rows(input, count=count)
