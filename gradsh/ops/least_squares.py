"""What the spectrum of a matrix tells: pseudo-inverse, rank, condition number; and least squares."""

from __future__ import annotations

from math import inf

from gradsh.backend.dtypes import FLOATING, float16
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import constant, general
from gradsh.engine.promote import NUMBERS, common_shape
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, alike_floats, floats
from gradsh.ops.choice import nan_to_num
from gradsh.ops.masking import masked_fill
from gradsh.ops.matrix_faults import check_batches, check_kernel, check_square
from gradsh.ops.norms import matrix_norm
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.singular_values import check_svd, converging, spread, svdvals
from gradsh.ops.solving import columns_first, inverse_of
from gradsh.ops.structure import sum_to_size


def _tolerances(atol, rtol, hermitian):
    """Tolerances as raw values; PyTorch takes two numbers or two tensors."""
    for name, value in (("atol", atol), ("rtol", rtol)):
        if value is not None and not isinstance(value, (Tensor, *NUMBERS)):
            raise Unfit(name, "Number", value)
    if not isinstance(hermitian, bool):
        raise Unfit("hermitian", "bool", hermitian)
    return {"atol": numbers_of(atol), "rtol": numbers_of(rtol)}


def _for_tolerances(input, tolerances):
    """The matrices repeated for each of the tolerances, where these are tensors."""
    shapes = [input.shape[:-2], *(getattr(value, "shape", ()) for value in tolerances.values())]
    batch = common_shape(shapes[::-1])
    return input if batch == input.shape[:-2] else input.expand(*batch, *input.shape[-2:])


def _signatures(legacy):
    end = "bool hermitian = False"
    return (
        f"(Tensor input, *, Tensor atol = None, Tensor rtol = None, {end}, Tensor out = None)",
        f"(Tensor input, *, float atol = None, float rtol = None, {end}, Tensor out = None)",
        f"(Tensor input, Tensor {legacy}, {end}, *, Tensor out = None)",
        f"(Tensor input, float {legacy}, {end}, *, Tensor out = None)",
    )


# ---- pseudo-inverse


def _slope(g, x, out):
    """`pinv_backward` in FunctionsManual.cpp (Golub and Pereyra, 1973), with the smaller products first."""
    g, turned = g.mT, out.mT
    if x.shape[-2] <= x.shape[-1]:
        inner = g @ out
        beside = inner @ turned
        return beside - (out @ inner).mT - x @ out @ beside + turned @ out @ (g - inner @ x)
    inner = out @ g
    beside = turned @ inner
    return (g - x @ inner) @ out @ turned - (inner @ out).mT + beside - beside @ out @ x


@general(
    x=_slope,
    sample=[
        Sample(spread(2, 3), hermitian=False, atol=None, rtol=None),
        Sample(spread(2, 4, 2), hermitian=False, atol=None, rtol=None),
    ],
    at=(),
    name="linalg_pinv",
    batch="stacked",
)
def pseudo_inverse(xp, x, *, hermitian, atol, rtol):
    """Moore and Penrose's inverse of matrices."""
    from gradsh.backend.spectrum import pseudo_inverse

    return xp.ascontiguousarray(converging(xp, pseudo_inverse, x, hermitian, atol, rtol))


@function(
    "linalg_pinv",
    at=("linalg:pinv",),
    overloads=_signatures("rcond"),
    example="linalg.pinv(tensor([[1.0, 2.0], [2.0, 4.0]]))",
)
def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudo-inverse of each matrix; what of its spectrum is below max(atol, rtol · the largest) counts as zero."""
    input = floats(input)
    tolerances = _tolerances(atol, rcond if rtol is None else rtol, hermitian)
    if input.ndim < 2 or input.dtype.category != FLOATING or input.dtype is float16:
        given = f"{TYPE_NAMES[input.dtype.name]}{{{list(input.shape)}}}"
        raise fault(
            RuntimeError,
            f"linalg.pinv({given}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
        )
    if hermitian and input.numel():
        check_square(input, "linalg.eigh")
    return pseudo_inverse(_for_tolerances(input, tolerances), hermitian=hermitian, **tolerances)


@function(example="pinverse(tensor([[1.0, 2.0], [2.0, 4.0]]))")
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse of each matrix; singular values below rcond times the largest count as zero."""
    return pinv(floats(input), rcond)


