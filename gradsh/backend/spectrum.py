"""Singular value decomposition with the signs of PyTorch's, and pseudo-inverses."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]


def svd(a: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """U, S and Vh with a = U S Vh, as `numpy.linalg.svd`.

    LAPACK decomposes a long matrix by way of its QR factorisation, and begins to from 11/6 times as long as wide; the
    library that PyTorch is built with from 1.5 times. The signs of the singular vectors depend on it.
    """
    rows, columns = a.shape[-2:]
    if not columns or not int(1.5 * columns) <= rows < int(11 * columns / 6):
        u, s, vh = np.linalg.svd(a, full_matrices)
        return u, s, vh
    q, r = np.linalg.qr(a, "complete" if full_matrices else "reduced")
    u, s, vh = np.linalg.svd(r[..., :columns, :])
    return np.concatenate((q[..., :columns] @ u, q[..., columns:]), -1), s, vh
