"""The answer of `:plan`."""

from __future__ import annotations

from gradsh.view.document import Line, Table
from gradsh.view.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.engine.plans.plan import Plan
    from gradsh.engine.plans.tape import Tape
    from gradsh.session import Session
    from gradsh.view.document import Block

SHOWN = 6  # operations of a stretch that are named


def _is_of(session: Session, code: Any) -> bool:
    """Whether a code object is part of a session's programs; those of other sessions have the same names."""
    program = None if code is None else session.programs.get(code.co_filename)
    stack = [] if program is None else [program.code]
    while stack:
        found = stack.pop()
        if found is code:
            return True
        stack += [one for one in found.co_consts if one.__class__ is found.__class__]
    return False


class Stretch:
    """What is computed together. runs: how often it was; misses: how often the inputs were of another kind."""

    __slots__ = ("kept", "misses", "operations", "runs")

    def __init__(self, plan: Plan) -> None:
        self.operations = [entry.op.name for entry in plan.entries if entry.op is not None]
        self.kept, self.runs, self.misses = len(plan.live), plan.runs, plan.misses

    def text(self) -> str:
        """The operations in short."""
        names, count = self.operations, len(self.operations)
        if count <= SHOWN:
            return " ".join(names)
        return f"{' '.join(names[: SHOWN - 1])} … {names[-1]}"


class PlansRecord(Record):
    """The places behind which operations are put off: (place, turns, state, stretches)."""

    __slots__ = ("mode", "rows")
    kind = "plan"

    def __init__(self, mode: str, rows: list[tuple[str, int, str, list[Stretch]]]) -> None:
        self.mode, self.rows = mode, rows

    @classmethod
    def of(cls, mode: str, tapes: list[tuple[Any, Tape]], session: Session) -> PlansRecord:
        """Read the tapes of a session's programs."""
        rows = []
        for (code, lasti), tape in tapes:
            place = session.place_of(code, lasti) if _is_of(session, code) else None
            if place is not None:
                rows.append(
                    (
                        f"{place.span.line}:{place.span.column}",
                        tape.seen,
                        tape.state(),
                        [Stretch(one) for one in tape.plans()],
                    )
                )
        return cls(mode, rows)

    def draw(self, width: int) -> Sequence[Block]:
        if not self.rows:
            return [
                Line((f"nothing has come again often enough to be computed together (plans are {self.mode})", "note"))
            ]
        blocks: list[Block] = []
        for place, turns, state, stretches in self.rows:
            blocks.append(Line((f"behind the pass at {place}: {turns} turns, {state}", "name")))
            if stretches:
                blocks.append(
                    Table(
                        ("operations", "kept", "runs", "misses", ""),
                        [
                            (
                                (str(len(one.operations)), "number"),
                                str(one.kept),
                                str(one.runs),
                                str(one.misses),
                                one.text(),
                            )
                            for one in stretches
                        ],
                    )
                )
        return blocks

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "mode": self.mode,
            "places": [
                {
                    "place": place,
                    "turns": turns,
                    "state": state,
                    "stretches": [
                        {"operations": one.operations, "kept": one.kept, "runs": one.runs, "misses": one.misses}
                        for one in stretches
                    ],
                }
                for place, turns, state, stretches in self.rows
            ],
        }