# ---- rank


@constant(at=(), batch="stacked")
def rank_of(xp, x, *, hermitian, atol, rtol):
    """How many singular values do not count as zero."""
    from gradsh.backend.spectrum import rank

    return converging(xp, rank, x, hermitian, atol, rtol)


def check_real(input):
    """Single or double precision."""
    if input.dtype.category != FLOATING or input.dtype is float16:
        raise fault(RuntimeError, "This function doesn't handle types other than float and double", hint=".double()")


@function(
    "linalg_matrix_rank",
    at=("linalg:matrix_rank",),
    overloads=_signatures("tol"),
    example="linalg.matrix_rank(tensor([[1.0, 2.0], [2.0, 4.0]]))",
)
def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None):
    """The rank of each matrix: how many singular values are above max(atol, rtol · the largest), or above tol."""
    input = floats(input)
    tolerances = _tolerances(atol, rtol, hermitian) if tol is None else _tolerances(tol, 0.0, hermitian)
    if input.ndim < 2:
        raise fault(RuntimeError, "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    if tolerances["rtol"] is None:
        check_real(input)
    if not hermitian:
        check_svd(input)
    elif input.numel():
        check_square(input, "linalg.eigh")
        check_kernel(input, "linalg_eigh_cpu")
    return rank_of(_for_tolerances(input, tolerances), hermitian=hermitian, **tolerances)


# ---- condition number


@function(
    "linalg_cond",
    at=("linalg:cond",),
    overloads=("(Tensor input, Number p = None, *, Tensor out = None)", "(Tensor input, str p, *, Tensor out = None)"),
    example="linalg.cond(tensor([[1.0, 2.0], [3.0, 4.0]]))",
)
def cond(input, p=None):
    """The condition number of each matrix: its p-norm times that of its inverse; the 2-norm by default."""
    input = floats(input)
    if p is not None and not isinstance(p, (str, *NUMBERS)):
        raise Unfit("p", "Number", p)
    shown = p if isinstance(p, str) or p is None else f"{p:g}"
    if isinstance(p, str):
        check_square(input, f"linalg.cond(ord={p})")
    elif input.ndim < 2:
        raise fault(RuntimeError, "linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, 2, -2, "nuc", "fro", 1, -1, inf, -inf):
        raise fault(RuntimeError, f"linalg.cond got an invalid norm type: {shown}")
    if not input.numel():
        return input.new_zeros(input.shape[:-2])
    if p is None or p in (2, -2):
        values = svdvals(input)
        largest, smallest = values[..., :1], values[..., -1:]
        return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    if p == "nuc":
        values = svdvals(input)
        return values.sum(-1) * values.reciprocal().sum(-1)
    check_square(input, f"linalg.cond(ord={shown})")
    inverse, info = inverse_of(input)
    inverse = masked_fill(inverse, (info != 0)[..., None, None], inf)
    return nan_to_num(matrix_norm(input, p) * matrix_norm(inverse, p), inf, inf, -inf)


# ---- least squares


def _least_squares_slopes(g, x, y, solution, vector):
    """The gradient of the solution, and that of the residuals: 2 (x X - y) times that of the sums of their squares.

    None where there is none; where the driver gives no sums of squares these are empty.
    """
    g_solution, g_residuals = g
    if vector:
        y, solution = y[..., None], solution[..., None]
        g_solution = None if g_solution is None else g_solution[..., None]
    if g_residuals is None or g_residuals.shape[-1] != y.shape[-1]:
        return g_solution, None, y, solution
    return g_solution, 2 * g_residuals[..., None, :] * (x @ solution - y), y, solution


def _least_squares_x(g, x, x_shape, y, solution, vector):
    """The gradient through the pseudo-inverse: `linalg_lstsq_backward` in FunctionsManual.cpp."""
    g_solution, g_residuals, y, solution = _least_squares_slopes(g, x, y, solution, vector)
    found = None if g_solution is None else _slope(g_solution @ y.mT, x, default_inverse(x))
    if g_residuals is not None:
        more = g_residuals @ solution.mT
        found = more if found is None else found + more
    return None if found is None else sum_to_size(found, size=x_shape)


def _least_squares_y(g, x, y, y_shape, solution, vector):
    g_solution, g_residuals, *_ = _least_squares_slopes(g, x, y, solution, vector)
    found = None if g_solution is None else default_inverse(x).mT @ g_solution
    if g_residuals is not None:
        found = -g_residuals if found is None else found - g_residuals
    return None if found is None else sum_to_size(found[..., 0] if vector else found, size=y_shape)


def default_inverse(x):
    return pseudo_inverse(x, hermitian=False, atol=None, rtol=None)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@general(
    x=_least_squares_x,
    y=_least_squares_y,
    sample=[
        Sample(spread(3, 2), reals(3, 2), driver="gelsd", rcond=None, vector=False),
        Sample(spread(2, 3), reals(2, 2), driver="gels", rcond=None, vector=False),
        Sample(spread(2, 4, 2), reals(2, 4), driver="gelsy", rcond=None, vector=True),
    ],
    at=(),
    outputs=("solution", "residuals", "rank", "singular_values"),
    differentiable=(True, True, False, False),
    name="linalg_lstsq",
)
def least_squares(xp, x, y, *, driver, rcond, vector):
    """X of least norm with the least |x X - y|, the sums of squares that are left, the ranks and the singular values.

    What LAPACK's driver of this name does not give is empty.
    """
    from gradsh.backend.spectrum import least_squares

    if vector:
        y = y[..., None]
    rows, columns = x.shape[-2:]
    found, ranks, values = converging(xp, least_squares, x, y, rcond, driver == "gels")
    residuals = xp.zeros(0, x.dtype)
    if rows > columns and driver != "gelsy" and (ranks == columns).all() and x.size and y.size:
        left = x @ found - y
        residuals = xp.add.reduce(left * left, -2)
    if driver in ("gels", "gelsy") or not x.size:
        values = xp.zeros(0, x.dtype)
    return xp.ascontiguousarray(found[..., 0]) if vector else columns_first(xp, found), residuals, ranks, values


@function(
    "linalg_lstsq",
    at=("linalg:lstsq",),
    example="linalg.lstsq(tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), tensor([1.0, 2.0, 4.0])).solution",
)
def lstsq(input, b, rcond=None, *, driver=None):
    """X of least norm that makes |input X - b| least, with what LAPACK's driver ("gelsy" by default) gives besides."""
    input, b = alike_floats((input, "input"), (b, "b"))
    name = "torch.linalg.lstsq"
    if driver is not None and not isinstance(driver, str):
        raise Unfit("driver", "str", driver)
    if input.ndim < 2:
        raise fault(RuntimeError, f"{name}: input must have at least 2 dimensions.")
    if not b.ndim:
        raise fault(RuntimeError, f"{name}: other must have at least 1 dimension.")
    if input.dtype is not b.dtype:
        kinds = f"input's dtype {TYPE_NAMES[input.dtype.name]} and other's dtype {TYPE_NAMES[b.dtype.name]}"
        raise fault(RuntimeError, f"{name}: Expected input and other to have the same dtype, but got {kinds}")
    if driver is not None and driver not in DRIVERS:
        raise fault(RuntimeError, f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = input.ndim - b.ndim == 1
    if not vector and input.ndim != b.ndim:
        raise fault(
            RuntimeError,
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1",
        )
    check_batches((*b.shape, 1) if vector else b.shape, input.shape)
    side = -1 if vector else -2
    if b.shape[side] != input.shape[-2]:
        raise fault(RuntimeError, f"{name}: input.size(-2) should match other.size({side})")
    if rcond is None:
        check_real(input)
    check_kernel(input, "linalg_lstsq_cpu")
    return least_squares(input, b, driver=driver or "gelsy", rcond=rcond, vector=vector)
