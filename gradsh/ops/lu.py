"""LU factorisation with partial pivoting, its parts, and what is solved with it."""

from __future__ import annotations

from gradsh.backend.dtypes import int32
from gradsh.engine.batching import aligned
from gradsh.engine.op import general, linear
from gradsh.engine.returns import named
from gradsh.engine.state import state
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import alike_floats, floats, operand
from gradsh.ops.diagonals import lower as lower_part, upper as upper_part
from gradsh.ops.joining import joined
from gradsh.ops.matrix_faults import (
    check_dimensions,
    check_fit,
    check_kernel,
    check_numbers,
    check_same_type,
    check_square,
    check_success,
)
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.solving import columns_first, of_equal_rank, regular
from gradsh.ops.structure import sum_to_size
from gradsh.ops.triangular import triangular_solution_of

# ---- parts of matrices


@linear(
    x=lambda g, x_shape: framed(g, size=x_shape[-2:]),
    sample=Sample(reals(2, 3, 4), size=(2, 3)),
    at=(),
    name="corner",
    batch="stacked",
)
def corner(xp, x, *, size):
    """The top left part of matrices."""
    return xp.ascontiguousarray(x[..., : size[0], : size[1]])


@linear(
    x=lambda g, x_shape: corner(g, size=x_shape[-2:]),
    sample=Sample(reals(2, 2, 3), size=(3, 4)),
    at=(),
    name="framed",
    batch="stacked",
)
def framed(xp, x, *, size):
    """Zeros with matrices in the top left."""
    out = xp.zeros((*x.shape[:-2], *size), x.dtype)
    out[..., : x.shape[-2], : x.shape[-1]] = x
    return out


def _strictly_lower(x):
    return lower_part(x, diagonal=-1)


def _upper(x):
    return upper_part(x, diagonal=0)


# ---- the parts of what a factorisation gives in one matrix


PIVOTS = Made(lambda rng: rng.integers(1, 4, 3).astype("i4"))


@general(
    x=lambda g, x_shape: _parts_slope(g[0], g[1], x_shape),
    sample=[Sample(reals(3, 3), PIVOTS), Sample(reals(3, 4), PIVOTS)],
    at=(),
    outputs=("P", "L", "U"),
    differentiable=(False, True, True),
    name="lu_unpack",
    batch=lambda x, y: parts_of(x, y),
)
def parts_of(xp, x, y):
    """The permutation, the lower and the upper triangle that a matrix of both and its pivots stand for."""
    return _parts(xp, x, y)


def _parts(xp, x, y):
    from gradsh.backend.factoring import row_order

    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    order = row_order(y - xp.int32(1), rows)
    permutation = xp.swapaxes(xp.eye(rows, dtype=x.dtype)[order], -1, -2)
    lower = xp.tril(x[..., :count], -1) + xp.eye(rows, count, dtype=x.dtype)
    return xp.array(permutation, order="C"), lower, xp.ascontiguousarray(xp.triu(x[..., :count, :]))


def _parts_slope(lower, upper, shape):
    found = None if lower is None else framed(_strictly_lower(lower), size=shape[-2:])
    if upper is not None:
        upper = framed(_upper(upper), size=shape[-2:])
        found = upper if found is None else found + upper
    return found


def _slope(g_lower, g_upper, permutation, lower, upper):
    """The gradient of A = P L U from those of L and U, of any shape (`linalg_lu_backward` in FunctionsManual.cpp).

    Where A is wide, U = (U1 U2); where it is tall, L is L1 above L2. With F = tril(L1^T gL1 - gU2 U2^T, -1) +
    triu(gU1 U1^T - L2^T gL2) it is P L1^-T (F U1^-T  gU2), or P (L1^-T F above gL2) U1^-T.
    """
    rows, count = lower.shape[-2:]
    columns = upper.shape[-1]
    square = (count, count)
    top, left = corner(lower, size=square), corner(upper, size=square)
    inner = None
    if g_lower is not None:
        inner = _strictly_lower(top.mT @ corner(g_lower, size=square))
        if rows > count:
            inner = inner - _upper(lower[..., count:, :].mT @ g_lower[..., count:, :])
    if g_upper is not None:
        more = _upper(corner(g_upper, size=square) @ left.mT)
        if columns > count:
            more = more - _strictly_lower(g_upper[..., count:] @ upper[..., count:].mT)
        inner = more if inner is None else inner + more
    axis = lower.ndim - 2
    if rows > count:
        below = lower[..., count:, :] * 0 if g_lower is None else g_lower[..., count:, :]
        found = joined(_after_lower(top, inner), below, dim=axis, starts=(0, count, rows))
        return permutation @ _before_upper(found, left)
    found = _before_upper(inner, left)
    if columns > count:
        beside = upper[..., count:] * 0 if g_upper is None else g_upper[..., count:]
        found = joined(found, beside, dim=axis + 1, starts=(0, count, columns))
    return permutation @ _after_lower(top, found)


