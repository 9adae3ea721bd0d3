"""QR factorisation, and the reflections that make up its orthogonal factor."""

from __future__ import annotations

from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import general
from gradsh.engine.returns import named
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, alike_floats, floats
from gradsh.ops.diagonals import lower as lower_part, upper as upper_part, with_diagonal
from gradsh.ops.joining import joined, stacked
from gradsh.ops.lu import corner, framed
from gradsh.ops.matrix_faults import check_dimensions, check_kernel, check_numbers
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.solving import columns_first, regular
from gradsh.ops.structure import zeros
from gradsh.ops.triangular import triangular_solution_of


def _slope(g_q, g_r, q, r, mode):
    """(gQ + Q S) R^-T, where S is symmetric with the upper triangle of gR R^T - Q^T gQ.

    `linalg_qr_backward` in FunctionsManual.cpp. Of a wide A = (X Y) = Q (U V) that is the gradient of X, with Y gV^T
    added to that of Q; that of Y is Q gV.
    """
    if mode == "r":
        raise fault(
            RuntimeError,
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr.",
        )
    rows, count, columns = q.shape[-2], r.shape[-2], r.shape[-1]
    if mode == "complete" and rows > columns:
        raise fault(
            RuntimeError,
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
            hint="mode='reduced'",
        )
    beside = None
    if columns > count:
        square = (count, count)
        if g_r is not None:
            beside, after = g_r[..., count:], q @ r[..., count:]
            through = after @ beside.mT
            g_q = through if g_q is None else g_q + through
            g_r = corner(g_r, size=square)
        r = corner(r, size=square)
    inner = None
    if g_r is not None:
        inner = g_r @ r.mT
    if g_q is not None:
        product = q.mT @ g_q
        inner = -product if inner is None else inner - product
    inner = upper_part(inner, diagonal=0)
    found = q @ (inner + upper_part(inner, diagonal=1).mT)
    if g_q is not None:
        found = found + g_q
    found = triangular_solution_of(r.mT, found, upper=False, left=False, unitriangular=False)
    if columns == count:
        return found
    if beside is None:
        return framed(found, size=(rows, columns))
    return joined(found, q @ beside, dim=found.ndim - 1, starts=(0, count, columns))


@general(
    x=lambda g, Q, R, mode: _slope(g[0], g[1], Q, R, mode),
    sample=[
        Sample(regular(), mode="reduced"),
        Sample(regular(2, order=4, columns=2), mode="reduced"),
        Sample(regular(order=2, columns=4), mode="complete"),
    ],
    at=(),
    outputs=("Q", "R"),
    name="linalg_qr",
    batch="stacked",
)
def orthogonal_and_upper(xp, x, *, mode):
    """Orthogonal and upper triangular factors of matrices."""
    if mode == "r":
        return xp.empty(0, x.dtype), columns_first(xp, xp.linalg.qr(x, mode="r"))
    q, r = xp.linalg.qr(x, mode=mode)
    return columns_first(xp, q), columns_first(xp, r)


