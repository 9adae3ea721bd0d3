"""A product added to something: addmm and its like."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, boolean
from gradsh.engine.op import OPS, general
from gradsh.engine.promote import common_dtype
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.examples import aligned, shaped
from gradsh.ops.product_faults import (
    added_batch_fault,
    added_matrix_fault,
    added_outer_fault,
    added_vector_fault,
    summed_batch_fault,
)
from gradsh.ops.products import (
    batch_product,
    blas_ready,
    matrix_product,
    matrix_vector_product,
    outer_product,
    right_gradient,
    stacked_product,
    vector_matrix_product,
)
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import sum_to_size, to_dtype


def scaled(g, factor):
    return g if factor == 1 else g * factor


def sum_to(g, shape):
    """A gradient summed to the shape of what was broadcast to it; a row's quickly."""
    if len(shape) == 1 and len(g.shape) == 2 and shape[0] == g.shape[1]:
        return sum_over(g, axes=(0,), keepdim=False)
    return sum_to_size(g, size=shape) if tuple(g.shape) != tuple(shape) else g


def combined(xp, input, product, beta, alpha):
    """beta * input + alpha * product, in the product's memory; PyTorch's types, no promotion."""
    char = product.dtype.char
    if ("d" if input.__class__ is float else input.dtype.char) != char or char == "?" or xp.ndim(input) > product.ndim:
        raise TypeError
    if product.dtype.kind != "f":
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product *= alpha
    if beta == 1:
        product += input
    elif beta != 0:
        product += xp.multiply(input, beta)
    else:
        xp.broadcast_to(input, product.shape)  # which must be possible all the same
    return product


def _sums(input, product, beta, alpha):
    """beta * input + alpha * product for all examples."""
    product = scaled(product, alpha)
    return product if beta == 0 else product + scaled(aligned(input, product.ndim - 1), beta)


def _input_rule(g, input_shape, beta):
    return scaled(sum_to(g, input_shape), beta)


@general(
    input=_input_rule,
    mat1=lambda g, mat2, alpha: scaled(matrix_product(g, mat2.T), alpha),
    mat2=lambda g, mat1, mat2, alpha: scaled(right_gradient(g, mat1, mat2), alpha),
    sample=[
        Sample(reals(2), reals(3, 4), reals(4, 2), beta=1, alpha=1),
        Sample(reals(3, 1), reals(3, 4), reals(4, 2), beta=0.5, alpha=-2.0),
    ],
    at=(),
    explain=added_matrix_fault,
    grad_fn="AddmmBackward0",
    batch=lambda input, mat1, mat2, beta, alpha: _sums(input, stacked_product(mat1, mat2), beta, alpha),
)
def added_product(xp, input, mat1, mat2, *, beta, alpha):
    """beta * input + alpha * mat1 @ mat2."""
    if mat1.ndim == 2 == mat2.ndim and mat1.dtype is mat2.dtype and mat1.dtype.char != "?":
        return combined(xp, input, mat1.dot(mat2), beta, alpha)
    raise TypeError


@general(
    input=_input_rule,
    mat=lambda g, vec, alpha: scaled(outer_product(g, vec), alpha),
    vec=lambda g, mat, alpha: scaled(matrix_vector_product(mat.T, g), alpha),
    sample=Sample(reals(3), reals(3, 2), reals(2), beta=0.5, alpha=-2.0),
    at=(),
    explain=added_vector_fault,
    grad_fn="AddmvBackward0",
    batch=lambda input, mat, vec, beta, alpha: _sums(
        input, shaped(stacked_product(mat, shaped(vec, (*vec.shape, 1))), mat.shape[:2]), beta, alpha
    ),
)
def added_vector_product(xp, input, mat, vec, *, beta, alpha):
    """beta * input + alpha * mat @ vec."""
    if mat.ndim == 2 and vec.ndim == 1 and mat.dtype is vec.dtype and mat.dtype.char != "?":
        return combined(xp, input, mat.dot(vec), beta, alpha)
    raise TypeError


@general(
    input=_input_rule,
    vec1=lambda g, vec2, alpha: scaled(matrix_vector_product(g, vec2), alpha),
    vec2=lambda g, vec1, alpha: scaled(vector_matrix_product(vec1, g), alpha),
    sample=Sample(reals(3, 1), reals(3), reals(2), beta=0.5, alpha=-2.0),
    at=(),
    explain=added_outer_fault,
    grad_fn="AddrBackward0",
    batch=lambda input, vec1, vec2, beta, alpha: _sums(
        input, shaped(vec1, (*vec1.shape, 1)) * shaped(vec2, (len(vec2), 1, vec2.shape[1])), beta, alpha
    ),
)
def added_outer_product(xp, input, vec1, vec2, *, beta, alpha):
    """beta * input + alpha * vec1 vec2^T."""
    if vec1.ndim == 1 == vec2.ndim:
        return combined(xp, input, xp.multiply(vec1[:, None], vec2), beta, alpha)
    raise TypeError


