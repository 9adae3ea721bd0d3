"""Where in a text the cursor stands, by the tokens before it: what completion goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsh.lang import tokens
from gradsh.repl.editing import LAYOUT

if TYPE_CHECKING:
    from gradsh.lang.lexer import Token
    from gradsh.lang.program import Dialect

_OPENERS, _CLOSERS = ("(", "[", "{"), (")", "]", "}")
_LITERALS = ("ERROR", "STRING", "NUMBER", "F_STRING_TEXT")


class Context:
    """The end of a text.

    tokens: those before the word that the cursor is behind. word: that word, perhaps empty. silent: it is in a comment.
    literal: the cursor is behind or in a string or a number.
    """

    __slots__ = ("literal", "silent", "text", "tokens", "word")

    def __init__(self, text: str, dialect: Dialect) -> None:
        found = tokens(text, dialect=dialect)
        while found and (found[-1][0] == "$END" or (found[-1][0] in LAYOUT and found[-1][1] == len(text))):
            found.pop()
        last = found[-1] if found else None
        end = last[2] if last else 0
        touches = last is not None and end == len(text)
        self.text, self.tokens, self.word = text, found, ""
        self.silent = "#" in text[end:]
        self.literal = touches and found[-1][0] in _LITERALS
        if touches and not self.literal and text[found[-1][1] :].isidentifier():
            self.word = text[found.pop()[1] :]

    def statement(self) -> list[Token]:
        """The tokens of the statement that is being typed."""
        here = len(self.tokens)
        while here and self.tokens[here - 1][0] not in LAYOUT and self.tokens[here - 1][0] != ";":
            here -= 1
        return self.tokens[here:]

    def command(self) -> list[Token] | None:
        """The tokens behind the colon of the command that is being typed; None where it is no command."""
        depth = 0
        for number in range(len(self.tokens) - 1, -1, -1):
            kind = self.tokens[number][0]
            depth += (kind in _CLOSERS) - (kind in _OPENERS)
            if kind in LAYOUT or (kind == ";" and not depth):
                return None
            before = self.tokens[number - 1][0] if number else ";"
            if kind == ":" and (before in LAYOUT or before in (";", ":")):
                return self.tokens[number + 1 :]
        return None

    def open_bracket(self) -> int | None:
        """The number of the innermost bracket that is open at the cursor."""
        depth = 0
        for number in range(len(self.tokens) - 1, -1, -1):
            kind = self.tokens[number][0]
            if kind in _CLOSERS:
                depth += 1
            elif kind in _OPENERS:
                if not depth:
                    return number
                depth -= 1
        return None

    def path_before(self, number: int) -> list[str] | None:
        """The names with dots between them that end before a token; None where there is more than that, a call say."""
        path: list[str] = []
        here = number - 1
        while here >= 0 and str(self.tokens[here][3]).isidentifier():
            path.append(str(self.tokens[here][3]))
            if not here or self.tokens[here - 1][0] != ".":
                return path[::-1]
            here -= 2
        return None
