"""The worked examples of CONTRIBUTING.md: applied to a copy of the package, they do what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import markdown
from support.running import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = markdown.blocks(PAGE)


def file_of(block: markdown.Block) -> str | None:
    """The file that the line before a block names."""
    found = re.search(r"In `([\w/.]+)`:\s+```\w+\n\Z", PAGE[: block.start])
    return found[1] if found else None


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with every example in its place."""
    folder = tmp_path_factory.mktemp("contributing")
    shutil.copytree(ROOT / "gradsh", folder / "gradsh", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "grammar", folder / "grammar")
    for block in BLOCKS:
        name = file_of(block)
        if name is None:
            continue
        path = folder / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if block.language == "diff":
            for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)+)", block.text, re.MULTILINE):
                before, after = (re.sub(r"^[-+]", "", part, flags=re.MULTILINE).rstrip("\n") for part in (old, new))
                assert text.count(f"\n{before}") == 1, f"{name} has no such line: {before}"
                text = text.replace(f"\n{before}", f"\n{after}")
        else:
            text = f"{text}\n\n{block.text}" if text else block.text
        path.write_text(text, encoding="utf-8")
    return folder


def run(copy: Path, command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache"), "COLUMNS": "80"}
    gradsh = f'gradsh() {{ "{sys.executable}" -P -m gradsh "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", gradsh + command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        cwd=copy,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


STEPS = [step for block in BLOCKS if block.language == "sh" for step in markdown.steps(block.text)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command)
def test_an_example_does_what_the_page_shows(copy: Path, step: markdown.Step) -> None:
    assert run(copy, step.command) == step.output


def test_there_is_an_example_of_each_kind() -> None:
    assert {file_of(block) for block in BLOCKS} - {None} == {
        "gradsh/ops/unary.py",
        "gradsh/view/bars.py",
        "gradsh/repl/commands/variables.py",
        "grammar/gradsh.lark",
        "gradsh/lang/forms/compound.py",
    }


def test_the_new_op_passes_the_tests_of_every_op(copy: Path) -> None:
    tests = f'"{sys.executable}" -P -m pytest -q -p no:cacheprovider -c "{ROOT / "pyproject.toml"}" -k squareplus'
    assert " passed" in run(copy, f'{tests} "{ROOT / "tests" / "ops" / "test_registry.py"}"')
