"""Norms of vectors and matrices, with PyTorch's derivatives at their kinks (0 at the zero vector)."""

from __future__ import annotations

from math import inf

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, constant, general
from gradsh.engine.promote import broadcast_fault, common_dtype
from gradsh.fault import fault
from gradsh.ops.arithmetic import abs as magnitude, no_truth_values, sgn
from gradsh.ops.calls import Unfit, floats
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axes_of, axis_of
from gradsh.ops.examples import aligned, rest
from gradsh.ops.extrema import max_over, min_over
from gradsh.ops.powers import power_to_number
from gradsh.ops.reduction import sum_over, unreduced
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, nonzero, reals
from gradsh.ops.structure import sum_to_size, to_dtype
from gradsh.ops.transposing import inverse, permuted


def measured(xp, x, ord, axes, keepdim=False):
    """The vector norm of raw numbers over axes (None: all)."""
    x = xp.asarray(x)
    if x.dtype.char == "e":
        return measured(xp, x.astype(xp.float32), ord, axes, keepdim).astype(xp.float16)
    if ord == 2:
        return xp.sqrt(xp.add.reduce(xp.multiply(x, x), axes, None, None, keepdim))
    if ord == 0:
        return xp.add.reduce(xp.not_equal(x, 0), axes, x.dtype, None, keepdim)
    size = xp.absolute(x)
    if ord == 1:
        return xp.add.reduce(size, axes, None, None, keepdim)
    if ord in (inf, -inf):
        ufunc = xp.maximum if ord > 0 else xp.minimum
        return ufunc.reduce(size, axes, None, None, keepdim)
    return xp.power(xp.add.reduce(xp.power(size, ord), axes, None, None, keepdim), 1.0 / ord)


def slope(g, x, norm, ord, axes):
    """The gradient of a norm; g and norm have every dimension. Formulas: `norm_backward` in FunctionsManual.cpp."""
    if ord == 0:
        return None
    if ord == 1:
        return sgn(x) * g
    if ord == 2:
        return g * where(norm == 0, 0.0, x / norm)
    if ord in (inf, -inf):
        return sgn(x) * (g * share_of_size(x, norm, axes=axes))
    if ord < 1:
        own = where(x == 0, 0.0, sgn(x) * power_to_number(magnitude(x), ord - 1))
        return own * g * power_to_number(norm, 1 - ord)
    shared = where(norm == 0, 0.0, g / power_to_number(norm, ord - 1))
    if ord < 2:
        return sgn(x) * power_to_number(magnitude(x), ord - 1) * shared
    return x * power_to_number(magnitude(x), ord - 2) * shared


@constant(at=())
def share_of_size(xp, x, norm, *, axes):
    """What part of the gradient of a largest (or smallest) size each number gets: ties share alike, nan takes part."""
    size = xp.absolute(x)
    ties = xp.logical_or(xp.equal(size, norm), xp.isnan(size))
    return xp.divide(ties, xp.add.reduce(ties, axes, xp.int64, None, True)).astype(xp.asarray(x).dtype)


def _norm_op(name, grad_fn):
    """The same op under the two names that PyTorch has for its nodes."""

    def vector_norm_over(xp, x, *, ord, axes, keepdim):
        """Norm of the vectors over dimensions."""
        return measured(xp, x, ord, axes, keepdim)

    return general(
        x=lambda g, x, x_shape, out, ord, axes, keepdim: slope(
            unreduced(g, x_shape, axes, keepdim), x, unreduced(out, x_shape, axes, keepdim), ord, axes
        ),
        sample=[
            Sample(reals(2, 3), ord=2.0, axes=(1,), keepdim=False),
            Sample(reals(2, 3), ord=2.0, axes=(0, 1), keepdim=True),
            Sample(nonzero(2, 3), ord=3.0, axes=(0,), keepdim=False),
            Sample(nonzero(3), ord=1.5, axes=(0,), keepdim=False),
            Sample(nonzero(3), ord=-1.5, axes=(0,), keepdim=False),
            Sample(nonzero(3), ord=1.0, axes=(0,), keepdim=False),
            Sample(nonzero(3), ord=inf, axes=(0,), keepdim=False),
        ],
        at=(),
        name=name,
        grad_fn=grad_fn,
    )(vector_norm_over)


norm_over = _norm_op("vector_norm", "LinalgVectorNormBackward0")
legacy_norm_over = _norm_op("norm", "NormBackward1")


