"""Determinants of matrices, and the logarithms of their sizes."""

from __future__ import annotations

from math import nan

from gradsh.engine.op import constant, general, linear
from gradsh.engine.returns import named
from gradsh.engine.tensor import Tensor
from gradsh.ops.calls import floats
from gradsh.ops.choice import where
from gradsh.ops.creation import eye
from gradsh.ops.diagonals import diagonal_copy
from gradsh.ops.matrix_faults import check_kernel, check_numbers, check_square
from gradsh.ops.reduction import repeat_over, sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.scanning import holds_zero
from gradsh.ops.solving import differentiable_solution, regular


def _factors(xp, x):
    """The diagonal of U of the transposed matrix, which PyTorch factors, and the sign of the exchanges of rows."""
    from gradsh.backend.factoring import factored

    lu, pivots, _ = factored(xp.swapaxes(x, -1, -2))
    exchanges = xp.add.reduce(pivots != xp.arange(1, x.shape[-1] + 1), -1, xp.int64)
    return xp.diagonal(lu, 0, -2, -1), xp.where(exchanges % 2, x.dtype.type(-1), x.dtype.type(1))


LARGE = 16  # order from beyond which numpy's way gives the same but for rounding, and faster


def across(scale, matrices):
    """A number for each matrix, times the matrix."""
    return scale[..., None, None] * matrices if getattr(scale, "ndim", 0) else scale * matrices


@linear(
    x=lambda g: sum_over(diagonal_copy(g, offset=0, dim1=-2, dim2=-1), axes=(len(g.shape) - 2,), keepdim=False),
    sample=[Sample(reals(), order=3), Sample(reals(2), order=2)],
    at=(),
    batch="stacked",
)
def scaled_identity(xp, x, *, order):
    """A number for each matrix on the whole of its diagonal."""
    return across(xp.asarray(x), xp.eye(order, dtype=xp.dtype_of(x).code))


def transposed_inverse(x, scale):
    """The transposed inverse of each matrix times a number for each."""
    return differentiable_solution(x.mT, scaled_identity(scale, order=x.shape[-1]))


def _determinant_slope(g, x, out):
    """g det(x) x^-T, the cofactors. Of a singular matrix PyTorch gives zeros, but the cofactors to be differentiated again."""
    if x.shape[-1] < 2:
        return repeat_over(g, size=tuple(x.shape), axes=(len(x.shape) - 2, len(x.shape) - 1), keepdim=False)
    if not isinstance(x, Tensor):
        return near_solution(x.mT, scaled_identity(g * out, order=x.shape[-1]))
    return across(g, adjugate(x).mT) if holds_zero(out) else transposed_inverse(x, g * out)


@constant(at=())
def near_solution(xp, x, y):
    """X of x X = y, in which the pivots that are zero are made the smallest numbers that count."""
    from gradsh.backend.factoring import factored, factors_solution, solution

    found, info = solution(x, y)
    if not info.any():
        return found
    lu, pivots, _ = factored(x)
    diagonal = xp.diagonal(lu, 0, -2, -1)
    diagonal.flags.writeable = True
    diagonal[diagonal == 0] = xp.finfo(x.dtype).eps
    return factors_solution(lu, pivots, y)


def adjugate(x):
    """The transposed cofactors, without a division by the matrix: Faddeev and LeVerrier's recursion."""
    order = x.shape[-1]
    found = identity = eye(order, dtype=x.dtype)
    for k in range(1, order):
        product = x @ found
        trace = diagonal_copy(product, offset=0, dim1=-2, dim2=-1).sum(-1)
        found = product - across(trace / k, identity)
    return found if order % 2 else -found


@general(
    x=_determinant_slope, sample=[Sample(regular()), Sample(regular(2))], at=(), name="linalg_det", batch="stacked"
)
def determinant(xp, x):
    """Determinants of matrices."""
    if x.shape[-1] > LARGE:
        return xp.linalg.det(x)
    diagonal, sign = _factors(xp, x)
    return xp.multiply.reduce(diagonal, -1) * sign


@function("linalg_det", at=("linalg:det",), example="linalg.det(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def linalg_det(A):
    """The determinant of each square matrix."""
    A = floats(A, "A")
    check_square(A, "linalg.det")
    check_numbers(A, "linalg.det")
    check_kernel(A, "lu_cpu")
    return determinant(A)


@function(example="det(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def det(input):
    """The determinant of each square matrix."""
    return linalg_det(floats(input))


# ---- logarithms


def _logarithm_slope(g, x):
    """g x^-T for the logarithm; the sign has no slope."""
    return None if g[1] is None else transposed_inverse(x, g[1])


@general(
    x=_logarithm_slope,
    sample=[Sample(regular()), Sample(regular(2))],
    at=(),
    outputs=("sign", "logabsdet"),
    name="linalg_slogdet",
    batch="stacked",
)
def sign_and_logarithm(xp, x):
    """Signs of determinants, and the logarithms of their sizes."""
    if x.shape[-1] > LARGE:
        return xp.linalg.slogdet(x)
    diagonal, sign = _factors(xp, x)
    return sign * xp.multiply.reduce(xp.signum(diagonal), -1), xp.add.reduce(xp.log(xp.absolute(diagonal)), -1)


def _signed(A, name):
    check_square(A, name)
    check_numbers(A, name, half=False)
    return sign_and_logarithm(A)


@function("linalg_slogdet", at=("linalg:slogdet",), example="linalg.slogdet(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def linalg_slogdet(A):
    """The sign of each determinant, and the logarithm of its size."""
    return _signed(floats(A, "A"), "linalg.slogdet")


@function(example="slogdet(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def slogdet(input):
    """The sign of each determinant, and the logarithm of its size."""
    return named("slogdet", ("sign", "logabsdet"))(*_signed(floats(input), "linalg.slogdet"))


@function(example="logdet(tensor([[2.0, 0.0], [0.0, 4.0]]))")
def logdet(input):
    """The logarithm of each determinant: nan where it is negative."""
    sign, logarithm = _signed(floats(input), "logdet")
    return where(sign == -1, nan, logarithm)
