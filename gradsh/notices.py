"""What a session says besides its answers: warnings of programs, remarks of the compiler, notes."""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any

    from gradsh.engine.undefined import GradientWarning
    from gradsh.lang import Program
    from gradsh.lang.source import Source, Span
    from gradsh.session import Session

MOST_SKIPPED = 3
ADVICE = "give the op a value that it can take where its result is left out: f(where(mask, x, 1))"
# Python's own: what is out of date is no news to those who did not write it.
FILTERS = [
    ("default", None, DeprecationWarning, "__main__", 0),
    *(
        ("ignore", None, kind, None, 0)
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    ),
]


class Notices:
    """The warnings and notes of one session. `filters` are the program's, from one text to the next."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.filters: list[Any] = list(FILTERS)

    def note(self, text: str) -> None:
        """A fact that is neither an answer nor a warning."""
        if self.session.writer is not None:
            self.session.writer.note(f"note: {text}")

    def warn(
        self, kind: str, message: str, span: Span | None, help: str | None = None, notes: Sequence[str] = ()
    ) -> None:
        """Show a warning with its place."""
        if self.session.writer is not None:
            from gradsh.lang.report import Report

            self.session.writer.report(Report(kind, message, span, help=help, notes=notes, warning=True))

    def undefined(self, warning: GradientWarning) -> None:
        """Show that a gradient is nan, and what to write instead."""
        from gradsh.lang.locate import place_of
        from gradsh.lang.safer import safer

        code, lasti = warning.at
        span = None if code is None else place_of(code, lasti)
        self.warn("RuntimeWarning", str(warning), span, safer(warning) or ADVICE, warning.details.notes)

    def compiled(self, program: Program) -> None:
        """Show what the compiler found remarkable, and what it left out."""
        for message, span in program.warnings:
            self.warn("SyntaxWarning", message, span)
        if program.source.skipped:
            self._skipped(program.source)

    def _skipped(self, source: Source) -> None:
        from gradsh.lang.excerpt import printable
        from gradsh.lang.places import Place

        spans = [source.span(start, end) for start, end in source.skipped]
        lines = [printable(f"{span.text.strip()} ({Place(span, None).where()})") for span in spans]
        more = f" and {len(lines) - MOST_SKIPPED} more" if len(lines) > MOST_SKIPPED else ""
        self.note(f"left out, as it is for a notebook: {', '.join(lines[:MOST_SKIPPED])}{more}")

    def raised(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: Any = None,
    ) -> None:
        """What Python's `warnings` calls to show one; it comes from the innermost of the program's lines that run."""
        from gradsh.engine.undefined import GradientWarning
        from gradsh.lang.locate import place_of

        if isinstance(message, GradientWarning):
            self.undefined(message)
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename not in self.session.programs:
            frame = frame.f_back
        span = None if frame is None else place_of(frame.f_code, frame.f_lasti)
        self.warn(category.__name__, str(message), span)


class Hearing:
    """While a program runs, the session shows its warnings; without a writer Python does, as for any caller."""

    def __init__(self, notices: Notices) -> None:
        self.notices = notices
        self.before: Any = None

    def start(self) -> None:
        if self.notices.session.writer is not None:
            self.before = warnings.catch_warnings()
            self.before.__enter__()
            warnings.filters[:] = self.notices.filters  # type: ignore[index]
            warnings.showwarning = self.notices.raised

    def stop(self) -> None:
        if self.before is not None:
            self.notices.filters = list(warnings.filters)
            self.before.__exit__(None, None, None)
            self.before = None
