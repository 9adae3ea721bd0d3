"""Whole programs that print what they printed under PyTorch 2.13."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import texts
from support.running import Completed, run_inside

if TYPE_CHECKING:
    from support.not_yet import NotYet

PROGRAMS = Path(__file__).parent / "data" / "programs"
DTYPES = {"plain": "float64", "seeded64": "float64", "seeded32": "float32"}
FIRST_LINE = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?P<error>.*)")


def entries() -> dict[str, dict[str, Any]]:
    """What the index says of each program, by folder and name."""
    return {
        f"{folder}/{entry['name']}": entry
        for folder in DTYPES
        for entry in json.loads((PROGRAMS / folder / "index.json").read_bytes())
    }


ENTRIES = entries()


@pytest.mark.parametrize("name", ENTRIES)
def test_program(name: str, not_yet: NotYet) -> None:
    path = PROGRAMS / f"{name}.py"
    done = run_inside("--dtype", DTYPES[path.parent.name], path.name, folder=path.parent)
    found = [*unlike(done.out, path.with_suffix(".out").read_text(encoding="utf-8")), *ending(done, ENTRIES[name])]
    not_yet.judge({f"programs/{name}": found})


def unlike(got: str, want: str) -> list[str]:
    return [] if texts.same(got, want) else [f"printed\n{got}not\n{want}"]


def ending(done: Completed, entry: dict[str, Any]) -> list[str]:
    """What is wrong with the status, and with the error that a program must end in."""
    error = entry["error"]
    if error is None:
        return [f"exit status {done.status}: {done.err}"] if done.status else []
    if done.status != 1:
        return [f"exit status {done.status}, not 1 by {error}"]
    first = FIRST_LINE.match(done.err)
    if not first or not texts.same(first["error"], f"{error['type']}: {error['message']}"):
        return [f"{done.err}\nnot {error}"]
    return [] if int(first["line"]) == error["line"] else [f"line {first['line']}, not {error['line']}"]
