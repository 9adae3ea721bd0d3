"""Diagonals and triangles of matrices."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.op import linear
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.dimensions import axis_of
from gradsh.ops.memory import as_strided
from gradsh.ops.options import integer, number
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshape
from gradsh.ops.slicing import fitting_part
from gradsh.ops.structure import expand_to

SAMPLES = [Sample(reals(3, 4), offset=1, dim1=0, dim2=1), Sample(reals(2, 3, 4), offset=-1, dim1=0, dim2=2)]


def _shape_rule(g, x_shape, offset, dim1, dim2):
    return spread_diagonal(g, size=x_shape, offset=offset, dim1=dim1, dim2=dim2)


def _view(xp, x, offset, dim1, dim2):
    out = xp.diagonal(x, offset, dim1, dim2)
    out.flags.writeable = True
    return out


def _spread(xp, x, size, offset, dim1, dim2):
    out = xp.zeros(size, x.dtype)
    _view(xp, out, offset, dim1, dim2)[...] = x
    return out


@linear(x=_shape_rule, sample=SAMPLES, at=(), view=True, name="diagonal")
def diagonal_view(xp, x, *, offset, dim1, dim2):
    """The numbers on a diagonal of two dimensions, in a new last one."""
    return _view(xp, x, offset, dim1, dim2)


@linear(x=_shape_rule, sample=SAMPLES, at=(), grad_fn="DiagonalBackward0_copy")
def diagonal_copy(xp, x, *, offset, dim1, dim2):
    """As `diagonal_view`, as a copy."""
    return xp.diagonal(x, offset, dim1, dim2).copy()


@linear(
    x=lambda g, offset, dim1, dim2: diagonal_copy(g, offset=offset, dim1=dim1, dim2=dim2),
    sample=Sample(reals(3), size=(3, 4), offset=1, dim1=0, dim2=1),
    at=(),
    grad_fn="DiagonalBackwardBackward0",
)
def spread_diagonal(xp, x, *, size, offset, dim1, dim2):
    """Zeros with a diagonal set."""
    return _spread(xp, x, size, offset, dim1, dim2)


@linear(
    x=lambda g, offset, dim1, dim2: with_diagonal(g, 0.0, offset=offset, dim1=dim1, dim2=dim2),
    y=lambda g, offset, dim1, dim2: diagonal_copy(g, offset=offset, dim1=dim1, dim2=dim2),
    sample=[Sample(reals(3, 4), reals(3), offset=1, dim1=0, dim2=1)],
    at=(),
    name="diagonal_scatter",
)
def with_diagonal(xp, x, y, *, offset, dim1, dim2):
    """A copy with a diagonal replaced."""
    out = xp.array(x)
    _view(xp, out, offset, dim1, dim2)[...] = y
    return out


@linear(
    x=lambda g, offset, dim1, dim2: diagonal_copy(g, offset=offset, dim1=dim1, dim2=dim2),
    sample=[Sample(reals(2, 3), offset=1, dim1=0, dim2=2), Sample(reals(3), offset=-2, dim1=0, dim2=1)],
    at=(),
    name="diag_embed",
)
def embedded(xp, x, *, offset, dim1, dim2):
    """Matrices of zeros with the last dimension's numbers on a diagonal."""
    length = x.shape[-1] + abs(offset)
    first, second = sorted((dim1, dim2))
    shape = list(x.shape[:-1])
    shape.insert(first, length)
    shape.insert(second, length)
    return _spread(xp, x, tuple(shape), offset, dim1, dim2)


@linear(
    x=lambda g, diagonal: lower(g, diagonal=diagonal),
    sample=[Sample(reals(3, 4), diagonal=1), Sample(reals(2, 3, 3), diagonal=-1)],
    at=(),
    name="tril",
    batch="stacked",
)
def lower(xp, x, *, diagonal):
    """Zeros above a diagonal."""
    return xp.ascontiguousarray(xp.tril(x, diagonal))


@linear(
    x=lambda g, diagonal: upper(g, diagonal=diagonal),
    sample=[Sample(reals(3, 4), diagonal=1), Sample(reals(2, 3, 3), diagonal=-1)],
    at=(),
    name="triu",
    batch="stacked",
)
def upper(xp, x, *, diagonal):
    """Zeros below a diagonal."""
    return xp.ascontiguousarray(xp.triu(x, diagonal))


