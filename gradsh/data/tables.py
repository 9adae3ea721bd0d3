"""Tables of numbers: `read_csv`, and their text as CSV."""

from __future__ import annotations

import csv
import io
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsh.backend.dtypes import INTEGER, DType
from gradsh.data.files import lines_of
from gradsh.engine.create import dtype_argument, leaf
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.lang import members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Cell = Callable[[str], Any]

AT_ONCE = 50_000  # rows that are held as text at a time
SEPARATORS = ",;\t|"
# What pandas takes for a missing cell.
MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "NaN", "nan", "-nan", "-NaN"))
TRUTH = {"true": 1, "True": 1, "TRUE": 1, "false": 0, "False": 0, "FALSE": 0}
LONGEST_SHOWN = 40


class Columns(dict[str, Any]):
    """The columns of a table by name, in their order: tensors, and lists of texts."""

    def tensor(self, *names: str) -> Tensor:
        """The named columns, or all, side by side: a tensor of (rows, columns)."""
        chosen = [self[name] for name in names] if names else [c for c in self.values() if isinstance(c, Tensor)]
        if not chosen or not all(isinstance(column, Tensor) for column in chosen):
            raise fault(TypeError, "a tensor holds numbers, and a column of texts has none")
        return leaf(np.stack([np.asarray(column.raw) for column in chosen], axis=1))

    def __missing__(self, name: Any) -> Any:
        raise fault(KeyError, str(name), notes=(f"the columns are {', '.join(self)}",))

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()))) if self else 0
        return f"{rows} rows of {', '.join(self)}"


members.allow(Columns, ("tensor",))


def read_csv(
    path: str,
    *,
    header: Any = "auto",
    names: Sequence[str] | None = None,
    sep: str | None = None,
    usecols: Sequence[str] | None = None,
    text: str | Sequence[str] = (),
    missing: Any = float("nan"),
    dtype: Any = None,
) -> Columns:
    """The columns of a table by name, as tensors: read_csv("data.csv")["x"]; "-" is standard input.

    header: the first row has names; "auto": unless it has numbers only, where names are "0", "1", … (or `names`).
    sep: between cells; found out from the first row: one of , ; tab | or blanks.
    usecols, text: the columns that are wanted, and those that are kept as lists of texts.
    missing: the number for an empty cell, or one such as NA; "error" for an error that names it.
    """
    kind = state.default if dtype is None else dtype_argument(dtype, "read_csv")
    with lines_of(path) as lines:
        table = _Table(path, lines, header, names, sep)
        kept = [text] if isinstance(text, str) else list(text)
        chosen = table.chosen(usecols, kept)
        makers = [_Texts() if table.names[k] in kept else _Numbers(kind, missing) for k in chosen]
        table.fill(chosen, makers)
    return Columns({table.names[k]: maker.column() for k, maker in zip(chosen, makers)})


class _Table:
    """The rows of a table as texts, and its names."""

    def __init__(self, path: str, lines: Iterator[str], header: Any, names: Any, sep: str | None) -> None:
        self.path = "standard input" if path == "-" else path
        first = next((line for line in lines if line.strip("\ufeff \t\r\n")), "").removeprefix("\ufeff")
        self.sep = _separator(first) if sep is None else sep
        if len(self.sep) != 1:
            raise fault(ValueError, f"read_csv: sep is one character, not {self.sep!r}", hint='sep=";"')
        given = chain([first], lines)
        if self.sep == " ":
            given = (" ".join(line.split()) for line in given)  # type: ignore[assignment]
        self.reader = csv.reader(given, delimiter=self.sep, strict=True)
        row = self.rows(1)
        self.number = 0  # of rows that were given to the makers
        start = row[0] if row else []
        if header == "auto":
            header = names is None and not all(_is_number(cell) for cell in start)
        elif header == 0 and header is not False:
            header = True
        self.names = [str(name) for name in names] if names is not None else [str(k) for k in range(len(start))]
        if header:
            if names is None:
                self.names = [cell.strip() for cell in start]
            row = []
        self.waiting = row
        twice = next((name for k, name in enumerate(self.names) if name in self.names[:k]), None)
        if twice is not None:
            raise fault(ValueError, f"{self.path}: two columns are called {twice!r}", hint="names=[…], header=True")
        if start and len(self.names) != len(start):
            raise fault(ValueError, f"{self.path} has {len(start)} columns, and {len(self.names)} names were given")

    def rows(self, count: int) -> list[list[str]]:
        """The next rows, empty lines left out."""
        found: list[list[str]] = []
        try:
            while len(found) < count:
                more = list(islice(self.reader, count - len(found)))
                if not more:
                    break
                found += filter(None, more)
        except csv.Error as error:
            raise fault(ValueError, f"{self.path}: line {self.reader.line_num}: {error}") from None
        return found

    def chosen(self, usecols: Any, text: list[str]) -> list[int]:
        """The numbers of the columns that are wanted."""
        wanted = self.names if usecols is None else [usecols] if isinstance(usecols, str) else list(usecols)
        for name in (*wanted, *text):
            if name not in self.names:
                raise fault(
                    KeyError, f"{self.path} has no column {name!r}", notes=(f"its columns are {', '.join(self.names)}",)
                )
        return [self.names.index(name) for name in wanted]

    def fill(self, chosen: list[int], makers: list[_Texts | _Numbers]) -> None:
        """Give every row's cells to the makers of the columns."""
        width = len(self.names)
        while True:
            rows = self.waiting or self.rows(AT_ONCE)
            self.waiting = []
            if not rows:
                return
            if set(map(len, rows)) != {width}:
                k = next(k for k, row in enumerate(rows) if len(row) != width)
                cells = f"{len(rows[k])} cell{'s' * (len(rows[k]) != 1)}"
                where = f"{self.path}: row {self.number + k + 1} has {cells}, where the columns are {width}"
                short = len(rows[k]) < width
                at = f"column {self.names[len(rows[k])]!r} is the first without one" if short else None
                raise fault(ValueError, where, notes=((at,) if at else ()) + self._note(rows, k))
            columns = list(zip(*rows))
            for place, maker in zip(chosen, makers):
                wrong = maker.add(columns[place])
                if wrong is not None:
                    self._refuse(rows, wrong, place)
            self.number += len(rows)

    def _note(self, rows: list[list[str]], k: int) -> tuple[str, ...]:
        shown = self.sep.join(rows[k])
        return (f"the row is {shown if len(shown) <= 2 * LONGEST_SHOWN else shown[: 2 * LONGEST_SHOWN] + '…'}",)

    def _refuse(self, rows: list[list[str]], k: int, place: int) -> None:
        cell, name = rows[k][place], self.names[place]
        where = f"{self.path}: row {self.number + k + 1}, column {name!r}"
        if cell.strip() in MISSING:
            raise fault(ValueError, f"{where}: the cell is missing", hint="missing=0.0")
        shown = cell if len(cell) <= LONGEST_SHOWN else cell[:LONGEST_SHOWN] + "…"
        raise fault(ValueError, f"{where}: {shown!r} is no number", hint=f"text=[{name!r}] keeps the column as texts")


