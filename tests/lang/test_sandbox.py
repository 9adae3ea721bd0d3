"""Nothing that a program can write reaches Python: the emitted trees hold no way out, and closed names stay closed."""

from __future__ import annotations

import ast
import io
import sys
from typing import Any

import pytest
from lang.test_against_python import SNIPPETS
from lang.trees import emitted

from gradsh.fault import details_of
from gradsh.lang import Source, builtin_names, compile_program, parse_program, runtime_names
from gradsh.lang.members import Type, get_attribute, has_attribute

# Every node that gradsh emits; no Attribute, Import, Await or Match among them.
ALLOWED = {
    "Module", "Expr", "Assign", "AugAssign", "Delete", "Pass", "Break", "Continue", "Return", "Raise", "Assert",
    "Global", "Nonlocal",
    "If", "While", "For", "Try", "ExceptHandler", "With", "withitem", "FunctionDef", "ClassDef", "Lambda", "arguments",
    "arg",
    "BoolOp", "NamedExpr", "BinOp", "UnaryOp", "IfExp", "Dict", "Set", "ListComp", "SetComp", "DictComp",
    "GeneratorExp", "comprehension",
    "Yield", "YieldFrom", "Compare", "Call", "keyword", "FormattedValue", "JoinedStr", "Constant", "Subscript",
    "Slice", "Starred",
    "Name", "List", "Tuple", "Load", "Store", "Del", "And", "Or", "Not", "UAdd", "USub", "Invert",
    "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "MatMult", "BitAnd", "BitOr", "BitXor", "RShift",
    "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn",
}  # fmt: skip
# What the helpers are called; all else that begins with a dot is unknown.
HELPERS = set(runtime_names()) | {".import", ".import_from", ".show", ".command", ".statement", ".step", ".fields"}
MORE = [
    "import torch, torch.nn as nn\nfrom torch import optim as o, nn\nfrom torch.nn import (functional as F, init)",
    """\
:backward z with v retain=True
:graph z from x to out/g.svg depth=3
x ^ 2
x ^= 3
[1, [2]]
x[1:2] **= 3
x.y <<= 2""",
    "+".join(["x"] * 1000),
]


def run(text: str, dialect: Any = "torch") -> dict[str, Any]:
    names = {**builtin_names(), **runtime_names(), "print": lambda *values: None}
    scope = {"__builtins__": names, "__name__": "__main__"}
    exec(compile_program(Source.add("<test>", text), dialect=dialect, echo=False).code, scope)
    return scope


@pytest.mark.parametrize("text", [*SNIPPETS.values(), *MORE])
def test_only_allowed_nodes(text: str) -> None:
    for shell in (False, True):
        source = Source("<test>", text)
        tree = emitted(source, parse_program(source, "shell" if shell else "torch"), shell)
        for node in ast.walk(tree):
            assert type(node).__name__ in ALLOWED
            if isinstance(node, ast.Name) and node.id.startswith("."):
                assert node.id in HELPERS


@pytest.mark.parametrize(
    "text",
    [
        "().__class__.__bases__", "x = (1).__class__.__mro__", "[].__class__.__base__.__subclasses__()",
        "f.__globals__", "f.__code__", "f.__closure__",
        "f.__builtins__", "e.__traceback__", "e.__context__", "x.__dict__", "x.__dict__ = {}", "del x.__dict__",
        "x.__class__.__init_subclass__",
        "x.__reduce__()", "x.__getattribute__('a')", "x.__module__", "x.__self__", "x.__func__", "x.__wrapped__",
        "x.__setattr__('a', 1)",
        "__import__('os')", "__builtins__", "__loader__", "__spec__", "__file__", "__build_class__", "__debug__",
        "__class__",
        "__builtins__ = {}", "def __getattr__(n): pass", "class A:\n    __slots__ = ()",
        "class A:\n    def __getattribute__(s, n): pass", "class A:\n    def f(s):\n        def __getattr__(n): pass",
        "x.__getattr__('a')", "x.__format__('9999999999')", "super().__format__('9')", "class A:\n    __getattr__ = f",
        "class A:\n    def __del__(s): pass", "class A:\n    def __init_subclass__(c): pass",
        "class A:\n    def __class_getitem__(c, i): pass",
        "class A:\n    __class__ = int", "lambda __x__: 1", "def f(__a__): pass", "for __x__ in y: pass",
        "with a as __x__: pass", "import a as __x__",
        "try:\n    pass\nexcept E as __e__:\n    pass", "(__x__ := 1)", "global __x__", "x.__ｄict__",
        "f'{x.__dict__}'",
    ],
)  # fmt: skip
def test_closed_names_are_refused_when_compiling(text: str) -> None:
    with pytest.raises(SyntaxError, match=r"the (name|attribute) __\w+__ is not available"):
        compile_program(Source("<test>", text))


