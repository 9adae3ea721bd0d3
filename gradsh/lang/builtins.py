"""Python's builtins as programs have them, and the helpers that emitted code calls."""

from __future__ import annotations

import builtins
import sys

from gradsh.lang import arithmetic, formatting, members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Those that are Python's own; `print` and `open` come from the session.
_PLAIN = (
    "abs all any ascii bin bool callable chr classmethod dict divmod enumerate filter float frozenset hash hex id int"
    " isinstance issubclass iter len list map max min next object oct ord property range repr reversed round set slice"
    " sorted staticmethod str sum super tuple zip NotImplemented Ellipsis"
)
# Exceptions that programs can raise and catch. No BaseException: interrupts and limits pass through every program.
_EXCEPTIONS = (
    "ArithmeticError AssertionError AttributeError BufferError DeprecationWarning EOFError Exception FileExistsError"
    " FileNotFoundError FloatingPointError FutureWarning IOError ImportError IndentationError IndexError KeyError"
    " KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError"
    " PermissionError RecursionError ReferenceError RuntimeError RuntimeWarning StopIteration SyntaxError SystemError"
    " TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UserWarning"
    " ValueError Warning ZeroDivisionError"
)


def builtin_names() -> dict[str, Any]:
    """The builtins of programs by name: Python's, with safe ones where Python's reach too far."""
    names = {name: getattr(builtins, name) for name in f"{_PLAIN} {_EXCEPTIONS}".split()}
    names |= {
        "type": members.Type,
        "getattr": members.get_attribute,
        "hasattr": members.has_attribute,
        "setattr": members.set_attribute,
        "dir": list_names,
        "format": formatting.format_value,
        "pow": arithmetic.power_function,
    }
    return names


def runtime_names() -> dict[str, Any]:
    """What emitted code calls; no program can write these names. A session adds `.show`, `.command`, `.import`, …"""
    return {
        "__build_class__": members.build_class,
        ".get": members.get,
        ".member": members.Member,
        ".assign": members.assign,
        ".pow": arithmetic.power,
        ".ipow": arithmetic.in_place_power,
        ".ipow_item": arithmetic.item_changer(arithmetic.in_place_power),
        ".repeat": arithmetic.repeat,
        ".percent": formatting.percent,
        ".lshift": arithmetic.left_shift,
        ".ilshift": arithmetic.in_place_left_shift,
        ".ilshift_item": arithmetic.item_changer(arithmetic.in_place_left_shift),
        ".caret": arithmetic.caret,
        ".icaret": arithmetic.in_place_caret,
        ".icaret_item": arithmetic.item_changer(arithmetic.in_place_caret),
        ".in_finally": in_finally,
        ".caught": caught,
        ".slice": slice,
        ".format": formatting.format_field,
        ".list": list,
        ".Exception": Exception,
        "__import__": import_for_python,
    }


def import_for_python(name: str, *details: Any) -> Any:
    """What Python and numpy import by themselves while an operator or a builtin runs; no program can write its name."""
    if name.partition(".")[0] not in ("numpy", "_pylong", "_strptime", "warnings"):
        raise ImportError(f"No module named '{name}'")
    return builtins.__import__(name, *details)


def in_finally() -> None:
    """Raise again what no program may drop, at the head of a `finally` block that jumps out of itself."""
    error = sys.exception()
    if error is not None and not isinstance(error, Exception | GeneratorExit):
        raise error


def caught() -> None:
    """Give the error that a handler has caught, and has a name for, the words that PyTorch has for it."""
    error = sys.exception()
    if isinstance(error, Exception):
        from gradsh.lang.misfits import reworded

        reworded(error)


def list_names(*values: Any) -> list[str]:
    """dir([value])"""
    if values:
        return members.names_of(values[0])
    return sorted(name for name in sys._getframe(1).f_locals if not name.startswith((".", "__")))


def padding(name: str) -> Callable[..., str]:
    """A method that pads a text, with a look at the width before."""
    method = getattr(str, name)

    def padded(text: str, width: int, *fill: str) -> str:
        if isinstance(width, int):
            arithmetic.check_length(width, "")
        return method(text, width, *fill)  # type: ignore[no-any-return]

    padded.__name__ = name
    padded.__doc__ = method.__doc__
    return padded


for _name in ("ljust", "rjust", "center", "zfill"):
    members.replace(str, _name, padding(_name))
members.replace(str, "format", formatting.format_string)
members.replace(str, "format_map", formatting.format_string_map)
