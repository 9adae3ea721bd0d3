"""The conversation at the prompt, and the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradsh.cli import Arguments
    from gradsh.session import Session


def converse(session: Session, options: Arguments) -> int:
    """Talk with whoever sits at the terminal until they leave; the exit status."""
    from gradsh.repl.conversation import Conversation

    return Conversation(session, options).run()
