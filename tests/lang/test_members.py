"""The policy of attributes: lists for types, readers and writers of their own, everything of a program's classes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from gradsh.lang import Source, builtin_names, compile_program, members, runtime_names

TABLES: list[dict[Any, Any]] = [members.ALLOWED, members.SETTABLE, members.READERS, members.WRITERS]


class Thing:
    """A type of the library: some of it is for programs."""

    shown = 1
    hidden = 2
    value = 0

    def method(self) -> str:
        return "method"

    def _private(self) -> str:
        return "private"


class Space:
    """A type that answers for itself."""

    def __init__(self) -> None:
        self.names = {"one": 1}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = [dict(table) for table in TABLES]
    members.allow(Thing, ("shown", "method", "value"), settable=("value",))

    def read(space: Space, name: str) -> Any:
        if name not in space.names:
            raise AttributeError(f"no {name}", name=name, obj=space)
        return space.names[name]

    def write(space: Space, name: str, new: Any) -> None:
        if new is members.DELETED:
            del space.names[name]
        else:
            space.names[name] = new

    members.policy(Space, read, write)
    yield
    for table, old in zip(TABLES, before):
        table.clear()
        table.update(old)


def run(text: str) -> dict[str, Any]:
    names = {**builtin_names(), **runtime_names(), "thing": Thing(), "space": Space(), "Thing": Thing}
    scope: dict[str, Any] = {"__builtins__": names, "__name__": "__main__"}
    exec(compile_program(Source.add("<test>", text), echo=False).code, scope)
    return scope


def test_a_list_of_names() -> None:
    scope = run(
        """\
a, b, c = thing.shown, thing.method(), Thing.shown
thing.value += 5
d = thing.value, hasattr(thing, 'hidden'), dir(thing)"""
    )
    assert (scope["a"], scope["b"], scope["c"], scope["d"]) == (
        1,
        "method",
        1,
        (5, False, ["method", "shown", "value"]),
    )
    for text in (
        "thing.hidden",
        "thing._private()",
        "Thing.hidden",
        "thing.shown = 2",
        "del thing.shown",
        "thing.other = 1",
        "thing.hidden = 1",
    ):
        with pytest.raises(AttributeError):
            run(text)
    with pytest.raises(TypeError, match="immutable type"):
        run("Thing.shown = 2")


def test_a_reader_and_a_writer() -> None:
    scope = run(
        """\
a = space.one
space.two = 2
space.one += 5
b = space.two + space.one
del space.two
c = hasattr(space, 'two')"""
    )
    assert (scope["a"], scope["b"], scope["c"]) == (1, 8, False)
    with pytest.raises(AttributeError, match="no three"):
        run("space.three")


def test_classes_of_programs_on_types_of_the_library() -> None:
    scope = run(
        """\
class T(Thing):
    hidden = 5
    def _private(self): return 'own'
    def call(self): return super().method() + self._private()
t = T()
t.anything = 3
t.value = 4
a = t.shown, t.hidden, t.call(), t.anything, t.value, T.hidden"""
    )
    assert scope["a"] == (1, 5, "methodown", 3, 4, 5)
    for text in ("t.hidden", "t._private", "super(T, t).hidden", "T.hidden", "t.hidden = 1", "getattr(t, 'hidden')"):
        with pytest.raises(AttributeError):
            run(f"class T(Thing): pass\nt = T()\n{text}")


def test_the_readers_of_a_base_come_after_the_programs_own() -> None:
    scope = run("class S(type(space)):\n    x = 7\n    def m(self): return 8\ns = S()\na = s.x, s.m(), s.one")
    assert scope["a"] == (7, 8, 1)


def test_deleting_and_missing_attributes() -> None:
    scope = run(
        """\
class A: pass
a = A()
a.x = 1
b = a.x
del a.x
c = hasattr(a, 'x')
d = getattr(a, 'x', 'none')
A.y = 2
e = a.y
del A.y"""
    )
    assert (scope["b"], scope["c"], scope["d"], scope["e"]) == (1, False, "none", 2)
    with pytest.raises(AttributeError, match="'A' object has no attribute 'x'") as caught:
        run("class A: pass\nA().x")
    assert caught.value.name == "x"


@pytest.mark.parametrize(
    "text",
    ["a.__class__ = int", "A.__name__ = 'x'", "A.__doc__ = 'x'", "setattr(a, '__class__', int)", "f.__doc__.x = 1"],
)
def test_what_python_lets_change_and_we_do_not(text: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        run(f"class A: pass\na = A()\ndef f(): 'doc'\n{text}")


def test_names_of_functions_can_be_set() -> None:
    assert run("def f(): pass\nf.__name__ = 'g'\nf.__doc__ = 'd'\na = f.__name__ + f.__doc__")["a"] == "gd"


def test_reading_is_quick() -> None:
    """About a tenth of a microsecond over Python's own; the bound leaves room for a busy machine."""
    scope = run("class A:\n    def m(self): pass\na = A()\na.x = 1\na.x, a.m, thing.shown")
    a, thing, get = scope["a"], Thing(), members.get

    def seconds(value: Any, name: str) -> float:
        start = time.perf_counter()
        for _ in range(20_000):
            get(value, name)
        return time.perf_counter() - start

    for value, name in ((a, "x"), (a, "m"), (thing, "shown"), ("", "join")):
        assert min(seconds(value, name) for _ in range(5)) / 20_000 < 2e-6
