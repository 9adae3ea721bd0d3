"""Commands about the session's variables."""

from __future__ import annotations

from gradsh.repl.commands.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Value
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("vars")
def vars_(session: Session) -> Record:
    """List the variables with their types and values.  :vars"""
    from gradsh.view.variables import VariablesRecord

    return VariablesRecord.of(session.variables())


@command("info")
def info(session: Session, x: Value) -> Record:
    """Show what is known of a value: type, shape, memory, history.  :info x"""
    from gradsh.view.variables import InfoRecord

    return InfoRecord.of(x.text, x.value, session)


@command("type")
def type_(session: Session, e: Value) -> Record:
    """Show the type of an expression.  :type e"""
    from gradsh.view.variables import TypeRecord

    return TypeRecord.of(e.value)


@command("reset")
def reset(session: Session) -> None:
    """Forget every variable, and the seed.  :reset"""
    session.reset()
