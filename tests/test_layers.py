"""Who may import whom, read from the sources, and what a run may load, measured in a process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.running import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "gradsh"

# Left to right; nobody imports to the right, nor from a neighbour of the same rank. What only annotations need is free.
LAYERS = [
    ["fault", "stored"],
    ["backend"],
    ["engine"],
    ["ops"],
    ["lang"],
    ["data"],
    ["library"],
    ["debug", "insight"],
    ["view"],
    ["repl.commands", "settings", "notices"],
    ["session"],
    ["repl"],
    ["cli", "ship"],
    ["__init__", "__main__"],
]
RANK = {layer: rank for rank, layers in enumerate(LAYERS) for layer in layers}

# What costs milliseconds to import, and so is imported inside the function that needs it.
HEAVY = {
    "argparse", "ast", "asyncio", "dataclasses", "difflib", "hashlib", "importlib.metadata", "inspect", "json", "lark",
    "logging", "numpy", "pathlib", "prompt_toolkit", "random", "rich", "shutil", "subprocess", "tempfile", "traceback",
}  # fmt: skip
FOR_PROMPTS = {"lark", "prompt_toolkit", "rich"}
SCALAR = ["-e", "x = param(2.0); y = param(3.0); z = x * y + y**2; :backward z", "-e", ":grad x"]
TENSOR = ["-e", "x = param([2.0, 3.0]); y = (x * x).sum(); :backward y", "-e", ":grad x"]


def layer_of(name: str) -> str | None:
    """The layer of a module: the longest of the names above that begins its own."""
    parts = name.split(".")[1:] or ["__init__"]
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((layer for layer in names if layer in RANK), None)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Our own modules that a file imports when it runs, at its top or inside its functions."""
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "gradsh")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            if node.module and node.module.split(".")[0] == "gradsh":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sources(), ids=module_of)
def test_nobody_imports_to_the_right(path: Path) -> None:
    here = layer_of(module_of(path))
    assert here, "add the module to LAYERS"
    layers = {name: layer_of(name) for name in imports(path)}
    assert [name for name, there in layers.items() if there not in (here, None) and RANK[there] >= RANK[here]] == []


def loaded(arguments: list[str]) -> set[str]:
    """The modules in the process after a run of the command."""
    probe = "import sys; from gradsh.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    call = [sys.executable, "-S", "-c", probe, *arguments]
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}  # without site, whose .pth files import what they like
    for _ in range(2):  # where there is no table of the grammar yet, the first run makes it, with lark
        done = subprocess.run(call, capture_output=True, text=True, env=environment() | path, check=True)
    return set(done.stderr.splitlines()[-1].split())


def test_a_scalar_run_loads_nothing_heavy() -> None:
    assert loaded(SCALAR) & HEAVY == set()


def test_a_tensor_run_loads_numpy_and_nothing_for_prompts() -> None:
    assert loaded(TENSOR) & (FOR_PROMPTS | {"numpy"}) == {"numpy"}