def _after_lower(lower, x):
    return triangular_solution_of(lower.mT, x, upper=True, left=True, unitriangular=True)


def _before_upper(x, upper):
    return triangular_solution_of(upper.mT, x, upper=False, left=False, unitriangular=False)


# ---- the factorisation


def _factor_slope(g, lu, pivots):
    permutation, lower, upper = parts_of(lu, pivots)
    rows, count = lower.shape[-2:]
    g_lower = corner(g, size=(rows, count))
    g_upper = corner(g, size=(count, upper.shape[-1]))
    return _slope(_strictly_lower(g_lower), _upper(g_upper), permutation, lower, upper)


SAMPLES = [Sample(regular()), Sample(regular(order=2, columns=4)), Sample(regular(2, order=4, columns=2))]


@general(
    x=lambda g, LU, pivots: _factor_slope(g, LU, pivots),
    sample=SAMPLES,
    at=(),
    outputs=("LU", "pivots", "info"),
    differentiable=(True, False, False),
    name="linalg_lu_factor_ex",
    batch="stacked",
)
def factors_of(xp, x):
    """L and U of matrices in one matrix each, the rows exchanged, and the place of the first zero pivot, or 0."""
    from gradsh.backend.factoring import factored

    lu, pivots, info = factored(x)
    return columns_first(xp, lu), pivots, info


@general(
    x=lambda g, P, L, U: _slope(g[0], g[1], P, L, U),
    sample=SAMPLES,
    at=(),
    outputs=("P", "L", "U"),
    differentiable=(False, True, True),
    name="linalg_lu",
    batch="stacked",
)
def three_factors(xp, x):
    """P, L and U of matrices P L U."""
    from gradsh.backend.factoring import factored

    lu, pivots, _ = factored(x)
    return _parts(xp, lu, pivots)


