"""Layers, losses, initialisation, optimisers, schedules: programs that print what they printed under PyTorch 2.13."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import texts
from support.running import run_inside

PROGRAMS = sorted((Path(__file__).parent / "data").glob("*.py"))

# How far numbers may differ where PyTorch computes with less than float64 itself (hardsigmoid's slope), or where a
# method magnifies rounding.
RELATIVE = {"activations": 1e-6, "attention": 1e-9, "lbfgs": 1e-6}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    done = run_inside(path.name, folder=path.parent)
    want = path.with_suffix(".out").read_text(encoding="utf-8").splitlines()
    got = done.out.splitlines()
    relative = RELATIVE.get(path.stem, 1e-12)
    assert [(g, w) for g, w in zip(got, want) if not texts.same(g, w, relative)] == []
    assert (done.status, done.err, len(got)) == (0, "", len(want))
