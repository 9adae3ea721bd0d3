"""gradsh in a terminal of a given size, typed into and looked at as a person would."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pyte

from support.running import command, environment

if TYPE_CHECKING:
    from collections.abc import Callable

CTRL_C, CTRL_D, CTRL_R, TAB, UP, ESCAPE = "\x03", "\x04", "\x12", "\t", "\x1b[A", "\x1b"


class Terminal:
    """A pseudo-terminal with gradsh in it, and the screen that a person would see."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 40,
        folder: Path | None = None,
        shell: str = "",
        env: dict[str, str],
    ) -> None:
        """Start gradsh, or a line of `shell` in which gradsh is the command."""
        program, *before = command()
        if shell:
            line = f'gradsh() {{ {shlex.join([program, *before])} "$@"; }}; {shell}'
            program, before = "bash", ["-c", line]
        self.screen = pyte.Screen(columns or 80, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(
            program,
            [*before, *arguments],
            env=environment(TERM="xterm-256color") | env,
            cwd=folder,
            dimensions=(rows, columns),
            timeout=20,
        )
        self.child.delaybeforesend = None
        self.raw = b""
        # What the program asks of the terminal (where the cursor is), the terminal answers.
        setattr(self.screen, "write_process_input", self.child.send)  # noqa: B010

    def read(self, seconds: float) -> None:
        """Take in what the program writes, for at most so long."""
        try:
            data = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            time.sleep(0.01)
            return
        self.raw += data
        self.stream.feed(data)

    def until(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        """Wait for something to be so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds} s; the screen:\n{self.text()}"
            self.read(0.05)

    def settle(self, seconds: float = 0.1) -> None:
        """Wait until the program has been silent for a while."""
        size = -1
        while size != len(self.raw):
            size = len(self.raw)
            self.read(seconds)

    def lines(self) -> list[str]:
        """The lines of the screen, without trailing space and empty lines at the end."""
        return self.text().split("\n")

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def at_prompt(self, *prompts: str) -> bool:
        """Whether the cursor is in the last line, behind nothing but a prompt (and an indentation)."""
        lines = self.lines()
        return lines[-1] in prompts and self.screen.cursor.y == len(lines) - 1 and self.screen.cursor.x >= 4

    def prompt(self, seconds: float = 10) -> None:
        """Wait for an empty prompt."""
        self.until(lambda: self.at_prompt(">>>"), seconds)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, and wait for what they do."""
        for key in keys:
            self.child.send(key)
            self.settle()

    def enter(self, *lines: str) -> None:
        """Type lines as a person does: each when the prompt for it is there."""
        for line in lines:
            self.child.send(line)
            self.settle(0.03)
            before = len(self.raw)
            self.child.send("\r")
            self.until(lambda before=before: len(self.raw) > before and self.at_prompt(">>>", "..."))  # type: ignore[misc]

    def answer(self, *lines: str, seconds: float = 10) -> list[str]:
        """Enter lines at an empty prompt; the lines that are on the screen from there up to the next empty prompt."""
        self.screen.reset()  # look at nothing that was there before
        self.child.send("\x0c")  # Ctrl-L
        self.settle(0.05)
        self.enter(*lines)
        self.prompt(seconds)
        return self.lines()[:-1]

    def answer_plainly(self, *lines: str) -> list[str]:
        """The same at a prompt that knows no Ctrl-L."""
        before = len(self.lines()) - 1
        self.enter(*lines)
        self.prompt()
        return self.lines()[before:-1]

    def paste(self, text: str) -> None:
        """Paste as terminals do, in brackets, and with carriage returns."""
        self.child.send("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")
        self.settle()

    def leave(self) -> int | None:
        """Ctrl-D; the exit status."""
        self.child.send(CTRL_D)
        return self.status()

    def status(self) -> int | None:
        """The exit status, once the program has ended."""
        end = time.monotonic() + 10
        while self.child.isalive() and time.monotonic() < end:
            self.read(0.05)
        self.child.close(force=True)
        status: int | None = self.child.exitstatus
        return status

    def close(self) -> None:
        self.child.close(force=True)


def home(folder: Path) -> dict[str, str]:
    """The variables that make a folder the user's home; the parser's tables stay where they are."""
    return {"HOME": str(folder), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