def check_floating(input, name="linalg.vector_norm"):
    if input.dtype.category != 2:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(
            RuntimeError,
            f"{name}: Expected a floating point or complex tensor as input. Got {kind}",
            hint=".float() first, or write the numbers with a point: 1.0",
        )


def _in_type(input, dtype, name):
    """The numbers in the element type asked for, which must be no narrower."""
    if dtype is None or dtype is input.dtype:
        return input
    have, want = TYPE_NAMES[input.dtype.name], TYPE_NAMES[dtype.name]
    if dtype.category != FLOATING:
        raise fault(RuntimeError, f"{name}: dtype should be floating point or complex, but got {want}")
    if dtype.itemsize < input.dtype.itemsize:
        raise fault(
            RuntimeError,
            f"{name}: the dtype of the input ({have}) should be convertible without narrowing to the specified dtype "
            f"({want})",
        )
    return to_dtype(input, dtype=dtype)


def _check_identity(shape, ord, dim=None):
    """An extremum needs a number."""
    if not (ord < 0 or ord == inf) or 0 not in shape:
        return
    named = (dim,) if isinstance(dim, int) else dim
    where = "an empty tensor because"
    if named:
        empty = next((one for one in named if not shape[one]), None)
        if empty is None:
            return
        where = f"the dimension {empty}because this dimension is empty and"
    raise fault(
        RuntimeError,
        f"linalg.vector_norm cannot compute the {ord:g} norm on {where} the operation does not have an identity",
    )


def _vector_norm(input, ord, dim, keepdim, dtype):
    check_floating(input)
    input = _in_type(input, dtype, "linalg.vector_norm")
    axes = axes_of(dim, input.ndim)
    _check_identity(input.shape, ord, dim)
    return norm_over(input, ord=float(ord), axes=axes, keepdim=keepdim)


@function("linalg_vector_norm", at=("linalg:vector_norm",), example="linalg.vector_norm(tensor([3.0, 4.0]))")
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The ord-norm over dim, or of all numbers: (sum |x|^ord)^(1/ord); the largest for inf, the smallest for -inf."""
    if not isinstance(ord, int | float):
        raise Unfit("ord", "Number", ord)
    return _vector_norm(floats(x, "x"), ord, dim, keepdim, dtype)


# ---- matrices


REST = "bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)"


@function(
    "linalg_matrix_norm",
    at=("linalg:matrix_norm",),
    example="linalg.matrix_norm(tensor([[1.0, 2.0], [3.0, 4.0]]))",
    overloads=(
        f"(Tensor input, Number ord, tuple of ints dim = (-2,-1), {REST}",
        f'(Tensor input, str ord = "fro", tuple of ints dim = (-2,-1), {REST}',
    ),
)
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Norm of matrices: 'fro', 'nuc', 1 and -1 (largest, smallest column sum), inf and -inf (row sum), 2 and -2."""
    A = floats(A, "A")
    if not isinstance(dim, list | tuple):
        raise Unfit("dim", "tuple of ints", dim)
    name = "linalg.matrix_norm"
    if ord not in ("fro", "nuc", 1, -1, 2, -2, inf, -inf):
        shown = ord if isinstance(ord, str) else f"{ord:g}"
        raise fault(
            RuntimeError, f"{name}: Order {shown} not supported.", notes=("fro, nuc, 1, -1, 2, -2, inf, -inf are",)
        )
    if A.ndim < 2:
        raise fault(RuntimeError, f"{name}: The input tensor A must have at least 2 dimensions.")
    check_floating(A, name)
    if len(dim) != 2:
        shown = " ".join(map(str, dim))
        raise fault(RuntimeError, f"{name}: dim must be a 2-tuple. Got {shown}")
    rows, columns = (axis_of(one, A.ndim) for one in dim)
    if rows == columns:
        raise fault(RuntimeError, f"{name}: dims must be different. Got ({rows}, {columns})")
    A = _in_type(A, dtype, name)
    if ord == "fro":
        return _vector_norm(A, 2, (rows, columns), keepdim, None)
    if ord == "nuc" or abs(ord) == 2:
        return _by_singular_values(A, ord, rows, columns, keepdim)
    if abs(ord) == inf:
        rows, columns = columns, rows
    sums = norm_over(A, ord=1.0, axes=(rows,), keepdim=keepdim)
    columns -= not keepdim and rows < columns
    return _extremum(sums, columns, ord, keepdim)


