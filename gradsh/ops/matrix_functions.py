"""Powers and exponentials of matrices, and the matrices of powers of numbers."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, boolean, float16, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.calls import floats, operand
from gradsh.ops.creation import eye, ones
from gradsh.ops.joining import cat, joined
from gradsh.ops.matrix_faults import check_numbers, check_square
from gradsh.ops.options import integer
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.solving import inv
from gradsh.ops.structure import zeros

# ---- powers


@function(
    "linalg_matrix_power",
    at=("linalg:matrix_power",),
    example="linalg.matrix_power(tensor([[1.0, 1.0], [0.0, 1.0]]), 3)",
)
def linalg_matrix_power(input, n):
    """The n-th power of each square matrix, of its inverse for a negative n."""
    input, n = operand(input), integer(n, "n")
    check_square(input, "linalg.matrix_power")
    if n == 0:
        return input.clone().copy_(eye(input.shape[-1], dtype=input.dtype))
    if n < 0:
        input, n = inv(input), -n
        if n == 1:
            return input
    if n == 1:
        return input.clone()
    if n == 3:
        return input @ input @ input
    found, power = None, input
    while True:
        if n % 2:
            found = power if found is None else found @ power
        n //= 2
        if not n:
            return found
        power = power @ power


@function(example="matrix_power(tensor([[1.0, 1.0], [0.0, 1.0]]), 3)")
def matrix_power(input, n):
    """The n-th power of each square matrix, of its inverse for a negative n."""
    return linalg_matrix_power(operand(input), n)


# ---- the exponential


def _slope(g, x):
    """The upper right block of exp (x^T g; 0 x^T): Al-Mohy and Higham, SIAM J. Matrix Anal. Appl. 30 (2009)."""
    order, last, turned = x.shape[-1], x.ndim - 1, x.mT
    starts = (0, order, 2 * order)
    above = joined(turned, g, dim=last, starts=starts)
    below = joined(zeros(x, shape=x.shape), turned, dim=last, starts=starts)
    return exponential(joined(above, below, dim=last - 1, starts=starts))[..., :order, order:]


@general(
    x=_slope,
    sample=[Sample(reals(3, 3)), Sample(reals(2, 2, 2))],
    at=(),
    name="linalg_matrix_exp",
    batch="stacked",
)
def exponential(xp, x):
    """Exponentials of matrices."""
    from gradsh.backend.matrix_exponential import matrix_exponential

    return matrix_exponential(x)


@function("linalg_matrix_exp", at=("linalg:matrix_exp",), example="linalg.matrix_exp(tensor([[0.0, 1.0], [0.0, 0.0]]))")
def linalg_matrix_exp(input):
    """The exponential of each square matrix: the sum of its powers over the factorials."""
    input = floats(input)
    check_square(input, "linalg.matrix_exp")
    check_numbers(input, "linalg.matrix_exp")
    return exponential(input)


@function(example="matrix_exp(tensor([[0.0, 1.0], [0.0, 0.0]]))")
def matrix_exp(input):
    """The exponential of each square matrix: the sum of its powers over the factorials."""
    return linalg_matrix_exp(floats(input))


# ---- powers of numbers


def _powers(x, count):
    """The powers 0 to count - 1 of each number, along a new last dimension."""
    first = ones((*x.shape, min(count, 1)), dtype=x.dtype if x.dtype.category == FLOATING else int64)
    if count < 2:
        return first
    return cat((first, x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)), -1)


@function("linalg_vander", at=("linalg:vander",), example="linalg.vander(tensor([1.0, 2.0, 3.0]))")
def linalg_vander(x, *, N=None):
    """Vandermonde's matrix: the powers 0 to N - 1 of each number in a row, by default as many as there are numbers."""
    x = operand(x, "x")
    if x.dtype in (boolean, float16):
        kind = TYPE_NAMES[x.dtype.name]
        raise fault(
            RuntimeError, f"linalg.vander supports floating point, complex, and integer tensors, but got {kind}"
        )
    if not x.ndim:
        x = x.unsqueeze(-1)
    count = x.shape[-1] if N is None else integer(N, "N")
    if count <= 1:
        raise fault(RuntimeError, "N must be greater than 1.")
    return _powers(x, count)


@function(at=("torch",), example="vander(tensor([1.0, 2.0, 3.0]))")
def vander(x, N=None, increasing=False):
    """Vandermonde's matrix: the powers N - 1 to 0 of each number in a row, or from 0 on with `increasing`."""
    x = operand(x, "x")
    if x.ndim != 1:
        raise fault(RuntimeError, "x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else integer(N, "N")
    if count < 0:
        raise fault(RuntimeError, "N must be non-negative.")
    found = _powers(x, count)
    return found if increasing else found.flip(-1)
