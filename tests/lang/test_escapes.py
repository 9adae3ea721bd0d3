"""Ways out of the language that have been tried: none reaches Python, files, processes or the network.

data/escapes.txt holds one attempt after the other. Each ends in an error of the program's own, or in a value that leads
nowhere.
"""

from __future__ import annotations

import builtins
import io
import os
import socket
import subprocess
import types
from pathlib import Path
from typing import Any

import pytest

from gradsh.lang.locate import is_internal
from gradsh.session import Session

ATTEMPTS = (Path(__file__).parent / "data" / "escapes.txt").read_text(encoding="utf-8").rstrip("\n").split("\n====\n")
# What no value of a program may be.
KINDS = (types.ModuleType, types.CodeType, types.FrameType, types.MappingProxyType, io.FileIO, io.BufferedIOBase)
CLOSED = [
    getattr(builtins, name)
    for name in "eval exec compile open __import__ globals locals vars getattr setattr type".split()
]


@pytest.fixture(autouse=True)
def walls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no way to start a process or to open a connection unseen."""

    def reached(*args: Any, **settings: Any) -> None:
        raise SystemExit("a program got out")

    monkeypatch.chdir(tmp_path)
    for module, name in ((os, "system"), (os, "popen"), (os, "fork"), (subprocess, "Popen"), (socket, "socket")):
        monkeypatch.setattr(module, name, reached)


def attempt(text: str, dialect: str) -> Any:
    """What a program leaves in `r`, or the error that it ends in; never SystemExit."""
    session = Session(dialect=dialect, folder=".")
    try:
        session.run(text)
    except Exception as error:
        assert not is_internal(error), error
        return error
    return session.namespace.get("r")


def test_there_are_many() -> None:
    assert len(set(ATTEMPTS)) == len(ATTEMPTS) > 200


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dialect", ["torch", "shell"])
@pytest.mark.parametrize("text", ATTEMPTS)
def test_attempt(text: str, dialect: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = attempt(text, dialect)
    parts = list(found) if isinstance(found, list | tuple) else [found]
    parts += found.values() if isinstance(found, dict) else []
    for part in parts:
        assert not isinstance(part, KINDS)
        assert not any(part is closed for closed in CLOSED)
    assert not list(tmp_path.iterdir())
    assert "pwned" not in capfd.readouterr().out


# ---- what Python takes for another name than we do

CHANGING = """
class Name(str):
    asked = 0
    def startswith(self, *a): return False
    def __hash__(self):
        Name.asked += 1
        return hash("{name}") if Name.asked > {patience} else 0
    def __eq__(self, other): return Name.asked > {patience}
    def __getitem__(self, i): return "x"
"""


@pytest.mark.parametrize("patience", range(6))
@pytest.mark.parametrize(
    ("setup", "value", "name"),
    [
        ("from abc import abstractmethod as f", "f", "__globals__"),
        ("def f(): pass", "f", "__globals__"),
        ("def f(): pass", "f", "__code__"),
        ("class A: pass\nf = A()", "f", "__dict__"),
        ("class A: pass\nf = A()", "f", "__reduce_ex__"),
        ("f = print", "f", "__self__"),
        ("f = torch.no_grad()", "f", "__init__"),
    ],
)
def test_names_that_change_between_two_looks(setup: str, value: str, name: str, patience: int) -> None:
    text = CHANGING.format(name=name, patience=patience) + f"{setup}\nr = getattr({value}, Name('{name}'))"
    assert isinstance(attempt(text, "torch"), AttributeError) or name == "__init__"
    text = CHANGING.format(name=name, patience=patience) + f"{setup}\nsetattr({value}, Name('{name}'), 1)"
    assert isinstance(attempt(text, "torch"), AttributeError | TypeError)


def test_functions_of_pythons_own_frozen_modules_are_not_a_programs() -> None:
    for text in ("abstractmethod.x = 1", "abstractmethod.__name__ = 'x'", "r = abstractmethod.__globals__"):
        error = attempt(f"from abc import abstractmethod\n{text}", "torch")
        assert isinstance(error, AttributeError | SyntaxError)


# ---- what numpy would trust

BUFFER = """
import numpy as np
asked = []
number = 12345678901
class A:
    def __getattr__(self, name):
        asked.append(name)
        if name == "__array_interface__":
            return {"data": (id(number), False), "shape": (4,), "typestr": "<i8", "version": 3}
        raise AttributeError(name)