@general(
    input=_input_rule,
    batch1=lambda g, batch2, alpha: scaled(batch_product(g, batch2.mT), alpha),
    batch2=lambda g, batch1, alpha: scaled(batch_product(batch1.mT, g), alpha),
    sample=Sample(reals(3, 1), reals(2, 3, 4), reals(2, 4, 2), beta=0.5, alpha=-2.0),
    at=(),
    explain=added_batch_fault,
    grad_fn="BaddbmmBackward0",
    batch=lambda input, batch1, batch2, beta, alpha: _sums(input, stacked_product(batch1, batch2), beta, alpha),
)
def added_batch_product(xp, input, batch1, batch2, *, beta, alpha):
    """beta * input + alpha * batch1 @ batch2, matrix by matrix."""
    if batch1.ndim == 3 == batch2.ndim and batch1.shape[0] == batch2.shape[0] and batch1.dtype is batch2.dtype:
        return combined(xp, input, xp.matmul(blas_ready(xp, batch1), blas_ready(xp, batch2)), beta, alpha)
    raise TypeError


@general(
    input=_input_rule,
    batch1=lambda g, batch2, alpha: scaled(stacked_product(g, batch2.mT), alpha),
    batch2=lambda g, batch1, alpha: scaled(stacked_product(batch1.mT, g), alpha),
    sample=Sample(reals(3, 1), reals(2, 3, 4), reals(2, 4, 2), beta=0.5, alpha=-2.0),
    at=(),
    explain=summed_batch_fault,
    grad_fn="AddbmmBackward0",
    batch=lambda input, batch1, batch2, beta, alpha: _sums(
        input, sum_over(stacked_product(batch1, batch2), axes=(1,), keepdim=False), beta, alpha
    ),
)
def summed_batch_product(xp, input, batch1, batch2, *, beta, alpha):
    """beta * input + alpha * the sum of batch1 @ batch2 over the batch."""
    if batch1.ndim == 3 == batch2.ndim and batch1.shape[0] == batch2.shape[0] and batch1.dtype is batch2.dtype:
        count, rows, inner = batch1.shape
        wide = batch1.transpose(1, 0, 2).reshape(rows, count * inner)
        return combined(xp, input, wide.dot(batch2.reshape(count * inner, batch2.shape[2])), beta, alpha)
    raise TypeError


# ---- what programs call


def overloads(*names):
    """PyTorch's signatures of a function of an added product of two operands."""
    first = f"(Tensor input, Tensor {names[0]}, Tensor {names[1]}, "
    return (
        f"{first}*, Number beta = 1, Number alpha = 1, Tensor out = None)",
        f"{first}torch.dtype out_dtype, *, Number beta = 1, Number alpha = 1, Tensor out = None)",
    )


def _factors(beta, alpha):
    for name, value in (("beta", beta), ("alpha", alpha)):
        if not isinstance(value, int | float):
            raise Unfit(name, "Number", value)
    return {"beta": beta, "alpha": alpha}


@function(example="addmm(ones(2), ones(3, 4), ones(4, 2))", overloads=overloads("mat1", "mat2"), inplace=True)
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2."""
    return added_product(operand(input), operand(mat1, "mat1"), operand(mat2, "mat2"), **_factors(beta, alpha))


@function(example="addmv(ones(2), ones(2, 3), ones(3))", inplace=True)
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * mat @ vec."""
    return added_vector_product(operand(input), operand(mat, "mat"), operand(vec, "vec"), **_factors(beta, alpha))


@function(example="addr(zeros(2, 3), ones(2), ones(3))", inplace=True)
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * vec1 vec2^T."""
    input, vec1, vec2 = operand(input), operand(vec1, "vec1"), operand(vec2, "vec2")
    factors = _factors(beta, alpha)
    wrong = added_outer_fault(None, input, vec1, vec2)
    if wrong is not None:
        raise wrong
    dtype = common_dtype((input, vec1, vec2), False)  # the one of them that promotes its operands
    for name, factor in factors.items():
        if dtype.category != FLOATING and isinstance(factor, float):
            raise fault(
                RuntimeError, f"For integral input tensors, argument {name} must not be a floating point number."
            )
    if dtype is boolean:
        found = OPS["mul"](outer_product(vec1, vec2), bool(alpha))
        return OPS["logical_or"](OPS["mul"](input, bool(beta)), found)
    input, vec1, vec2 = (x if x.dtype is dtype else to_dtype(x, dtype=dtype) for x in (input, vec1, vec2))
    return added_outer_product(input, vec1, vec2, **factors)


@function(
    example="baddbmm(zeros(1), ones(2, 3, 4), ones(2, 4, 2))", overloads=overloads("batch1", "batch2"), inplace=True
)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * batch1 @ batch2, matrix by matrix."""
    return added_batch_product(
        operand(input), operand(batch1, "batch1"), operand(batch2, "batch2"), **_factors(beta, alpha)
    )


@function(example="addbmm(zeros(1), ones(2, 3, 4), ones(2, 4, 2))", inplace=True)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of batch1 @ batch2 over the batch."""
    return summed_batch_product(
        operand(input), operand(batch1, "batch1"), operand(batch2, "batch2"), **_factors(beta, alpha)
    )
