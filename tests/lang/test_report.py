"""Faults as people and programs read them: the place, the operands, the calls, the help."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from gradsh.fault import fault
from gradsh.lang import Source, builtin_names, compile_program, members, runtime_names
from gradsh.lang.advice import filled
from gradsh.lang.excerpt import Mark, cell_width, excerpt
from gradsh.lang.locate import is_internal, locate
from gradsh.lang.report import Report, report_of


class Context:
    def describe(self, value: Any) -> str | None:
        return f"a {type(value).__name__}" if isinstance(value, int | str | list) else None

    def names(self) -> Iterable[str]:
        return ("softmax", "relu")


def failure(
    text: str, name: str = "model.grad", given: dict[str, Any] | None = None, dialect: Any = "torch"
) -> BaseException:
    """What a program raises, when it is compiled or run."""
    names = {**builtin_names(), **runtime_names(), **(given or {})}
    try:
        program = compile_program(Source.add(name, text), dialect=dialect, echo=False)
        exec(program.code, {"__builtins__": names, "__name__": "__main__"})
    except Exception as error:
        return error
    raise AssertionError("nothing failed")


def plain(text: str, **options: Any) -> str:
    return report_of(failure(text, **options), Context()).plain(80)


REPORTS = {
    "operands": (
        """\
class N:
    def __init__(self): self.w = 'abc'
    def forward(self, x):
        h = x @ self.w
        return h
def train(n):
    return n.forward([1])
train(N())
""",
        """\
model.grad:4:13: TypeError: unsupported operand type(s) for @: 'list' and 'str'
    4 |         h = x @ self.w
      |             ^   ^^^^^^ a str
      |             a list
in forward, called from train at 7:12
in train, called at 8:1""",
    ),
    "one operand": (
        "x = 1\ny = 2 * (x + 'a')\n",
        """\
model.grad:2:10: TypeError: unsupported operand type(s) for +: 'int' and 'str'
    2 | y = 2 * (x + 'a')
      |          ^ a int""",
    ),
    "no operand to name": (
        "y = (1 +\n     'a' + 'b')\n",
        """\
