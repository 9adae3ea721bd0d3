"""Options and surroundings of all tests: `--bless`, and a home folder that is nobody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.register_assert_rewrite("support.golden", "support.not_yet", "support.recorded")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expected outputs from what gradsh prints now")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings and history of whoever runs the tests must not change an answer, nor be changed."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]:
            patch.setenv(name, str(home))
        for name in ["NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONSTARTUP"]:
            patch.delenv(name, raising=False)
        yield
