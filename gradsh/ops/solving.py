"""Inverses of matrices, and systems of linear equations with any matrix or with a triangular one."""

from __future__ import annotations

from math import prod

from gradsh.engine.batching import aligned
from gradsh.engine.op import general
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import alike_floats, floats
from gradsh.ops.dimensions import axis_of
from gradsh.ops.matrix_faults import (
    NOT_INVERTIBLE,
    SINGULAR,
    check_fit,
    check_kernel,
    check_numbers,
    check_same_type,
    check_square,
    check_success,
    check_system,
)
from gradsh.ops.options import integer
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.shape import reshape
from gradsh.ops.structure import sum_to_size


def regular(*batch, order=3, columns=None):
    """Matrices to draw that are far from singular."""
    import numpy as np

    identity = np.eye(order, columns)
    return Made(lambda rng: rng.uniform(-1, 1, (*batch, *identity.shape)) + 2.5 * identity)


def columns_first(xp, x):
    """The same matrices with the numbers of a column side by side, as PyTorch's LAPACK leaves them."""
    return xp.swapaxes(xp.array(xp.swapaxes(x, -1, -2), order="C"), -1, -2)


# ---- inverses


@general(
    x=lambda g, inverse: -(inverse.mT @ g @ inverse.mT),
    sample=[Sample(regular()), Sample(regular(2))],
    at=(),
    outputs=("inverse", "info"),
    differentiable=(True, False),
    name="linalg_inv_ex",
    batch="stacked",
)
def inverse_of(xp, x):
    """Inverses of matrices, and where each failed: the place of the zero pivot, or 0."""
    from gradsh.backend.factoring import solution

    found, info = solution(x, xp.eye(x.shape[-1], dtype=x.dtype))
    return columns_first(xp, found), info


@function("linalg_inv_ex", at=("linalg:inv_ex",), example="linalg.inv_ex(tensor([[2.0, 0.0], [0.0, 4.0]]))")
def inv_ex(A, *, check_errors=False):
    """Inverses of matrices, and for each the place of the zero pivot that makes it singular, or 0."""
    A = floats(A, "A")
    check_square(A, "linalg.inv")
    check_numbers(A, "linalg.inv", half=False)
    found = inverse_of(A)
    if check_errors:
        check_success(found.info, "linalg.inv_ex", NOT_INVERTIBLE)
    return found


def inverted(A, name):
    """The inverse, or PyTorch's error under the name of a function."""
    inverse, info = inv_ex(A)
    check_success(info, name, NOT_INVERTIBLE, hint="linalg.pinv gives the pseudo-inverse")
    return inverse


@function("linalg_inv", at=("linalg:inv",), example="linalg.inv(tensor([[2.0, 0.0], [0.0, 4.0]]))")
def inv(A):
    """The inverse of each square matrix."""
    return inverted(floats(A, "A"), "linalg.inv")


@function(example="inverse(tensor([[2.0, 0.0], [0.0, 4.0]]))")
def inverse(input):
    """The inverse of each square matrix."""
    return inverted(floats(input), "linalg.inv")


# ---- systems with any matrix


def _solve_x(g, x, x_shape, result, left, vector):
    """-B_g X^T for A X = B, -X^T B_g for X A = B, where B_g is the gradient of B."""
    right = _solve_y(g, x, left, vector)
    if vector:
        right, result = right[..., None], result[..., None]
    return sum_to_size(-(right @ result.mT if left else result.mT @ right), size=x_shape)


def _solve_y(g, x, left, vector):
    return differentiable_solution(x.mT, g, left=left, vector=vector)


def differentiable_solution(x, y, left=True, vector=False):
    """A solution inside a rule: of a singular matrix what dividing by zero gives, unless it is to be differentiated again."""
    found, info = solution_of(x, y, left=left, vector=vector)
    if isinstance(info, Tensor):
        check_success(info, "torch.linalg.solve", SINGULAR)
    return found


@general(
    x=_solve_x,
    y=lambda g, x, y_shape, left, vector: sum_to_size(_solve_y(g, x, left, vector), size=y_shape),
    sample=[
        Sample(regular(), reals(3, 2), left=True, vector=False),
        Sample(regular(2), reals(3), left=True, vector=True),
        Sample(regular(), reals(2, 2, 3), left=False, vector=False),
    ],
    at=(),
    outputs=("result", "info"),
    differentiable=(True, False),
    name="linalg_solve_ex",
    batch=lambda x, y, *, left, vector: _solutions_for_examples(x, y, left, vector),
)
def solution_of(xp, x, y, *, left, vector):
    """X of x X = y (X x = y where `left` is false), and where each failed; `vector`: y holds vectors."""
    from gradsh.backend.factoring import solution

    if vector:
        found, info = solution(x, y[..., None])
        found = found[..., 0]
        return columns_first(xp, found) if found.ndim > 1 else xp.ascontiguousarray(found), info
    if left:
        found, info = solution(x, y)
        return columns_first(xp, found), info
    found, info = solution(xp.swapaxes(x, -1, -2), xp.swapaxes(y, -1, -2))
    return xp.array(xp.swapaxes(found, -1, -2), order="C"), info