model.grad:1:6: TypeError: unsupported operand type(s) for +: 'int' and 'str'
    1 | y = (1 +
      |      ^^^""",
    ),
    "unknown name": (
        "y = sofmax(3)\n",
        """\
model.grad:1:5: NameError: name 'sofmax' is not defined
    1 | y = sofmax(3)
      |     ^^^^^^
help: did you mean softmax?""",
    ),
    "unknown constant": (
        "y = true\n",
        """\
model.grad:1:5: NameError: name 'true' is not defined
    1 | y = true
      |     ^^^^
help: did you mean True?""",
    ),
    "unknown member": (
        "class A:\n    def forward(self): pass\na = A()\na.forwrd()\n",
        """\
model.grad:4:1: AttributeError: 'A' object has no attribute 'forwrd'
    4 | a.forwrd()
      | ^^^^^^^^
help: did you mean forward?""",
    ),
    "recursion": (
        "def f(n):\n    if n: return f(n - 1)\n    return 1 / n\nf(3)\n",
        """\
model.grad:3:12: ZeroDivisionError: division by zero
    3 |     return 1 / n
      |                ^ a int
in f, called from f at 2:18, 3 times
in f, called at 4:1""",
    ),
    "cause": (
        "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('bad') from e\n",
        """\
model.grad:4:5: ValueError: bad
    4 |     raise ValueError('bad') from e
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: caused by KeyError: 'k' at 2:5""",
    ),
    "while handling": (
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    nothing\n",
        """\
model.grad:4:5: NameError: name 'nothing' is not defined
    4 |     nothing
      |     ^^^^^^^
note: while handling ZeroDivisionError: division by zero at 2:5""",
    ),
    "loop": (
        "n = 3\nfor i in n:\n    pass\n",
        """\
model.grad:2:10: TypeError: 'int' object is not iterable
    2 | for i in n:
      |          ^""",
    ),
    "wide characters": (
        "日本 = 1\nx = '語' + 日本\n",
        """\
model.grad:2:5: TypeError: can only concatenate str (not "int") to str
    2 | x = '語' + 日本
      |            ^^^^ a int""",
    ),
    "tabs": (
        "if 1:\n\tx = 1\n\tx + 'a'\n",
        """\
model.grad:3:2: TypeError: unsupported operand type(s) for +: 'int' and 'str'
    3 |     x + 'a'
      |     ^ a int""",
    ),
    "prompts": (
        ">>> x = 1\n>>> x + 'a'\nTypeError\n",
        """\
model.grad:2:5: TypeError: unsupported operand type(s) for +: 'int' and 'str'
    2 | >>> x + 'a'
      |     ^ a int""",
    ),
    "syntax": (
        "x = 1\nif x = 2:\n    pass\n",
        """\
model.grad:2:6: SyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?
    2 | if x = 2:
      |      ^
help: if x == 2:""",
    ),
    "unfinished": (
        "def f(x):\n",
        """\
model.grad:1:10: IndentationError: expected an indented block after function definition on line 1
    1 | def f(x):
      |          ^""",
    ),
    "no message": (
        "assert 1 == 2\n",
        """\
model.grad:1:8: AssertionError
    1 | assert 1 == 2
      |        ^^^^^^""",
    ),
    "own exceptions": (
        "class Bad(Exception): pass\ndef f():\n    raise Bad('two\\nlines')\nf()\n",
        """\
model.grad:3:5: Bad: two
lines
    3 |     raise Bad('two\\nlines')
      |     ^^^^^^^^^^^^^^^^^^^^^^^
in f, called at 4:1""",
    ),
    "comprehension": (
        "def f(xs):\n    return [1 / (x - x) for x in xs]\nf([0])\n",
        """\
model.grad:2:13: ZeroDivisionError: division by zero
    2 |     return [1 / (x - x) for x in xs]
      |             ^^^^^^^^^^^
in f, called at 3:1""",
    ),
    "call": (
        "def f(a): return a\nf(1, 2)\n",
        """\
model.grad:2:1: TypeError: f() takes 1 positional argument but 2 were given
    2 | f(1, 2)
      | ^^^^^^^""",
    ),
    "attribute that is set": (
        "x = [1]\nx.y = 2\n",
        """\
model.grad:2:1: AttributeError: 'list' object has no attribute 'y'
    2 | x.y = 2
      | ^^^""",
    ),
    "guarded operators": (
        "a = 'x'\nb = a ** 2\n",
        """\
model.grad:2:5: TypeError: unsupported operand type(s) for ** or pow(): 'str' and 'int'
    2 | b = a ** 2
      |     ^ a str""",
    ),
}


@pytest.mark.parametrize(("text", "wanted"), REPORTS.values(), ids=REPORTS.keys())
def test_report(text: str, wanted: str) -> None:
    assert plain(text) == wanted


def test_fields() -> None:
    report = report_of(failure("x = 1\ndef f():\n    return x + 'a'\nf()\n"), Context())
    assert report.as_json() == {
        "kind": "error",
        "type": "TypeError",
        "message": "unsupported operand type(s) for +: 'int' and 'str'",
        "file": "model.grad",
        "line": 3,
        "column": 12,
        "end_line": 3,
        "end_column": 19,
        "labels": [{"file": "model.grad", "line": 3, "column": 12, "end_line": 3, "end_column": 13, "text": "a int"}],
        "help": None,
        "notes": [],
        "trace": [
            {
                "function": "f",
                "caller": None,
                "file": "model.grad",
                "line": 4,
                "column": 1,
                "end_line": 4,
                "end_column": 4,
            }
        ],
    }
    assert [style for line in report.lines() for _, style in line] == [
        "",
        "fault",
        "",
        "muted",
        "code",
        "muted",
        "fault",
        "muted",
    ]


def test_help_and_notes_of_a_fault() -> None:
    def thing() -> None:
        raise fault(RuntimeError, "no", hint="x.float()", notes=("a fact", "another"))

    assert plain("thing()\n", given={"thing": thing}) == (
        """\
model.grad:1:1: RuntimeError: no
    1 | thing()
      | ^^^^^^^
note: a fact
note: another
help: x.float()"""
    )


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("op(x, y.w)", "x @ y.w.T"), ("x.op(y)", "x @ y.T"), ("op(x + 1, (y))", "(x + 1) @ y.T"), ("op(x)", None),
        ("op(x, other=y)", None),
    ],
)  # fmt: skip
def test_a_hint_names_the_operands_of_the_program(text: str, help: str | None) -> None:
    source = compile_program(Source.add("a.grad", text)).source
    assert filled("{a} @ {b}.T", source.span(0, len(text))) == help
    assert filled("x.float()", source.span(0, len(text))) == "x.float()"


def test_labels_of_a_fault_on_other_lines() -> None:
    source = Source("a.grad", "x = 1\ny = 2\nz = x @ y\n")
    labels = [(source.span(16, 17), "left"), (source.span(20, 21), "right"), (source.span(0, 1), "made here")]
    assert Report("RuntimeError", "no", source.span(16, 21), labels).plain() == (
        """\
a.grad:3:5: RuntimeError: no
    1 | x = 1
      | ^ made here
    3 | z = x @ y
      |     ^   ^ right
      |     left"""
    )


def test_places_of_operations_become_notes() -> None:
    program = compile_program(Source.add("a.grad", "x = 1\ny = x + 2\n"), echo=False)
    instruction = next(2 * k for k, place in enumerate(program.code.co_positions()) if place == (2, 2, 4, 9))

    def thing() -> None:
        raise fault(
            RuntimeError,
            "no",
            sites=(("changed at {}", program.code, instruction), ("nowhere {}", None, 0), ("a fact", None, 0)),
        )

    assert report_of(failure("thing()\n", given={"thing": thing})).notes == ["changed at 2:5", "a fact"]


def test_a_fault_in_the_library_shows_the_users_call() -> None:
    library = compile_program(
        Source.add("linear.grad", "def layer(x):\n    return x + 'a'\n", library="nn"), dialect="torch", echo=False
    )
    scope: dict[str, Any] = {"__builtins__": {**builtin_names(), **runtime_names()}}
    exec(library.code, scope)
    assert plain("def f():\n    layer(1)\nf()\n", given={"layer": scope["layer"]}).split("\n")[0] == (
        "model.grad:2:5: TypeError: unsupported operand type(s) for +: 'int' and 'str'"
    )


def test_what_is_ours() -> None:
    assert not is_internal(failure("1 + 'a'\n"))
    assert not is_internal(failure("2 ** 'a'\n"))
    assert not is_internal(failure("f'{1:{\"q\"}}'\n"))
    assert not is_internal(failure("[].nothing\n"))
    assert not is_internal(failure("getattr([], 5)\n"))
    assert not is_internal(failure("x\n"))
    assert not is_internal(failure("def f(): f()\nf()\n"))
    assert not is_internal(failure("x = (\n"))
    broken = failure("broken([1])\n", given={"broken": cell_width})
    assert is_internal(broken)
    report = report_of(broken)
    assert (report.type, report.line) == ("InternalError", 1)
    assert report.message.startswith("AttributeError: 'list' object has no attribute 'isascii' (excerpt.py:")
    assert "fault of gradsh itself" in report.notes[0]


def test_long_lines_are_cut_around_the_carets() -> None:
    text = "x = 1\ny = " + "(1 + 2) * " * 200 + "(x + 'a') * " + "(3 + 4) * " * 200 + "5\n"
    lines = plain(text).split("\n")
    assert len(lines) == 3
    assert all(cell_width(line) <= 80 for line in lines)
    assert lines[1][lines[2].index("^")] == "x"
    assert "…" in lines[1]
    wide = plain("x = 1\ny = '" + "語" * 300 + "' and x + 'a'\n").split("\n")
    assert all(cell_width(line) <= 80 for line in wide)


def test_long_and_disturbing_texts() -> None:
    report = report_of(failure("raise ValueError('a' * 5000 + '\\x1b[31m')\n"))
    assert len(report.message) == 5005
    assert len(report.plain().split("\n")[0]) < 2100
    assert len(report.as_json()["message"]) == 2001
    assert "\\x1b[31m" in plain("raise ValueError('\\x1b[31m\\u202e')\n").split("\n")[0]
    assert "\x1b" not in plain("x = '\x1b' + 1\n")
    assert "\\x1b" in plain("x = '\x1b' + 1\n")


def test_excerpt_with_a_width_of_none() -> None:
    source = Source("a.grad", "x = 1\n")
    assert excerpt([Mark(source.span(0, 1), "here")], 0, "fault")[1] == [("      | ", "muted"), ("^ here", "fault")]


def test_an_exception_whose_text_fails() -> None:
    assert "its message cannot be made" in plain(
        "class B(Exception):\n    def __str__(self): return 1 / 0\nraise B()\n"
    )


class Many:
    """Stands for a tensor of several numbers."""

    def __bool__(self) -> bool:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")

    def __lt__(self, other: object) -> Many:
        return self

    __gt__ = __lt__


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("x = 0 < t < 0.5", "1:5", "(0 < t) & (t < 0.5)"),
        ("if 1 < t.x < 2 < t: pass", "1:4", "(1 < t.x) & (t.x < 2) & (2 < t)"),
        ("if t > 1 and t < 2: pass", "1:4", "(t > 1) & (t < 2)"),
        ("x = 1 + (t or 3)", "1:10", "t | 3"),
        ("x = not t", "1:5", "~t"),
        ("while not t < 5: pass", "1:11", "~(t < 5)"),
        ("if t: pass", "1:4", "t.all()"),
        ("if 0: pass\nelif t: pass", "2:6", "t.all()"),
        ("while t < 3: pass", "1:7", "(t < 3).all()"),
        ("x = 1 if t > 0 else 2", "1:10", "torch.where(t > 0, 1, 2)"),
        ("assert t", "1:8", "t.all()"),
    ],
)
def test_the_truth_of_many_values(text: str, place: str, hint: str) -> None:
    many = Many()
    many.x = many  # type: ignore[attr-defined]
    members.allow(Many, ("x",))
    report = report_of(failure(text, given={"t": many}))
    assert (f"{report.line}:{report.column}", report.help) == (place, hint)


def test_warnings_have_the_same_form() -> None:
    source = Source("a.grad", "x = y\n")
    report = Report("UserWarning", "careful", source.span(4, 5), help="x = 0", warning=True)
    assert report.plain() == "a.grad:1:5: warning: UserWarning: careful\n    1 | x = y\n      |     ^\nhelp: x = 0"
    assert report.as_json()["kind"] == "warning"


def test_without_columns() -> None:
    """A Python that was told to keep no columns: the statement."""
    code = """\
from gradsh.lang import *
from gradsh.lang.report import report_of
text = 'def f(a):\\n    if a:\\n        b = (1 +\\n             a)\\nf(\\'x\\')\\n'
p = compile_program(Source.add('a.grad', text), echo=False)
try:
    exec(p.code, {'__builtins__': {**builtin_names(), **runtime_names()}})
except TypeError as error:
    print(report_of(error).plain())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONNODEBUGRANGES": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[:3] == [
        "a.grad:3:9: TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "    3 |         b = (1 +",
        "      |         ^^^^^^^^",
    ]


def test_values_of_operands_run_no_code() -> None:
    text = """\
ran = []
class A:
    @property
    def p(self):
        ran.append(1)
        return 'text'
a = A()
5 + a.p
"""
    error = failure(text)
    frame = locate(error).frame
    assert frame is not None
    before = list(frame.f_globals["ran"])
    assert report_of(error, Context()).labels == []
    assert frame.f_globals["ran"] == before == [1]
