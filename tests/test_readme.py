"""What the README and the pages under docs/ show is what happens; `--bless` rewrites the ```text blocks of programs."""

from __future__ import annotations

import os
import shlex
import subprocess
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from support import markdown
from support.running import ROOT, command, environment, run_inside

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
INSTALLERS = {"pip", "pytest", ".ci/run"}


def place(page: Path, block: markdown.Block) -> str:
    return f"{page.relative_to(ROOT)}:{block.line}"


PROGRAMS = [
    pytest.param(page, block, shown, id=place(page, block))
    for page in PAGES
    for block, shown in markdown.programs(page.read_text(encoding="utf-8"))
]
CONSOLES = [
    pytest.param(block, id=place(page, block))
    for page in PAGES
    for block in markdown.blocks(page.read_text(encoding="utf-8"))
    if block.language == "console"
]


@pytest.mark.parametrize(("page", "block", "shown"), PROGRAMS)
def test_program(page: Path, block: markdown.Block, shown: markdown.Block | None, bless: bool, tmp_path: Path) -> None:
    """A ```gradsh block piped into gradsh, or a ```python block, prints the ```text block after it, errors included."""
    inside = block.language == "gradsh"
    printed = run_inside(stdin=block.text, folder=tmp_path, merged=True).out if inside else run_python(block.text)
    if bless:
        rewrite(page, block, printed)
    else:
        assert printed == (shown.text if shown else "")


def run_python(text: str) -> str:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(text, "example.py", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def rewrite(page: Path, block: markdown.Block, printed: str) -> None:
    """Put what a program prints under it; earlier blocks may have moved since the page was read."""
    text = page.read_text(encoding="utf-8")
    for candidate, shown in markdown.programs(text):
        if candidate.text == block.text and shown and shown.text != printed:
            page.write_text(text[: shown.start] + printed + text[shown.end :], encoding="utf-8")
            return


@pytest.mark.parametrize("block", CONSOLES)
def test_console(block: markdown.Block, scratch: Path) -> None:
    """Each `$ command` of a ```console block prints the lines under it; what installs is left alone."""
    for step in markdown.steps(block.text):
        if not INSTALLERS & set(shlex.split(step.command, comments=True)):
            assert run_bash(step.command, scratch) == step.output, step.command


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A folder that holds the samples, and a gradsh to find on the PATH."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "gradsh"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return tmp_path


def run_bash(line: str, folder: Path) -> str:
    """What bash prints for a line, errors included, in order."""
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", line],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment(PATH=path),
        timeout=60,
    )
    return done.stdout.decode()
