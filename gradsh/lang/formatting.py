"""Formatting of values by programs: `format`, f-strings and `str.format`, with a guard on widths and on attributes."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.lang.forms.strings import is_harmless
from gradsh.lang.members import get
from gradsh.lang.names import is_closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

# The widest field and the most digits that a format may ask for.
WIDEST = 100_000
_CONVERT: dict[int, Callable[[Any], Any]] = {-1: lambda value: value, 115: str, 114: repr, 97: ascii}


def format_value(value: Any, spec: str = "") -> str:
    """format(value, spec)"""
    if not is_harmless(spec):
        _check_width(spec)
    return format(value, spec)


def format_field(value: Any, conversion: int, spec: str) -> str:
    """`{value!r:spec}` of an f-string; the conversion is the code of its letter, -1 for none."""
    return format_value(_CONVERT[conversion](value), spec)


def format_string(text: str, /, *values: Any, **names: Any) -> str:
    """text.format(*values, **names)"""
    return _formatted(text, values, names)


def format_string_map(text: str, names: Mapping[str, Any], /) -> str:
    """text.format_map(names)"""
    return _formatted(text, (), names)


def percent(a: Any, b: Any) -> Any:
    """a % b: of a text with values, whose widths are looked at, or a remainder."""
    if isinstance(a, str):
        import re

        for found in re.findall(r"%(?:\([^)]*\))?[-+ #0]*(\d+|\*)?(?:\.(\d+|\*))?", a):
            for width in found:
                if width == "*":
                    for value in b if isinstance(b, tuple) else (b,):
                        _check_width(str(value) if isinstance(value, int) else "")
                elif width:
                    _check_width(width)
    return a % b


def _formatted(text: str, values: Sequence[Any], names: Mapping[str, Any]) -> str:
    counter = [0]
    return _filled(text, values, names, counter, 1)


def _filled(text: str, values: Sequence[Any], names: Mapping[str, Any], counter: list[int], depth: int) -> str:
    """One level of replacement fields, whose formats may hold fields. `counter`: the next automatic number, -1 off."""
    from _string import formatter_parser  # type: ignore[import-not-found]  # as in the string module

    if depth < 0:
        raise ValueError("Max string recursion exceeded")
    made: list[str] = []
    for literal, field, spec, conversion in formatter_parser(text):
        made.append(literal)
        if field is None:
            continue
        value = _field(field, values, names, counter)
        if conversion is not None:
            if conversion not in ("s", "r", "a"):
                raise ValueError(f"Unknown conversion specifier {conversion!r}")
            value = _CONVERT[ord(conversion)](value)
        made.append(format_value(value, spec and _filled(spec, values, names, counter, depth - 1)))
    return "".join(made)


def _field(field: str, values: Sequence[Any], names: Mapping[str, Any], counter: list[int]) -> Any:
    """The value of `0`, `name`, or nothing (the next number), and of the `.attribute` and `[index]` after it."""
    from _string import formatter_field_name_split  # as in the string module

    first, rest = formatter_field_name_split(field)
    if first == "":
        if counter[0] < 0:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        first = counter[0]
        counter[0] += 1
    elif isinstance(first, int):
        if counter[0] > 0:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        counter[0] = -1
    if isinstance(first, int):
        if first >= len(values):
            raise IndexError(f"Replacement index {first} out of range for positional args tuple")
        value = values[first]
    else:
        value = names[first]
    for is_attribute, name in rest:
        if not is_attribute:
            value = value[name]
        elif is_closed(name):
            raise fault(AttributeError, f"the attribute {name} is not available")
        else:
            value = get(value, name)
    return value


def _check_width(spec: str) -> None:
    import re

    for number in re.findall(r"\d[\d_]*", spec):
        if int(number.replace("_", "")[:12]) > WIDEST:
            raise fault(ValueError, f"format asks for {number} characters; at most {WIDEST:,} are written")
