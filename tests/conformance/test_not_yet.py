"""The list of what does not pass yet keeps to the point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.test_cases import CASES
from conformance.test_ops import GROUPS
from conformance.test_programs import ENTRIES
from support.not_yet import remaining, stale

if TYPE_CHECKING:
    from support.not_yet import NotYet


def test_every_entry_covers_something(not_yet: NotYet) -> None:
    records = [f"ops/{record['id']}" for group in GROUPS.values() for record in group]
    paths = [*records, *(f"programs/{name}" for name in ENTRIES), *(f"cases/{name}" for name in CASES)]
    assert stale(not_yet.reasons, paths) == []


def test_entries_are_split_where_a_part_passes() -> None:
    seen = {"ops/a/x/0": True, "ops/a/x/1": False, "ops/a/y/0": False, "ops/a/y/1": False, "ops/b/z/0": True}
    assert remaining("ops", seen) == ["ops/a/x/1", "ops/a/y"]
    assert remaining("ops/a/y", {"ops/a/y/0": False}) == ["ops/a/y"]
    assert remaining("ops/b", {"ops/b/z/0": True}) == []
