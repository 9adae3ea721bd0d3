"""Input a line at a time, without an escape code: for a terminal that is too simple, or output that is no terminal."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from gradsh.lang import needs_more

if TYPE_CHECKING:
    from gradsh.session import Session

PROMPT, MORE = ">>> ", "... "


class PlainReader:
    """Reads blocks from a stream; prompts go to `output`, if there is one to show them."""

    def __init__(self, session: Session, source: IO[str], output: IO[str] | None) -> None:
        self.session, self.source, self.output = session, source, output

    def read(self) -> str:
        """The next block. EOFError at the end of the input, KeyboardInterrupt where the block is given up."""
        text = self._line(PROMPT)
        while needs_more(text, self.session.dialect):  # type: ignore[arg-type]
            text += "\n" + self._line(MORE)
        return text.rstrip()

    def _line(self, prompt: str) -> str:
        self._write(prompt)
        try:
            line = self.source.readline()
        except KeyboardInterrupt:
            self._write("\n")
            raise
        if not line:
            self._write("\n")
            raise EOFError
        return line.removesuffix("\n").removesuffix("\r")

    def _write(self, text: str) -> None:
        if self.output is not None:
            self.output.write(text)
            self.output.flush()
