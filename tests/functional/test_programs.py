"""Derivatives by functions, hooks, custom functions, transforms: programs that print what they printed under PyTorch 2.13."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import recorded


@pytest.mark.parametrize("path", recorded.programs(__file__), ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    recorded.check(path)
