"""Compares printed text as people do: words exactly, numbers up to the last printed place."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?|inf|nan)(?![A-Za-z_])")
DECIMALS = re.compile(r"[-+]?\d*\.(\d{3,})(?:e([-+]?\d+))?")


def same(got: str, want: str, relative: float = 1e-6) -> bool:
    """Whether the texts agree, white space included; numbers may differ by rounding."""
    if got == want:
        return True
    numbers = zip(NUMBER.findall(got), NUMBER.findall(want), strict=False)
    return NUMBER.split(got) == NUMBER.split(want) and all(near(g, w, relative) for g, w in numbers)


def near(got: str, want: str, relative: float) -> bool:
    """Whether two printed numbers agree: integers exactly, others within rounding and one unit in the last place."""
    if got == want:
        return True
    if got.lstrip("+-").isdigit() or want.lstrip("+-").isdigit():
        return False
    a, b = float(got), float(want)
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= relative * max(abs(a), abs(b)) + 1.01 * unit(want)


def unit(number: str) -> float:
    """One in the last printed place, of numbers printed with three decimals or more; else 0."""
    found = DECIMALS.fullmatch(number)
    return 10.0 ** (int(found[2] or 0) - len(found[1])) if found else 0.0
