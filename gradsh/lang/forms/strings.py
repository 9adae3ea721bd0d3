"""Strings, adjacent ones, and f-strings."""

from __future__ import annotations

import _ast

from gradsh.lang.form import Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from _ast import expr
    from typing import Any

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest

_CONVERSIONS = {"s": 115, "r": 114, "a": 97}
_SIMPLE = {
    "\n": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_DIGITS = {"x": 2, "u": 4, "U": 8}


class Strings(Form):
    """One or more strings side by side: the texts of plain ones, and FStrings."""

    parts: Rest[Any]

    def described(self) -> str:
        return "f-string expression" if self.has_fields() else "literal"

    def has_fields(self) -> bool:
        """Whether any of them is an f-string."""
        return any(type(part) is FString for part in self.parts)

    def emit(self, out: Emitter) -> expr:
        at = out.at(self)
        if not self.has_fields():
            return _ast.Constant("".join([decoded(part, self, out) for part in self.parts]), **at)
        values: list[expr] = []
        for part in self.parts:
            if type(part) is FString:
                part.emit_into(values, out)
            else:
                _add_text(values, decoded(part, self, out), at)
        return _ast.JoinedStr(values, **at)


class FString(Form):
    """Its opening (prefix and quote), then texts and fields."""

    opening: str
    parts: Rest[Any]

    def emit_into(self, values: list[expr], out: Emitter) -> None:
        raw = "r" in self.opening.lower()
        at = out.at(self)
        for part in self.parts:
            if type(part) is Field:
                part.emit_into(values, raw, out)
            else:
                text = part.replace("{{", "{").replace("}}", "}")
                _add_text(values, text if raw else unescaped(text, self, out), at)


class Field(Form):
    """`{value!r:format}`, and `{value=}`, which shows its own text first."""

    value: Form
    equals: str | None
    conversion: str | None
    format: FieldFormat | None

    def emit_into(self, values: list[expr], raw: bool, out: Emitter) -> None:
        at = out.at(self)
        conversion = -1
        if self.conversion:
            letter = self.conversion[1:]
            if letter not in _CONVERSIONS:
                raise out.error(self, f"f-string: invalid conversion character '{letter}': expected 's', 'r', or 'a'")
            conversion = _CONVERSIONS[letter]
        if self.equals:
            _add_text(values, self.own_text(out), at)
            if not self.conversion and not self.format:
                conversion = _CONVERSIONS["r"]
        value = self.value.emit(out)
        spec: list[Any] = []
        if self.format:
            self.format.emit_into(spec, raw, out)
        if not all(type(part) is _ast.Constant and is_harmless(str(part.value)) for part in spec):
            # What is asked for is only known when it runs: `.format` looks at it first.
            arguments = (value, _ast.Constant(conversion, **at), _ast.JoinedStr(spec, **at))
            value, conversion, spec = out.helper(".format", arguments, at), -1, []
        values.append(_ast.FormattedValue(value, conversion, _ast.JoinedStr(spec, **at) if spec else None, **at))

    def own_text(self, out: Emitter) -> str:
        """The text of the field up to and with its `=` and the space after it."""
        text = out.source.text
        stop = self.format.start if self.format else self.end - 1
        if self.conversion:
            stop = text.rindex("!", self.start, stop)
        return text[self.start + 1 : stop]


class FieldFormat(Form):
    parts: Rest[Any]

    def emit_into(self, values: list[expr], raw: bool, out: Emitter) -> None:
        at = out.at(self)
        for part in self.parts:
            if type(part) is Field:
                part.emit_into(values, raw, out)
            else:
                _add_text(values, part if raw else unescaped(part, self, out), at)


def is_harmless(spec: str) -> bool:
    """Whether a format asks for no more than some thousand characters."""
    import re

    return not re.search(r"\d[\d_]{4}", spec)


def decoded(token: str, form: Form, out: Emitter) -> str:
    """The value of a string token: quotes off, escapes read."""
    quote = token.lstrip("rRuU")
    raw = "r" in token[: len(token) - len(quote)].lower()
    width = 3 if quote.startswith(('"""', "'''")) else 1
    text = quote[width:-width]
    return text if raw else unescaped(text, form, out)


def unescaped(text: str, form: Form, out: Emitter) -> str:
    """Text with its escapes read, as Python reads them; an unknown one stays as it is."""
    if "\\" not in text:
        return text

    def replaced(found: re.Match[str]) -> str:
        code = found[1]
        simple = _SIMPLE.get(code)
        if simple is not None:
            return simple
        kind = code[0]
        if kind in "01234567":
            return chr(int(code, 8))
        if kind == "N":
            return _named(code[2:-1], form, out) if len(code) > 1 else wrong(found, "malformed \\N character escape")
        if kind in _DIGITS:
            if len(code) - 1 < _DIGITS[kind]:
                return wrong(found, f"truncated \\{kind}{'X' * _DIGITS[kind]} escape")
            if int(code[1:], 16) > 0x10FFFF:
                return wrong(found, "illegal Unicode character")
            return chr(int(code[1:], 16))
        return found[0]

    def wrong(found: re.Match[str], why: str) -> str:
        place = f"position {found.start()}-{found.end() - 1}"
        raise out.error(
            form,
            f"(unicode error) 'unicodeescape' codec can't decode bytes in {place}: {why}",
            'r"…" keeps backslashes',
        )

    pattern = r"\\([0-7]{1,3}|x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|N(?:\{[^}]*\})?|[\s\S])"
    import re

    return re.sub(pattern, replaced, text)


def _named(name: str, form: Form, out: Emitter) -> str:
    import unicodedata

    try:
        return unicodedata.lookup(name)
    except KeyError:
        raise out.error(form, f"unknown Unicode character name: {name}") from None


def _add_text(values: list[Any], text: str, at: dict[str, Any]) -> None:
    """Text beside text is one piece."""
    last: Any = values[-1] if values else None
    if type(last) is _ast.Constant:
        last.value = str(last.value) + text
    elif text:
        values.append(_ast.Constant(text, **at))
