"""The words of commands: which of them are words, which are names, and where a bare path stands."""

from __future__ import annotations

from gradsh.lang.pattern import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.lang.lexer import Lexer, Token

# Tokens that an operand can end with: after one of them, a word of a command is a word.
_OPERAND_ENDS = frozenset(
    ("NAME", "NUMBER", "STRING", "_F_STRING_END", "PATH", ")", "]", "}", "None", "True", "False", "...")
)
_VALUE_WORDS = ("None", "True", "False")


class CommandWords:
    """The part of a pass over a text that knows about commands."""

    lexer: Lexer
    text: str
    caret_power: bool
    tokens: list[Token]
    # Whether a command is being read, and which of the tokens is its name.
    command: bool
    named: int

    def command_name(self, position: int) -> int:
        """The name after a command's colon, which any word can be, and a word that stands alone after it."""
        self.command = True
        found = compiled(r"[ \t]*([^\W\d]\w*)(?:[ \t]+([^\W\d]\w*)(?=[ \t]*(?:[;#\n]|\Z)))?").match(self.text, position)
        if found is None:
            return position
        self.named = len(self.tokens)
        self.tokens.append(("NAME", found.start(1), found.end(1), found[1]))
        if found[2] is None or found[2] in _VALUE_WORDS:
            return found.end(1)
        self.tokens.append(("NAME", found.start(2), found.end(2), fold(found[2])))
        return found.end(2)

    def command_word(self, word: str, end: int) -> str:
        """The type of a word outside brackets in a command: `of`, `wrt` … are words between operands, else names."""
        tokens = self.tokens
        if word not in self.lexer.soft:
            return self.lexer.words.get(word, "NAME")
        found = compiled(r"[ \t]*(==|[^\n]?)").match(self.text, end)
        follows = found[1] if found else ""
        if follows == "=":
            return "NAME"
        if self.named == len(tokens) - 1:
            return "NAME" if follows in ("", "==") or follows in ",.;#+*/%@<>!&|^)" else word
        return word if tokens[-1][0] in _OPERAND_ENDS else "NAME"

    def command_operator(self, word: str, start: int, end: int) -> int:
        """An operator outside brackets in a command: its end, or the beginning of a path."""
        tokens = self.tokens
        if word == ";":
            self.command = False
        elif self.begins_path(start):
            return self.path(start)
        tokens.append(("CARET_POWER" if word == "^" and self.caret_power else word, start, end, word))
        return end

    def begins_path(self, start: int) -> bool:
        """Whether a bare path such as `~/x` or `../x` stands here, where an operand is due."""
        due = self.tokens[-1][0] not in _OPERAND_ENDS or self.named == len(self.tokens) - 1
        return due and self.text.startswith(("~/", "./", "../", "/"), start)

    def path(self, position: int) -> int:
        """A bare path at or after `position`; a quoted one is a string."""
        found = compiled("[ \t]*(" + self.lexer.contextual["PATH"] + ")").match(self.text, position)
        if found is None:
            return position
        self.tokens.append(("PATH", found.start(1), found.end(1), found[1]))
        return found.end(1)


def fold(name: str) -> str:
    """A name in the form that Python compares names in (NFKC)."""
    if name.isascii():
        return name
    import unicodedata

    return unicodedata.normalize("NFKC", name)
