"""The samples print what stands beside them: for the .py files that is what PyTorch printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import golden
from support.running import ROOT, run_inside

PROGRAMS = golden.programs(ROOT / "samples")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_sample(program: Path, bless: bool) -> None:
    texts = golden.run(program, run_inside)
    if bless and program.suffix == ".grad":
        golden.write(texts)
    golden.check(texts)


def test_each_sample_has_its_expected_output() -> None:
    assert PROGRAMS
    assert [path.name for path in PROGRAMS if not golden.beside(path, ".out").exists()] == []
