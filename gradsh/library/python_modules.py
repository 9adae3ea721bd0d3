"""Python's own modules as a program sees them: closed tables of the names people use."""

from __future__ import annotations

from typing import Any


def table(path: str) -> dict[str, Any] | None:
    """The names of a module, or None where there is no such module."""
    make = TABLES.get(path)
    return None if make is None else make()


def _math() -> dict[str, Any]:
    import math

    return {name: value for name, value in vars(math).items() if not name.startswith("_") and name not in ("factorial", "comb", "perm")} | {
        name: bounded(getattr(math, name)) for name in ("factorial", "comb", "perm")
    }


def bounded(function: Any) -> Any:
    """A function of integers, refused where its answer would be longer than a million bits."""

    def guarded(*numbers: int) -> Any:
        if numbers and max(numbers) > 100_000:
            from gradsh.fault import fault

            raise fault(OverflowError, f"{function.__name__}() result too large: integers have at most a million bits")
        return function(*numbers)

    guarded.__name__ = function.__name__
    return guarded


TABLES = {"math": _math}
