"""The command that shows and changes the session's settings."""

from __future__ import annotations

from gradsh.fault import CommandError, fault
from gradsh.repl.commands.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Pattern
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("set", completes="settings")
def set_(session: Session, key: Pattern | None = None, value: Pattern | None = None) -> Record | None:
    """Show the settings, or change one.  :set [key value]"""
    from gradsh.view.settings import SettingsRecord

    if key is None:
        return SettingsRecord(session.settings.rows())
    if value is None:
        return SettingsRecord([row for row in session.settings.rows() if row[0] == session.settings.known(key)])
    try:
        session.settings.change(key, value)
    except ValueError as error:
        raise fault(CommandError, str(error), hint=f":set {key} lists what it may be") from None
    return None
