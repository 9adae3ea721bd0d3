"""What every answer of a session is: a record with a kind, that can be drawn and be written as JSON."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.view.document import Block


class Record:
    """An answer. `kind` names it in JSON; `draw` gives the document that the formats write."""

    __slots__ = ()
    kind = "record"

    def draw(self, width: int) -> Sequence[Block]:
        """The answer as lines, tables and trees for a page of this many cells."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """The answer's fields, ready for `json.dumps`."""
        raise NotImplementedError

    def remark(self) -> str | None:
        """What a reader at the prompt may not expect of the answer, in a line; None where there is nothing to say."""
        return None

    def plain(self, width: int = 80) -> str:
        """The answer as plain text."""
        from gradsh.view.document import plain

        return plain(self.draw(width))


def numbers(value: Any) -> Any:
    """Nested lists of numbers as JSON can hold them: nan and the infinities as strings."""
    if isinstance(value, list | tuple):
        return [numbers(item) for item in value]
    if isinstance(value, float):
        if value != value:
            return "nan"
        if value in (float("inf"), float("-inf")):
            return "inf" if value > 0 else "-inf"
    return value
