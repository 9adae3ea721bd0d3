"""Every program below this folder prints exactly what stands beside it; `--bless` rewrites that."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from support import golden
from support.running import run_command, run_inside

HERE = Path(__file__).parent
PROGRAMS = golden.programs(HERE)
FIRST_OF_EACH_FOLDER = [next(group) for _, group in groupby(PROGRAMS, key=lambda path: path.parent)]


def name(path: Path) -> str:
    return str(path.relative_to(HERE))


@pytest.mark.parametrize("program", PROGRAMS, ids=name)
def test_inside(program: Path, bless: bool) -> None:
    texts = golden.run(program, run_inside)
    if bless:
        golden.write(texts)
    golden.check(texts)


@pytest.mark.parametrize("program", FIRST_OF_EACH_FOLDER, ids=name)
def test_as_a_command(program: Path) -> None:
    golden.check(golden.run(program, run_command))


def test_no_output_is_left_without_its_program() -> None:
    kept = {golden.beside(program, suffix) for program in PROGRAMS for suffix in (".out", ".err")}
    assert {path for suffix in ("*.out", "*.err") for path in HERE.rglob(suffix)} <= kept
