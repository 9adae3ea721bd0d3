"""Factorisation of batches of matrices into triangles, and solving by what came of it.

numpy keeps the factors it solves with to itself. The steps are in the order of PyTorch's own kernels, so that the
answers of small systems are the same to the last bit.
"""

from __future__ import annotations

from math import prod, sqrt

import numpy as np

from gradsh.backend import small_matrices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]

PANEL = 16  # columns that are worked on one by one; wider matrices are halved, and multiplied by BLAS
LIBRARY = 128  # order up to which a triangular system beyond a panel is solved as any other, by LAPACK
TINY = 4  # up to this order the last multiplier is a quotient; the others are products with the pivot's reciprocal
SMALL = 8  # below this order sums are gathered before they are subtracted, in solving a system


def factored(a: Array) -> tuple[Array, Array, Array]:
    """L and U in one array, the pivots counted from 1, and the place of the first pivot that is zero, or 0.

    a: (…, m, n). L has ones on its diagonal, which is not stored. pivots: (…, min(m, n)): the row that row k was
    exchanged with at step k.
    """
    *batch, rows, columns = a.shape
    count = min(rows, columns)
    if not batch and 0 < a.size <= small_matrices.FEW:
        lists = small_matrices.rows_of(a)
        found = small_matrices.factor(lists, _quotients_from(rows, count))
        zero_at = next((k + 1 for k in range(count) if lists[k][k] == 0), 0)
        return np.array(lists, a.dtype), np.array(found, np.int32) + np.int32(1), np.array(zero_at, np.int32)
    if not a.size:
        return a, np.zeros((*batch, count), np.int32), np.zeros(batch, np.int32)
    factors = np.array(a.reshape(-1, rows, columns))
    pivots = np.empty((len(factors), count), np.int32)
    _factor(factors, pivots)
    info = first_zero(np.diagonal(factors, axis1=1, axis2=2))
    return factors.reshape(a.shape), (pivots + np.int32(1)).reshape(*batch, count), info.reshape(batch)


def first_zero(diagonal: Array) -> Array:
    """The place of the first zero of each row, counted from 1, or 0."""
    zero = diagonal == 0
    places = np.zeros(zero.shape[:-1]) if not zero.size else np.where(zero.any(-1), zero.argmax(-1) + 1, 0)
    return places.astype(np.int32)


def _factor(a: Array, pivots: Array) -> None:
    """Factor each matrix of (batch, m, n) in its place; pivots are counted from 0."""
    count = pivots.shape[1]
    if count <= PANEL:
        return _factor_panel(a, pivots)
    half = count // 2
    left, right = a[:, :, :half], a[:, :, half:]
    _factor(left, pivots[:, :half])
    _exchange(right, pivots[:, :half])
    right[:, :half] = triangular_solution(left[:, :half], right[:, :half], upper=False, unit=True)
    right[:, half:] -= left[:, half:] @ right[:, :half]
    _factor(right[:, half:], pivots[:, half:])
    _exchange(left[:, half:], pivots[:, half:])
    pivots[:, half:] += half


def _factor_panel(a: Array, pivots: Array) -> None:
    """Column by column: the largest number of the column becomes the pivot (Golub and Van Loan, algorithm 3.4.1)."""
    each, count = np.arange(len(a)), pivots.shape[1]
    last = _quotients_from(a.shape[1], count)
    for k in range(count):
        place = np.abs(a[:, k:, k]).argmax(1) + k
        pivots[:, k] = place
        if (place != k).any():
            top = a[:, k].copy()
            a[:, k] = a[each, place]
            a[each, place] = top
        pivot = a[:, k, k, None]
        pivot = np.where(pivot == 0, pivot.dtype.type(1), pivot)
        below = a[:, k + 1 :, k]
        if k < last:
            below *= 1 / pivot
        else:
            below /= pivot
        a[:, k + 1 :, k + 1 :] -= below[:, :, None] * a[:, k, None, k + 1 :]


def _quotients_from(rows: int, count: int) -> int:
    return count - 2 if rows <= TINY else count


def _exchange(a: Array, pivots: Array) -> None:
    """Carry out the exchanges of rows that pivots, counted from 0, stand for."""
    a[...] = np.take_along_axis(a, row_order(pivots, a.shape[1])[:, :, None], 1)


def row_order(pivots: Array, rows: int) -> Array:
    """(…, rows): which row comes to each place by the exchanges of pivots counted from 0."""
    if pivots.ndim == 1:
        one = list(range(rows))
        for k, row in enumerate(pivots.tolist()):
            one[k], one[row] = one[row], one[k]
        return np.array(one, np.intp)
    *batch, count = pivots.shape
    pivots = pivots.reshape(prod(batch), count)
    each = np.arange(len(pivots))
    order = np.tile(np.arange(rows), (len(pivots), 1))
    for k in range(count):
        place = pivots[:, k]
        order[:, k], order[each, place] = order[each, place], order[:, k].copy()
    return order.reshape(*batch, rows)


