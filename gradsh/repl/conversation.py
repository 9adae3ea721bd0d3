"""The conversation: read a block, run it, show what it answers, until the user leaves."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol, TextIO

from gradsh.backend.shield import shield
from gradsh.fault import Ended, LimitReached
from gradsh.view.writers import colour_wanted, page_width

if TYPE_CHECKING:
    from gradsh.cli import Arguments
    from gradsh.repl.history import History
    from gradsh.session import Session
    from gradsh.view.writers import Writer

# What people type to leave other prompts.
FAREWELLS = ("exit", "exit()", "quit", "quit()")


class Reader(Protocol):
    """Where blocks come from."""

    def read(self) -> str:
        """The next block. EOFError where the user leaves, KeyboardInterrupt where the block is given up."""


class Conversation:
    """One conversation with whoever sits at the terminal."""

    def __init__(self, session: Session, options: Arguments) -> None:
        assert session.writer is not None
        self.session, self.options = session, options
        self.writer: Writer = session.writer
        self.history: History | None = None

    def run(self) -> int:
        """Talk until the user leaves; the exit status."""
        session = self.session
        if sys.stdin is None or not sys.stdin.isatty():
            text = "" if sys.stdin is None else sys.stdin.read()
            return session.run_and_report(text, "<stdin>", echo=True)
        session.interactive = True
        self.writer.prompt = True
        before = signal.signal(signal.SIGINT, shield.interrupt)
        try:
            status = self._start()
            reader = self._reader() if status is None else None
            while reader is not None and status is None:
                try:
                    status = self._exchange(reader)
                except KeyboardInterrupt:
                    session.unwind()
            return status or 0
        finally:
            signal.signal(signal.SIGINT, before)

    def _start(self) -> int | None:
        """Run the startup file; an exit status if it ends the conversation."""
        from gradsh.data.programs import read_program
        from gradsh.lang.excerpt import printable
        from gradsh.repl.folders import startup_file

        path = startup_file()
        if path is None or not os.path.exists(path):
            return None
        try:
            text = read_program(path)
        except (OSError, ValueError) as error:
            self.writer.note(f"note: {printable(path)}: {getattr(error, 'strerror', None) or error}")
            return None
        return self._run(text, path, echo=False)

    def _reader(self) -> Reader:
        """The prompt: with all comforts where there is a terminal for it, else a line at a time."""
        from gradsh import __version__

        output = self._screen()
        simple = os.environ.get("TERM", "") in ("dumb", "") and sys.platform != "win32"
        if output is not None:
            print(f"gradsh {__version__}  :help lists commands, Ctrl-D leaves", file=output)
        if output is None or simple:
            from gradsh.repl.plain import PlainReader

            return PlainReader(self.session, sys.stdin, output)
        from gradsh.repl.history import History
        from gradsh.repl.terminal import TerminalReader

        self.history = History()
        colour = colour_wanted(output, self.options.color or "auto")
        return TerminalReader(self.session, output, self.history, colour=colour)

    def _screen(self) -> TextIO | None:
        """The stream that prompts are shown on: not the one that takes results, where that goes elsewhere."""
        streams = [sys.stderr] if self.options.json else [sys.stdout, sys.stderr]
        return next((stream for stream in streams if stream is not None and stream.isatty()), None)

    def _exchange(self, reader: Reader) -> int | None:
        """One block and its answer; an exit status if it was the last."""
        self.writer.end_line()
        if self.history is not None:
            trouble = self.history.told()
            if trouble:
                self.writer.note(trouble)
        try:
            text = reader.read()
        except EOFError:
            return 0
        if text in FAREWELLS and text.removesuffix("()") not in self.session:
            return 0
        if not self.options.width:
            self.writer.width = page_width(self.writer.results)
        return self._run(text, "<input>", echo=True)

    def _run(self, text: str, name: str, *, echo: bool) -> int | None:
        """Run a program; what stops it is reported, and nothing but `:quit` or a closed pipe ends the conversation."""
        session = self.session
        try:
            session.run(text, name, echo=echo)
        except KeyboardInterrupt:
            session.unwind()
            self.writer.mid_line = True  # the terminal has written ^C
            self.writer.end_line()
            self.writer.note("Interrupted")
        except Ended as ended:
            return ended.status
        except BrokenPipeError:
            raise
        except (Exception, LimitReached) as error:
            self._report(error)
        return None

    def _report(self, error: BaseException) -> None:
        try:
            self.session.report(error)
        except Exception as failure:
            self.writer.note(f"InternalError: {type(error).__name__} could not be reported: {failure!r}")
