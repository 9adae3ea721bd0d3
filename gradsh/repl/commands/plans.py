"""The command that shows what is computed together."""

from __future__ import annotations

from gradsh.repl.commands.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("plan")
def plan(session: Session) -> Record | None:
    """Show which operations come again and are computed together.  :plan

    For each backward pass behind which operations are put off: the stretches between looks at the numbers, with how many
    operations, how many results are kept, how often each was run, and how often its inputs were of another kind.
    """
    import sys

    from gradsh.engine.state import state
    from gradsh.view.plans import PlansRecord

    tape = sys.modules.get("gradsh.engine.plans.tape")
    return PlansRecord.of(state.plans, [] if tape is None else tape.tapes(), session)
