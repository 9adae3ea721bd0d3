"""What a record draws: lines of styled text, tables and trees, free of any format; and their plain text.

The same document is written with rich on a terminal (`view.terminal`) and as plain text here. Styles are names:
"name", "number", "op", "shape", "muted", "fault", "warning", "hint", "heading", "code", "good".
"""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    Block: TypeAlias = "Line | Table | Tree"


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


def table_lines(table: Table, ascii_only: bool = False) -> Iterator[Line]:
    """The rows of a table, columns two spaces apart and never cut."""
    heads = [Line((heading, "heading")) for heading in table.headings]
    rows = ([heads] if any(table.headings) else []) + table.rows
    widths = [max((cells(row[k].text) for row in rows), default=0) for k in range(len(heads))]
    for row in rows:
        out: list[tuple[str, str]] = []
        for k, (cell, width) in enumerate(zip(row, widths, strict=True)):
            pad = " " * (width - cells(cell.text))
            gap = "  " if k else ""
            out.append((gap + pad if table.right[k] else gap, ""))
            out += cell.segments
            if not table.right[k] and k < len(widths) - 1:
                out.append((pad, ""))
        yield Line(*out)


def lines_of(blocks: Sequence[Block], ascii_only: bool = False) -> Iterator[Line]:
    """Every block as lines."""
    for block in blocks:
        if isinstance(block, Line):
            yield block
        elif isinstance(block, Table):
            yield from table_lines(block, ascii_only)
        else:
            yield from block.walk(ascii_only)


def plain(blocks: Sequence[Block], ascii_only: bool = False) -> str:
    """A document as plain text, without a final newline."""
    return "\n".join(one.text.rstrip() for one in lines_of(blocks, ascii_only))
