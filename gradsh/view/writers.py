"""Where a session's records go: plain text, rich on a terminal, or one JSON object a line."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, Any

    from rich.console import Console

    from gradsh.lang.report import Report
    from gradsh.view.document import Line
    from gradsh.view.record import Record


class Writer:
    """Writes results to one stream and reports to another; `results` and `reports` are text streams.

    Text that a stream's encoding lacks is written as escapes. With `prompt` every line is flushed at once.
    mid_line: what was written last did not end its line.
    """

    def __init__(self, results: IO[str], reports: IO[str], width: int, *, prompt: bool = False) -> None:
        self.results, self.reports, self.width, self.prompt = results, reports, width, prompt
        self.ascii_only = not _can_encode(results, "├│└…")
        self.mid_line = False

    def show(self, record: Record) -> None:
        """Write an answer."""
        page = self._page(self.results)
        if self.ascii_only or page:
            from gradsh.view.document import plain

            text = plain(record.draw(self.width), self.ascii_only, page)
        else:
            text = record.plain(self.width)
        self._put(self.results, text)

    def print(self, record: Any) -> None:
        """Write what `print` was given."""
        self._put(self.results, record.text, record.end)

    def report(self, record: Report) -> None:
        """Write an error or a warning."""
        page = self._page(self.reports)
        if page:
            from gradsh.view.document import plain

            self._put(self.reports, plain(_blocks(record, self.width), self.ascii_only, page))
        else:
            self._put(self.reports, record.plain(self.width))

    def note(self, text: str) -> None:
        """Write a line for whoever sits at the prompt, beside the answers."""
        self._put(self.reports, text)

    def _page(self, stream: IO[str]) -> int:
        """The width that words are broken to: a terminal's; 0 where lines are for other programs."""
        return self.width if self.prompt and stream.isatty() else 0

    def end_line(self) -> None:
        """End the line that `print` left open, if any."""
        if self.mid_line:
            self._put(self.results, "")

    def _put(self, stream: IO[str], text: str, end: str = "\n") -> None:
        try:
            stream.write(text + end)
        except UnicodeEncodeError:
            encoding = getattr(stream, "encoding", None) or "ascii"
            stream.write((text + end).encode(encoding, "backslashreplace").decode(encoding))
        self.mid_line = (end or text)[-1:] not in ("", "\n")
        if self.prompt:
            stream.flush()

    def flush(self) -> None:
        self.results.flush()
        self.reports.flush()


def _can_encode(stream: IO[str], text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class JsonWriter(Writer):
    """One JSON object a line, for results and for reports."""

    def show(self, record: Record) -> None:
        self._put(self.results, _json(record.as_json()))

    def print(self, record: Any) -> None:
        self.show(record)

    def report(self, record: Report) -> None:
        self._put(self.reports, _json(record.as_json()))

    def note(self, text: str) -> None:
        """Nothing: what is for eyes has no place among objects."""


def _json(found: dict[str, Any]) -> str:
    import json

    return json.dumps(found, ensure_ascii=False, allow_nan=False)


class TerminalWriter(Writer):
    """Colour on a terminal, drawn by rich; `plain_reports` where reports go to a stream that wants none."""

    plain_reports = False

    def __init__(self, results: IO[str], reports: IO[str], width: int, *, prompt: bool = True) -> None:
        super().__init__(results, reports, width, prompt=prompt)
        self._consoles: dict[int, Console] = {}

    def _console(self, stream: IO[str]) -> Console:
        found = self._consoles.get(id(stream))
        if found is None:
            from rich.console import Console

            found = self._consoles[id(stream)] = Console(
                file=stream,
                force_terminal=True,
                width=self.width,
                markup=False,
                highlight=False,
                emoji=False,
                legacy_windows=False,
            )
        found.width = self.width  # a terminal's may have changed
        return found

    def show(self, record: Record) -> None:
        from gradsh.view.terminal import write

        write(self._console(self.results), record.draw(self.width), self.ascii_only, self._page(self.results))
        self.mid_line = False

    def report(self, record: Report) -> None:
        if self.plain_reports:
            self.results.flush()
            return super().report(record)
        return self._report(_blocks(record, self.width))

    def note(self, text: str) -> None:
        if self.plain_reports:
            return super().note(text)
        from gradsh.view.document import Prose

        return self._report([Prose((text, "muted"))])

    def _report(self, lines: Sequence[Line]) -> None:
        from gradsh.view.terminal import write

        self.results.flush()
        write(self._console(self.reports), lines, self.ascii_only, self._page(self.reports))
        self.mid_line = False


def _blocks(record: Report, width: int) -> list[Line]:
    """A report as a document: its words may be broken, the source under them may not."""
    from gradsh.view.document import Line, Prose

    return [(Line if line[0][0].endswith("| ") else Prose)(*line) for line in record.lines(width)]


def colour_wanted(stream: IO[str], choice: str = "auto") -> bool:
    """Whether to colour: as asked, else by NO_COLOR, CLICOLOR_FORCE, TERM and whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "")


def page_width(stream: IO[str]) -> int:
    """The width of a terminal in cells; 80 for anything else, and for a terminal that says 0."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        columns = 0
    return columns or 80
