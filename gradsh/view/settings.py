"""The answer of `:set`."""

from __future__ import annotations

from gradsh.view.document import Table
from gradsh.view.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.view.document import Block


class SettingsRecord(Record):
    """Settings: (name, value, what it is, what it may be)."""

    __slots__ = ("rows",)
    kind = "set"

    def __init__(self, rows: list[tuple[str, str, str, tuple[str, ...]]]) -> None:
        self.rows = rows

    def draw(self, width: int) -> Sequence[Block]:
        return [
            Table(
                ("setting", "value", ""),
                [
                    ((name, "name"), (value, "number"), help + (f" ({', '.join(values)})" if values else ""))
                    for name, value, help, values in self.rows
                ],
            )
        ]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "settings": {name: value for name, value, _, _ in self.rows}}
