"""Products of vectors and matrices: matmul in all ranks, and the ops with one rank each that it is made of."""

from __future__ import annotations

from gradsh.engine.op import OPS, bilinear
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import alike
from gradsh.ops.examples import aligned, folded, shaped, unfolded
from gradsh.ops.product_faults import (
    batch_fault,
    dot_fault,
    folded_fault,
    matrix_fault,
    row_fault,
    stacked_fault,
    vector_fault,
)
from gradsh.ops.registry import bind_operator, function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshape, reshaped
from gradsh.ops.structure import sum_to_size

# The kernels refuse what numpy would take and PyTorch does not: other ranks, mixed types, booleans. What they raise
# is replaced by PyTorch's own error (product_faults).


def right_gradient(g, x, y):
    """The gradient x^T g of the right factor, laid out in memory as the factor is: a weight's is then not copied."""
    strides = getattr(y, "strides", None)
    if strides is not None and strides[0] < strides[1]:
        return matrix_product(g.T, x).T
    return matrix_product(x.T, g)


@bilinear(
    x=lambda g, y: matrix_product(g, y.T),
    y=lambda g, x, y: right_gradient(g, x, y),
    sample=[Sample(reals(2, 3), reals(3, 4)), Sample(reals(2, 0), reals(0, 3))],
    at=(),
    explain=matrix_fault,
    grad_fn="MmBackward0",
    batch={
        "x": lambda x, y: folded_product(x, y),
        "y": lambda x, y: stacked_product(x, y),
        "x y": lambda x, y: stacked_product(x, y),
    },
)
def matrix_product(xp, x, y):
    """Product of two matrices."""
    if x.ndim == 2 == y.ndim and x.dtype is y.dtype and x.dtype.char != "?":
        return x.dot(y)
    raise TypeError


@bilinear(
    x=lambda g, y: outer_product(g, y),
    y=lambda g, x: matrix_vector_product(x.T, g),
    sample=Sample(reals(2, 3), reals(3)),
    at=(),
    explain=vector_fault,
    grad_fn="MvBackward0",
    batch={
        "x": lambda x, y: unfolded(matrix_vector_product(folded(x), y), len(x)),
        "y": lambda x, y: matrix_product(y, x.T),
        "x y": lambda x, y: shaped(stacked_product(x, shaped(y, (*y.shape, 1))), x.shape[:2]),
    },
)
def matrix_vector_product(xp, x, y):
    """Product of a matrix and a vector."""
    if x.ndim == 2 and y.ndim == 1 and x.dtype is y.dtype and x.dtype.char != "?":
        return x.dot(y)
    raise TypeError


@bilinear(
    x=lambda g, y: matrix_vector_product(y, g),
    y=lambda g, x: outer_product(x, g),
    sample=Sample(reals(3), reals(3, 2)),
    at=(),
    explain=folded_fault,
    grad_fn="SqueezeBackward4",
    batch={
        "x": lambda x, y: matrix_product(x, y),
        "x y": lambda x, y: shaped(stacked_product(shaped(x, (len(x), 1, x.shape[1])), y), (len(y), y.shape[2])),
    },
)
def vector_matrix_product(xp, x, y):
    """Product of a row vector and a matrix."""
    if x.ndim == 1 and y.ndim == 2 and x.dtype is y.dtype and x.dtype.char != "?":
        return x.dot(y)
    raise TypeError


def _dot_op(name):
    """The same op under the two names that PyTorch has for its nodes."""

    def dot_product(xp, x, y):
        """Sum of the products of two vectors' numbers."""
        if x.ndim == 1 == y.ndim and x.dtype is y.dtype and x.dtype.char != "?":
            return x.dot(y)
        raise TypeError

    return bilinear(
        x=lambda g, y: g * y,
        y=lambda g, x: g * x,
        sample=Sample(reals(3), reals(3)),
        at=(),
        name=name,
        explain=dot_fault,
        batch={
            "x": lambda x, y: matrix_vector_product(x, y),
            "y": lambda x, y: matrix_vector_product(y, x),
            "x y": lambda x, y: OPS["sum_over"](x * y, axes=(1,), keepdim=False),
        },
    )(dot_product)


