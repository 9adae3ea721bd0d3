"""What a wrong or unfinished text is told, and whether more text could complete it."""

from __future__ import annotations

import re

from gradsh.fault import Details, fault
from gradsh.lang.mishaps import MEANT, Mishap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.lang.lexer import Token
    from gradsh.lang.parser import Unexpected
    from gradsh.lang.source import Source
    from gradsh.lang.tables import Tables

_OPENERS = {"(": ")", "[": "]", "{": "}"}
_ENDS = frozenset(("NAME", "NUMBER", "STRING", "_F_STRING_END", ")", "]", "}", "None", "True", "False", "..."))
_BEGINS = frozenset(("NAME", "NUMBER", "STRING", "F_STRING_START", "None", "True", "False", "lambda"))
_LEFT_OUT = (":", "()")  # marks that are missing, where others stand in place of what is meant
_MARK = re.compile(r"[^\w\s]+\d?")
_BLOCKS = {
    name: f"'{name}' statement" for name in ("if", "elif", "else", "for", "while", "try", "except", "finally", "with")
} | {"def": "function definition", "class": "class definition"}


class Incomplete(Exception):
    """The text stops where more could complete it; `inside` an open "bracket", "string", "block" or "line"."""

    inside: str


class IncompleteSyntax(Incomplete, SyntaxError):
    """It stops inside a bracket, a string or a line."""


class IncompleteBlock(Incomplete, IndentationError):
    """It stops before a block."""


def syntax_error(source: Source, tokens: list[Token], unexpected: Unexpected, tables: Tables) -> BaseException:
    """The fault for a token that cannot stand where it does."""
    kind, start, end, text = unexpected.token
    if isinstance(text, Mishap):
        if text.inside:
            return _incomplete(source, text.message, text.start, text.end, text.inside, text.hint)
        hint = amended(source, text.start, text.end, text.hint)
        return fault(text.kind, text.message, hint=hint, span=source.span(text.start, text.end))
    if kind == "_DEDENT" and all(token[0] in ("_DEDENT", "$END") for token in tokens[unexpected.number :]):
        kind = "$END"
    expected = tables.actions[unexpected.states[-1]]
    unclosed = _unclosed(tokens)
    if unclosed is not None and (kind == "$END" or _line(source, unclosed[1]) < _line(source, start)):
        message, hint = f"'{unclosed[0]}' was never closed", f"close it with {_OPENERS[unclosed[0]]}"
        if kind == "$END":
            return _incomplete(source, message, unclosed[1], unclosed[1] + 1, "bracket", hint)
        return fault(SyntaxError, message, hint=hint, span=source.span(unclosed[1], unclosed[1] + 1))
    if "_INDENT" in expected and kind != "_INDENT" and "pass" not in expected:
        message = f"expected an indented block after {_block(source, unexpected)}"
        if kind == "$END":
            return _incomplete(source, message, end, end, "block")
        return fault(IndentationError, message, span=source.span(start, start + len(text)))
    if kind == "$END":
        message = "expected 'except' or 'finally' block" if "except" in expected else "unexpected end of the program"
        return _incomplete(source, message, end, end, "block")
    message, help = _message(source, unexpected, tables)
    if kind == "_INDENT" and message == "invalid syntax":
        return fault(IndentationError, "unexpected indent", hint=help, span=source.span(start, start + 1))
    if kind in ("_NEWLINE", "_DEDENT"):
        start = end
    if message == "invalid syntax" and _forgot_comma(tokens, unexpected.number):
        message = "invalid syntax. Perhaps you forgot a comma?"
    return fault(SyntaxError, message, hint=amended(source, start, end, help), span=source.span(start, end))


def amended(source: Source, start: int, end: int, hint: str | None) -> str | None:
    """The line with what is meant in its place, where that is a mark alone; any other hint stays as it is."""
    if hint is None or not _MARK.fullmatch(hint):
        return hint
    text = source.text
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, wrong, after = text[first:start], text[start:end], text[end : last if last >= 0 else None]
    if hint in _LEFT_OUT:
        return (before.rstrip() + hint + (" " * before.endswith(" ") + wrong) + after).strip()
    if wrong.isascii():  # with what stands right before it: === is one mark to those who type it
        return (re.sub(r"[<>=!]+\Z", "", before) + hint + after).strip()
    return re.sub(f"[{MEANT.get(hint, wrong)}]", hint, before + wrong + after).strip()


def _message(source: Source, unexpected: Unexpected, tables: Tables) -> tuple[str, str | None]:
    """The row of mistakes.toml for this state and token, if one fits the text on both sides."""
    kind, start, end, _ = unexpected.token
    at = end if kind in ("_NEWLINE", "_DEDENT") else start
    line_start = source.text.rfind("\n", 0, at) + 1
    before = source.text[line_start:at].rstrip()
    line_end = source.text.find("\n", at)
    after = source.text[at : line_end if line_end >= 0 else None]
    here = tables.mistakes.get(unexpected.states[-1], {}).get(kind, [])
    for number in sorted({*here, *tables.anywhere}):
        message, hint, before_pattern, after_pattern = tables.messages[number]
        if before_pattern and not re.search(f"(?:{before_pattern})\\Z", before):
            continue
        if after_pattern and not re.match(after_pattern, after):
            continue
        return message, hint
    return "invalid syntax", None


def _forgot_comma(tokens: list[Token], number: int) -> bool:
    """Whether two operands stand side by side in brackets."""
    if not number or tokens[number][0] not in _BEGINS or tokens[number - 1][0] not in _ENDS:
        return False
    return _unclosed(tokens[:number]) is not None


def _unclosed(tokens: list[Token]) -> tuple[str, int] | None:
    """The innermost bracket that is open after `tokens`, and where it stands."""
    opened: list[tuple[str, int]] = []
    for kind, start, _end, _text in tokens:
        if kind in _OPENERS:
            opened.append((kind, start))
        elif kind in ")]}" and opened and kind:
            opened.pop()
    return opened[-1] if opened else None


def _block(source: Source, unexpected: Unexpected) -> str:
    """What the block that is missing belongs to."""
    for value, start in zip(reversed(unexpected.values), reversed(unexpected.starts)):
        if isinstance(value, str) and value in _BLOCKS:
            return f"{_BLOCKS[value]} on line {_line(source, start)}"
    return "this line"


def _line(source: Source, offset: int) -> int:
    return source.position(offset)[0]


def _incomplete(source: Source, message: str, start: int, end: int, inside: str, hint: str | None = None) -> Incomplete:
    kind: Any = (
        IncompleteBlock if inside == "block" and message.startswith("expected an indented") else IncompleteSyntax
    )
    error: Incomplete = kind(message)
    error.inside = inside
    error.details = Details(hint, span=source.span(start, end))  # type: ignore[attr-defined]
    return error
