"""Colour, letters and width: by the terminal, the environment and the options, each stream for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.running import run_command
from support.terminal import Terminal, home

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = ("-e", "x = param(2.0); z = x * x", "-e", ":graph z")


@pytest.mark.parametrize(
    ("options", "env", "coloured"),
    [
        ("", {}, True),
        ("", {"NO_COLOR": "1"}, False),
        ("", {"NO_COLOR": ""}, True),
        ("", {"TERM": "dumb"}, False),
        ("", {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        ("--color never", {}, False),
        ("--color never", {"CLICOLOR_FORCE": "1"}, False),
        ("--color always", {"NO_COLOR": "1"}, True),
        ("--json", {}, False),
    ],
)
def test_colour_on_a_terminal(tmp_path: Path, options: str, env: dict[str, str], coloured: bool) -> None:
    line = f"gradsh {options} -e 'x = param(2.0)' -e ':graph x * x' -e nope"
    terminal = Terminal(shell=line, folder=tmp_path, env=home(tmp_path) | env)
    assert terminal.status() == 1
    assert (b"\x1b[" in terminal.raw) == coloured
    assert b"nope" in terminal.raw


@pytest.mark.parametrize(
    ("options", "env", "coloured"),
    [
        ([], {}, False),
        ([], {"CLICOLOR_FORCE": "1"}, True),
        ([], {"CLICOLOR_FORCE": "0"}, False),
        ([], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"TERM": "xterm"}, True),
        (["--color", "never"], {"CLICOLOR_FORCE": "1"}, False),
    ],
)
def test_colour_in_a_pipe(options: list[str], env: dict[str, str], coloured: bool) -> None:
    done = run_command(*options, *GRAPH, "-e", "nope", **{"TERM": "xterm", **env})  # type: ignore[arg-type]
    assert [("\x1b[" in text) for text in (done.out, done.err)] == [coloured, coloured]


def test_a_file_of_errors_has_no_colours_though_results_have(tmp_path: Path) -> None:
    line = "gradsh -e 'x = param(2.0)' -e ':graph x * x' -e nope 2>errors"
    terminal = Terminal(shell=line, folder=tmp_path, env=home(tmp_path))
    assert terminal.status() == 1
    assert b"\x1b[" in terminal.raw
    assert "\x1b" not in (tmp_path / "errors").read_text()


@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_letters_of_a_poor_locale(env: dict[str, str]) -> None:
    done = run_command(*GRAPH, "-e", 'print("\N{PARTIAL DIFFERENTIAL}")', **env)  # type: ignore[arg-type]
    assert (done.status, done.err) == (0, "")
    assert done.out.isascii()
    assert done.out.split("\n")[1:4] == ["|- x  leaf  2.0", "`- x  above", "\\u2202"]


def test_letters_of_a_good_locale() -> None:
    assert "├─ x" in run_command(*GRAPH, PYTHONIOENCODING="utf-8").out


def test_the_width_of_a_terminal_and_of_a_pipe(tmp_path: Path) -> None:
    line = "gradsh -e ':help' > all; gradsh -e ':help'"
    narrow = Terminal(shell=line, folder=tmp_path, columns=50, rows=200, env=home(tmp_path) | {"NO_COLOR": "1"})
    assert narrow.status() == 0
    wide = Terminal(shell=line.replace("all", "wide"), folder=tmp_path, columns=150, rows=200, env=home(tmp_path))
    assert wide.status() == 0
    assert (tmp_path / "all").read_text() == (tmp_path / "wide").read_text()  # a file is as wide, whatever the terminal
    assert len(narrow.lines()) > len(wide.lines())
    columns = run_command("-e", ":help", COLUMNS="30")
    assert columns.out == (tmp_path / "all").read_text()