def _check_factor(A, name, pivot):
    if A.ndim < 2:
        raise fault(
            RuntimeError, f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    check_kernel(A, "lu_cpu")
    if not pivot and A.numel():
        raise fault(RuntimeError, "linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@function("linalg_lu", at=("linalg:lu",), example="linalg.lu(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def linalg_lu(A, *, pivot=True):
    """A permutation P, a lower triangular L with ones on its diagonal and an upper triangular U with A = P L U."""
    A = floats(A, "A")
    _check_factor(A, "linalg.lu", pivot)
    return three_factors(A)


ZERO_PIVOT = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


@function(
    "linalg_lu_factor_ex", at=("linalg:lu_factor_ex",), example="linalg.lu_factor_ex(tensor([[1.0, 2.0], [3.0, 4.0]]))"
)
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """L and U in one matrix, the pivots, and for each matrix the place of the first zero pivot, or 0."""
    A = floats(A, "A")
    _check_factor(A, "torch.lu_factor", pivot)
    found = factors_of(A)
    if check_errors:
        check_success(found.info, "torch.linalg.lu_factor_ex", ZERO_PIVOT, RuntimeError)
    return found


@function("linalg_lu_factor", at=("linalg:lu_factor",), example="linalg.lu_factor(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def lu_factor(A, *, pivot=True):
    """L and U in one matrix, and the row, counted from 1, that each row was exchanged with."""
    lu, pivots, info = lu_factor_ex(floats(A, "A"), pivot=pivot)
    check_success(info, "torch.linalg.lu_factor", ZERO_PIVOT, RuntimeError)
    return named("linalg_lu_factor", ("LU", "pivots"))(lu, pivots)


def _lu(A, pivot, get_infos, kind):
    found = lu_factor_ex(tensor_argument(A, "_lu_with_info"), pivot=pivot)
    return kind(*found) if get_infos else tuple(found[:2])


@function(at=("torch",), python=True, example="lu(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def lu(A, pivot=True, get_infos=False, out=None):
    """L and U in one matrix, the pivots, and with `get_infos` the place of the first zero pivot."""
    return _lu(A, pivot, get_infos, named("_lu_with_info", ("LU", "pivots", "info")))


@function(at=("Tensor:lu",), python=True, example="tensor([[1.0, 2.0], [3.0, 4.0]]).lu()")
def tensor_lu(self, pivot=True, get_infos=False):
    """As `torch.lu`, in a plain tuple."""
    return _lu(self, pivot, get_infos, lambda *found: found)


@function(at=("torch",), example="lu_unpack(*linalg.lu_factor(tensor([[1.0, 2.0], [3.0, 4.0]])))")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """P, L and U from what `lu_factor` gives; what is not to be unpacked is empty."""
    LU_data, LU_pivots = floats(LU_data, "LU_data"), operand(LU_pivots, "LU_pivots")
    if LU_data.ndim < 2:
        size = list(LU_data.shape)
        raise fault(
            RuntimeError, f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {size} instead"
        )
    if unpack_pivots and LU_pivots.dtype is not int32:
        raise fault(
            RuntimeError,
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is "
            "intended to be used with the output produced by torch.linalg.lu_factor",
        )
    rows, columns = LU_data.shape[-2:]
    pivots = numbers_of(LU_pivots)
    if unpack_pivots and (pivots.shape[-1] != min(rows, columns) or not ((pivots >= 1) & (pivots <= rows)).all()):
        raise fault(
            RuntimeError,
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of "
            "lu_factor?",
        )
    found = parts_of(LU_data, LU_pivots)
    empty = LU_data.new_empty((0,))
    P, L, U = (part if wanted else empty for part, wanted in zip(found, (unpack_pivots, unpack_data, unpack_data)))
    return type(found)(P, L, U)


# ---- solving


def _solve_slope(g, x, y, x_shape, out, left, adjoint):
    """The gradient of the matrix that was factored, -B_g X^T and what follows by transposing, brought to its factors."""
    right = solution_by_factors(x, y, g, left=left, adjoint=not adjoint)
    matrix = -(right @ out.mT if left else out.mT @ right)
    permutation, lower, upper = parts_of(x, y)
    turned = permutation.mT @ (matrix.mT if adjoint else matrix)
    return sum_to_size(_strictly_lower(turned @ upper.mT) + _upper(lower.mT @ turned), size=x_shape)


@general(
    x=_solve_slope,
    z=lambda g, x, y, z_shape, left, adjoint: sum_to_size(
        solution_by_factors(x, y, g, left=left, adjoint=not adjoint), size=z_shape
    ),
    sample=[
        Sample(regular(), PIVOTS, reals(2, 3, 2), left=True, adjoint=False),
        Sample(regular(), PIVOTS, reals(2, 3), left=False, adjoint=False),
        Sample(regular(), PIVOTS, reals(3, 2), left=True, adjoint=True),
    ],
    at=(),
    name="linalg_lu_solve",
    batch=lambda x, y, z, **settings: _solutions_for_examples(x, y, z, **settings),
)
def solution_by_factors(xp, x, y, z, *, left, adjoint):
    """X of A X = z, where A has the LU factors x and the pivots y; of X A = z, of A^T X = z."""
    from gradsh.backend.factoring import factors_solution

    if left:
        return columns_first(xp, factors_solution(x, y, z, adjoint=adjoint))
    turned = factors_solution(x, y, xp.swapaxes(z, -1, -2), adjoint=not adjoint)
    return xp.array(xp.swapaxes(turned, -1, -2), order="C")


def _solutions_for_examples(x, y, z, *, left, adjoint):
    x, z = of_equal_rank(x, z)
    return solution_by_factors(x, aligned(y, x.ndim - 2), z, left=left, adjoint=adjoint)


@function(
    "linalg_lu_solve",
    at=("linalg:lu_solve",),
    example="linalg.lu_solve(*linalg.lu_factor(tensor([[1.0, 2.0], [3.0, 4.0]])), ones(2, 1))",
)
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X of A X = B from what `lu_factor` gave for A; of X A = B with left=False, with A^T for A with `adjoint`."""
    pivots = operand(pivots, "pivots")
    LU, B = alike_floats((LU, "LU"), (B, "B"))
    name = "linalg.lu_solve"
    if pivots.requires_grad and state.grad:
        raise fault(
            RuntimeError,
            "The function 'linalg_lu_solve' is not differentiable with respect to argument 'pivots'. This input cannot "
            "have requires_grad True.",
        )
    check_numbers(LU, f"torch.{name}")
    if pivots.dtype is not int32:
        raise fault(RuntimeError, f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(LU, f"torch.{name}")
    check_same_type(LU, B, name, ("LU", "B"))
    check_dimensions(B, name, "B")
    check_fit(LU.shape, B.shape, name, left)
    rows = LU.shape[-1]
    if pivots.shape[-1:] != (rows,):
        raise fault(RuntimeError, f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots.shape != LU.shape[:-1]:
        got = f"but got pivots with shape {list(pivots.shape)} instead"
        raise fault(RuntimeError, f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, {got}")
    asked = " Did you properly pass the result of lu_factor?"
    if (numbers_of(pivots) < 1).any():
        raise fault(RuntimeError, f"Pivots given to lu_solve must all be greater or equal to 1.{asked}")
    if (numbers_of(pivots) > rows).any():
        raise fault(RuntimeError, f"Pivots given to lu_solve must all be smaller or equal to LU.size(-2).{asked}")
    check_kernel(LU, "lu_cpu")
    return solution_by_factors(LU, pivots, B, left=bool(left), adjoint=bool(adjoint))


@function(example="lu_solve(ones(2, 1), *linalg.lu_factor(tensor([[1.0, 2.0], [3.0, 4.0]])))")
def lu_solve(input, LU_data, LU_pivots):
    """X of A X = input from what `lu_factor` gave for A."""
    B, LU = alike_floats((input, "input"), (LU_data, "LU_data"))
    return linalg_lu_solve(LU, operand(LU_pivots, "LU_pivots"), B)
