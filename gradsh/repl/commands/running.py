"""Commands that run things: files, timings, the end."""

from __future__ import annotations

from gradsh.fault import CommandError, Ended, fault
from gradsh.repl.commands.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Path, Thunk
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("load", completes="files")
def load(session: Session, file: Path) -> None:
    """Run a file in this session.  :load f"""
    import os

    from gradsh.data.programs import read_parts

    path = os.path.expanduser(file)
    try:
        parts = read_parts(path)
    except (OSError, ValueError) as error:
        raise fault(CommandError, f"{file}: {getattr(error, 'strerror', None) or error}") from None
    for label, text in parts:
        session.run(text, name=label.replace(path, file, 1), echo=False)


@command("time")
def time(session: Session, e: Thunk) -> Record:
    """Time an expression: the best and the median of several runs.  :time e"""
    from gradsh.view.timing import TimeRecord

    return TimeRecord.of(e.text, e.call)


@command("quit")
def quit_(session: Session) -> None:
    """Leave.  :quit"""
    raise Ended(0)