class _Texts:
    """A column of texts in the making."""

    def __init__(self) -> None:
        self.cells: list[str] = []

    def add(self, cells: tuple[str, ...]) -> int | None:
        self.cells += cells
        return None

    def column(self) -> list[str]:
        return self.cells


class _Numbers:
    """A column of numbers in the making."""

    def __init__(self, kind: DType, missing: Any) -> None:
        self.kind, self.missing, self.parts = kind, missing, [np.empty(0, kind.code)]
        self.read: Cell = int if kind.category == INTEGER else float

    def add(self, cells: tuple[str, ...]) -> int | None:
        """Take cells in; the number of the first that is no number, if any is not."""
        try:
            if "_" in "".join(cells):  # Python's numbers may have it, and other people's names
                raise ValueError
            numbers = list(map(self.read, cells))
            if self.missing == self.missing and any(number != number for number in numbers):
                raise ValueError
        except ValueError:
            numbers = []
            for k, cell in enumerate(cells):
                number = self._number(cell.strip())
                if number is None:
                    return k
                numbers.append(number)
        try:
            self.parts.append(np.array(numbers, self.kind.code))
        except (OverflowError, ValueError, TypeError):
            for k, number in enumerate(numbers):
                try:
                    np.array(number, self.kind.code)
                except (OverflowError, ValueError, TypeError):
                    return k
        return None

    def _number(self, cell: str) -> Any:
        try:
            number = None if "_" in cell else self.read(cell)
        except ValueError:
            number = float("nan") if cell in MISSING else TRUTH.get(cell)
        if number == number:
            return number
        return None if self.missing == "error" else self.missing

    def column(self) -> Tensor:
        return leaf(np.concatenate(self.parts))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip() in MISSING
    return True


def _separator(line: str) -> str:
    """What stands between the cells of a row: the likeliest sign; blanks only between numbers."""
    best = max(SEPARATORS, key=line.count)
    if line.count(best):
        return best
    words = line.split()
    return " " if len(words) > 1 and all(_is_number(word) for word in words) else ","


def as_csv(value: Any) -> str:
    """The text of a table: columns by name, or the rows of a tensor."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    if isinstance(value, dict):
        columns = [_cells(column) for column in value.values()]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            sizes = ", ".join(f"{name} {len(column)}" for name, column in zip(value, columns))
            raise fault(ValueError, f"the columns of a table are of one length, and these are not: {sizes}")
        writer.writerow(value)
        writer.writerows(zip(*columns))
    else:
        array = _array(value)
        if array.ndim > 2:
            raise fault(
                ValueError, f"a table has rows and columns, and this has {array.ndim} dimensions: {array.shape}"
            )
        writer.writerows([_cells(row) for row in array.reshape(len(array) if array.ndim else 1, -1)])
    return made.getvalue()


def _cells(column: Any) -> list[Any]:
    if isinstance(column, list | tuple) and any(isinstance(cell, str) for cell in column):
        return list(column)
    array = _array(column)
    if array.ndim != 1:
        raise fault(ValueError, f"a column is a list of numbers, and this has {array.ndim} dimensions")
    return list(map(str, array)) if array.dtype.kind == "f" and array.itemsize < 8 else array.tolist()


def _array(value: Any) -> Any:
    from gradsh.engine.create import raw_of

    return np.asarray(value.raw if isinstance(value, Tensor) else raw_of(value))
