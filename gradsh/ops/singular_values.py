"""Singular value decomposition."""

from __future__ import annotations

from gradsh.engine.op import constant, general
from gradsh.engine.returns import named
from gradsh.engine.state import state
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, floats
from gradsh.ops.diagonals import embedded
from gradsh.ops.eigen import differences
from gradsh.ops.matrix_faults import LinAlgError, check_dimensions, check_kernel, check_numbers, check_success
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample
from gradsh.ops.solving import columns_first
from gradsh.ops.transposing import swapped


def _skew(x):
    return x - x.mT


def _slope(g, U, S, Vh, full_matrices):
    """`svd_backward` in FunctionsManual.cpp. What completes U or V to a square matrix has no derivative."""
    g_u, g_s, g_vh = g
    count = S.shape[-1]
    if full_matrices:
        U, Vh = U[..., :count], Vh[..., :count, :]
        g_u = None if g_u is None else g_u[..., :count]
        g_vh = None if g_vh is None else g_vh[..., :count, :]
    rows, columns = U.shape[-2], Vh.shape[-1]
    if g_u is None and g_vh is None:
        return U @ (g_s[..., None] * Vh) if rows >= columns else (U * g_s[..., None, :]) @ Vh
    gaps = differences(S * S)
    inner = None if g_s is None else embedded(g_s, offset=0, dim1=S.ndim - 1, dim2=S.ndim)
    for term in (
        None if g_u is None else _skew(U.mT @ g_u) / gaps * S[..., None, :],
        None if g_vh is None else S[..., None] * (_skew(Vh @ g_vh.mT) / gaps),
    ):
        if term is not None:
            inner = term if inner is None else inner + term
    if rows > count and g_u is not None:
        outside = g_u / S[..., None, :]
        return (U @ inner + outside - U @ (U.mT @ outside)) @ Vh
    if columns > count and g_vh is not None:
        outside = g_vh / S[..., None]
        return U @ (inner @ Vh + outside - (outside @ Vh.mT) @ Vh)
    return U @ inner @ Vh


def spread(*shape):
    """Matrices to draw whose singular values are well apart."""
    import numpy as np

    *batch, rows, columns = shape
    middle = np.eye(rows, columns) * 2.0 * np.arange(1, columns + 1)
    return Made(lambda rng: rng.uniform(-0.3, 0.3, (*batch, rows, columns)) + middle)


@general(
    x=lambda g, U, S, Vh, full_matrices: _slope(g, U, S, Vh, full_matrices),
    sample=[
        Sample(spread(3, 3), full_matrices=True),
        Sample(spread(2, 4, 2), full_matrices=False),
        Sample(spread(2, 3), full_matrices=False),
    ],
    at=(),
    outputs=("U", "S", "Vh"),
    name="linalg_svd",
    batch="stacked",
)
def decomposition(xp, x, *, full_matrices):
    """Left singular vectors as columns, singular values in descending order, right singular vectors as rows."""
    from gradsh.backend.spectrum import svd

    u, s, vh = converging(xp, svd, x, full_matrices)
    return columns_first(xp, u), s, columns_first(xp, vh)


def converging(xp, function, x, *settings):
    """A function of numpy's, or PyTorch's error where it does not converge."""
    try:
        return function(x, *settings)
    except xp.linalg.LinAlgError:
        bad = xp.isnan(x).any((-2, -1))
        reason = (
            "contained non-finite values"
            if bad.any()
            else "is ill-conditioned or has too many repeated singular values"
        )
        check_success(bad.astype(xp.int32), "linalg.svd", NOT_CONVERGED + reason + ".")
        raise fault(LinAlgError, f"linalg.svd: {NOT_CONVERGED}{reason}.") from None


NOT_CONVERGED = "The algorithm failed to converge because the input matrix "


@constant(at=())
def singular_values_of(xp, x):
    """Singular values in descending order."""
    return converging(xp, lambda x: xp.linalg.svd(x, compute_uv=False), x)


def check_svd(A, driver=None):
    """What PyTorch's singular value decomposition refuses."""
    check_dimensions(A, "linalg.svd")
    check_numbers(A, "linalg.svd")
    if driver is not None:
        raise fault(
            RuntimeError,
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
        )
    check_kernel(A, "linalg_svd_cpu")


@function("linalg_svd", at=("linalg:svd",), example="linalg.svd(tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))")
def linalg_svd(A, full_matrices=True, *, driver=None):
    """U, S and Vh with A = U diag(S) Vh: singular vectors as columns and as rows, singular values in descending order."""
    A = floats(A, "A")
    if not isinstance(full_matrices, bool):
        raise Unfit("full_matrices", "bool", full_matrices)
    check_svd(A, driver)
    return decomposition(A, full_matrices=full_matrices)


@function(example="svd(tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))")
def svd(input, some=True, compute_uv=True):
    """U, S and V with input = U diag(S) V^T; with some=False U and V are square, without compute_uv zeros."""
    input = floats(input)
    if input.ndim < 2:
        raise fault(
            RuntimeError,
            f"linalg.svd: input should have at least 2 dimensions, but has {input.ndim} dimensions instead",
        )
    kind = named("svd", ("U", "S", "V"))
    if not compute_uv:
        *batch, rows, columns = input.shape
        return kind(input.new_zeros((*batch, rows, rows)), svdvals(input), input.new_zeros((*batch, columns, columns)))
    U, S, Vh = linalg_svd(input, not some)
    return kind(U, S, swapped(Vh, dim0=-2, dim1=-1))


@function("linalg_svdvals", at=("linalg:svdvals",), example="linalg.svdvals(tensor([[1.0, 2.0], [3.0, 4.0]]))")
def svdvals(A, *, driver=None):
    """Singular values in descending order."""
    A = floats(A, "A")
    check_svd(A, driver)
    return decomposition(A, full_matrices=False)[1] if differentiated(A) else singular_values_of(A)


def differentiated(x):
    """Whether a derivative by a tensor may be asked for."""
    return isinstance(x, Wrapped) or (state.grad and x.requires_grad)