def _extremum(values, axis, ord, keepdim=False, shown=None):
    """The largest number along an axis, or the smallest for a negative order; of none the largest is 0."""
    if values.shape[axis]:
        return (max_over if ord > 0 else min_over)(values, axes=(axis,), keepdim=keepdim)
    if ord < 0:
        dim = axis if shown is None else shown
        raise fault(IndexError, f"amin(): Expected reduction dim {dim} to have non-zero size.")
    return sum_over(values, axes=(axis,), keepdim=keepdim)


def _by_singular_values(A, ord, rows, columns, keepdim):
    """Norms that are a sum or an extremum of the singular values."""
    from gradsh.ops.matrix_faults import check_numbers
    from gradsh.ops.singular_values import svdvals

    check_numbers(A, "linalg.matrix_norm", half=False)
    order = [*(axis for axis in range(A.ndim) if axis not in (rows, columns)), rows, columns]
    values = svdvals(permuted(A, dims=tuple(order)))
    last = values.ndim - 1
    found = sum_over(values, axes=(last,), keepdim=False) if ord == "nuc" else _extremum(values, last, ord, shown=-1)
    return permuted(found.unsqueeze(-1).unsqueeze(-1), dims=inverse(order)) if keepdim else found


@function(at=("linalg:norm",), example="linalg.norm(tensor([[1.0, 2.0], [3.0, 4.0]]), 'fro')")
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Norm of a vector or a matrix, as the order and the dimensions tell; of all numbers without an order."""
    A = floats(A, "A")
    if isinstance(dim, list | tuple) and len(dim) not in (1, 2):
        raise fault(RuntimeError, f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and ord is not None and A.ndim not in (1, 2):
        raise fault(
            RuntimeError,
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.",
        )
    pair = A.ndim == 2 if dim is None else isinstance(dim, list | tuple) and len(dim) == 2
    if ord is not None and (pair or isinstance(ord, str)):
        if dim is None:
            dim = (0, 1) if A.ndim == 2 else (-2, -1)
        return matrix_norm(A, ord, dim, keepdim, dtype=dtype)
    return _vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype)


@function(python=True, example="norm(tensor([3.0, 4.0]))")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over dim, or of all numbers; 'fro' is the 2-norm, 'nuc' the sum of a matrix's singular values."""
    input = floats(input)
    if (isinstance(p, str) and p != "fro") or (p == "fro" and isinstance(dim, list | tuple) and len(dim) > 2):
        if dim is None:
            dim = tuple(range(input.ndim))
        return matrix_norm(input, p, dim if isinstance(dim, list | tuple) else (dim,), keepdim, dtype=dtype)
    return _vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype)


# ---- between two tensors


@general(
    x=lambda g, x, x_shape, y, out, ord: _distance_slope(g, x - y, x_shape, out, ord),
    y=lambda g, x, y, y_shape, out, ord: _distance_slope(g, y - x, y_shape, out, ord),
    sample=[Sample(reals(2, 3), reals(3), ord=2.0), Sample(reals(3), reals(3), ord=1.5)],
    at=(),
    grad_fn="DistBackward0",
    batch=lambda x, y, ord: _distances(x, y, ord),
)
def distance(xp, x, y, *, ord):
    """Norm of the difference."""
    return measured(xp, xp.subtract(x, y), ord, None)


def _distances(x, y, ord):
    """`distance` for all examples."""
    rank = max(x.ndim, y.ndim) - 1
    difference = OPS["sub"](aligned(x, rank), aligned(y, rank))
    return norm_over(difference, ord=ord, axes=rest(difference), keepdim=False)


def _distance_slope(g, difference, shape, out, ord):
    found = slope(g, difference, out, ord, None)
    return None if found is None else sum_to_size(found, size=shape)


@function(example="dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))")
def dist(input, other, p=2):
    """The p-norm of the difference of two tensors."""
    input, other = floats(input), floats(other, "other")
    if not isinstance(p, int | float):
        raise Unfit("p", "Number", p)
    no_truth_values(input, other)
    wrong = broadcast_fault([input.shape, other.shape])
    if wrong is not None:
        raise wrong
    dtype = common_dtype((input, other), False)
    if dtype.category != FLOATING:
        kind = TYPE_NAMES[dtype.name]
        raise fault(
            RuntimeError, f"norm(): input dtype should be either floating point or complex. Got {kind} instead."
        )
    _check_identity(input.shape if 0 in input.shape else other.shape, p)
    input, other = (x if x.dtype is dtype else to_dtype(x, dtype=dtype) for x in (input, other))
    return distance(input, other, ord=float(p))
