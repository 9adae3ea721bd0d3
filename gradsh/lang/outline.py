"""The definitions in a text: where each function and class stands."""

from __future__ import annotations

from gradsh.lang.program import parse_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.lang.source import Source


def definition(source: Source, name: str, line: int) -> tuple[str, int] | None:
    """The text of the definition of a name that begins nearest to a line, decorators included, and its first line."""
    from gradsh.lang.forms.definitions import Class, Decorated, Function

    found: list[tuple[int, int, int]] = []
    waiting: list[Any] = list(parse_program(source))
    while waiting:
        form = waiting.pop()
        inner = form.definition if isinstance(form, Decorated) else form
        if isinstance(inner, Function | Class) and inner.name == name:
            first = source.position(form.start)[0]
            found.append((abs(first - line), form.start, form.end))
        if isinstance(inner, tuple):
            waiting += [part for part in inner if isinstance(part, tuple)]
    if not found:
        return None
    _, start, end = min(found)
    number, column = source.position(start)
    lines = source.text[start - column : end].rstrip().split("\n")
    return "\n".join(part[column:] if not part[:column].strip() else part for part in lines), number
