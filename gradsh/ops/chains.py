"""Cross products, and chains of matrix products in their cheapest order."""

from __future__ import annotations

from gradsh.engine.alias import C_TYPES
from gradsh.engine.op import OPS, bilinear
from gradsh.engine.promote import broadcast_fault
from gradsh.fault import fault
from gradsh.ops.calls import alike_floats, operand
from gradsh.ops.copying import clone
from gradsh.ops.dimensions import axis_of
from gradsh.ops.joining import elements
from gradsh.ops.matrix_faults import check_same_type
from gradsh.ops.norms import check_floating
from gradsh.ops.product_faults import scalar_types_fault, truths_fault
from gradsh.ops.products import conjugate_product, matmul, matrix_product
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshape
from gradsh.ops.structure import sum_to_size

# ---- vectors in space


@bilinear(
    x=lambda g, y, x_shape, axis: sum_to_size(cross_product(y, g, axis=axis), size=x_shape),
    y=lambda g, x, y_shape, axis: sum_to_size(cross_product(g, x, axis=axis), size=y_shape),
    sample=[Sample(reals(2, 3), reals(1, 3), axis=1), Sample(reals(3, 2), reals(3, 2), axis=0)],
    at=(),
    grad_fn="LinalgCrossBackward0",
)
def cross_product(xp, x, y, *, axis):
    """Cross product of the vectors along an axis; the other dimensions are broadcast."""
    x, y = xp.moveaxis(xp.asarray(x), axis, 0), xp.moveaxis(xp.asarray(y), axis, 0)
    parts = [x[i] * y[j] - x[j] * y[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return xp.stack(parts, axis)


@function(example="cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))")
def cross(input, other, dim=None):
    """Cross product of vectors of length 3, along dim or the first dimension of length 3."""
    input, other = operand(input), operand(other, "other")
    if dim is None:
        threes = [k for k, length in enumerate(input.shape) if length == 3]
        if not threes:
            raise fault(RuntimeError, "no dimension of size 3 in input")
        dim = threes[0]
    return linalg_cross(input, other, dim=dim)


@function(at=("linalg:cross",), example="linalg.cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))")
def linalg_cross(input, other, *, dim=-1):
    """Cross product of vectors of length 3 along dim; the other dimensions are broadcast."""
    input, other = operand(input), operand(other, "other")
    if input.ndim != other.ndim:
        raise fault(RuntimeError, "linalg.cross: inputs must have the same number of dimensions.")
    if not input.ndim:
        raise fault(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(dim, input.ndim)
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        got = f"{input.shape[axis]} and {other.shape[axis]}"
        raise fault(RuntimeError, f"linalg.cross: inputs dimension {dim} must have length 3. Got {got}")
    wrong = broadcast_fault([input.shape, other.shape]) or truths_fault("cross", input)
    wrong = wrong or scalar_types_fault(None, input, other)
    if wrong is not None:
        raise wrong
    return cross_product(input, other, axis=axis)


@function("linalg_vecdot", at=("linalg:vecdot",), example="linalg.vecdot(ones(2, 3), ones(2, 3))")
def vecdot(x, y, *, dim=-1):
    """Sum of products of the vectors along dim; the other dimensions are broadcast."""
    x, y = alike_floats((x, "x"), (y, "y"))
    check_floating(x, "linalg.vecdot")
    check_same_type(x, y, "linalg.vecdot", ("x", "y"))
    if x.ndim == 1 == y.ndim:
        if dim.__class__ is not int:
            axis_of(dim, 1)
        return conjugate_product(x, y)
    product = OPS["mul"](x, y)
    return sum_over(product, axes=(axis_of(dim, product.ndim),) if product.ndim else (), keepdim=False)


# ---- chains


@function(
    "linalg_multi_dot", at=("linalg:multi_dot",), example="linalg.multi_dot([ones(2, 3), ones(3, 4), ones(4, 1)])"
)
def multi_dot(tensors):
    """Product of two or more matrices in the order that takes the fewest multiplications; the ends may be vectors."""
    tensors = [operand(one, "tensors") for one in tensors]
    if len(tensors) < 2:
        raise fault(RuntimeError, f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for name, end in (("first", first), ("last", last)):
        if end.ndim not in (1, 2):
            raise fault(RuntimeError, f"multi_dot(): the {name} tensor must be 1D or 2D but got {end.ndim}D")
    matrices = list(tensors)
    if first.ndim == 1:
        matrices[0] = reshape(first, (1, first.shape[0]))
    if last.ndim == 1:
        matrices[-1] = reshape(last, (last.shape[0], 1))
    for k, one in enumerate(matrices):
        if one.ndim != 2:
            raise fault(RuntimeError, f"multi_dot(): tensor {k} must be 2D but got {one.ndim}D")
        if one.dtype is not first.dtype:
            kinds = f"tensor 0 is {C_TYPES[first.dtype.name]} and tensor {k} {C_TYPES[one.dtype.name]}"
            raise fault(RuntimeError, f"multi_dot(): all tensors must have be the same dtype but {kinds}")
    for k in range(len(matrices) - 1):
        if matrices[k].shape[1] != matrices[k + 1].shape[0]:
            shapes = f"{list(matrices[k].shape)} and {list(matrices[k + 1].shape)}"
            raise fault(RuntimeError, f"multi_dot(): tensors {k} and {k + 1} with shapes {shapes} cannot be multiplied")
    ends = ([] if first.ndim == 1 else [first.shape[0]]) + ([] if last.ndim == 1 else [last.shape[1]])
    return reshape(_in_best_order(matrices), tuple(ends))


@function(at=("torch",), python=True, example="chain_matmul(ones(2, 3), ones(3, 4))")
def chain_matmul(*given, out=None):
    """Product of matrices in the order that takes the fewest multiplications."""
    matrices = elements(given[0] if len(given) == 1 and isinstance(given[0], list) else given)
    for one in matrices:
        if one.ndim != 2:
            raise fault(RuntimeError, f"Tensor dimension is {one.ndim}, expected 2 instead.")
    return clone(matrices[0]) if len(matrices) == 1 else multi_dot(matrices)


def _in_best_order(matrices):
    """The product of a chain: dynamic programming over where the last product is made (Cormen et al., ch. 14.2)."""
    count = len(matrices)
    if count == 2:
        return matrix_product(*matrices)
    sizes = [matrices[0].shape[0], *(one.shape[1] for one in matrices)]
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i, j):
        return matrices[i] if i == j else matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    return product(0, count - 1)
