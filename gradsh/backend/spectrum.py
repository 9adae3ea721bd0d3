"""Singular value decomposition with the signs of PyTorch's, and pseudo-inverses."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]


WIDE = 64  # columns up to which the signs of a wide matrix's vectors are worth a second decomposition


def svd(a: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """U, S and Vh with a = U S Vh, as `numpy.linalg.svd`, with PyTorch's signs of the singular vectors.

    They depend on whether LAPACK begins with a QR factorisation (`dgesdd.f`): numpy's does from 11/6 times as long as
    wide, or as wide as long; the library that PyTorch is built with from 1.5 times as long as wide, and never for a wide
    matrix, as numpy's does not where there are rows of zeros enough below.
    """
    rows, columns = a.shape[-2:]
    if columns and int(1.5 * columns) <= rows < int(11 * columns / 6):
        q, r = np.linalg.qr(a, "complete" if full_matrices else "reduced")
        u, s, vh = np.linalg.svd(r[..., :columns, :])
        return np.concatenate((q[..., :columns] @ u, q[..., columns:]), -1), s, vh
    u, s, vh = np.linalg.svd(a, full_matrices)
    if 1 < rows < columns <= WIDE and int(11 * rows / 6) <= columns:
        more = next(count for count in range(rows + 1, columns + 2) if int(11 * count / 6) > columns)
        padded = np.zeros((*a.shape[:-2], more, max(columns, more + 1)), a.dtype)
        padded[..., :rows, :columns] = a
        products = (u * np.linalg.svd(padded, False)[0][..., :rows, :rows]).sum(-2)
        signs = np.where(products < 0, a.dtype.type(-1), a.dtype.type(1))
        u *= signs[..., None, :]
        vh[..., :rows, :] *= signs[..., None]
    return u, s, vh


def tolerance(values: Array, shape: tuple[int, ...], atol: Any, rtol: Any) -> Array:
    """(…, 1): below what the absolute values of a spectrum count as zero.

    The larger of atol and rtol times the largest one. rtol is by default the epsilon of the type times the longer side
    of the matrices of this shape, and 0 where there is an atol.
    """
    atol = np.asarray(0.0 if atol is None else atol, values.dtype)[..., None]
    if rtol is None:
        rtol = np.where(atol > 0, 0.0, np.finfo(values.dtype).eps * max(shape[-2:])).astype(values.dtype)
    else:
        rtol = np.asarray(rtol, values.dtype)[..., None]
    return np.maximum(atol, rtol * values.max(-1, keepdims=True))  # type: ignore[no-any-return]


def spectrum(a: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Matrices and values with a = left diag(values) right^T; the eigenvalues where a is symmetric."""
    if hermitian:
        values, vectors = np.linalg.eigh(a)
        return vectors, values, vectors
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh.swapaxes(-1, -2)


def pseudo_inverse(a: Array, hermitian: bool, atol: Any, rtol: Any) -> Array:
    """Moore and Penrose's inverse: what of the spectrum counts as zero stays zero."""
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    left, values, right = spectrum(a, hermitian)
    sizes = np.abs(values)
    inverse = np.where(sizes > tolerance(sizes, a.shape, atol, rtol), 1 / values, values.dtype.type(0))
    return (right * inverse[..., None, :]) @ left.swapaxes(-1, -2)


def rank(a: Array, hermitian: bool, atol: Any, rtol: Any) -> Array:
    """How many numbers of the spectrum do not count as zero."""
    if not a.size:
        return np.zeros(a.shape[:-2], np.int64)
    sizes = np.abs(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(a, compute_uv=False)
    return (sizes > tolerance(sizes, a.shape, atol, rtol)).sum(-1)  # type: ignore[no-any-return]


def least_squares(a: Array, b: Array, rcond: float | None, full_rank: bool) -> tuple[Array, Array, Array]:
    """The x of least norm with the least |a x - b|, the rank of a, and its singular values.

    full_rank: a is taken for one whose rank is its shorter side, which spares the singular values.
    """
    *batch, rows, columns = a.shape
    if not a.size or not b.size:
        short = min(rows, columns)
        shape = np.broadcast_shapes(tuple(batch), b.shape[:-2])
        return (
            np.zeros((*shape, columns, b.shape[-1]), a.dtype),
            np.zeros(batch, np.int64),
            np.zeros((*batch, short), a.dtype),
        )
    if full_rank:
        from gradsh.backend.factoring import triangular_solution

        if rows >= columns:
            q, r = np.linalg.qr(a)
            x = triangular_solution(r, q.swapaxes(-1, -2) @ b, upper=True)
        else:
            q, r = np.linalg.qr(a.swapaxes(-1, -2))
            x = q @ triangular_solution(r.swapaxes(-1, -2), b, upper=False)
        return x, np.zeros(0, np.int64), np.zeros(0, a.dtype)
    u, s, v = spectrum(a, False)
    counts = s > tolerance(s, a.shape, None, rcond)
    inverse = np.where(counts, 1 / s, s.dtype.type(0))
    return v @ (inverse[..., None] * (u.swapaxes(-1, -2) @ b)), counts.sum(-1), s
