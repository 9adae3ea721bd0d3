"""Deep and long programs: at least 1,000 levels, flat sums without end, and beyond that one fault."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from gradsh.lang import Source, builtin_names, compile_program, runtime_names


def value(expression: str, before: str = "", dialect: Any = "torch") -> Any:
    scope: dict[str, Any] = {"__builtins__": {**builtin_names(), **runtime_names()}, "__name__": "__main__"}
    text = f"{before}\nresult = {expression}\n"
    exec(compile_program(Source.add("<test>", text), dialect=dialect, echo=False).code, scope)
    return scope["result"]


def test_flat_chains() -> None:
    assert value(" + ".join(["1"] * 50_000)) == 50_000
    assert value(" - ".join(["1"] * 10_001)) == -9_999
    assert (
        value(
            "x" + ".up()" * 3_000,
            "class X:\n    n = 0\n    def up(self):\n        X.n += 1\n        return self\nx = X()",
        )
        is not None
    )
    assert value("x" + "[0]" * 1_000, "x = []\nx.append(x)") is not None
    assert value(" and ".join(["1"] * 20_000) + " < ".join(["", *map(str, range(2, 5_000))])) is True


def test_chains_keep_order_and_shape() -> None:
    """A chain that is cut into steps evaluates from left to right, and groups to the left."""
    before = "seen = []\ndef f(n):\n    seen.append(n)\n    return n"
    assert value(" - ".join(f"f({n})" for n in range(1, 1001)), before) == 1 - sum(range(2, 1001))
    assert value("(seen, " + " - ".join(f"f({n})" for n in range(1000)) + ")[0]", before) == list(range(1000))
    inside = "def g(n):\n    return " + " + ".join(["n"] * 900) + "\nclass A:\n    x = " + " + ".join(["1"] * 900)
    assert value(
        "(g(2), A.x, ["
        + " + ".join(["i"] * 900)
        + " for i in range(2)], (lambda i: "
        + " * ".join(["i"] * 900)
        + ")(1))",
        inside,
    ) == (1800, 900, [0, 900], 1)
    for piece in ("yield " + " + ".join(["1"] * 500),):
        assert value("list(h())", f"def h():\n    {piece}\n    {piece}") == [500, 500]


NESTED = {
    "parentheses": ("(", "1", ")"),
    "unary minus": ("-", "1", ""),
    "not": ("not ", "1", ""),
    "tuples": ("(", "1", ",)"),
    "lists": ("[", "1", "]"),
    "calls": ("f(", "1", ")"),
    "sums to the right": ("1 + (", "1", ")"),
    "ternaries": ("1 if 0 else ", "1", ""),
    "powers": ("1 ** ", "1", ""),
    "subscripts": ("x[", "0", "]"),
    "lambdas": ("lambda: ", "1", ""),
    "dicts": ("{1: ", "1", "}"),
}


@pytest.mark.parametrize(("opening", "inner", "closing"), NESTED.values(), ids=NESTED.keys())
def test_a_thousand_levels(opening: str, inner: str, closing: str) -> None:
    value(opening * 1000 + inner + closing * 1000, "f = lambda x: x\nx = [0]")


def test_blocks_nest() -> None:
    depth = 90
    text = "".join("  " * level + "if 1:\n" for level in range(depth)) + "  " * depth + "x = 1\n"
    assert compile_program(Source("<test>", text)).assigned == {"x"}
    text = "if 0: pass\n" + "elif 0: pass\n" * 900 + "else: x = 1\n"
    assert compile_program(Source("<test>", text)).assigned == {"x"}


@pytest.mark.parametrize(
    ("count", "opening", "inner", "closing"),
    [
        (5_000, "(", "1", ")"), (5_000, "-", "1", ""), (3_000, "[", "1", "]"), (100_000, "(", "1", ")"),
        (100_000, "-", "1", ""), (100_000, "[", "1", "]"), (50_000, "lambda: ", "1", ""),
        (30_000, "f(", "1", ")"), (20_000, "{1: ", "1", "}"), (10_000, "1 if 0 else ", "1", ""),
        (20_000, "[x for x in ", "y", "]"), (20_000, "f(x=", "1", ")"), (10_000, "f'{", "1", "}'"),
    ],
)  # fmt: skip
def test_beyond_is_a_value_or_one_fault(count: int, opening: str, inner: str, closing: str) -> None:
    """Never a signal: in a process of its own, since that is what would be lost."""
    code = (
        "from gradsh.lang import Source, compile_program\n"
        f"text = 'x = ' + {opening!r} * {count} + {inner!r} + {closing!r} * {count}\n"
        "try:\n    compile_program(Source('<test>', text))\n    print('fine')\n"
        "except SyntaxError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.strip() in ("fine", "expression nested too deeply (limit 1000)")


def test_time_is_linear() -> None:
    """Twice the text takes about twice the time; quadratic work would take four times as long."""
    import time

    def seconds(lines: int) -> float:
        text = "x = f(a, b)[1:2] + 'text'  # comment\n" * lines
        start = time.process_time()
        compile_program(Source("<test>", text))
        return time.process_time() - start

    seconds(100)
    assert min(seconds(6000) for _ in range(2)) < 3 * max(seconds(3000) for _ in range(2))