@pytest.mark.parametrize(
    "text",
    [
        "class A(metaclass=M): pass",
        "class A(B, x=1): pass",
        "class A(*B): pass",
        "class A(**k): pass",
    ],
)
def test_class_headers(text: str) -> None:
    with pytest.raises(SyntaxError, match="a class takes"):
        compile_program(Source("<test>", text))


@pytest.mark.parametrize(
    "text",
    [
        "getattr(1, '__dict__')", "getattr(1, '__dict__', 5)", "setattr(type, '__x__', 1)", "'{0.__dict__}'.format(1)",
        "'{.__class__.__mro__}'.format(1)",
        "str.format('{0.__globals__}', len)", "'{x.__self__}'.format_map({'x': len})",
        "getattr('', '__init_' + 'subclass__')",
        "int.mro()", "type(1).mro", "(lambda: 0).__name__.nothing", "(x for x in [1]).gi_frame",
        "(x for x in [1]).gi_code",
        "ValueError().with_traceback(None)", "print.__call__.nothing", "len.func", "(5).to_bytes(9, 'big')",
        "int.from_bytes",
        "[].append.im_self", "{}.keys().mapping", "getattr(getattr, 'x')", "property(len).fget",
        "getattr(object(), 'x')",
        "int.real = 5", "[].x = 1", "str.upper = 1", "len.x = 1", "(1).real = 2", "super.x = 1", "getattr.x = 1",
        "object.x = 1", "type.x = 1",
    ],
)  # fmt: skip
def test_closed_when_running(text: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        run(text)


@pytest.mark.parametrize(
    "text",
    ["type('X', (), {})", "type(type(1))('X', (object,), {})", "class M(type): pass", "type(int)('X', (), {})",
    "class M(type(int)): pass", "type()", "type.__call__(1, 2, 3)"],
)  # fmt: skip
def test_type_makes_no_classes(text: str) -> None:
    with pytest.raises(TypeError):
        run(text)


def test_type_is_of_use_otherwise() -> None:
    scope = run(
        "a = type(1) is int\nb = isinstance(int, type)\nc = type(int) is type\nd = isinstance(1, type)\n"
        "e = (1).__class__ is int\nf = int.__class__ is type\ng = type(type) is type\nh = issubclass(type, object)"
    )
    assert [scope[name] for name in "abcdefgh"] == [True, True, True, False, True, True, True, True]
    assert repr(Type) == "<class 'type'>"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2 ** 10_000_000", OverflowError), ("x = 10\nx **= 10 ** 7", OverflowError),
        ("x = [7]\nx[0] **= 10 ** 9", OverflowError), ("pow(3, 10 ** 9)", OverflowError),
        ("1 << 10 ** 9", OverflowError), ("x = 1\nx <<= 10 ** 12", OverflowError), ("f'{1:{10 ** 9}}'", ValueError),
        ("'{:>{}}'.format(1, 10 ** 9)", ValueError),
        ("format(1.5, '.999999999f')", ValueError), ("f'{1.5:.1000000000f}'", ValueError),
    ],
)  # fmt: skip
def test_sizes_are_guarded(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        run(text)
    assert details_of(caught.value) is not None


def test_large_literals() -> None:
    assert run("x = " + "9" * 5000)["x"] == 10**5000 - 1
    for text in ("9" * 400_000, "0x" + "f" * 300_000, "0b" + "1" * 1_100_000):
        with pytest.raises(SyntaxError, match="more than 1,000,000 bits"):
            compile_program(Source("<test>", text))


def test_powers_below_the_limit() -> None:
    scope = run(
        """\
a = 2 ** 900_000
b = (-3) ** 3
c = 0 ** 10 ** 9
d = 1 ** 10 ** 9
e = (-1) ** 10 ** 9
f = 2.0 ** 3
g = 2 ** -2
h = pow(2, 10 ** 20, 7)"""
    )
    assert (
        scope["a"].bit_length(),
        scope["b"],
        scope["c"],
        scope["d"],
        scope["e"],
        scope["f"],
        scope["g"],
        scope["h"],
    ) == (900_001, -27, 0, 1, 1, 8.0, 0.25, pow(2, 10**20, 7))


def test_bare_except_lets_interrupts_pass() -> None:
    names = {**builtin_names(), **runtime_names(), "stop": _stop}
    for handler in ("except:", "except Exception:"):
        program = compile_program(Source.add("<test>", f"try:\n    stop()\n{handler}\n    pass\n"), echo=False)
        with pytest.raises(SystemExit):
            exec(program.code, {"__builtins__": names})
    # `Exception` of the program is its own affair; the bare handler's is not.
    text = "Exception = 5\ntry:\n    1 / 0\nexcept:\n    pass\n"
    exec(compile_program(Source.add("<test>", text), echo=False).code, {"__builtins__": names})


def _stop() -> None:
    raise SystemExit


def test_no_way_to_base_exceptions() -> None:
    names = builtin_names()
    for name in (
        "BaseException",
        "SystemExit",
        "GeneratorExit",
        "eval",
        "exec",
        "compile",
        "globals",
        "locals",
        "vars",
        "open",
        "input",
        "breakpoint",
        "__import__",
        "delattr",
        "memoryview",
        "exit",
    ):
        assert name not in names
    for value in names.values():
        assert not isinstance(value, type(sys))


def test_has_attribute_of_closed_names() -> None:
    assert not has_attribute(1, "__dict__")
    assert not has_attribute(int, "__subclasses__")
    assert has_attribute(1, "__add__")
    assert has_attribute("", "format")
    with pytest.raises(AttributeError, match="not available"):
        get_attribute(io, "__dict__", None)
    with pytest.raises(AttributeError):
        get_attribute(io, "open")
    assert get_attribute(io, "open", None) is None


def test_subclasses_of_pythons_types_keep_their_guards() -> None:
    scope = run(
        """\
class S(str):
    def up(self): return self.upper()
s = S('{0.real}')
a = s.up()
b = s.format(3)
c = super(S, s).format(4)"""
    )
    assert (scope["a"], scope["b"], scope["c"]) == ("{0.REAL}", "3", "4")
    with pytest.raises(AttributeError):
        run("class S(str): pass\nS('{0.__dict__}').format(1)")
    with pytest.raises(AttributeError):
        run("class S(str): pass\nsuper(S, S('{0.__dict__}')).format(1)")


def test_functions_of_ours_keep_their_attributes_to_themselves() -> None:
    def ours() -> None:
        """A function of the library."""

    ours.inner = 1  # type: ignore[attr-defined]
    names = {**builtin_names(), **runtime_names(), "ours": ours}
    for text in ("ours.inner", "ours.inner = 2", "ours.other"):
        with pytest.raises(AttributeError):
            exec(compile_program(Source.add("<test>", text), echo=False).code, {"__builtins__": names})
    exec(compile_program(Source.add("<test>", "ours.__name__, ours.__doc__"), echo=False).code, {"__builtins__": names})


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    try:\n        stop()\n    finally:\n        return 1\nf()",
        "while True:\n    try:\n        stop()\n    finally:\n        break",
        "for i in 1, 2:\n    try:\n        stop()\n    except:\n        pass\n    finally:\n        if i: continue",
        "class A:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\nwith A(): stop()",
        "class A:\n    def __enter__(self): pass\ndef e(self, k, v, t): return True\nA.__exit__ = e\nwith A(): stop()",
        "class A:\n    def __enter__(self): pass\n    def __exit__(self, k, v, t):\n        seen.append(k)\n"
        "        return True\nclass B(A): pass\nseen = []\ntry:\n    with B(): stop()\nfinally: assert seen == [None]",
    ],
)  # fmt: skip
def test_nothing_swallows_a_limit(text: str) -> None:
    names = {**builtin_names(), **runtime_names(), "stop": _stop}
    with pytest.raises(SystemExit):
        exec(
            compile_program(Source.add("<test>", text), echo=False).code,
            {"__builtins__": names, "__name__": "__main__"},
        )


def test_finally_and_exit_swallow_exceptions_as_in_python() -> None:
    text = """
def f():
    try:
        1 / 0
    finally:
        return "dropped"
class A:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace):
        self.seen = kind
        return True
with A() as a:
    1 / 0
b = a.seen is ZeroDivisionError
c = f()
def g():
    try:
        yield 1
    finally:
        return
d = list(g())
h = g()
next(h)
h.close()
try:
    {}["k"]
except KeyError:
    for i in range(2):
        try:
            pass
        finally:
            continue
"""
    scope = run(text)
    assert (scope["b"], scope["c"], scope["d"]) == (True, "dropped", [1])
