"""What a compiled program tells its session: echoes, statements, names, and places of fields."""

from __future__ import annotations

from typing import Any

import pytest

from gradsh.lang import Source, builtin_names, compile_program, runtime_names


def run(text: str, name: str = "<test>", **options: Any) -> tuple[Any, list[Any], list[int], dict[str, Any]]:
    """(program, shown values with their text and name, statements passed, variables)"""
    shown: list[Any] = []
    passed: list[int] = []
    source = Source.add(name, text)
    program = compile_program(source, **options)
    names = {
        **builtin_names(),
        **runtime_names(),
        ".show": lambda value, number: shown.append((value, program.shown[number].text, program.shown[number].name)),
        ".statement": passed.append,
    }
    scope: dict[str, Any] = {"__builtins__": names, "__name__": "__main__"}
    exec(program.code, scope)
    return program, shown, passed, scope


def test_echo() -> None:
    text = """\
1 + 1
x = 5
x
(x)
def f():
    x
    return 3
f()
for i in range(2):
    i * 2
if x: x; None
class A:
    x
lambda: 5
x, f
x == 5
"""
    _, shown, _, _ = run(text)
    assert [(text, name) for _, text, name in shown] == [
        ("1 + 1", None), ("x", "x"), ("x", "x"), ("f()", None), ("i * 2", None), ("i * 2", None), ("x", "x"),
        ("None", None), ("lambda: 5", None), ("x, f", None), ("x == 5", None),
    ]  # fmt: skip
    assert [value for value, _, _ in shown][:7] == [2, 5, 5, 3, 0, 2, 5]
    assert not run(text, echo=False)[1]


def test_headings_are_not_echoed() -> None:
    assert not run('"""About this file."""\nx = 1\n', name="file.grad")[1]
    assert [value for value, _, _ in run('"a"\n"b"\n', name="file.grad")[1]] == ["b"]
    assert [value for value, _, _ in run('"a"\n"b"\n')[1]] == ["a", "b"]
    assert [value for value, _, _ in run('f"{1}"\n', name="file.grad")[1]] == ["1"]


def test_statements() -> None:
    text = '"""doc"""\nx = 1; y = 2\nif x:\n    z = 3\nelse:\n    z = 4\ndef f():\n    "doc"\n    return 5\nf()\n:a x\n'
    program = compile_program(Source("<test>", text), hooks=True)
    assert [span.text.split("\n")[0] for span in program.statements] == [
        '"""doc"""',
        "x = 1",
        "y = 2",
        "if x:",
        "z = 3",
        "z = 4",
        "def f():",
        '"doc"',
        "return 5",
        "f()",
        ":a x",
    ]
    program, _, passed, scope = run(text.replace(":a x\n", ""), hooks=True, echo=False)
    assert [program.statements[number].line for number in passed] == [2, 2, 3, 4, 7, 10, 9]
    assert scope["f"].__doc__ == "doc"
    assert not compile_program(Source("<test>", text)).statements


NAMES = """\
import a.b, c as d
from e import f as g, h
x = sin(y)
yy += 1
def k(p, q=r):
    s = p + t
    u = s
    global v
    v = w
class C(D):
    e1 = x
    def m(self): return zeros, self.attribute
for i, (j, *l) in n: pass
with o as z1: pass
try: pass
except E as e2: pass
[aa for aa in bb]
(cc := 1)
lambda dd: dd + ee
del ff
x.gg = hh
x[ii] = jj
kk: ll = mm
print(f'{nn:{oo}}', pp=qq)
"""


def test_names() -> None:
    program = compile_program(Source("<test>", NAMES), echo=False)
    bound = "a d g h x yy k v C i j l z1 e2 cc kk"
    assert program.assigned == set(bound.split())
    read = "sin y yy r t w D x zeros n o E bb ee hh ii jj mm print nn oo qq"
    assert set(program.free_names) == set(read.split())
    assert (program.free_names["zeros"].line, program.free_names["zeros"].column) == (12, 25)


