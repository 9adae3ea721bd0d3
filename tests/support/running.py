"""Runs gradsh: inside this process, which is fast, or as the command that users type."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Completed:
    """What one run left behind."""

    status: int
    out: str
    err: str


class Stream(io.TextIOWrapper):
    """A standard stream over bytes in memory, which the program may reach through `.buffer` too."""

    def __init__(self, text: str = "") -> None:
        self.bytes = io.BytesIO(text.encode())
        super().__init__(self.bytes, encoding="utf-8", newline="", write_through=True)

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode()


def run_inside(*arguments: str, stdin: str = "", folder: Path = ROOT, merged: bool = False) -> Completed:
    """Run the command line in this process; `merged` sends errors to standard output, in order, as 2>&1 does."""
    from gradsh.cli import main

    out = Stream()
    err = out if merged else Stream()
    with chdir(folder), mock.patch.object(sys, "stdin", Stream(stdin)), redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(list(arguments))
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return Completed(status or 0, out.text(), "" if merged else err.text())


def command() -> list[str]:
    """The installed gradsh command of this Python, or the same without an installation."""
    script = shutil.which("gradsh", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-c", "import sys; from gradsh.cli import main; sys.exit(main())"]


def run_command(*arguments: str, stdin: str = "", folder: Path = ROOT, timeout: float = 60, **env: str) -> Completed:
    """Run gradsh as a process of its own."""
    done = subprocess.run(
        [*command(), *arguments],
        check=False,
        input=stdin.encode(),
        capture_output=True,
        cwd=folder,
        env=environment(**env),
        timeout=timeout,
    )
    return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, able to find gradsh where it is not installed."""
    inherited = [path for path in [os.environ.get("PYTHONPATH")] if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *inherited]), **changes}
