"""Where the two sets of defaults differ: `^`, lists, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from gradsh.lang import Source, builtin_names, compile_program, runtime_names
from gradsh.lang.arithmetic import CARET


class Listed(list[Any]):
    """Stands for the lists of shell defaults."""


def value(expression: str, dialect: Any, before: str = "") -> Any:
    names = {**builtin_names(), **runtime_names(), ".list": Listed}
    scope = {"__builtins__": names, "__name__": "__main__"}
    text = f"{before}\nresult = {expression}"
    exec(compile_program(Source.add("<test>", text), dialect=dialect, echo=False).code, scope)
    return scope["result"]


@pytest.mark.parametrize(
    ("expression", "shell", "torch"),
    [
        ("2 ^ 3", 8, 1), ("2 ^ 3 ^ 2", 512, 3), ("-2 ^ 2", -4, -4), ("2 ^ -1", 0.5, -3), ("2 * 3 ^ 2", 18, 4),
        ("1 + 2 ^ 2", 5, 1), ("2 ^ 2 ** 3", 256, 10), ("2 ** 2 ^ 3", 256, 7),
        ("5 & 2 ^ 1", 0, 1), ("1 | 2 ^ 1", 3, 3), ("True ^ False", True, True), ("True ^ True", False, False),
        ("{1, 2} ^ {2, 3}", {1, 3}, {1, 3}),
        ("2.5 ^ 2", 6.25, None), ("2 ^ 0.5", 2**0.5, None), ("True ^ 2", 1, 3), ("{1} ^ set()", {1}, {1}),
        ("2 ** 3", 8, 8), ("-2 ^ 2 * 3", -12, -8),
    ],
)  # fmt: skip
def test_caret(expression: str, shell: Any, torch: Any) -> None:
    assert value(expression, "shell") == shell
    if torch is not None:
        assert value(expression, "torch") == torch
    else:
        with pytest.raises(TypeError):
            value(expression, "torch")


@pytest.mark.parametrize(
    ("before", "shell", "torch"),
    [
        ("x = 3\nx ^= 2", 9, 1),
        ("x = [3]\nx[0] ^= 2\nx = x[0]", 9, 1),
        ("class A: pass\nx = A()\nx.a = 3\nx.a ^= 2\nx = x.a", 9, 1),
    ],
)
def test_caret_in_place(before: str, shell: int, torch: int) -> None:
    assert value("x", "shell", before) == shell
    assert value("x", "torch", before) == torch


def test_caret_of_other_types(monkeypatch: pytest.MonkeyPatch) -> None:
    operators = "class A:\n    def __pow__(self, o): return 'pow'\nclass B(A):\n    def __xor__(self, o): return 'xor'"
    assert value("(A() ^ 1, B() ^ 1)", "shell", operators) == ("pow", "xor")

    class Registered:
        def __xor__(self, other: object) -> str:
            return "xor"

    monkeypatch.setitem(CARET, Registered, lambda a, b: "rule")
    names = {**builtin_names(), **runtime_names(), "r": Registered()}
    scope = {"__builtins__": names, "__name__": "__main__"}
    exec(compile_program(Source.add("<test>", "a, b = r ^ 1, 1 ^ r"), echo=False).code, scope)
    assert (scope["a"], scope["b"]) == ("rule", "rule")


def test_lists() -> None:
    for expression in ("[1, 2]", "[]", "[x for x in (1, 2)]", "[[1], 2]", "[*(1, 2)]"):
        assert type(value(expression, "shell")) is Listed
        assert type(value(expression, "torch")) is list
    assert type(value("[[1]][0]", "shell")) is Listed
    assert type(value("x", "shell", "[x, y] = 1, 2")) is int
    assert value("[1, 2, 3][1:]", "shell") == [2, 3]
