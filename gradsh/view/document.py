"""What a record draws: lines of styled text, tables and trees, free of any format; and their plain text.

The same document is written with rich on a terminal (`view.terminal`) and as plain text here. Styles are names:
"name", "number", "op", "shape", "muted", "fault", "warning", "hint", "heading", "code", "good".
"""

from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    Block: TypeAlias = "Line | Table | Tree"


LEAST = 24  # cells that the last column of a table is broken to; where there are fewer it goes below


class Line:
    """A line of (text, style) segments; a bare string has no style."""

    __slots__ = ("segments",)

    def __init__(self, *segments: str | tuple[str, str]) -> None:
        self.segments = [(one, "") if isinstance(one, str) else one for one in segments]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.segments)

    def __add__(self, other: Line) -> Line:
        return Line(*self.segments, *other.segments)


class Prose(Line):
    """A line of words, which a terminal breaks between them."""

    __slots__ = ()


def line(cell: Line | str | tuple[str, str]) -> Line:
    """A cell as a line."""
    return cell if isinstance(cell, Line) else Line(cell)


class Table:
    """Rows of cells under headings; `right` names the columns whose cells stand at the right."""

    __slots__ = ("headings", "right", "rows")

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
        self.headings = list(headings)
        self.rows = [[line(cell) for cell in row] for row in rows]
        self.right = [heading in right for heading in headings]


class Tree:
    """A line with lines below it, to any depth."""

    __slots__ = ("children", "label")

    def __init__(self, label: Line, children: Sequence[Tree] = ()) -> None:
        self.label, self.children = label, list(children)

    def walk(self, ascii_only: bool = False) -> Iterator[Line]:
        """The lines of the tree with their guides, top down, without recursion."""
        elbow, tee, pipe = ("`- ", "|- ", "|  ") if ascii_only else ("└─ ", "├─ ", "│  ")
        stack: list[tuple[Tree, str, str]] = [(self, "", "")]
        while stack:
            tree, head, below = stack.pop()
            yield Line((head, "muted"), *tree.label.segments)
            last = len(tree.children) - 1
            for k in range(last, -1, -1):
                here, under = (elbow, "   ") if k == last else (tee, pipe)
                stack.append((tree.children[k], below + here, below + under))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int, dots: str = "…") -> str:
    """A text shortened to a number of cells, with dots where something is left out."""
    if cells(text) <= width:
        return text
    kept = ""
    for c in text:
        if cells(kept + c) > width - len(dots):
            break
        kept += c
    return kept + dots


def broken(one: Line, width: int, indent: int = 4) -> Iterator[Line]:
    """A line as lines that are no wider than a page, broken between words; those that follow are indented."""
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    for word in _words(one):
        taken = sum(cells(text) for text, _ in word)
        bare = taken - len(word[-1][0]) + len(word[-1][0].rstrip())
        if used + bare > width and used > (indent if len(rows) > 1 else 0):
            rows.append([(" " * indent, "")])
            used = indent
        rows[-1] += word
        used += taken
    yield from (Line(*_joined(row)) for row in rows)


def _joined(row: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Segments of one style as one."""
    from itertools import groupby

    for style, parts in groupby(row, key=lambda part: part[1]):
        yield "".join(text for text, _ in parts), style


def _words(one: Line) -> Iterator[list[tuple[str, str]]]:
    """The words of a line, each with the space behind it; a word may have parts of several styles."""
    word: list[tuple[str, str]] = []
    for text, style in one.segments:
        for part in re.findall(r"\S+\s*|\s+", text):
            word.append((part, style))
            if part[-1].isspace():
                yield word
                word = []
    if word:
        yield word


def table_lines(table: Table, ascii_only: bool = False, width: int = 0) -> Iterator[Line]:
    """The rows of a table, columns two spaces apart and never cut; with a width, the last column is broken to fit it."""
    heads = [Line((heading, "heading")) for heading in table.headings]
    rows = ([heads] if any(table.headings) else []) + table.rows
    widths = [max((cells(row[k].text) for row in rows), default=0) for k in range(len(heads))]
    start = sum(widths[:-1]) + 2 * (len(widths) - 1)
    for row in rows:
        if width and not table.right[-1] and start + cells(row[-1].text) > width:
            first, *others = broken(row[-1], max(width - start, LEAST), 0)
            if width - start < LEAST:  # under the rest of its row
                first, others = Line(), [Line(("    ", ""), *one.segments) for one in broken(row[-1], width - 4, 0)]
            else:
                others = [Line((" " * start, ""), *one.segments) for one in others]
        else:
            first, others = row[-1], []
        row = [*row[:-1], first]
        out: list[tuple[str, str]] = []
        for k, (cell, room) in enumerate(zip(row, widths, strict=True)):
            pad = " " * (room - cells(cell.text))
            gap = "  " if k else ""
            out.append((gap + pad if table.right[k] else gap, ""))
            out += cell.segments
            if not table.right[k] and k < len(widths) - 1:
                out.append((pad, ""))
        while others and not first.segments and not out[-1][0].strip():
            out.pop()
        yield Line(*out)
        yield from others


def lines_of(blocks: Sequence[Block], ascii_only: bool = False, width: int = 0) -> Iterator[Line]:
    """Every block as lines; with a width, words go on in a new line where one is full."""
    for block in blocks:
        if isinstance(block, Prose) and width and cells(block.text) > width:
            yield from broken(block, width)
        elif isinstance(block, Line):
            yield block
        elif isinstance(block, Table):
            yield from table_lines(block, ascii_only, width)
        else:
            yield from block.walk(ascii_only)


def plain(blocks: Sequence[Block], ascii_only: bool = False, width: int = 0) -> str:
    """A document as plain text, without a final newline; with a width, as a terminal shows it."""
    return "\n".join(one.text.rstrip() for one in lines_of(blocks, ascii_only, width))
