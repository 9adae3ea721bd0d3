"""Layers, losses, initialisation, optimisers, schedules: programs that print what they printed under PyTorch 2.13."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import recorded

# How far numbers may differ where PyTorch computes with less than float64 itself (hardsigmoid's slope), or where a
# method magnifies rounding, or a sum cancels (the gradients of normalised outputs).
RELATIVE = {"activations": 1e-6, "attention": 1e-9, "lbfgs": 1e-6}


@pytest.mark.parametrize("path", recorded.programs(__file__), ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    recorded.check(path, RELATIVE.get(path.stem, 1e-12))
