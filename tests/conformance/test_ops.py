"""2,722 single expressions: output, gradients, second gradients and errors as PyTorch 2.13 gives them in float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.records import Record, faults

from gradsh import Session

if TYPE_CHECKING:
    from support.not_yet import NotYet

DATA = Path(__file__).parent / "data"


def by_label() -> dict[str, list[Record]]:
    """The records of each op in each family."""
    groups: dict[str, list[Record]] = {}
    for path in sorted((DATA / "ops").glob("*.json")):
        for record in json.loads(path.read_bytes()):
            groups.setdefault(f"{record['family']}/{record['op']}", []).append(record)
    return groups


GROUPS = by_label()


@pytest.mark.filterwarnings("ignore:gradient is nan:RuntimeWarning")
@pytest.mark.parametrize("label", GROUPS)
def test_op(label: str, not_yet: NotYet) -> None:
    session = Session(dialect="torch", dtype="float64")
    not_yet.judge({f"ops/{record['id']}": faults(session, record) for record in GROUPS[label]})
