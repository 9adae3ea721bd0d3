"""The recorded truth, and the list of what does not reach it yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.not_yet import NotYet

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def not_yet(request: pytest.FixtureRequest) -> Iterator[NotYet]:
    bless = bool(request.config.getoption("--bless"))
    listed = NotYet(HERE / "not_yet.toml", bless)
    yield listed
    if bless:
        listed.settle()