def test_a_local_is_no_free_name() -> None:
    program = compile_program(
        Source("<test>", "def f(relu):\n    conv = 1\n    return relu + conv + tanh\n"), echo=False
    )
    assert set(program.free_names) == {"tanh"}


def test_fields_of_classes() -> None:
    scope = run(
        """\
from_typing = 1
class A:
    a: int
    b: 'str' = 'x'
    c = 3
    d: ClassVar[int] = 4
    e: typing.ClassVar = 5
    a: float
    def f(self):
        g: int = 1
class B:
    x = 1
"""
    )[3]
    assert scope["A"].__dict__[".fields"] == ("a", "b")
    assert ".fields" not in scope["B"].__dict__


IMPORTS = """\
import torch.nn as nn, torch.optim, math
from torch.nn import (functional as F, init,)
from __future__ import annotations
def f():
    import time
    return time
"""


def test_imports() -> None:
    asked: list[tuple[Any, ...]] = []

    def imported(path: str, top: bool) -> str:
        asked.append((path, top))
        return path

    def imported_from(path: str, name: str) -> str:
        asked.append((path, name))
        return name

    names = {**builtin_names(), **runtime_names(), ".import": imported, ".import_from": imported_from}
    scope: dict[str, Any] = {"__builtins__": names}
    exec(compile_program(Source.add("<test>", IMPORTS)).code, scope)
    assert asked[:3] == [("torch.nn", False), ("torch.optim", True), ("math", True)]
    assert asked[3:] == [("torch.nn", "functional"), ("torch.nn", "init"), ("__future__", "annotations")]
    bound = [scope[name] for name in ("nn", "torch", "math", "F", "init")]
    assert bound == ["torch.nn", "torch.optim", "math", "functional", "init"]
    assert scope["f"]() == "time"


def test_remarks_of_pythons_compiler() -> None:
    program = compile_program(Source("<test>", "x = 1\nif x is 5:\n    assert (x, 'm')\n"))
    said = [(message.split(".")[0], span.line) for message, span in program.warnings]
    assert ('"is" with a literal' in said[-1][0] or '"is" with' in said[-1][0]) or any(
        '"is" with' in message for message, _ in said
    )
    assert sorted(line for _, line in said) == [2, 3]


def test_places_of_an_error() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("a = 0\nb = (1 +\n     2) / a\n")
    frame = caught.value.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    assert frame is not None and frame.tb_lineno == 2


def test_skipped_lines() -> None:
    source = Source(
        "<test>", "%matplotlib inline\n!pip install x 'y\nx = 7 \\\n  % 4\ny = (x\n% 2)\nif x:\n    %time\n    z = 1\n"
    )
    program = compile_program(source)
    assert program.assigned == {"x", "y", "z"}
    assert [source.text[start:end] for start, end in source.skipped] == [
        "%matplotlib inline",
        "!pip install x 'y",
        "%time",
    ]


def test_transcripts() -> None:
    text = (
        ">>> x = 1\n>>> for i in range(2):\n...     x + i\n... \n1\n2\n>>> x\n1\nTraceback (most recent call last):\n"
    )
    _, shown, _, _ = run(text)
    assert [value for value, _, _ in shown] == [1, 2, 1]
    text = "In [1]: x = 2\n\nIn [2]: def f(a):\n   ...:     return a\n   ...: \n\nIn [10]: f(x)\nOut[10]: 2\n"
    program, shown, _, _ = run(text)
    assert [value for value, _, _ in shown] == [2]
    assert (program.shown[0].span.line, program.shown[0].span.column) == (7, 10)
    program, _, _, _ = run('def f():\n    """\n    >>> f()\n    3\n    """\n    return 3\n', echo=False)
    assert program.assigned == {"f"}


def test_first_line_for_the_shell() -> None:
    assert run("#!/usr/bin/env gradsh\nx = 1\nx\n")[1][0][0] == 1
