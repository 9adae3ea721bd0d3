"""Answers about gradients: `:grad`, and what `:backward` shows at the prompt."""

from __future__ import annotations

from gradsh.engine.tensor import Tensor
from gradsh.view.document import Line
from gradsh.view.record import Record
from gradsh.view.text import full
from gradsh.view.value import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.view.document import Block

# How many backward runs there were, and the place and the amount of the latest.
Runs = tuple[int, list[tuple[str, Tensor | None]]]
SUMMANDS = 4  # of a sum, this many are written out


class GradRecord(Record):
    """One gradient: accumulated on a leaf (`of` is None), or of one value by another.

    runs: for an accumulated one, how many backward runs it is the sum of, and what the latest of them added, oldest
        first: (place, tensor, or None for a large one).
    alone: it is the only one asked for, so that its value needs no name.
    """

    __slots__ = ("alone", "connected", "name", "of", "runs", "value")
    kind = "grad"

    def __init__(
        self,
        name: str,
        of: str | None,
        value: Tensor,
        *,
        connected: bool = True,
        runs: Runs = (0, []),
        alone: bool = True,
    ) -> None:
        self.name, self.of, self.value = name, of, value
        self.connected, self.runs, self.alone = connected, runs, alone

    def draw(self, width: int) -> Sequence[Block]:
        label = (
            f"{self.name}.grad"
            if self.of is None
            else f"d{self.of}/d{self.name}"
            if self.of.isidentifier()
            else f"d({self.of})/d{self.name}"
        )
        parts = full(self.value).split("\n")
        head: list[Any] = [] if self.alone else [(label, "name"), " = "]
        indent = "" if self.alone else " " * (len(label) + 3)
        lines: list[Block] = [
            Line(*head, (parts[0], "number")),
            *(Line(indent, (part, "number")) for part in parts[1:]),
        ]
        return lines

    def as_json(self) -> dict[str, Any]:
        found = {
            "kind": self.kind,
            "name": self.name,
            "of": self.of,
            **fields_of(self.value),
            "connected": self.connected,
        }
        if self.of is None:
            found["runs"] = [{"place": place, **fields_of(value)} for place, value in self.runs[1]]
        return found

    def remark(self) -> str | None:
        """That several backward runs were added up, and what the latest of them added where that is one number each."""
        count, runs = self.runs
        if self.of is not None or count < 2:
            return None
        parts = ""
        if not self.value.ndim:
            shown = runs[-SUMMANDS:]
            alike = len({place for place, _ in shown}) == 1
            terms = [full(value) + ("" if alike else f" ({place})") for place, value in shown if value is not None]
            parts = ": " + " + ".join(["…"] * (count > len(shown)) + terms)
        return f"{self.name}.grad is the sum of {count} backward runs{parts}; :zero {self.name} clears it"


class LeavesRecord(Record):
    """The gradients of the leaves after a backward run: (name, gradient, how many runs it is the sum of)."""

    __slots__ = ("root", "rows")
    kind = "backward"

    def __init__(self, root: str, rows: Sequence[tuple[str, Tensor, int]]) -> None:
        self.root, self.rows = root, list(rows)

    def draw(self, width: int) -> Sequence[Block]:
        blocks: list[Block] = []
        for name, value, _ in self.rows:
            blocks += GradRecord(name, None, value, alone=False).draw(width)
        return blocks

    def as_json(self) -> dict[str, Any]:
        leaves = [{"name": name, **fields_of(value)} for name, value, _ in self.rows]
        return {"kind": self.kind, "root": self.root, "leaves": leaves}

    def remark(self) -> str | None:
        """That these are sums of several runs."""
        most = max((count for _, _, count in self.rows), default=0)
        if most < 2:
            return None
        sums = f"{self.rows[0][0]}.grad is the sum" if len(self.rows) == 1 else "gradients are the sums"
        return f"{sums} of {most} backward runs; :zero clears {'it' if len(self.rows) == 1 else 'them'}"
