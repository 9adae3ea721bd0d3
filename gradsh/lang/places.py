"""Places in a program that made something: an instruction's span, its text, and the name that its value was given."""

from __future__ import annotations

from gradsh.lang.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from gradsh.lang.form import Form
    from gradsh.lang.program import Program


class Place:
    """Where an instruction comes from: its span, its expression's text, and the name it was assigned to, if any."""

    __slots__ = ("span", "target")

    def __init__(self, span: Span, target: str | None) -> None:
        self.span, self.target = span, target

    @property
    def text(self) -> str:
        """The expression on one line."""
        return " ".join(self.span.text.split())

    def where(self) -> str:
        """`file:line:column`, or `line:column` of what was typed."""
        name = self.span.source.name
        return (
            f"{self.span.line}:{self.span.column}"
            if name.startswith("<")
            else f"{name}:{self.span.line}:{self.span.column}"
        )

    def numbers(self) -> list[int]:
        """[line, column, end line, end column], from 1."""
        return [self.span.line, self.span.column, self.span.end_line, self.span.end_column]


class Places:
    """The places of one program. What is asked for once is kept: positions by code object, targets by span."""

    __slots__ = ("_positions", "_targets", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self._positions: dict[CodeType, list[Any]] = {}
        self._targets: dict[tuple[int, int], str] | None = None

    def at(self, code: CodeType, lasti: int) -> Place | None:
        """The place of an instruction of the program; None where Python kept no columns."""
        positions = self._positions.get(code)
        if positions is None:
            positions = self._positions[code] = list(code.co_positions())
        line, end_line, column, end_column = positions[lasti // 2]
        if line is None or column is None:
            return None
        source = self.program.source
        span = Span(source, line, column + 1, end_line, end_column + 1)
        targets = self._targets
        if targets is None:
            targets = self._targets = _targets(self.program.forms)
        key = source.offset(line, column), source.offset(end_line, end_column)
        return Place(span, targets.get(key))


def _targets(forms: tuple[Form, ...]) -> dict[tuple[int, int], str]:
    """Span of a value -> the one name it is assigned to, for every assignment of the program."""
    from gradsh.lang.forms.simple import Assign, Augmented
    from gradsh.lang.forms.values import Name

    found: dict[tuple[int, int], str] = {}
    waiting: list[Any] = list(forms)
    while waiting:
        form = waiting.pop()
        if isinstance(form, Assign) and len(form.parts) == 2 and type(form.parts[0]) is Name:
            found[form.parts[1].start, form.parts[1].end] = form.parts[0].name
        elif isinstance(form, Augmented) and type(form.place) is Name:
            found[form.start, form.end] = form.place.name
        if isinstance(form, tuple):
            waiting += [part for part in form if isinstance(part, tuple)]
    return found
