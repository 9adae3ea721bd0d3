"""Factoring and solving for a single small matrix on lists of numbers: a tenth of what as many calls of numpy cost.

The numbers are Python's floats, or numpy's for another type; the steps are those of `factoring`. Python's floats raise
ZeroDivisionError where a matrix is singular.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Rows = list[list[Any]]

FEW = 150  # numbers of a matrix up to which it is worth it
ONE_BY_ONE = 4  # order up to which the steps of `cholesky` are those of PyTorch's kernel to the last bit


def rows_of(a: Array) -> Rows:
    return a.tolist() if a.dtype.char == "d" else [list(row) for row in a]


def factor(rows: Rows, quotients_from: int) -> list[int]:
    """LU of a matrix in its place; gives the pivots, counted from 0.

    quotients_from: the column from which on multipliers are quotients, not products with the pivot's reciprocal.
    """
    height, width = len(rows), len(rows[0])
    pivots = []
    for k in range(min(height, width)):
        place, best = k, abs(rows[k][k])
        for i in range(k + 1, height):
            size = abs(rows[i][k])
            if size > best or (size != size and best == best):
                place, best = i, size
        pivots.append(place)
        rows[k], rows[place] = rows[place], rows[k]
        top = rows[k]
        pivot = top[k]
        inverse = 1 / pivot if pivot != 0 else 1 + pivot
        for i in range(k + 1, height):
            row = rows[i]
            multiplier = row[k] = row[k] * inverse if k < quotients_from or pivot == 0 else row[k] / pivot
            for j in range(k + 1, width):
                row[j] -= multiplier * top[j]
    return pivots


def substitute(rows: Rows, x: Rows, *, upper: bool, unit: bool, gathered: bool) -> None:
    """Solve a triangular system in the place of its right side."""
    count = len(rows)
    order = range(count - 1, -1, -1) if upper else range(count)
    columns = range(len(x[0]))
    sums = [[row[0].__class__(0)] * len(row) for row in x] if gathered else x
    for k in order:
        row = x[k]
        if gathered:
            row = x[k] = [value - total for value, total in zip(row, sums[k], strict=True)]
        if not unit:
            pivot = rows[k][k]
            if gathered:
                inverse = 1 / pivot
                row = x[k] = [value * inverse for value in row]
            else:
                row = x[k] = [value / pivot for value in row]
        for i in range(k) if upper else range(k + 1, count):
            entry, target = rows[i][k], sums[i]
            if gathered:
                for j in columns:
                    target[j] += entry * row[j]
            else:
                for j in columns:
                    target[j] -= entry * row[j]


def cholesky(rows: Rows, root: Callable[[Any], Any]) -> int:
    """The factor of a positive definite matrix in the place of its lower triangle (Golub and Van Loan, algorithm 4.2.1).

    Gives the order of the first leading minor that is not positive, where it stops, or 0.
    """
    count = len(rows)
    for j in range(count):
        own = rows[j]
        value = own[j] - _product(own, own, j)
        if not value > 0:
            own[j] = value
            return j + 1
        pivot = own[j] = root(value)
        inverse = 1 / pivot
        for row in rows[j + 1 :]:
            value = row[j] - _product(row, own, j)
            row[j] = value * inverse if j < count - 2 else value / pivot
    return 0


def _product(row: list[Any], other: list[Any], count: int) -> Any:
    """The sum of the products of the first numbers, from the left."""
    total = row[0].__class__(0)
    for k in range(count):
        total += row[k] * other[k]
    return total
