"""Commands that show the graph behind a value."""

from __future__ import annotations

from gradsh.fault import CommandError, fault
from gradsh.repl.commands.command import command
from gradsh.repl.commands.gradients import tensor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.repl.commands.command import Count, Path, Value
    from gradsh.session import Session
    from gradsh.view.record import Record


@command("graph", keeps=True)
def graph(
    session: Session,
    z: Value | None = None,
    *,
    from_: Value | None = None,
    depth: Count | None = None,
    to: Path | None = None,
) -> Record | None:
    """Show the graph behind a value: what it was computed from, and how.  :graph [z] [from x] [depth=N] [to file]

    Each line is a value: its name or the expression that made it, the operation, its shape, the value and the gradient
    that reached it in the last backward pass. What is used twice is shown once, and referred to by its number. `from x`
    shows only what lies between x and z, depth=N only the last N steps. `to file` writes it: .dot for Graphviz, .json, or .txt.
    """
    from gradsh.view.graph import GraphRecord

    if z is None:
        value, text = session.last_graph()
    else:
        value, text = tensor_of(z), z.text
    record = GraphRecord.of(value, text, session, start=None if from_ is None else tensor_of(from_), depth=depth)
    if to is None:
        return record
    ending = to.rpartition(".")[2]
    texts = {"dot": record.dot, "json": record.json_text, "txt": record.plain}
    if ending not in texts:
        raise fault(
            CommandError,
            f":graph cannot write {to}: no format for .{ending}",
            hint=f":graph {text} to graph.dot, .json or .txt",
        )
    session.write_file(to, texts[ending]() + "\n")
    return None
