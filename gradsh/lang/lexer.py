"""Text into tokens: names, numbers, strings, indentation, the insides of f-strings and the words of commands."""

from __future__ import annotations

from gradsh.lang.command_words import CommandWords, fold
from gradsh.lang.pattern import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.lang.mishaps import Mishap
    from gradsh.lang.tables import Tables

    # (type, start, end, text). A literal's type is what it looks like: ("(", 4, 5, "("). The text of an ERROR is what
    # is wrong, unless the lexer is tolerant. Layout tokens have no text, and end where the token before them does.
    Token = tuple[str, int, int, "str | Mishap"]

# After these a `:` begins a command: nothing else can stand there.
_STARTS = frozenset(("_NEWLINE", "_INDENT", "_DEDENT", ";", ":"))
_CLOSERS = {")": "(", "]": "[", "}": "{"}


class _Field:
    """An open replacement field of an f-string, and where to go on when it closes."""

    __slots__ = ("in_format", "quote", "raw", "start")

    def __init__(self, quote: str, raw: bool, start: int, in_format: bool) -> None:
        self.quote, self.raw, self.start, self.in_format = quote, raw, start, in_format


class Lexer:
    """The tokens of a text, by the regular expressions of the grammar's terminals."""

    def __init__(self, tables: Tables) -> None:
        # It matches anywhere, if only nothing.
        self.match: Any = compiled(tables.pattern).match
        self.kinds = tables.kinds
        self.soft = tables.soft
        self.words = {word: kind for word, kind in tables.words.items() if word not in tables.soft}
        self.contextual = tables.contextual

    def tokens(
        self, text: str, caret_power: bool = True, tolerant: bool = False, skipped: list[tuple[int, int]] | None = None
    ) -> list[Token]:
        """All tokens of `text`, ended by `$END`, or by an ERROR token at the first thing that is no token.

        `caret_power`: `^` is power. `tolerant`: an ERROR token holds the text that is wrong, and the lexer goes on.
        `skipped` takes the places of lines for another program (`%magic`, `!command`).
        """
        return _Run(self, text, caret_power, tolerant, [] if skipped is None else skipped).tokens


