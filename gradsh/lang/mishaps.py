"""What the lexer finds wrong, in Python's words, with what to type instead."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOSES = {"(": ")", "[": "]", "{": "}"}
# Characters that text brings along, by what they stand for.
MEANT = {
    '"': "“”„‟″«»", "'": "‘’‚‛′´", "-": "−–—‐‑", "*": "×⋅·∗", "/": "÷∕⁄", "<=": "≤", ">=": "≥", "!=": "≠",
    "->": "→", ",": "、，", ".": "。", "**2": "²", "**3": "³", "not": "¬", "and": "∧", "or": "∨", "in": "∈",
    "sqrt": "√", "sum": "∑", "inf": "∞",
}  # fmt: skip
_BASES = {"x": ("hexadecimal", "0123456789abcdef"), "o": ("octal", "01234567"), "b": ("binary", "01")}


class Mishap:
    """An error between two offsets; `inside`: what more text could close ("string", "line"), if anything."""

    __slots__ = ("end", "hint", "inside", "kind", "message", "start")

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        hint: str | None = None,
        inside: str | None = None,
        kind: type[SyntaxError] = SyntaxError,
    ) -> None:
        self.message, self.start, self.end, self.hint, self.inside, self.kind = message, start, end, hint, inside, kind


def mishap(what: str, text: str, position: int, brackets: Sequence[tuple[str, int, object]]) -> Mishap:
    """What is wrong at `position`, where the lexer met `what`."""
    if what == "unindent":
        message = "unindent does not match any outer indentation level"
        return Mishap(message, position, position + 1, kind=IndentationError)
    if what == "tabs":
        message = "inconsistent use of tabs and spaces in indentation"
        return Mishap(message, position, position + 1, "indent with spaces only", kind=TabError)
    if what == "continuation":
        return Mishap("unexpected EOF after line continuation character", position, position + 1, inside="line")
    if what == "single brace":
        return Mishap("f-string: single '}' is not allowed", position, position + 1, "}}")
    if what == "open field":
        return Mishap("f-string: expecting '}'", position, position + 1)
    if what == "string":
        return _unterminated(text, position)
    if what == "unmatched":
        return _unmatched(text, position, brackets)
    return _character(text, position)


def _unmatched(text: str, position: int, brackets: Sequence[tuple[str, int, object]]) -> Mishap:
    closer = text[position]
    if not brackets:
        return Mishap(f"unmatched '{closer}'", position, position + 1)
    opener, opened, field = brackets[-1]
    message = f"closing parenthesis '{closer}' does not match opening parenthesis '{opener}'"
    line, opened_line = text.count("\n", 0, position) + 1, text.count("\n", 0, opened) + 1
    if line != opened_line:
        message += f" on line {opened_line}"
    return Mishap(
        "f-string: " * (field is not None) + message,
        position,
        position + 1,
        f"close the {opener} with {_CLOSES[opener]}",
    )


def _unterminated(text: str, position: int) -> Mishap:
    """A string without its closing quote; `position` is at its prefix or its quote."""
    found = re.compile(r"""([rRbBuUfF]{0,2})(\"\"\"|'''|["'])""").match(text, position)
    assert found is not None
    prefix = re.compile(r"(?<!\w)[rRbBuU]{1,2}\Z").search(text, max(0, position - 2), position)
    start = prefix.start() if prefix else position
    name = "f-string literal" if "f" in found[1].lower() else "string literal"
    if len(found[2]) == 3:
        line = text.rstrip("\n").count("\n") + 1
        message = f"unterminated triple-quoted {name} (detected at line {line})"
        return Mishap(message, start, found.end(), f"close it with {found[2]}", "string")
    end = re.compile(r"(?:[^\n\\]|\\[\s\S])*").match(text, found.end()).end()  # type: ignore[union-attr]
    line = text.count("\n", 0, end) + 1
    return Mishap(f"unterminated {name} (detected at line {line})", start, found.end(), f"close it with {found[2]}")


def _character(text: str, position: int) -> Mishap:
    char = text[position]
    if char in "\"'":
        return _unterminated(text, position)
    if (char.isdecimal() and char.isascii()) or (char == "." and text[position + 1 : position + 2].isdigit()):
        return _number(text, position)
    end = position + 1
    if char == "\\":
        return Mishap("unexpected character after line continuation character", position, end)
    if char == "!":
        return Mishap("invalid syntax", position, end, "not")
    if char == "?":
        return Mishap("invalid syntax", position, end, "a if condition else b")
    if char == "\0":
        return Mishap("source code cannot contain null bytes", position, end)
    number = f"U+{ord(char):04X}"
    if char == "`":
        return Mishap("invalid syntax", position, end, "repr(x)")
    if char.isascii() and char.isprintable():
        return Mishap("invalid syntax", position, end)
    if not char.isprintable():
        hint = "an ordinary space in its place" if char.isspace() else "delete it"
        return Mishap(f"invalid non-printable character {number}", position, end, hint)
    return Mishap(f"invalid character '{char}' ({number})", position, end, _meant(char))


def _meant(char: str) -> str | None:
    """What to type instead of a character."""
    import unicodedata

    for meant, characters in MEANT.items():
        if char in characters:
            return meant
    plain = unicodedata.normalize("NFKC", char)
    return plain if plain.isascii() and plain != char else None


def _number(text: str, position: int) -> Mishap:
    found = re.compile(r"[\w.]+").match(text, position)
    assert found is not None
    number, end = found[0].lower(), found.end()
    base, digits = _BASES.get(number[1:2] if number.startswith("0") else "", ("", ""))
    if base:
        wrong = next((c for c in number[2:] if c.isdigit() and c not in digits), None)
        message = f"invalid digit '{wrong}' in {base} literal" if wrong else f"invalid {base} literal"
        return Mishap(message, position, end)
    if re.fullmatch(r"[\d_.]+(e[+-]?[\d_]+)?j", number):
        return Mishap("complex numbers are not supported", position, end)
    leading = re.match(r"[\d_.]*\d", number)
    name = re.search(r"[^\W\d]\w*$", number)
    product = f"{leading[0]} * {found[0][name.start() :]}" if leading and name and "_" not in number else None
    return Mishap("invalid decimal literal", position, end, product)
