"""What the peers share: a table of work by name, and the timing of one."""

from __future__ import annotations

import sys
import time

from benchmarks.measure import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WORK: dict[str, tuple[int, Callable]] = {}


def work(name: str, per: int = 1, unless: bool = False) -> Callable:
    """Declare a function that prepares the work of a name and returns `step`; its time is divided by `per`."""

    def declare(prepare: Callable) -> Callable:
        if not unless:
            WORK[name] = per, prepare
        return prepare

    return declare


def main() -> None:
    """Print the seconds per unit of the work that the last argument names; without one, the names of all."""
    if sys.argv[-1] not in WORK:
        print(*WORK)
        return
    per, prepare = WORK[sys.argv[-1]]
    step = prepare()
    start = time.perf_counter()
    step()
    spent = time.perf_counter() - start
    print((spent if spent > 2 else measure(step, 0.1, 5)) / per)