@function("linalg_qr", at=("linalg:qr",), example="linalg.qr(tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))")
def linalg_qr(A, mode="reduced"):
    """Q with orthonormal columns and an upper triangular R with A = Q R; mode: "reduced", "complete" or "r" for R alone."""
    A = floats(A, "A")
    if not isinstance(mode, str):
        raise Unfit("mode", "str", mode)
    check_dimensions(A, "linalg.qr")
    check_numbers(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise fault(
            RuntimeError,
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'",
        )
    check_kernel(A, "geqrf_cpu")
    return orthogonal_and_upper(A, mode=mode)


@function(example="qr(tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))")
def qr(input, some=True):
    """Q with orthonormal columns and an upper triangular R; Q is square with some=False."""
    return named("qr", ("Q", "R"))(*linalg_qr(floats(input), "reduced" if some else "complete"))


# ---- reflections


def _no_derivative(g):
    raise fault(NotImplementedError, "the derivative for 'geqrf' is not implemented.", hint="linalg.qr has one")


@general(x=_no_derivative, at=(), outputs=("a", "tau"), name="geqrf", batch="stacked")
def reflections_of(xp, x):
    """R above the diagonals, the vectors of the reflections below, and the reflections' factors."""
    vectors, factors = xp.linalg.qr(x, mode="raw")
    return xp.swapaxes(xp.ascontiguousarray(vectors), -1, -2), factors


@function(example="geqrf(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def geqrf(input):
    """QR in LAPACK's form: R, below its diagonal the vectors of the reflections that make up Q, and their factors."""
    input = floats(input)
    if input.ndim < 2:
        raise fault(RuntimeError, "torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(input, "geqrf_cpu")
    return reflections_of(input)


def _reflected(xp, x, y, z, transpose):
    """Q z or Q^T z, where Q is the product of the reflections I - tau v v^T, the v below the diagonal of x."""
    count = y.shape[-1]
    vectors = xp.tril(x[..., :count], -1) + xp.eye(x.shape[-2], count, dtype=x.dtype)
    for k in range(count) if transpose else reversed(range(count)):
        vector = vectors[..., k, None]
        z = z - (y[..., k, None, None] * vector) @ (xp.swapaxes(vector, -1, -2) @ z)
    return z


def _reflection_slopes(g, x, y, z, transpose):
    """The gradients of the vectors and of the factors of Q z, reflection by reflection."""
    rows, count = x.shape[-2], y.shape[-1]
    if not count:
        return zeros(x, shape=x.shape), zeros(y, shape=y.shape)
    vectors = with_diagonal(lower_part(corner(x, size=(rows, count)), diagonal=-1), 1.0, offset=0, dim1=-2, dim2=-1)
    order = range(count) if transpose else range(count - 1, -1, -1)
    steps = []
    for k in order:
        vector, factor = vectors[..., k : k + 1], y[..., k : k + 1, None]
        along = vector.mT @ z
        steps.append((k, vector, factor, z, along))
        z = z - factor * (vector @ along)
    columns, factors = [None] * count, [None] * count
    for k, vector, factor, before, along in reversed(steps):
        g_along = vector.mT @ g
        factors[k] = -(g_along @ along.mT)[..., 0, 0]
        columns[k] = -factor * (g @ along.mT + before @ g_along.mT)
        g = g - factor * (vector @ g_along)
    joined_columns = joined(*columns, dim=x.ndim - 1, starts=tuple(range(count + 1)))
    return framed(lower_part(joined_columns, diagonal=-1), size=x.shape[-2:]), stacked(*factors, dim=y.ndim - 1)


def _identity(x):
    return with_diagonal(zeros(x, shape=x.shape), 1.0, offset=0, dim1=-2, dim2=-1)


@general(
    x=lambda g, x, y: _reflection_slopes(g, x, y, _identity(x), False)[0],
    y=lambda g, x, y: _reflection_slopes(g, x, y, _identity(x), False)[1],
    sample=[Sample(reals(2, 4, 3), reals(2, 3)), Sample(reals(3, 3), reals(2))],
    at=(),
    name="linalg_householder_product",
    batch=lambda x, y: first_columns(x, y),
)
def first_columns(xp, x, y):
    """The first columns of a product of reflections."""
    return columns_first(xp, _reflected(xp, x, y, xp.eye(*x.shape[-2:], dtype=x.dtype), False))


@function(
    "linalg_householder_product",
    at=("linalg:householder_product",),
    example="linalg.householder_product(*geqrf(tensor([[1.0, 2.0], [3.0, 4.0]])))",
)
def householder_product(input, tau):
    """The first columns of the product of the reflections I - tau v v^T, whose vectors are below the diagonal of `input`."""
    input, tau = alike_floats((input, "input"), (tau, "tau"))
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise fault(RuntimeError, f"{name}: input must have at least 2 dimensions.")
    if not tau.ndim:
        raise fault(IndexError, "Dimension specified as -1 but tensor has no dimensions")
    if input.shape[-2] < input.shape[-1]:
        raise fault(RuntimeError, f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise fault(RuntimeError, f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_factors(input, tau, name)
    if tau.dtype is not input.dtype:
        raise fault(
            RuntimeError,
            f"{name}: tau dtype {TYPE_NAMES[tau.dtype.name]} does not match input dtype {TYPE_NAMES[input.dtype.name]}",
        )
    check_kernel(input, "orgqr_cpu")
    return first_columns(input, tau)


def _check_factors(input, tau, name):
    if input.ndim - tau.ndim != 1:
        ranks = f"tau.ndim equal to {tau.ndim} and input.ndim is equal to {input.ndim}"
        raise fault(RuntimeError, f"{name}: Expected tau to have one dimension less than input, but got {ranks}")
    if tau.shape[:-1] != input.shape[:-2]:
        got = list(tau.shape[:-1])
        raise fault(
            RuntimeError, f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {got}"
        )


@function(example="orgqr(*geqrf(tensor([[1.0, 2.0], [3.0, 4.0]])))")
def orgqr(input, input2):
    """Another name of `linalg.householder_product`."""
    return householder_product(*alike_floats((input, "input"), (input2, "input2")))


def _product_slopes(g, x, y, z, left, transpose):
    return _reflection_slopes(g, x, y, z, transpose) if left else _reflection_slopes(g.mT, x, y, z.mT, not transpose)


@general(
    x=lambda g, x, y, z, left, transpose: _product_slopes(g, x, y, z, left, transpose)[0],
    y=lambda g, x, y, z, left, transpose: _product_slopes(g, x, y, z, left, transpose)[1],
    z=lambda g, x, y, left, transpose: product_with_reflections(x, y, g, left=left, transpose=not transpose),
    sample=[
        Sample(reals(2, 4, 3), reals(2, 3), reals(2, 4, 2), left=True, transpose=False),
        Sample(reals(4, 3), reals(3), reals(2, 4), left=False, transpose=True),
    ],
    at=(),
    name="ormqr",
    batch=lambda x, y, z, **settings: product_with_reflections(x, y, z, **settings),
)
def product_with_reflections(xp, x, y, z, *, left, transpose):
    """The product of matrices with an orthogonal matrix that is given by reflections."""
    if left:
        return columns_first(xp, _reflected(xp, x, y, z, transpose))
    turned = _reflected(xp, x, y, xp.swapaxes(z, -1, -2), not transpose)
    return columns_first(xp, xp.swapaxes(turned, -1, -2))


@function(example="ormqr(*geqrf(tensor([[1.0, 2.0], [3.0, 4.0]])), ones(2, 1))")
def ormqr(input, input2, input3, left=True, transpose=False):
    """Q input3, or input3 Q with left=False, where reflections make up Q, or Q^T with `transpose`."""
    input, tau, other = alike_floats((input, "input"), (input2, "input2"), (input3, "input3"))
    name = "torch.ormqr"
    for argument, value in (("input", input), ("other", other)):
        if value.ndim < 2:
            raise fault(RuntimeError, f"{name}: {argument} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] != input.shape[-2]:
        raise fault(RuntimeError, f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1:] != (min(other.shape[side], input.shape[-1]),):
        raise fault(RuntimeError, f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    _check_factors(input, tau, name)
    if other.ndim != input.ndim:
        ranks = f"other.ndim equal to {other.ndim} and input.ndim is equal to {input.ndim}"
        raise fault(
            RuntimeError, f"{name}: Expected other to have the same number of dimensions as input, but got {ranks}"
        )
    if other.shape[:-2] != input.shape[:-2]:
        got = list(other.shape[:-2])
        raise fault(
            RuntimeError, f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got {got}"
        )
    for argument, value in (("tau", tau), ("other", other)):
        if value.dtype is not input.dtype:
            kinds = (
                f"input has dtype{TYPE_NAMES[input.dtype.name]} and {argument} has dtype {TYPE_NAMES[value.dtype.name]}"
            )
            raise fault(RuntimeError, f"{name}: Expected input and {argument} to have the same dtype, but {kinds}")
    check_kernel(input, "ormqr_cpu")
    return product_with_reflections(input, tau, other, left=bool(left), transpose=bool(transpose))
