"""Ctrl-C put off in the few stretches that would leave something torn; everywhere else it stops a program at once."""

from __future__ import annotations

from time import monotonic

PATIENCE = 1.0  # seconds after which asking again ends even a shielded stretch, so that none can hang


class Shield:
    """A stretch that is done whole or not at all: `with shield:`. An interrupt that comes inside is raised at its end.

    Only the prompt defers interrupts: it puts `interrupt` in the place of Python's handler of SIGINT.
    """

    __slots__ = ("depth", "since")

    def __init__(self) -> None:
        self.depth = 0
        self.since: float | None = None

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if self.since is not None and not self.depth:
            self.since = None
            raise KeyboardInterrupt

    def interrupt(self, signal: int = 0, frame: object = None) -> None:
        """What Ctrl-C does: a handler of signals."""
        if not self.depth:
            raise KeyboardInterrupt
        now = monotonic()
        if self.since is None:
            self.since = now
        elif now - self.since > PATIENCE:
            self.since = None
            raise KeyboardInterrupt


shield = Shield()
