"""Commands about the library: what there is, how it is used, how it is written."""

from __future__ import annotations

from gradsh.repl.commands.command import COMMANDS, command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Name, Pattern, Value
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("help", completes="commands library")
def help_(session: Session, name: Name | None = None) -> Record:
    """Explain a command or a name of the library, or list the commands.  :help [name]"""
    from gradsh.view.help import HelpRecord

    return HelpRecord.of(name, session, COMMANDS)


@command("ops", completes="library")
def ops(session: Session, pattern: Pattern | None = None) -> Record:
    """List the library's functions, or those that a pattern matches.  :ops [pattern]"""
    from gradsh.view.help import OpsRecord

    return OpsRecord.of(pattern)


@command("source", completes="library")
def source(session: Session, f: Value) -> Record:
    """Show how a function, a class or a layer is written.  :source f"""
    from gradsh.view.source import SourceRecord

    return SourceRecord.of(f.text, f.value)
