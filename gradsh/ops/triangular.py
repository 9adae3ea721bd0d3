"""Systems of linear equations with a triangular matrix."""

from __future__ import annotations

from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.calls import alike_floats
from gradsh.ops.diagonals import lower as lower_part, upper as upper_part
from gradsh.ops.matrix_faults import check_batches, check_kernel, check_system
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.solving import columns_first, regular
from gradsh.ops.structure import sum_to_size, to_dtype, zeros


def triangle(x, upper, unit=False):
    """What a triangular solver reads of a matrix; without the diagonal where that counts as ones."""
    return upper_part(x, diagonal=int(unit)) if upper else lower_part(x, diagonal=-int(unit))


def _substituted(xp, x, y, upper, left, unit):
    from gradsh.backend.factoring import triangular_solution

    if left:
        return triangular_solution(x, y, upper=upper, unit=unit)
    turned = triangular_solution(xp.swapaxes(x, -1, -2), xp.swapaxes(y, -1, -2), upper=not upper, unit=unit)
    return xp.swapaxes(turned, -1, -2)


def _solve_x(g, x, x_shape, out, upper, left, unitriangular):
    """-B_g X^T for A X = B, -X^T B_g for X A = B, within the triangle; B_g is the gradient of B."""
    right = _solve_y(g, x, upper, left, unitriangular)
    found = triangle(right @ out.mT if left else out.mT @ right, upper, unitriangular)
    return sum_to_size(-found, size=x_shape)


def _solve_y(g, x, upper, left, unitriangular):
    return triangular_solution_of(x.mT, g, upper=not upper, left=left, unitriangular=unitriangular)


@general(
    x=_solve_x,
    y=lambda g, x, y_shape, upper, left, unitriangular: sum_to_size(
        _solve_y(g, x, upper, left, unitriangular), size=y_shape
    ),
    sample=[
        Sample(regular(), reals(3, 2), upper=True, left=True, unitriangular=False),
        Sample(regular(2), reals(1, 2, 3), upper=False, left=False, unitriangular=False),
        Sample(regular(), reals(2, 3, 1), upper=False, left=True, unitriangular=True),
    ],
    at=(),
    name="linalg_solve_triangular",
    batch="stacked",
)
def triangular_solution_of(xp, x, y, *, upper, left, unitriangular):
    """X of x X = y (X x = y where `left` is false) for a triangular x."""
    return columns_first(xp, _substituted(xp, x, y, upper, left, unitriangular))


@function(
    "linalg_solve_triangular",
    at=("linalg:solve_triangular",),
    example="linalg.solve_triangular(tensor([[2.0, 1.0], [0.0, 4.0]]), tensor([[3.0], [4.0]]), upper=True)",
)
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X of A X = B, or of X A = B with left=False, reading one triangle of A, its diagonal as ones if `unitriangular`."""
    A, B = alike_floats((A, "A"), (B, "B"))
    check_system(A, B, "linalg.solve_triangular", left)
    check_kernel(A, "triangular_solve_cpu")
    if A.dtype is not B.dtype:
        B = to_dtype(B, dtype=A.dtype)
    return triangular_solution_of(A, B, upper=bool(upper), left=bool(left), unitriangular=bool(unitriangular))


# ---- the same under its older name


def _legacy_x(g, x, x_shape, solution, upper, transpose, unitriangular):
    from_solution, from_clone = g
    if from_solution is None:
        return sum_to_size(from_clone, size=x_shape)
    right = _legacy_y(g, x, upper, transpose, unitriangular)
    found = -triangle(solution @ right.mT if transpose else right @ solution.mT, upper, unitriangular)
    return sum_to_size(found if from_clone is None else found + from_clone, size=x_shape)


def _legacy_y(g, x, upper, transpose, unitriangular):
    return triangular_solution_of(
        x if transpose else x.mT, g[0], upper=upper if transpose else not upper, left=True, unitriangular=unitriangular
    )


@general(
    x=_legacy_x,
    y=lambda g, x, y_shape, upper, transpose, unitriangular: (
        zeros(g[1], shape=y_shape)
        if g[0] is None
        else sum_to_size(_legacy_y(g, x, upper, transpose, unitriangular), size=y_shape)
    ),
    sample=[
        Sample(regular(), reals(3, 2), upper=True, transpose=False, unitriangular=False),
        Sample(regular(2), reals(3, 1), upper=False, transpose=True, unitriangular=False),
    ],
    at=(),
    outputs=("solution", "cloned_coefficient"),
    name="triangular_solve",
    batch="stacked",
)
def triangular_pair(xp, x, y, *, upper, transpose, unitriangular):
    """X of x X = y (x^T X = y with `transpose`) for a triangular x, and a copy of x."""
    one = xp.swapaxes(x, -1, -2) if transpose else x
    found = _substituted(xp, one, y, upper is not transpose, True, unitriangular)
    copy = xp.broadcast_to(x, (*found.shape[:-2], *x.shape[-2:]))
    return columns_first(xp, found), columns_first(xp, copy)


def check_legacy(b, A, name):
    """Both sides of an equation, as the older functions say what is wrong with them."""
    if b.dtype is not A.dtype:
        found = f"b of type {TYPE_NAMES[b.dtype.name]} and A of type {TYPE_NAMES[A.dtype.name]} instead."
        raise fault(RuntimeError, f"Expected b and A to have the same dtype, but found {found}")
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise fault(RuntimeError, f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if rows != b.shape[-2]:
        raise fault(
            RuntimeError,
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {rows} but each b matrix is "
            f"{b.shape[-2]} by {b.shape[-1]}",
        )
    check_batches(A.shape, b.shape)


@function(example="triangular_solve(tensor([[3.0], [4.0]]), tensor([[2.0, 1.0], [0.0, 4.0]])).solution")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """X of A X = input (A^T X = input with `transpose`) for a triangular A, and a copy of A."""
    input, A = alike_floats((input, "input"), (A, "A"))
    name = "triangular_solve"
    for argument, value in (("b", input), ("A", A)):
        if value.ndim < 2:
            raise fault(
                RuntimeError,
                f"torch.{name}: Expected {argument} to have at least 2 dimensions, but it has {value.ndim} dimensions "
                "instead",
            )
    check_legacy(input, A, name)
    check_kernel(A, "triangular_solve_cpu")
    return triangular_pair(A, input, upper=bool(upper), transpose=bool(transpose), unitriangular=bool(unitriangular))
