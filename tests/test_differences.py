"""What docs/differences.md calls absent is refused, with what to do instead; and help names only commands that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from support.running import ROOT, run_inside

from gradsh import Session
from gradsh.lang.advice import CLOSED
from gradsh.library import refused
from gradsh.repl.commands import COMMANDS

PAGE = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| ([^|]*`torch[^|]*) \|", PAGE, re.MULTILINE)
ABSENT = [name for row in TABLE for name in re.findall(r"`(torch[\w.]*)`", row)]
COMMAND = re.compile(r"(?:^|[ (])(:[a-z]+)\b")


@pytest.mark.parametrize("name", ABSENT)
def test_what_the_page_calls_absent_is_refused(name: str) -> None:
    session = Session(dialect="torch")
    with pytest.raises((AttributeError, ModuleNotFoundError), match=name.rpartition(".")[2]):
        session.run(f"import torch, torch.nn, torch.utils, torch.special\n{name}")


def test_the_page_names_them() -> None:
    assert len(ABSENT) > 30
    assert "docs/differences.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*refused.MODULES, *refused.TORCH])
def test_a_module_that_is_refused_says_what_to_write(name: str) -> None:
    done = run_inside("-e", f"import {name}")
    assert done.status != 0
    assert "No module named" in done.err
    assert f"\nhelp: {refused.help_for(name)}\n" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "async def f():\n    pass", "match 1:\n    case 1:\n        pass", "x = b'a'", "x = 1j", "from math import *",
        "eval('1')", "exec('1')", "globals()", "input()", "x = 1\nx.__dict__", "import torch\ntorch.ones = 1",
        "x = 1 << 10**7", "import torch\ntorch.zeros(2, device='cuda')", "import torch\ntorch.load('no.pt')",
    ],
)  # fmt: skip
def test_what_the_language_has_not(text: str) -> None:
    done = run_inside("--torch", "-e", text)
    assert done.status != 0
    assert "InternalError" not in done.err


def hints() -> Iterator[tuple[str, str]]:
    """(file, text) of every help in the sources."""
    tables = {**refused.MODULES, **refused.TORCH, **CLOSED}
    yield from ((f"for {name}", text) for name, text in tables.items())
    for path in sorted((ROOT / "gradsh").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("hint", "help"):
                for part in ast.walk(node.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield path.name, part.value


def test_help_names_only_commands_that_there_are() -> None:
    unknown = [
        (place, found) for place, text in hints() for found in COMMAND.findall(text) if found[1:] not in COMMANDS
    ]
    assert unknown == []
