"""Who may import whom, and what start-up may not import, read from the sources and measured in a process."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.running import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "gradsh"

# Left to right; nobody imports to the right, nor from a neighbour of the same rank.
LAYERS = [
    ["fault"],
    ["backend"],
    ["engine"],
    ["ops"],
    ["lang"],
    ["library", "data"],
    ["debug", "insight"],
    ["view"],
    ["session"],
    ["repl"],
    ["cli"],
    ["__init__", "__main__"],
]
RANK = {layer: rank for rank, layers in enumerate(LAYERS) for layer in layers}

# What costs milliseconds to import, and so is imported inside the function that needs it.
HEAVY = {
    "ast", "dataclasses", "difflib", "hashlib", "inspect", "json", "lark", "logging", "numpy", "pathlib",
    "prompt_toolkit", "random", "rich", "shutil", "subprocess", "tempfile", "typing",
}  # fmt: skip
ON_THE_WAY_UP = ["fault", "backend", "engine", "ops", "lang", "session", "cli", "__init__", "__main__"]
SCALAR = ["-e", "x = param(2.0); y = param(3.0); z = x * y + y**2; :backward z", "-e", ":grad x"]
TENSOR = ["-e", "x = param([2.0, 3.0]); y = (x * x).sum(); :backward y", "-e", ":grad x"]


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(statement: ast.AST, path: Path) -> Iterator[str]:
    """Dotted names that an import statement names, relative ones made absolute."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        base = ["gradsh", *path.relative_to(PACKAGE).parent.parts]
        start = base[: len(base) - statement.level + 1] if statement.level else []
        module = ".".join([*start, *(statement.module or "").split(".")]).strip(".")
        yield from (f"{module}.{alias.name}" for alias in statement.names) if module == "gradsh" else [module]


def at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Statements that run when a module is imported: not those in functions, nor those for type checkers."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def test_every_module_has_a_layer() -> None:
    assert {layer_of(path) for path in sources()} <= set(RANK)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_imports_to_the_right(path: Path) -> None:
    here = layer_of(path)
    named = {name for node in ast.walk(ast.parse(path.read_bytes())) for name in imported(node, path)}
    layers = {name.split(".")[1] for name in named if name.startswith("gradsh.")}
    assert [layer for layer in layers & set(RANK) if layer != here and RANK[layer] >= RANK[here]] == []


@pytest.mark.parametrize("layer", ON_THE_WAY_UP)
def test_start_up_imports_nothing_heavy(layer: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path in sources()
        if layer_of(path) == layer
        for node in at_import(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(node, path)
        if name.split(".")[0] in HEAVY
    }
    assert found == set()


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [(SCALAR, {"lark", "numpy", "prompt_toolkit", "rich"}), (TENSOR, {"lark", "prompt_toolkit", "rich"})],
    ids=["scalar", "tensor"],
)
def test_a_run_loads_only_what_it_needs(arguments: list[str], absent: set[str]) -> None:
    probe = "import sys; from gradsh.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    call = [sys.executable, "-c", probe, *arguments]
    for _ in range(2):  # where there is no table of the grammar yet, the first run makes it, with lark
        done = subprocess.run(call, capture_output=True, text=True, env=environment(), check=True)
    assert absent & set(done.stderr.split()) == set()
