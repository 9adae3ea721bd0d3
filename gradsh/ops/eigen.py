"""Eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, floats
from gradsh.ops.diagonals import with_diagonal
from gradsh.ops.matrix_faults import check_kernel, check_square, check_success
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample
from gradsh.ops.solving import columns_first


def differences(values):
    """values[j] - values[i] for every i and j, with ones instead of zeros on the diagonal."""
    return with_diagonal(values[..., None, :] - values[..., None], 1.0, offset=0, dim1=-2, dim2=-1)


def _slope(g_values, g_vectors, values, vectors):
    """V (S / (l_j - l_i), with gl on the diagonal) V^T, where S is the skew part of V^T gV.

    `linalg_eig_backward` in FunctionsManual.cpp.
    """
    if g_vectors is None:
        return (vectors * g_values[..., None, :]) @ vectors.mT
    product = vectors.mT @ g_vectors
    inner = (product - product.mT) * 0.5 / differences(values)
    inner = with_diagonal(inner, 0.0 if g_values is None else g_values, offset=0, dim1=-2, dim2=-1)
    return vectors @ inner @ vectors.mT


def separated(*batch, order=3):
    """Matrices to draw whose eigenvalues are well apart."""
    import numpy as np

    return Made(lambda rng: rng.uniform(-0.3, 0.3, (*batch, order, order)) + np.diag(2.0 * np.arange(1, order + 1)))


@general(
    x=lambda g, eigenvalues, eigenvectors: _slope(g[0], g[1], eigenvalues, eigenvectors),
    sample=[Sample(separated(order=1), UPLO="L", signs=True)],  # only one triangle is read
    at=(),
    outputs=("eigenvalues", "eigenvectors"),
    name="linalg_eigh",
    batch="stacked",
)
def symmetric_eigen(xp, x, *, UPLO, signs):
    """Eigenvalues of symmetric matrices in ascending order, and their eigenvectors as columns, with PyTorch's signs."""
    from gradsh.backend.eigenvector_signs import with_signs

    try:
        values, vectors = xp.linalg.eigh(x, UPLO)
    except xp.linalg.LinAlgError:
        code = x.shape[-1] - (1 if signs else 2)  # LAPACK's where it meets nan
        failed = xp.where(xp.isfinite(x).all((-2, -1)), 0, code)
        check_success(failed if failed.any() else xp.full(x.shape[:-2], code), "linalg.eigh", NOT_CONVERGED)
    if signs:
        vectors = with_signs(x, vectors, UPLO == "U")
    return values, columns_first(xp, vectors)


NOT_CONVERGED = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues "
    "(error code: {})."
)


def _eigen(input, UPLO, signs):
    input = floats(input)
    if not isinstance(UPLO, str):
        raise Unfit("UPLO", "str", UPLO)
    check_square(input, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise fault(RuntimeError, f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel(input, "linalg_eigh_cpu")
    return symmetric_eigen(input, UPLO=UPLO.upper(), signs=signs)


@function("linalg_eigh", at=("linalg:eigh",), example="linalg.eigh(tensor([[2.0, 1.0], [1.0, 2.0]]))")
def eigh(input, UPLO="L"):
    """Eigenvalues of symmetric matrices in ascending order and eigenvectors as columns, from one triangle (UPLO)."""
    return _eigen(input, UPLO, True)


@function("linalg_eigvalsh", at=("linalg:eigvalsh",), example="linalg.eigvalsh(tensor([[2.0, 1.0], [1.0, 2.0]]))")
def eigvalsh(input, UPLO="L"):
    """Eigenvalues of symmetric matrices in ascending order, from one triangle (UPLO)."""
    return _eigen(input, UPLO, False)[0]