@linear(
    x=lambda g, x_shape: spread_diagonal(expand_to(g, size=(min(x_shape),)), size=x_shape, offset=0, dim1=0, dim2=1),
    sample=[Sample(reals(3, 4)), Sample(reals(3, 3))],
    at=(),
    name="trace",
    batch=lambda x: sum_over(diagonal_copy(x, offset=0, dim1=1, dim2=2), axes=(1,), keepdim=False),
)
def diagonal_sum(xp, x):
    """The sum of the numbers on the diagonal."""
    return xp.trace(x, dtype=x.dtype if x.dtype.kind == "f" else xp.int64)


# ---- the functions


def _two_dims(ndim, dim1, dim2):
    dims = axis_of(dim1, ndim, "dim1"), axis_of(dim2, ndim, "dim2")
    if dims[0] == dims[1]:
        raise fault(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return dims


@function(example="diagonal(arange(6.0).view(2, 3))")
def diagonal(input, offset=0, dim1=0, dim2=1):
    """A view of the numbers on a diagonal of two dimensions, in a new last one."""
    input, offset = operand(input), integer(offset, "offset")
    dim1, dim2 = _two_dims(input.ndim, dim1, dim2)
    return diagonal_view(input, offset=offset, dim1=dim1, dim2=dim2)


@function("diagonal", at=("linalg",), example="torch.linalg.diagonal(arange(6.0).view(2, 3))")
def last_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of the numbers on a diagonal of the last two dimensions."""
    return diagonal(A, offset, dim1, dim2)


@function(example="diag(tensor([1.0, 2.0]))")
def diag(input, diagonal=0):
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    input, offset = operand(input), integer(diagonal, "diagonal")
    if input.ndim not in (1, 2):
        raise fault(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return (embedded if input.ndim == 1 else diagonal_copy)(input, offset=offset, dim1=0, dim2=1)


@function(example="diag_embed(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with the last dimension's numbers on a diagonal."""
    input, offset = operand(input), integer(offset, "offset")
    dim1, dim2 = _two_dims(input.ndim + 1, dim1, dim2)
    return embedded(input, offset=offset, dim1=dim1, dim2=dim2)


@function(example="diagflat(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def diagflat(input, offset=0):
    """A matrix with all numbers on its diagonal."""
    return embedded(reshape(operand(input), (-1,)), offset=integer(offset, "offset"), dim1=0, dim2=1)


def _triangle(name, op, of):
    def triangle(input, diagonal=0):
        input, diagonal = operand(input), integer(diagonal, "diagonal")
        if input.ndim < 2:
            raise fault(RuntimeError, f"{name}: input tensor must have at least 2 dimensions")
        return op(input, diagonal=diagonal)

    triangle.__name__ = name
    triangle.__doc__ = f"The {of} triangle of matrices, zeros elsewhere."
    return function(inplace=True, example=f"{name}(ones(3, 3))")(triangle)


tril = _triangle("tril", lower, "lower")
triu = _triangle("triu", upper, "upper")


@function(example="trace(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def trace(input):
    """The sum of the numbers on a matrix's diagonal."""
    input = operand(input)
    if input.dtype is boolean:
        raise fault(NotImplementedError, "\"trace\" not implemented for 'Bool'")
    if input.ndim != 2:
        raise fault(RuntimeError, f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return diagonal_sum(input)


@function(example="diagonal_scatter(zeros(3, 3), ones(3))")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with a diagonal replaced."""
    input, src, offset = operand(input), operand(src, "src"), integer(offset, "offset")
    dim1, dim2 = _two_dims(input.ndim, dim1, dim2)
    rows, columns = input.shape[dim1], input.shape[dim2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    around = tuple(n for k, n in enumerate(input.shape) if k not in (dim1, dim2))
    src = fitting_part(src, input, (*around, length), "slice")
    return with_diagonal(input, src, offset=offset, dim1=dim1, dim2=dim2)


@function(at=("Tensor",), example="zeros(3, 3).fill_diagonal_(1)")
def fill_diagonal_(self, fill_value, wrap=False):
    """Write one number along the main diagonal; with `wrap` it begins anew below the end of a tall matrix."""
    fill_value, shape = number(fill_value, "fill_value"), tuple(self.shape)
    if len(shape) < 2:
        raise fault(RuntimeError, "dimensions must larger than 1")
    if len(shape) > 2 and len({*shape}) > 1:
        raise fault(RuntimeError, "all dimensions of input must be of equal length")
    strides, offset = self.stride(), self.storage_offset()
    length, step = min(shape), (sum(strides),)
    as_strided(self, (length,), step, offset).fill_(fill_value)
    height, width = shape[:2]
    if wrap and len(shape) == 2 and height > width + 1:
        rest = -(-self.numel() // (width + 1)) - length
        as_strided(self, (rest,), step, offset + strides[0] * (width + 1)).fill_(fill_value)
    return self
