"""The answer of `:time`."""

from __future__ import annotations

from gradsh.view.document import Line
from gradsh.view.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradsh.view.document import Block

LEAST = 0.05  # seconds that one round of runs takes at least
ROUNDS = 5


class TimeRecord(Record):
    """How long an expression takes: seconds a run, the best and the median of several rounds."""

    __slots__ = ("best", "median", "runs", "text")
    kind = "time"

    def __init__(self, text: str, best: float, median: float, runs: int) -> None:
        self.text, self.best, self.median, self.runs = text, best, median, runs

    @classmethod
    def of(cls, text: str, call: Callable[[], Any]) -> TimeRecord:
        """Run an expression until the time is certain; one that takes seconds runs once."""
        from time import perf_counter

        start = perf_counter()
        call()
        spent = perf_counter() - start
        if spent > 1.0:
            return cls(text, spent, spent, 1)
        count = max(1, round(LEAST / max(spent, 1e-9)))
        times = []
        for _ in range(ROUNDS):
            start = perf_counter()
            for _ in range(count):
                call()
            times.append((perf_counter() - start) / count)
        times.sort()
        return cls(text, times[0], times[len(times) // 2], count * ROUNDS + 1)

    def draw(self, width: int) -> Sequence[Block]:
        return [
            Line(
                (seconds(self.best), "number"),
                f" best, {seconds(self.median)} median of {self.runs} run{'s' * (self.runs != 1)}",
            )
        ]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text, "best": self.best, "median": self.median, "runs": self.runs}


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