def triangular_solution(a: Array, b: Array, *, upper: bool, unit: bool = False, gathered: bool = False) -> Array:
    """x of a x = b, where a is triangular and what lies beyond its diagonal is passed over.

    a: (…, n, n), b: (…, n, k), broadcast. unit: the diagonal counts as ones. gathered: the order of PyTorch's
    kernel for small systems.
    """
    if not upper:  # the same from below
        flipped = triangular_solution(a[..., ::-1, ::-1], b[..., ::-1, :], upper=True, unit=unit, gathered=gathered)
        return flipped[..., ::-1, :]
    count = a.shape[-1]
    if count > PANEL:
        if count <= LIBRARY:
            try:
                return np.linalg.solve(np.triu(a, 1) + np.eye(count, dtype=a.dtype) if unit else np.triu(a), b)
            except np.linalg.LinAlgError:
                pass
        half = count // 2
        bottom = triangular_solution(a[..., half:, half:], b[..., half:, :], upper=True, unit=unit)
        rest = b[..., :half, :] - a[..., :half, half:] @ bottom
        top = triangular_solution(a[..., :half, :half], rest, upper=True, unit=unit)
        return np.concatenate((top, bottom), -2)
    if a.ndim == b.ndim == 2 and a.dtype is b.dtype and 0 < a.size <= small_matrices.FEW >= b.size > 0:
        lists, x_lists = small_matrices.rows_of(a), small_matrices.rows_of(b)
        try:
            small_matrices.substitute(lists, x_lists, upper=True, unit=unit, gathered=gathered)
            return np.array(x_lists, a.dtype)
        except ZeroDivisionError:
            pass
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, batch + b.shape[-2:]))
    sums = np.zeros_like(x) if gathered else x
    for k in reversed(range(count)):
        row, pivot = x[..., k, :], a[..., k, k, None]
        if gathered:
            row -= sums[..., k, :]
        if not unit:
            if gathered:
                row *= 1 / pivot
            else:
                row /= pivot
        if gathered:
            sums[..., :k, :] += a[..., :k, k, None] * row[..., None, :]
        else:
            x[..., :k, :] -= a[..., :k, k, None] * row[..., None, :]
    return x


def factors_solution(factors: Array, pivots: Array, b: Array, *, adjoint: bool = False) -> Array:
    """x of a x = b, or of a^T x = b, from what `factored` gave for a; b: (…, n, k), broadcast."""
    count = factors.shape[-1]
    gathered = count < SMALL
    order = row_order(pivots - np.int32(1), count)
    single = order.ndim == 1
    if not single:
        batch = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
        b = np.broadcast_to(b, batch + b.shape[-2:])
        order = np.broadcast_to(order[..., None], (*batch, count, 1))
    if not adjoint:
        b = b[..., order, :] if single else np.take_along_axis(b, order, -2)
        b = triangular_solution(factors, b, upper=False, unit=True, gathered=gathered)
        return triangular_solution(factors, b, upper=True, gathered=gathered)
    turned = factors.swapaxes(-1, -2)
    b = triangular_solution(turned, b, upper=False, gathered=gathered)
    b = triangular_solution(turned, b, upper=True, unit=True, gathered=gathered)
    x = np.empty_like(b)
    if single:
        x[..., order, :] = b
    else:
        np.put_along_axis(x, order, b, -2)
    return x


def solution(a: Array, b: Array) -> tuple[Array, Array]:
    """x of a x = b, and for each a where its first zero pivot is, or 0. a: (…, n, n), b: (…, n, k), broadcast."""
    if a.shape[-1] > PANEL:
        try:
            return np.linalg.solve(a, b), np.zeros(a.shape[:-2], np.int32)
        except np.linalg.LinAlgError:
            pass
    factors, pivots, info = factored(a)
    return factors_solution(factors, pivots, b), info


def cholesky(a: Array) -> tuple[Array, Array]:
    """L of a = L L^T from the lower triangle of a, and the order of the first leading minor that is not positive, or 0."""
    info = np.zeros(a.shape[:-2], np.int32)
    if not a.size:
        return a, info
    if a.shape[-1] > small_matrices.ONE_BY_ONE or info.size > 1:
        try:
            found = np.linalg.cholesky(a)
            if not np.isnan(found).any():
                return found, info
        except np.linalg.LinAlgError:
            pass
    root = sqrt if a.dtype.char == "d" else np.sqrt
    parts = []
    for k, one in enumerate(a.reshape(-1, *a.shape[-2:])):
        rows = small_matrices.rows_of(one)
        info.reshape(-1)[k] = small_matrices.cholesky(rows, root)
        parts.append(rows)
    return np.tril(np.array(parts, a.dtype).reshape(a.shape)), info
