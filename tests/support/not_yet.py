"""The list of what is known not to pass yet: it may only shrink, and what passes must leave it.

An entry `"ops/linalg/svd" = "reason"` stands for every test whose path is that or begins with it, by whole components.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


class NotYet:
    """The entries of one file, and what has been seen of them in this run."""

    def __init__(self, path: Path, bless: bool) -> None:
        self.path, self.bless = path, bless
        self.reasons: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))
        self.seen: dict[str, bool] = {}

    def entry(self, path: str) -> str | None:
        """The entry that covers a path."""
        parts = path.split("/")
        prefixes = ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
        return next((prefix for prefix in prefixes if prefix in self.reasons), None)

    def judge(self, found: Mapping[str, list[str]]) -> None:
        """Pass, fail or xfail a test, given the faults of each of its paths."""
        covered = {path for path in found if self.entry(path)}
        self.seen |= {path: not found[path] for path in covered}
        wrong = {path: faults for path, faults in found.items() if faults and path not in covered}
        assert not wrong, "\n".join(f"{path}: {fault}" for path, faults in wrong.items() for fault in faults)
        right = sorted(path for path in covered if not found[path])
        if right and not self.bless:
            pytest.fail(f"these pass now: take them off {self.path.name}, or run with --bless\n" + "\n".join(right))
        failing = sorted(path for path in covered if found[path])
        if failing:
            reason = self.reasons[self.entry(failing[0]) or ""]
            pytest.xfail(f"{reason} ({len(failing)} of {len(found)})")

    def settle(self) -> None:
        """Take off what passed, and split the entries of which only a part passed."""
        reasons = {
            path: reason
            for entry, reason in self.reasons.items()
            for path in remaining(entry, {path: ok for path, ok in self.seen.items() if self.entry(path) == entry})
        }
        head = self.path.read_text(encoding="utf-8").split('\n"', 1)[0].rstrip("\n")
        lines = [f"{json.dumps(path)} = {json.dumps(reason, ensure_ascii=False)}\n" for path, reason in reasons.items()]
        self.path.write_text("\n".join([head, *(["", "".join(lines)] if lines else [""])]), encoding="utf-8")


def remaining(prefix: str, seen: Mapping[str, bool]) -> list[str]:
    """The shortest prefixes that cover what fails and nothing that passes; an entry of which nothing ran is kept."""
    if not any(seen.values()):
        return [prefix]
    below: dict[str, dict[str, bool]] = {}
    for path, ok in seen.items():
        if path != prefix:
            below.setdefault("/".join(path.split("/")[: prefix.count("/") + 2]), {})[path] = ok
    return [kept for child, inside in below.items() if not all(inside.values()) for kept in remaining(child, inside)]


def stale(entries: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Entries that cover no path."""
    known = list(paths)
    return [entry for entry in entries if not any(path == entry or path.startswith(entry + "/") for path in known)]
