"""Answers about gradients: `:grad`, and what `:backward` shows at the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsh.engine.tensor import Tensor
from gradsh.view.document import Block, Line
from gradsh.view.record import Record
from gradsh.view.text import full
from gradsh.view.value import fields_of


class GradRecord(Record):
    """One gradient: accumulated on a leaf (`of` is None), or of one value by another.

    runs: for an accumulated one, what each backward run added: (place, tensor), oldest first.
    alone: it is the only one asked for, so that its value needs no name.
    """

    __slots__ = ("alone", "connected", "name", "of", "runs", "value")
    kind = "grad"

    def __init__(self, name: str, of: str | None, value: Tensor, *, connected: bool = True, runs: Sequence[tuple[str, Tensor]] = (), alone: bool = True) -> None:
        self.name, self.of, self.value, self.connected, self.runs, self.alone = name, of, value, connected, list(runs), alone

    def draw(self, width: int) -> Sequence[Block]:
        label = f"{self.name}.grad" if self.of is None else f"d{self.of}/d{self.name}" if self.of.isidentifier() else f"d({self.of})/d{self.name}"
        parts = full(self.value).split("\n")
        head: list[Any] = [] if self.alone else [(label, "name"), " = "]
        indent = "" if self.alone else " " * (len(label) + 3)
        lines: list[Block] = [Line(*head, (parts[0], "number")), *(Line(indent, (part, "number")) for part in parts[1:])]
        return lines

    def as_json(self) -> dict[str, Any]:
        found = {"kind": self.kind, "name": self.name, "of": self.of, **fields_of(self.value), "connected": self.connected}
        if self.of is None:
            found["runs"] = [{"place": place, **fields_of(value)} for place, value in self.runs]
        return found

    def remark(self) -> str | None:
        """What a reader may not expect: that several backward runs were added up."""
        if self.of is not None or len(self.runs) < 2:
            return None
        parts = " + ".join(f"{full(value)} ({place})" if not value.ndim else place for place, value in self.runs[-4:])
        more = "… + " if len(self.runs) > 4 else ""
        return f"{self.name}.grad is the sum of {len(self.runs)} backward runs: {more}{parts}; :zero {self.name} clears it"


class LeavesRecord(Record):
    """The gradients of the leaves after a backward run."""

    __slots__ = ("rows", "root")
    kind = "backward"

    def __init__(self, root: str, rows: Sequence[tuple[str, Tensor]]) -> None:
        self.root, self.rows = root, list(rows)

    def draw(self, width: int) -> Sequence[Block]:
        blocks: list[Block] = []
        for name, value in self.rows:
            blocks += GradRecord(name, None, value, alone=False).draw(width)
        return blocks

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "root": self.root, "leaves": [{"name": name, **fields_of(value)} for name, value in self.rows]}