dot_product = _dot_op("dot")
conjugate_product = _dot_op("vdot")


@bilinear(
    x=lambda g, y: matrix_vector_product(g, y),
    y=lambda g, x: vector_matrix_product(x, g),
    sample=Sample(reals(2), reals(3)),
    at=(),
    grad_fn="MulBackward0",
    batch={
        "x": lambda x, y: shaped(x, (*x.shape, 1)) * y,
        "x y": lambda x, y: shaped(x, (*x.shape, 1)) * shaped(y, (len(y), 1, y.shape[1])),
    },
)
def outer_product(xp, x, y):
    """Products of each number of a vector with each of another."""
    return xp.multiply(xp.asarray(x)[:, None], y)


@bilinear(
    x=lambda g, y: batch_product(g, y.mT),
    y=lambda g, x: batch_product(x.mT, g),
    sample=Sample(reals(2, 2, 3), reals(2, 3, 2)),
    at=(),
    explain=batch_fault,
    grad_fn="BmmBackward0",
    batch={which: lambda x, y: stacked_product(x, y) for which in ("x", "y", "x y")},
)
def batch_product(xp, x, y):
    """Product of each matrix of a batch with its match in another."""
    if x.ndim == 3 == y.ndim and x.shape[0] == y.shape[0] and x.dtype is y.dtype and x.dtype.char != "?":
        return xp.matmul(blas_ready(xp, x), blas_ready(xp, y))
    raise TypeError


def _stacked_op(name, grad_fn):
    """The same op under each of the names that the last node of PyTorch's several ways has."""

    def product(xp, x, y):
        """Products of matrices, the dimensions before the last two broadcast."""
        if x.dtype is y.dtype and x.dtype.char != "?":
            return xp.matmul(blas_ready(xp, x), blas_ready(xp, y))
        raise TypeError

    product.__name__ = name
    return bilinear(
        batch={
            "x": lambda x, y: stacked_product(aligned(x, y.ndim), y),
            "y": lambda x, y: stacked_product(x, aligned(y, x.ndim)),
            "x y": lambda x, y: _stacks(x, y),
        },
        x=lambda g, x_shape, y: sum_to_size(stacked_product(g, y.mT), size=x_shape),
        y=lambda g, y_shape, x: sum_to_size(stacked_product(x.mT, g), size=y_shape),
        sample=[Sample(reals(2, 1, 2, 3), reals(2, 3, 2)), Sample(reals(2, 3), reals(2, 3, 1))],
        at=(),
        explain=stacked_fault,
        grad_fn=grad_fn,
    )(product)


def _stacks(x, y):
    """Products of the stacks of matrices of all examples."""
    rank = max(x.ndim, y.ndim) - 1
    return stacked_product(aligned(x, rank), aligned(y, rank))


stacked_product = _stacked_op("stacked_product", "UnsafeViewBackward0")
_transposed_product = _stacked_op("transposed_product", "TransposeBackward0")
_copied_product = _stacked_op("copied_product", "CloneBackward0")


def _matrix_and_stack(input, other):
    """A matrix times a stack. PyTorch transposes both where the matrix needs a gradient, so that one mm does it."""
    if not input.requires_grad:
        return stacked_product(input, other)
    alike = 1 in (input.shape[0], other.shape[-1]) or not input.numel() or not other.numel()
    op = _transposed_product if alike else _copied_product
    return op(input, other)


def blas_ready(xp, x):
    """The same matrices with one stride that BLAS can take; numpy multiplies others by a plain loop."""
    row, column = x.strides[-2:]
    return x if x.itemsize in (row, column) else xp.ascontiguousarray(x)


@bilinear(
    x=lambda g, y: folded_product(g, y.T),
    y=lambda g, x, y: right_gradient(rows_of(g), rows_of(x), y),
    sample=Sample(reals(2, 2, 3), reals(3, 2)),
    at=(),
    explain=folded_fault,
    grad_fn="UnsafeViewBackward0",
    batch={"x": lambda x, y: folded_product(x, y), "x y": lambda x, y: _stacks(x, y)},
)
def folded_product(xp, x, y):
    """Products of matrices with one matrix, as one product of all their rows."""
    if x.dtype is y.dtype and x.dtype.char != "?":
        return x.reshape(rows_shape(x)).dot(y).reshape(*x.shape[:-1], y.shape[-1])
    raise TypeError


