"""Compares printed text as people do: words exactly, numbers up to the last printed place."""

from __future__ import annotations

import math
import re
import sys

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?|inf|nan)(?![A-Za-z_])")
DECIMALS = re.compile(r"[-+]?\d*\.(\d{3,})(?:e([-+]?\d+))?")


ORDERED = "OrderedDict(["


def of_this_python(text: str) -> str:
    """What was printed under Python 3.11, as later Pythons print it: OrderedDict({…}) where it was OrderedDict([…])."""
    if sys.hexversion < 0x30C0000:
        return text
    while (start := text.find(ORDERED)) >= 0:
        end, depth, items, first = start + len(ORDERED), 0, [], start + len(ORDERED)
        while depth >= 0:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0 and text[end - 1] == ")":
                items.append(text[first:end].lstrip(", ")[1:-1].replace(", ", ": ", 1))
                first = end
        text = f"{text[:start]}OrderedDict({{{', '.join(items)}}}{text[end:]}"
    return text


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
