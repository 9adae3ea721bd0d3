"""Powers and shifts with a guard against integers that would eat the machine, and `^` with shell defaults."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.lang.forms.values import LARGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LARGEST_SEQUENCE = 2 << 30  # bytes of a text or list that is made by repeating

# Type -> what `a ^ b` means where either is of that type.
CARET: dict[type, Callable[[Any, Any], Any]] = {}


def power(a: Any, b: Any) -> Any:
    """a ** b"""
    if type(a) is int and type(b) is int:
        _check_power(a, b)
    return a**b


def in_place_power(a: Any, b: Any) -> Any:
    """a **= b"""
    if type(a) is int and type(b) is int:
        _check_power(a, b)
    a **= b
    return a


def power_function(base: Any, exp: Any, mod: Any = None) -> Any:
    """pow(base, exp[, mod])"""
    return power(base, exp) if mod is None else pow(base, exp, mod)


def left_shift(a: Any, b: Any) -> Any:
    """a << b"""
    _check_shift(a, b)
    return a << b


def in_place_left_shift(a: Any, b: Any) -> Any:
    """a <<= b"""
    _check_shift(a, b)
    a <<= b
    return a


def repeat(a: Any, b: Any) -> Any:
    """a * b, where it may repeat a text or a list."""
    if isinstance(a, int):
        _check_repeat(b, a)
    elif isinstance(b, int):
        _check_repeat(a, b)
    return a * b


def _check_repeat(sequence: Any, count: int) -> None:
    if isinstance(sequence, str | list | tuple):
        check_length(len(sequence) * count, sequence)


def check_length(length: int, sequence: Any) -> None:
    """MemoryError for a text or list that would be longer than any that makes sense."""
    size = length * (1 if isinstance(sequence, str) else 8)
    if size > LARGEST_SEQUENCE:
        raise fault(
            MemoryError,
            f"a {type(sequence).__name__} of {length:,} {'letters' if size == length else 'items'} would take "
            f"{size / 2**30:,.1f} GiB, and the limit is {LARGEST_SEQUENCE >> 30}",
            hint="torch.zeros(…) holds many numbers" if size != length else None,
        )


def caret(a: Any, b: Any) -> Any:
    """a ^ b with shell defaults: power on numbers and on what has no exclusive or."""
    rule = CARET.get(type(a)) or CARET.get(type(b))
    if rule is not None:
        return rule(a, b)
    if isinstance(a, bool) and isinstance(b, bool):
        return a ^ b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return power(a, b)
    # Every int has an exclusive or; what counts is whether the other operand knows it.
    known = hasattr(type(b), "__rxor__") if isinstance(a, int | float) else hasattr(type(a), "__xor__")
    return a ^ b if known else power(a, b)


def in_place_caret(a: Any, b: Any) -> Any:
    """a ^= b with shell defaults."""
    return caret(a, b)


def _check_power(a: int, b: int) -> None:
    if b > 1 and a.bit_length() * b > LARGEST:
        import math

        if abs(a) > 1 and math.log2(abs(a)) * b > LARGEST:
            raise _too_large()


def _check_shift(a: Any, b: Any) -> None:
    if isinstance(a, int) and isinstance(b, int) and a and a.bit_length() + b > LARGEST:
        raise _too_large()


def _too_large() -> BaseException:
    return fault(
        OverflowError, f"integer of more than {LARGEST:,} bits", hint="a float holds numbers up to 1.8e308: float(x)"
    )


def item_changer(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Callable[[Any], None]]:
    """`x[i] **= v` as item(x, i)(v): x and i are evaluated once, and x[i] is read before v, as Python does."""

    def item(container: Any, index: Any) -> Callable[[Any], None]:
        old = container[index]

        def store(value: Any) -> None:
            container[index] = change(old, value)

        return store

    return item
