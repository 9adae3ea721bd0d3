"""Documents on a terminal, with rich: colour by style, wrapped to the width."""

from __future__ import annotations

from gradsh.view.document import Line, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from gradsh.view.document import Block

STYLES = {
    "name": "bold cyan", "number": "green", "op": "magenta", "shape": "blue", "muted": "dim", "fault": "bold red",
    "warning": "bold yellow", "hint": "cyan", "heading": "bold", "code": "", "good": "bold green",
}  # fmt: skip


def styled(one: Line) -> Text:
    """A line as rich text; markup in it means nothing."""
    from rich.text import Text

    return Text.assemble(
        *((text, STYLES.get(style, "")) for text, style in one.segments), no_wrap=False, overflow="fold"
    )


def write(console: Console, blocks: Sequence[Block], ascii_only: bool = False, width: int = 0) -> None:
    """Draw a document on a console; with a width, words are broken to it."""
    for one in lines_of(blocks, ascii_only, width):
        console.print(styled(one), soft_wrap=True, highlight=False)
