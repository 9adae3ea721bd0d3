"""Names, numbers and constants."""

from __future__ import annotations

from _ast import Constant as ConstantNode, Del, Name as NameNode

from gradsh.lang.emitter import LOAD
from gradsh.lang.form import Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, expr_context

    from gradsh.lang.emitter import Emitter

# The longest integer, in bits; what a literal of more digits than this many has is refused before it is read.
LARGEST = 1_000_000
_MOST_DIGITS = 301_031
_BASES = {"x": (16, 4), "o": (8, 3), "b": (2, 1)}
_CONSTANTS = {"None": None, "True": True, "False": False, "...": ...}


class Name(Form):
    kind = "name"
    name: str

    def emit(self, out: Emitter) -> expr:
        if self.name not in out.reads:
            out.read(self.name, self)
        return NameNode(self.name, LOAD, **out.at(self))

    def target(self, out: Emitter, context: expr_context) -> expr:
        """The name where it is bound or deleted."""
        name = out.name(self.name, self) if type(context) is Del else out.bind(self.name, self)
        return NameNode(name, context, **out.at(self))


class Number(Form):
    kind = "literal"
    text: str

    def emit(self, out: Emitter) -> expr:
        text = self.text
        return ConstantNode(
            int(text) if text.isdigit() and len(text) < 10 and text[0] != "0" else self.value(out), **out.at(self)
        )

    def value(self, out: Emitter) -> int | float:
        """The number itself."""
        text = self.text.replace("_", "").lower()
        base, bits = _BASES.get(text[1:2], (10, 0))
        if base != 10:
            if (len(text) - 2) * bits > LARGEST + 4:
                raise self.too_large(out)
            return int(text[2:], base)
        if not text.isdigit():
            return float(text)
        if text.startswith("0") and text.strip("0"):
            raise out.error(
                self,
                "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers",
                text.lstrip("0"),
            )
        if len(text) > _MOST_DIGITS:
            raise self.too_large(out)
        return _integer(text)

    def too_large(self, out: Emitter) -> BaseException:
        return out.error(self, f"integer literal of more than {LARGEST:,} bits")


class Constant(Form):
    text: str

    def described(self) -> str:
        return "ellipsis" if self.text == "..." else self.text

    def emit(self, out: Emitter) -> expr:
        return ConstantNode(_CONSTANTS[self.text], **out.at(self))


def _integer(digits: str) -> int:
    """Decimal digits as an integer, whatever limit Python sets on the length of one conversion."""
    if len(digits) <= 4000:
        return int(digits)
    half = len(digits) // 2
    power: int = 10 ** (len(digits) - half)
    return _integer(digits[:half]) * power + _integer(digits[half:])