"""


@pytest.mark.parametrize(
    "use", ["np.array([1, 2]) + A()", "A() + np.array([1, 2])", "np.array([1, 2]) == A()", "np.asarray(A())"]
)
def test_no_class_describes_memory_to_numpy(use: str) -> None:
    session = Session(dialect="torch")
    try:
        session.run(f"{BUFFER}\nr = {use}")
    except Exception as error:
        assert not is_internal(error)
    assert session["asked"] == []
    found = session.namespace.get("r")
    assert found is None or found.size <= 2


@pytest.mark.parametrize(
    "text",
    [
        "e = ValueError(); e.__setstate__({'__array_interface__': 1})",
        "import functools\nfunctools.partial(print).__setstate__((print, (), {}, {'__array_interface__': 1}))",
        "import functools\nfunctools.partial.__setstate__(functools.partial(print), (print, (), {}, {'x': 1}))",
        "class E(ValueError):\n    def f(self): super().__setstate__({'__array_interface__': 1})\nE().f()",
        "import numpy as np\nnp.array([1]).__setstate__((1, (9,), 'O', False, []))",
        "Linear(1, 1).register_buffer('__array_interface__', torch.ones(1))",
        "class D(nn.Module, dict): pass\nnn.Linear(1, 1).add_module('__array_interface__', D())",
        "class D(nn.Module, dict): pass\nnn.Linear(1, 1).set_submodule('__array_interface__', D())",
        "nn.Linear(1, 1).register_parameter('__array_struct__', nn.Parameter(torch.ones(1)))",
        "import functools\nfunctools.wraps(print, assigned=('__globals__',), updated=())(lambda: 0)",
        "import functools\nfunctools.wraps(print, assigned=(), updated=('__globals__',))(lambda: 0)",
    ],
)
def test_closed_names_are_set_by_no_other_way(text: str) -> None:
    error = attempt(text, "torch")
    assert isinstance(error, AttributeError | TypeError), error


def test_wraps_still_gives_a_name_and_a_text() -> None:
    session = Session(dialect="torch")
    session.run(
        "import functools\ndef f():\n    'text'\n@functools.wraps(f)\ndef g(): return 1\nr = g.__name__, g.__doc__, g()"
    )
    assert session["r"] == ("f", "text", 1)


def test_getattr_still_makes_attributes() -> None:
    session = Session(dialect="torch")
    session.run(
        "class A:\n    def __getattr__(self, name): return name\nr = A().x, getattr(A(), '_y'), hasattr(A(), '__dict__')"
    )
    assert session["r"] == ("x", "_y", False)


# ---- hostile files beside the script


@pytest.mark.parametrize("name", ["os", "sys", "subprocess", "numpy", "torch", "math", "builtins", "abc"])
def test_a_file_beside_the_script_is_a_program_like_any(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("x = ().__class__.__base__.__subclasses__()\n")
    error = attempt(f"import {name}", "torch")
    assert error is None or isinstance(error, SyntaxError)


def test_links_out_of_the_folder_and_packages_are_no_helpers(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "outer.py").write_text("x = 1")
    (tmp_path / "inner" / "link.py").symlink_to(tmp_path / "outer.py")
    os.mkfifo(tmp_path / "inner" / "pipe.py")
    os.chdir(tmp_path / "inner")
    for name in ("link", "pipe", "outer"):
        assert isinstance(attempt(f"import {name}", "torch"), ImportError)


# ---- sizes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("zeros(10**6, 10**6)", RuntimeError), ("ones(10**12)", RuntimeError), ("randn(10**5, 10**8)", RuntimeError),
        ("torch.arange(10**12)", RuntimeError), ("torch.eye(10**6)", RuntimeError),
        ("zeros(1).expand(10**13).clone()", (RuntimeError, MemoryError)),
        ("'a' * 10**10", MemoryError), ("10**10 * 'a'", MemoryError), ("s = 'a'\ns * 10**10", MemoryError),
        ("'a' * 1000 * 10**9", MemoryError), ("'a' * (1 << 40)", MemoryError), ("[0] * 10**11", MemoryError),
        ("n = 10**11\n[0] * n", MemoryError), ("(1,) * 10**11", MemoryError), ("f'{1}' * 10**10", MemoryError),
        ("'x'.ljust(10**11)", MemoryError), ("'x'.rjust(10**10)", MemoryError), ("'x'.center(10**10)", MemoryError),
        ("'x'.zfill(10**10)", MemoryError), ("f'{1:10000000000}'", ValueError), ("'%10000000000d' % 1", ValueError),
        ("'%.*f' % (10**9, 1.0)", ValueError), ("f = '%(a)99999999d'\nf % {'a': 1}", ValueError),

        ("list(range(10**12))", MemoryError), ("9**9**9", OverflowError), ("2**10**10", OverflowError),
        ("1 << 10**10", OverflowError),
        ("math.factorial(10**9)", OverflowError), ("int('9' * 10**6)", ValueError),
        ("import numpy as np\nnp.zeros((10**6, 10**6))", (RuntimeError, MemoryError)),
        ("def f(n): return f(n + 1)\nf(0)", RecursionError),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["torch", "shell"])
def test_sizes_are_looked_at_before_memory_is_taken(text: str, kind: Any, dialect: str) -> None:
    if dialect == "torch":
        text = "import torch, math\nfrom torch import zeros, ones, randn\n" + text
    assert isinstance(attempt(text, dialect), kind)


def test_repeating_what_is_not_too_long() -> None:
    session = Session()
    session.run("r = 'ab' * 3, 2 * [1], (1,) * 2, 2**30 * 3.0, -1 * [1], 'a' * -10**10, True * 'x'")
    assert session["r"] == ("ababab", [1, 1], (1, 1), 3221225472.0, [], "", "x")
