"""Terminals for the tests of the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.terminal import Terminal, home

Opened = Callable[..., Terminal]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens terminals with a home of their own, waits for their first prompt, and closes them in the end."""
    terminals: list[Terminal] = []

    def start(*arguments: str, columns: int = 80, shell: str = "", **env: str) -> Terminal:
        env = home(tmp_path) | env
        terminals.append(Terminal(*arguments, columns=columns, folder=tmp_path, shell=shell, env=env))
        terminals[-1].prompt()
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()
