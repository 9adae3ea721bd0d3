"""What the prompt does with the text while it is typed: indentation, and what a paste brings along."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradsh.lang import tokens

if TYPE_CHECKING:
    from gradsh.lang.lexer import Token

INDENT = 4
LAYOUT = frozenset(("_NEWLINE", "_INDENT", "_DEDENT", "$END"))
# Statements with a block, statements after which a block ends, and which statement goes on with which.
_HEADERS = frozenset(("if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"))
_LAST = frozenset(("return", "pass", "break", "continue", "raise"))
_GOES_ON = {
    "else": ("if", "elif", "for", "while", "except"),
    "elif": ("if", "elif"),
    "except": ("try", "except"),
    "finally": ("try", "except", "else"),
}
_CONTINUATION = re.compile(r"( +)(else|elif|except|finally)\b.*:\Z")


def leading(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent_after(text: str) -> str:
    """The white space to begin the line after `text` with."""
    found = [token for token in tokens(text) if token[0] != "$END"]
    while found and found[-1][0] in LAYOUT:
        found.pop()
    line = text.rpartition("\n")[2]
    if not found or is_open(text):
        opens = bool(found) and found[-1][0] in "([{" and found[-1][2] == len(text.rstrip())
        return leading(line) + " " * (INDENT if opens else 0)
    first = _first_of_statement(found)
    margin = leading(text[text.rfind("\n", 0, first[1]) + 1 :])
    if first[0] in _HEADERS and found[-1][0] == ":":
        return margin + " " * INDENT
    return margin[:-INDENT] if first[0] in _LAST else margin


def is_open(text: str) -> bool:
    """Whether `text` stops inside a bracket or a string."""
    depth = 0
    last: Token | None = None
    for token in tokens(text):
        kind = token[0]
        if kind not in LAYOUT:
            depth += (kind in ("(", "[", "{")) - (kind in (")", "]", "}"))
            last = token
    return depth > 0 or (last is not None and last[0] == "ERROR" and last[2] == len(text))


def _first_of_statement(found: list[Token]) -> Token:
    """The first token of the line that the last one belongs to."""
    first = len(found) - 1
    while first and found[first - 1][0] not in LAYOUT:
        first -= 1
    return found[first]


def surplus_indent(text: str) -> int:
    """How far the last line of `text`, an `else:` or the like, stands to the right of what it goes on with."""
    lines = text.split("\n")
    found = _CONTINUATION.match(lines[-1])
    if found is None or is_open(text):
        return 0
    here = len(found[1])
    reach = here + 1
    for line in reversed(lines[:-1]):
        if not line.strip():
            continue
        margin = len(leading(line))
        if margin < reach:
            reach = margin
            if re.match(rf"(?:{'|'.join(_GOES_ON[found[2]])})\b", line.strip()):
                return here - margin
    return 0


def cleaned_paste(text: str, before: str) -> str:
    """Pasted text as it goes behind `before` in a line: without prompts and answers, fitted to the margin."""
    import textwrap

    from gradsh.lang.paste import without_prompts

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if before.strip():
        return text
    code, margins = without_prompts(text)
    if margins:
        text = "\n".join(line for number, line in enumerate(code.split("\n"), 1) if number in margins)
    text = textwrap.dedent(text).strip("\n")
    return textwrap.indent(text, before).removeprefix(before)
