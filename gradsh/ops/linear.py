"""The linear layer: rows times the transpose of a weight, and a bias."""

from __future__ import annotations

from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.affine import combined, sum_to
from gradsh.ops.calls import alike
from gradsh.ops.examples import aligned
from gradsh.ops.product_faults import added_matrix_fault, folded_fault
from gradsh.ops.products import matmul, matrix_product, rows_of, rows_shape, stacked_product
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshaped
from gradsh.ops.transposing import turned

# One op does what PyTorch has t, mm or addmm and, where there are not two dimensions, views for.

THROUGH = {"weight": "TBackward0"}
STACKS = [(3, 4), (2, 3, 4), (4,)]


def _rows(x):
    return x if len(x.shape) == 2 else rows_of(x)


def _product(x, weight):
    """Rows times the transpose of a weight; PyTorch's types, no promotion."""
    if weight.ndim == 2 and x.dtype is weight.dtype and x.dtype.char != "?":
        return (x if x.ndim == 2 else x.reshape(rows_shape(x))).dot(weight.T)
    raise TypeError


def _restored(product, x):
    return product if x.ndim == 2 else product.reshape(*x.shape[:-1], product.shape[1])


def _x_rule(g, x_shape, weight):
    found = matrix_product(_rows(g), weight)
    return found if len(x_shape) == 2 else reshaped(found, size=x_shape)


def _weight_rule(g, x):
    return matrix_product(_rows(g).T, _rows(x))


# ---- for all examples, each with its own weight


def _products(x, weight):
    if x.ndim == 2:
        return reshaped(_products(reshaped(x, size=(len(x), 1, x.shape[1])), weight), size=(len(x), weight.shape[1]))
    return stacked_product(x, aligned(weight.mT, x.ndim - 1))


def _plus(product, bias):
    return product + aligned(bias, product.ndim - 1)


def _linear_op(name, grad_fn):
    """The op without a bias, under each of the names that PyTorch's last node has."""

    def linear_product(xp, x, weight):
        """Rows times the transpose of a weight."""
        return _restored(_product(x, weight), x)

    return general(
        x=_x_rule,
        weight=_weight_rule,
        sample=[Sample(reals(*shape), reals(2, 4)) for shape in STACKS],
        at=(),
        explain=lambda error, x, weight: folded_fault(error, x, weight.T),
        name=name,
        grad_fn=grad_fn,
        through=THROUGH,
        batch={"x": lambda x, weight: PRODUCTS[min(x.ndim, 3)](x, weight), "x weight": _products},
    )(linear_product)


PRODUCTS = {
    1: _linear_op("linear_row", "SqueezeBackward4"),
    2: _linear_op("linear_rows", "MmBackward0"),
    3: _linear_op("linear_stack", "UnsafeViewBackward0"),
}


def _affine_op(name, grad_fn):
    """The op with a bias, under each of the names that PyTorch's last node has."""

    def affine_product(xp, bias, x, weight):
        """Rows times the transpose of a weight, plus a bias."""
        return _restored(combined(xp, bias, _product(x, weight), 1, 1), x)

    affine_product.__name__ = name
    return general(
        bias=lambda g, bias_shape: sum_to(_rows(g), bias_shape),
        x=_x_rule,
        weight=_weight_rule,
        sample=[Sample(reals(2), reals(*shape), reals(2, 4)) for shape in STACKS],
        at=(),
        explain=lambda error, bias, x, weight: added_matrix_fault(error, bias, x, weight.T),
        grad_fn=grad_fn,
        through=THROUGH,
        batch={
            "x": lambda bias, x, weight: (affine_rows if x.ndim == 2 else affine_stack)(bias, x, weight),
            "bias x": lambda bias, x, weight: _plus(PRODUCTS[min(x.ndim, 3)](x, weight), bias),
            "bias x weight": lambda bias, x, weight: _plus(_products(x, weight), bias),
        },
    )(affine_product)


affine_rows = _affine_op("affine_rows", "AddmmBackward0")
affine_stack = _affine_op("affine_stack", "ViewBackward0")


@function(at=("F",), python=False, example="F.linear(tensor([1.0, 2.0]), ones(3, 2), zeros(3))")
def linear(input, weight, bias=None):
    """input @ weight^T + bias, over the last dimension of input."""
    input, weight = alike((input, "input"), (weight, "weight"))
    rank, weight_rank = input.ndim, weight.ndim
    if not rank or not weight_rank:
        raise fault(
            RuntimeError, f"both arguments to linear need to be at least 1D, but they are {rank}D and {weight_rank}D"
        )
    if weight_rank > 2:
        raise fault(RuntimeError, f"t() expects a tensor with <= 2 dimensions, but self is {weight_rank}D")
    if bias is None:
        return PRODUCTS[min(rank, 3)](input, weight) if weight_rank == 2 else matmul(input, turned(weight))
    _, bias = alike((input, "input"), (bias, "bias"))
    if weight_rank == 1 == rank:
        return matmul(input, turned(weight)) + bias
    return affine_rows(bias, input, weight) if rank == 2 else affine_stack(bias, input, weight)