def _solutions_for_examples(x, y, left, vector):
    found = solution_of(*of_equal_rank(x, y[..., None] if vector else y), left=left, vector=False)
    result = found.result[..., 0] if vector else found.result
    return type(found)(result, reshape(found.info, tuple(x.shape[:-2])))


def of_equal_rank(*operands):
    """Matrices with the examples of a `vmap` in front, so that the dimensions behind those meet."""
    rank = max(one.ndim for one in operands) - 1
    return [aligned(one, rank) for one in operands]


def _solved(A, B, left):
    """The solution and where it failed, of what is checked first."""
    A, B = alike_floats((A, "A"), (B, "B"))
    name = "linalg.solve"
    check_numbers(A, name)
    check_same_type(A, B, name)
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    if vector and A.ndim > 1:
        check_square(A, name)
        check_fit(A.shape, (*B.shape, 1), name, left)
        if not left:
            raise fault(
                RuntimeError,
                f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                "linalg.solve is equivalent to B / A.squeeze(-1)",
            )
    else:
        check_system(A, B, name, left)
    check_kernel(A, "lu_cpu")
    return solution_of(A, B, left=bool(left), vector=vector)


@function(
    "linalg_solve_ex",
    at=("linalg:solve_ex",),
    example="linalg.solve_ex(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([2.0, 2.0]))",
)
def solve_ex(A, B, *, left=True, check_errors=False):
    """X of A X = B, and for each matrix the place of the zero pivot that makes it singular, or 0."""
    found = _solved(A, B, left)
    if check_errors:
        check_success(found.info, "torch.linalg.solve_ex", SINGULAR)
    return found


@function(
    "linalg_solve", at=("linalg:solve",), example="linalg.solve(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([2.0, 2.0]))"
)
def solve(A, B, *, left=True):
    """X of A X = B, or of X A = B with left=False; B holds matrices, or vectors if it is A without its last dimension."""
    result, info = _solved(A, B, left)
    check_success(info, "torch.linalg.solve", SINGULAR, hint="linalg.lstsq gives a least-squares solution")
    return result


# ---- tensors as matrices


def _check_counts(rows, columns, rule):
    if rows != columns:
        raise fault(
            RuntimeError,
            f"Expected self to satisfy the requirement prod(self.shape[{rule}:]) == prod(self.shape[:{rule}]), but got "
            f"{columns} != {rows}",
        )


@function("linalg_tensorinv", at=("linalg:tensorinv",), example="linalg.tensorinv(eye(4).reshape(4, 2, 2), ind=1)")
def tensorinv(input, ind=2):
    """The inverse of a tensor as a map from the shape of its last dimensions to that of its first `ind`."""
    input, ind = floats(input), integer(ind, "ind")
    if ind <= 0:
        raise fault(RuntimeError, f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > input.ndim:
        raise fault(RuntimeError, f"ArrayRef: invalid slice, N = {ind}; size = {input.ndim}")
    head, tail = input.shape[:ind], input.shape[ind:]
    rows, columns = prod(head), prod(tail)
    _check_counts(rows, columns, "ind")
    return reshape(inverted(reshape(input, (rows, columns)), "inv"), (*tail, *head))


@function(
    "linalg_tensorsolve",
    at=("linalg:tensorsolve",),
    example="linalg.tensorsolve(eye(4).reshape(2, 2, 4), ones(2, 2))",
)
def tensorsolve(input, other, dims=None):
    """X with tensordot(input, X, X.ndim) = other; `dims` of the input are moved to its end first."""
    input, other = alike_floats((input, "input"), (other, "other"))
    if dims is not None:
        moved = [axis_of(dim, input.ndim) for dim in dims]
        input = input.permute(*[k for k in range(input.ndim) if k not in moved], *moved)
    tail = input.shape[other.ndim :]
    rows, columns = other.numel(), prod(tail)
    _check_counts(rows, columns, "other.ndim")
    return reshape(solve(reshape(input, (rows, columns)), reshape(other, (rows,))), tail)
