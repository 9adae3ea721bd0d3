"""Program texts by number, and places in them."""

from __future__ import annotations

from _bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from gradsh.lang.form import Statement
    from gradsh.lang.program import Dialect


class Source:
    """One text that was run: a file, a line typed, a cell.

    `text` is what is parsed: newlines are `\\n`, prompts of a pasted transcript are taken off and its answers blanked.
    `lines` are the lines as the user sees them; columns count from there.
    """

    __slots__ = (
        "_forms", "_lines", "_starts", "dialect", "given", "id", "library", "margins", "name", "skipped", "text",
    )  # fmt: skip

    registry: ClassVar[dict[str, Source]] = {}

    def __init__(self, name: str, text: str, number: int = 0) -> None:
        if text.startswith("\ufeff"):
            text = text[1:]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.name, self.id, self.given = name, number, text
        self.library: str | None = None
        self.text = text
        # What it was parsed into; where an earlier run did that, in which dialect it can be done again.
        self._forms: tuple[Statement, ...] | None = None
        self.dialect: Dialect | None = None
        # Width of the prompt that was taken off, by line.
        self.margins: dict[int, int] = {}
        # Offsets of lines for another program (`%magic`, `!command`) that the lexer left out.
        self.skipped: list[tuple[int, int]] = []
        self._starts: list[int] | None = None
        self._lines: list[str] | None = None
        if text.lstrip().startswith((">>>", "In [")):
            from gradsh.lang.paste import without_prompts

            self.text, self.margins = without_prompts(text)

    @classmethod
    def add(cls, name: str, text: str, *, library: str | None = None) -> Source:
        """Register a text; code compiled from it has its `filename`. `library`: the module of ours that it is."""
        source = cls(name, text, len(cls.registry) + 1)
        source.library = library
        cls.registry[source.filename] = source
        return source

    def again(self) -> Source:
        """The same text registered once more, for code of its own from a part of it."""
        other = Source.add(self.name, "", library=self.library)
        other.text, other.given, other.margins = self.text, self.given, self.margins
        other._starts, other._lines = self.starts, self.lines
        return other

    @classmethod
    def of(cls, filename: str) -> Source | None:
        """The text that code with this `co_filename` came from, or None for Python's own code."""
        return cls.registry.get(filename)

    @property
    def filename(self) -> str:
        """What its code objects have as `co_filename`: the engine knows the user's code by the `<` in front."""
        return f"gradsh:{self.library}" if self.library else f"<gradsh:{self.id}>"

    @property
    def forms(self) -> tuple[Statement, ...]:
        """The statements that it was parsed into."""
        if self._forms is None:
            if self.dialect is None:
                return ()
            from gradsh.lang.program import parse_program

            self.skipped = []
            self._forms = parse_program(self, self.dialect)
        return self._forms

    @forms.setter
    def forms(self, forms: tuple[Statement, ...]) -> None:
        self._forms = forms

    @property
    def starts(self) -> list[int]:
        """The offset of each line's first character in `text`, and one past the end."""
        if self._starts is None:
            starts = [0]
            for line in self.text.split("\n"):
                starts.append(starts[-1] + len(line) + 1)
            self._starts = starts
        return self._starts

    @property
    def lines(self) -> list[str]:
        if self._lines is None:
            self._lines = self.given.split("\n")
        return self._lines

    def position(self, offset: int) -> tuple[int, int]:
        """Line (from 1) and column (from 0) of an offset into `text`."""
        line = bisect_right(self.starts, offset)
        line = min(line, len(self.starts) - 1)
        return line, offset - self.starts[line - 1] + self.margins.get(line, 0)

    def span(self, start: int, end: int) -> Span:
        """The place between two offsets."""
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Span(self, line, column + 1, end_line, end_column + 1)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line (from 1) and a column (from 0)."""
        return self.starts[line - 1] + column - self.margins.get(line, 0)


class Span:
    """A place in a source: lines and columns from 1, counted in characters; the end is exclusive."""

    __slots__ = ("column", "end_column", "end_line", "line", "source")

    def __init__(self, source: Source, line: int, column: int, end_line: int, end_column: int) -> None:
        self.source, self.line, self.column, self.end_line, self.end_column = source, line, column, end_line, end_column

    @property
    def text(self) -> str:
        source = self.source
        start = source.offset(self.line, self.column - 1)
        return source.text[start : source.offset(self.end_line, self.end_column - 1)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> tuple[int, int, int, int, int]:
        return self.source.id, self.line, self.column, self.end_line, self.end_column

    def __repr__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"


class Shown:
    """An expression whose value is echoed: its offsets, and its name where it is a bare one."""

    __slots__ = ("end", "name", "source", "start")

    def __init__(self, source: Source, start: int, end: int, name: str | None) -> None:
        self.source, self.start, self.end, self.name = source, start, end, name

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]
