"""The numbers of a comparison, and the table of their ratios."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

OURS = "gradsh"


@dataclass
class Row:
    """One program: by the name of a side, its seconds in each round and its peak memory in MiB; or why it failed."""

    work: str
    seconds: dict[str, list[float]]
    memory: dict[str, float]
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, side: str, seconds: float, memory: float) -> None:
        self.seconds.setdefault(side, []).append(seconds)
        self.memory[side] = max(memory, self.memory.get(side, 0.0))

    def ratio(self, side: str) -> float | None:
        """The time of gradsh by that of another side: the median of the rounds."""
        if not {side, OURS} <= self.seconds.keys() - self.failures.keys():
            return None
        return statistics.median(ours / theirs for ours, theirs in zip(self.seconds[OURS], self.seconds[side]))

    def as_json(self) -> dict[str, object]:
        ratios = {side: self.ratio(side) for side in self.seconds if side != OURS}
        return {
            "work": self.work, "seconds": self.seconds, "ratios": ratios, "memory": self.memory,
            "failures": self.failures,
        }  # fmt: skip


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def line(row: Row) -> str:
    """What is said of a program while others are still to come."""
    parts = [f"{side} {duration(statistics.median(times))}" for side, times in row.seconds.items()]
    parts += [f"{side} failed: {why}" for side, why in row.failures.items()]
    return f"{row.work}: {', '.join(parts)}"


def table(rows: list[Row], sides: list[str]) -> str:
    """A table in Markdown: the time of gradsh, what it is to each other side's, and the peak memory of all."""
    others = [side for side in sides if side != OURS]
    head = ["program", OURS, *(f"/ {side}" for side in others), "MiB: " + ", ".join(sides)]
    cells = [head]
    for row in rows:
        ours = row.seconds.get(OURS)
        time = duration(statistics.median(ours)) if ours and OURS not in row.failures else "failed"
        ratios = []
        for side in others:
            ratio = row.ratio(side)
            ratios.append("failed" if side in row.failures else "" if ratio is None else f"{ratio:.2g}")
        memory = [f"{row.memory[side]:.0f}" if side in row.memory else "–" for side in sides]
        cells.append([f"`{row.work}`", time, *ratios, ", ".join(memory)])
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    texts = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in cells]
    texts.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join(f"| {' | '.join(row)} |" for row in texts)
