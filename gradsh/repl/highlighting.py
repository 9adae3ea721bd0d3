"""The colours of what is typed, by the grammar's own tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradsh.lang import tokens

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from gradsh.lang.program import Dialect

Part = tuple[int, int, str]  # start, end, style

_STYLES = {
    "NUMBER": "number",
    "STRING": "string",
    "PATH": "string",
    "F_STRING_START": "string",
    "F_STRING_TEXT": "string",
    "_F_STRING_END": "string",
    "CONVERSION": "string",
}
_STARTS = frozenset(("_NEWLINE", "_INDENT", "_DEDENT", ";", ":"))
_COMMENT = re.compile(r"#[^\n]*")
_STRING = re.compile(r"[rRbBuUfF]{0,2}[\"']")


def parts(text: str, dialect: Dialect, commands: Container[str], library: Container[str]) -> Iterator[Part]:
    """The parts of a text that have a style: keyword, number, string, comment, command, library or wrong; in order."""
    end = 0
    before = earlier = "_NEWLINE"  # the types of the last token and of the one before it
    for kind, start, stop, word in tokens(text, dialect=dialect):
        if stop > start and word:
            for found in _COMMENT.finditer(text, end, start):
                yield found.start(), found.end(), "comment"
            style = _STYLES.get(kind, "")
            if kind == "NAME":
                if before == ":" and earlier in _STARTS:
                    style = "command" if word in commands else ""
                elif before != "." and word in library:
                    style = "library"
            elif kind == "ERROR":
                is_string = before.startswith("F_STRING") or before == "}" or _STRING.match(str(word))
                style = "string" if is_string else "wrong"
            elif kind == word and kind.isalpha():
                style = "keyword"
            if style:
                yield start, stop, style
            end = stop
        earlier, before = before, kind
    for found in _COMMENT.finditer(text, end):
        yield found.start(), found.end(), "comment"
