"""Source lines with marks under them, in cells of a terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.lang.source import Source, Span

    Segments = list[tuple[str, str]]

_NARROWEST = 40


class Mark:
    """A place to underline, and what is said about it."""

    __slots__ = ("span", "text")

    def __init__(self, span: Span, text: str) -> None:
        self.span, self.text = span, text


def excerpt(marks: list[Mark], width: int, style: str) -> list[Segments]:
    """The lines of the marks in order, each with its marks under it; `style` is that of the marks."""
    by_line: dict[tuple[int, int], list[Mark]] = {}
    for mark in marks:
        by_line.setdefault((mark.span.source.id, mark.span.line), []).append(mark)
    lines: list[Segments] = []
    for (_, number), here in sorted(by_line.items(), key=lambda item: item[0]):
        source = here[0].span.source
        if number <= len(source.lines):
            lines += _marked(source, number, sorted(here, key=lambda mark: mark.span.column), width, style)
    return lines


def _marked(source: Source, number: int, marks: list[Mark], width: int, style: str) -> list[Segments]:
    """One line of source, and its carets; the last mark's text stands beside them, the others' below, in place."""
    line = source.lines[number - 1]
    gutter = f"{number:>5} | "
    blank = " " * (len(gutter) - 2) + "| "
    room = max(width or 80, _NARROWEST) - len(gutter)
    places = [_columns(mark.span, line) for mark in marks]
    low, high = _window(line, places, room)
    shown, cells = _drawn(line, low, high)

    def at(column: int) -> int:
        return cells[min(max(column, low), high) - low]

    carets = ""
    for start, end in places:
        carets += " " * (at(start) - len(carets)) + "^" * max(1, at(end) - max(at(start), len(carets)))
    lines: list[Segments] = [[(gutter, "muted"), (shown, "code")]]
    beside = f" {printable(marks[-1].text)}" if marks[-1].text else ""
    lines.append([(blank, "muted"), (carets + beside, style)])
    for mark, (start, _) in zip(reversed(marks[:-1]), reversed(places[:-1])):
        if mark.text:
            lines.append([(blank, "muted"), (" " * at(start) + printable(mark.text), style)])
    return lines


def _columns(span: Span, line: str) -> tuple[int, int]:
    """First and last column (from 0, the last exclusive) of the part of a span that is on its first line."""
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    return start, max(end, start + 1)


def _window(line: str, places: list[tuple[int, int]], room: int) -> tuple[int, int]:
    """The part of a long line that is shown: around the marks, at least their beginning."""
    if len(line) * 2 <= room or (len(line) <= room and line.isascii() and line.isprintable()):
        return 0, len(line)
    start, end = places[0][0], places[-1][1]
    # Each character takes up to two cells; what is escaped takes more, and is cut at the end.
    most = room - 2 if line[max(0, start - room) : start + room].isascii() else room // 2 - 1
    if len(line) <= most:
        return 0, len(line)
    before = max(0, min(start, (most - (end - start)) // 2 if end - start < most else most // 8))
    low = max(0, min(start - before, len(line) - most))
    return low, min(len(line), low + most)


def _drawn(line: str, low: int, high: int) -> tuple[str, list[int]]:
    """The text of a part of a line, with dots where it was cut, and the cell at which each character begins."""
    shown = "…" if low else ""
    cells = []
    at = len(shown)
    pieces = [shown]
    for char in line[low:high]:
        cells.append(at)
        piece = "    " if char == "\t" else printable(char)
        pieces.append(piece)
        at += cell_width(piece)
    cells.append(at)
    if high < len(line):
        pieces.append("…")
    return "".join(pieces), cells


def cell_width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str, newlines: bool = False) -> str:
    """A text with what would disturb a terminal escaped: control characters, marks that turn text around."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (newlines and c == "\n") or c in "\u3000\xa0" else _escape(c) for c in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