class _Run(CommandWords):
    """One pass over one text."""

    def __init__(
        self, lexer: Lexer, text: str, caret_power: bool, tolerant: bool, skipped: list[tuple[int, int]]
    ) -> None:
        self.lexer, self.text, self.caret_power, self.tolerant = lexer, text, caret_power, tolerant
        self.skipped = skipped
        self.tokens: list[Token] = []
        # Open brackets: (character, where, the f-string field it opens or None).
        self.brackets: list[tuple[str, int, _Field | None]] = []
        # Width of each open block, with tabs to the next multiple of eight and with tabs as one: they must agree.
        self.indents: list[tuple[int, int]] = [(0, 0)]
        self.command = False
        self.named = -1
        self.scan()

    def scan(self) -> None:
        """The main loop; what is rare is in methods of its own."""
        text, tokens, brackets = self.text, self.tokens, self.brackets
        push, match, words = tokens.append, self.lexer.match, self.lexer.words
        kinds = self.lexer.kinds
        position = self.first_line()
        last = len(text)
        # A negative position: there is an ERROR token, or the end.
        while position >= 0:
            found = match(text, position)
            index = found.lastindex
            if index is None:
                position = self.other(found.end())
                continue
            start, end = found.span(index)
            kind = kinds[index]
            word = found[index]
            if kind == "NAME":
                kind = self.command_word(word, end) if self.command and not brackets else words.get(word, "NAME")
                if kind == "NAME" and not word.isascii():
                    word = fold(word)
                    if not word.isidentifier() or not found[index].isidentifier():
                        position = self.no_name(found[index], start)
                        continue
                push((kind, start, end, word))
                if kind == "to" and self.command and not brackets:
                    end = self.path(end)
            elif not kind:
                if word in "([{":
                    brackets.append((word, start, None))
                    push((word, start, end, word))
                elif word in ")]}":
                    end = self.close(word, start, end)
                elif word == ":" or word == ":=":
                    end = self.colon(word, start, end)
                elif self.command and not brackets:
                    end = self.command_operator(word, start, end)
                elif word == "%" and self.at_start():
                    end = self.skip_line(start)
                else:
                    push(("CARET_POWER" if word == "^" and self.caret_power else word, start, end, word))
            elif kind == "_NEWLINE":
                if not brackets and not self.newline(start, end, last):
                    end = -1
            elif kind == "F_STRING_START":
                push((kind, start, end, word))
                quote = word.lstrip("fFrR")
                end = self.f_string(end, quote, len(word) - len(quote) == 2, start, False)
            else:
                push((kind, start, end, word))
            position = end

    # ------------------------------------------------------------------------------------------------------ layout

    def first_line(self) -> int:
        """Skip blank lines and comments before the first statement, which must not be indented."""
        found = compiled(r"(?:[ \t\f]*(?:#[^\n]*)?\n)*([ \t\f]*)").match(self.text)
        assert found is not None
        end = found.end()
        if found[1].lstrip("\f") and self.text[end : end + 1] not in ("", "#", "\\"):
            self.indents.append(_width(found[1]))
            self.tokens.append(("_INDENT", end, end, ""))
        return end

    def newline(self, start: int, end: int, last: int) -> bool:
        """End a statement, and open or close blocks by the indentation that follows."""
        tokens = self.tokens
        before = tokens[-1][2] if tokens else start
        self.command = False
        if not self.at_start():
            tokens.append(("_NEWLINE", start, before, ""))
        if end == last:
            return True
        white = self.text[self.text.rindex("\n", 0, end) + 1 : end]
        width = (
            (len(white), len(white)) if white.isspace() and "\t" not in white and "\f" not in white else _width(white)
        )
        indents = self.indents
        if width == indents[-1]:
            return True
        if width[0] > indents[-1][0] and width[1] > indents[-1][1]:
            indents.append(width)
            tokens.append(("_INDENT", end, before, ""))
            return True
        while width[0] < indents[-1][0]:
            indents.pop()
            tokens.append(("_DEDENT", end, before, ""))
        if width == indents[-1] or self.tolerant:
            return True
        if width[0] > indents[-1][0]:
            self.mishap("unindent", end)
        else:
            self.mishap("tabs", end)
        return False

    def finish(self) -> int:
        """The end of the text: close what indentation opened."""
        tokens = self.tokens
        last = len(self.text)
        before = tokens[-1][2] if tokens else 0
        if not self.tolerant and not self.brackets and "\\" in self.text[before:] and self.continued(before):
            return self.mishap("continuation", self.text.rindex("\\"))
        if not self.brackets:
            if not self.at_start():
                tokens.append(("_NEWLINE", last, before, ""))
            tokens.extend([("_DEDENT", last, before, "")] * (len(self.indents) - 1))
        tokens.append(("$END", last, before, ""))
        return -1

    def continued(self, before: int) -> bool:
        """Whether the text stops after a backslash that continues its last line."""
        return compiled(r"(?:[ \t\f]|#[^\n]*\n|\n)*\\\n?[ \t\f]*\Z").match(self.text, before) is not None

    def at_start(self) -> bool:
        """Whether a statement begins here."""
        return not self.brackets and (not self.tokens or self.tokens[-1][0] in ("_NEWLINE", "_INDENT", "_DEDENT"))

    def skip_line(self, start: int) -> int:
        """Leave out a line for a notebook's machinery: `%magic` or `!command`; nothing of ours begins like that."""
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        self.skipped.append((start, end))
        return end

    # ---------------------------------------------------------------------------------------------------- brackets

    def close(self, word: str, start: int, end: int) -> int:
        """A closing bracket; one that ends a field of an f-string goes on with the string's text."""
        brackets = self.brackets
        if not brackets or brackets[-1][0] != _CLOSERS[word]:
            if not self.tolerant:
                return self.mishap("unmatched", start)
            self.tokens.append(("ERROR", start, end, word))
            return end
        field = brackets.pop()[2]
        self.tokens.append((word, start, end, word))
        if field is None:
            return end
        return self.f_string(end, field.quote, field.raw, field.start, field.in_format)

    def colon(self, word: str, start: int, end: int) -> int:
        """A colon: of a block, slice, pair or annotation; the start of a command; or of a field's format."""
        tokens, brackets = self.tokens, self.brackets
        field = brackets[-1][2] if brackets else None
        if field is not None:
            tokens.append((":", start, start + 1, ":"))
            return self.f_string(start + 1, field.quote, field.raw, field.start, True)
        begins = word == ":" and not brackets and (not tokens or tokens[-1][0] in _STARTS)
        tokens.append((word, start, end, word))
        return self.command_name(end) if begins else end

    # --------------------------------------------------------------------------------------------------- f-strings

    def f_string(self, position: int, quote: str, raw: bool, opened: int, in_format: bool) -> int:
        """The text of an f-string from `position` on, to its end or to the next field, which the main loop reads."""
        text, tokens = self.text, self.tokens
        search = compiled(r"""[\\{}"'\n]""").search
        here = position
        while True:
            found = search(text, here)
            if found is None:
                return self.unterminated(opened, position, quote)
            here = found.start()
            char = found[0]
            if char == "\\":
                named = not raw and compiled(r"\\N\{[^{}\n]*\}").match(text, here)
                if named:
                    here = named.end()
                else:
                    here += 1 if text[here + 1 : here + 2] in "{}" else 2
            elif char == "\n":
                if len(quote) == 1:
                    return self.unterminated(opened, position, quote)
                here += 1
            elif char in "{}":
                doubled = text[here + 1 : here + 2] == char and not in_format
                if doubled:
                    here += 2
                    continue
                if here > position:
                    tokens.append(("F_STRING_TEXT", position, here, text[position:here]))
                if char == "{":
                    tokens.append(("{", here, here + 1, "{"))
                    self.brackets.append(("{", here, _Field(quote, raw, opened, in_format)))
                    return here + 1
                if in_format:
                    return self.close("}", here, here + 1)
                if not self.tolerant:
                    return self.mishap("single brace", here)
                tokens.append(("ERROR", here, here + 1, "}"))
                here = position = here + 1
            elif text.startswith(quote, here):
                if in_format and not self.tolerant:
                    return self.mishap("open field", self.brackets[-1][1])
                if in_format:
                    self.brackets.pop()
                if here > position:
                    tokens.append(("F_STRING_TEXT", position, here, text[position:here]))
                tokens.append(("_F_STRING_END", here, here + len(quote), quote))
                return here + len(quote)
            else:
                here += 1

    def unterminated(self, opened: int, position: int, quote: str) -> int:
        """An f-string without an end."""
        if not self.tolerant:
            return self.mishap("string", opened)
        while self.brackets and self.brackets[-1][2] is not None and self.brackets[-1][2].start == opened:
            self.brackets.pop()
        end = len(self.text) if len(quote) == 3 else self.text.find("\n", position)
        end = len(self.text) if end < 0 else end
        self.tokens.append(("ERROR", position, end, self.text[position:end]))
        return end

    # ------------------------------------------------------------------------------------------------------ errors

    def other(self, position: int) -> int:
        """What the regular expression does not know: the end, the `!r` of a field, or an error."""
        text = self.text
        if position == len(text):
            return self.finish()
        if text[position] == "!" and self.brackets and self.brackets[-1][2] is not None:
            found = compiled(self.lexer.contextual["CONVERSION"]).match(text, position)
            assert found is not None
            self.tokens.append(("CONVERSION", position, found.end(), found[0]))
            return found.end()
        if text[position] == "!" and self.at_start():
            return self.skip_line(position)
        if not self.tolerant:
            last = text[position] == "\\" and not text[position + 1 :].strip(" \t") and not self.brackets
            return self.mishap("continuation" if last else "character", position)
        found = compiled(r"""[rRbBuUfF]{0,2}(?:\"\"\"|''')[\s\S]*|[rRbBuUfF]{0,2}["'][^\n]*|\w+|[^\w"'\n]""").match(
            text, position
        )
        end = found.end() if found else position + 1
        self.tokens.append(("ERROR", position, end, text[position:end]))
        return end

    def no_name(self, word: str, start: int) -> int:
        """Letters and digits that make no name, such as `x²`: wrong at the first that cannot stand there."""
        length = next(length for length in range(1, len(word) + 1) if not word[:length].isidentifier())
        if not self.tolerant:
            return self.mishap("character", start + length - 1)
        self.tokens.append(("ERROR", start, start + len(word), word))
        return start + len(word)

    def mishap(self, what: str, position: int) -> int:
        """Stop with an ERROR token that says what is wrong at `position`."""
        from gradsh.lang.mishaps import mishap

        self.tokens.append(("ERROR", position, position, mishap(what, self.text, position, self.brackets)))
        return -1


def _width(white: str) -> tuple[int, int]:
    """The width of indentation with tabs to the next multiple of eight, and with tabs as one."""
    # A form feed starts again.
    white = white.rpartition("\f")[2]
    return len(white.expandtabs(8)), len(white)