def rows_of(x):
    """All rows of a stack of matrices as one matrix."""
    return reshaped(x, size=rows_shape(x))


def rows_shape(x):
    *lead, last = x.shape
    count = 1
    for length in lead:
        count *= length
    return count, last


# ---- what programs call


@function(at=("torch", "Tensor", "linalg"), example="matmul(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0]))")
def matmul(input, other):
    """Product of vectors, matrices, or stacks of matrices whose leading dimensions broadcast."""
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        input, other = alike((input, "input"), (other, "other"))
    left, right = input.ndim, other.ndim
    if left == 2:
        if right == 2:
            return matrix_product(input, other)
        if right == 1:
            return matrix_vector_product(input, other)
    elif left == 1:
        if right == 1:
            return dot_product(input, other)
        if right == 2:
            return vector_matrix_product(input, other)
    if not left or not right:
        raise fault(
            RuntimeError,
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D",
            hint="* multiplies by a number" if left or right else None,
        )
    if right == 1:
        *lead, _ = input.shape
        return reshaped(matrix_vector_product(reshape(input, rows_shape(input)), other), size=tuple(lead))
    if right == 2:
        return folded_product(input, other)
    if left == 1:
        wrong = row_fault(input, other)
        if wrong is not None:
            raise wrong
        found = stacked_product(reshape(input, (1, *input.shape)), other)
        *lead, _, last = found.shape
        return reshaped(found, size=(*lead, last))
    return _matrix_and_stack(input, other) if left == 2 else stacked_product(input, other)


def _at(self, other):
    if isinstance(other, Tensor):
        return matmul(self, other)
    if state.lists and isinstance(other, list | tuple):
        return matmul(self, other)
    return NotImplemented


def _reflected_at(self, other):
    return matmul(other, self) if state.lists and isinstance(other, list | tuple) else NotImplemented


bind_operator("__matmul__", _at)
bind_operator("__rmatmul__", _reflected_at)


@function(
    example="mm(tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))",
    overloads=(
        "(Tensor input, Tensor mat2, *, Tensor out = None)",
        "(Tensor input, Tensor mat2, torch.dtype out_dtype, *, Tensor out = None)",
    ),
)
def mm(input, mat2):
    """Product of two matrices."""
    return matrix_product(*alike((input, "input"), (mat2, "mat2")))


@function(example="mv(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0]))")
def mv(input, vec):
    """Product of a matrix and a vector."""
    return matrix_vector_product(*alike((input, "input"), (vec, "vec")))


@function(example="dot(tensor([1.0, 2.0]), tensor([3.0, 4.0]))")
def dot(input, tensor):
    """Sum of the products of two vectors' numbers."""
    return dot_product(*alike((input, "input"), (tensor, "tensor")))


@function(example="vdot(tensor([1.0, 2.0]), tensor([3.0, 4.0]))")
def vdot(input, other):
    """Sum of the products of two vectors' numbers."""
    return conjugate_product(*alike((input, "input"), (other, "other")))


@function(
    example="bmm(ones(2, 1, 3), ones(2, 3, 1))",
    overloads=(
        "(Tensor input, Tensor mat2, *, Tensor out = None)",
        "(Tensor input, Tensor mat2, torch.dtype out_dtype, *, Tensor out = None)",
    ),
)
def bmm(input, mat2):
    """Product of each matrix of a batch with its match in another."""
    return batch_product(*alike((input, "input"), (mat2, "mat2")))


@function(at=("torch", "Tensor", "torch:ger", "Tensor:ger"), example="outer(tensor([1.0, 2.0]), tensor([3.0, 4.0]))")
def outer(input, vec2):
    """Products of each number of a vector with each of another."""
    input, vec2 = alike((input, "input"), (vec2, "vec2"))
    for name, value in (("self", input), ("vec2", vec2)):
        if value.ndim != 1:
            raise fault(RuntimeError, f"outer: Expected 1-D argument {name}, but got {value.ndim}-D")
    if input.dtype is not vec2.dtype:
        return OPS["mul"](input.unsqueeze(1), vec2)
    return outer_product(input, vec2)
