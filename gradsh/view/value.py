"""Values as they are shown: an echoed expression, and what `print` was given."""

from __future__ import annotations

from gradsh.engine.tensor import Tensor
from gradsh.view.record import Record, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def fields_of(value: Any) -> dict[str, Any]:
    """What JSON says of one tensor or number: its type, shape and numbers. Empty for anything else."""
    if isinstance(value, Tensor):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": numbers(value.tolist())}
    if isinstance(value, bool | int | float):
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
        return {"dtype": kind, "shape": [], "values": numbers(value)}
    return {}


class ValueRecord(Record):
    """An echoed expression."""

    __slots__ = ("name", "text", "value")
    kind = "value"

    def __init__(self, value: Any, name: str | None) -> None:
        self.value, self.name, self.text = value, name, repr(value)

    def draw(self, width: int) -> Sequence[Any]:
        from gradsh.view.document import Line

        return [Line(part) for part in self.text.split("\n")]

    def plain(self, width: int = 80) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "text": self.text, "name": self.name, **fields_of(self.value)}
        if isinstance(self.value, Tensor):
            node = self.value.grad_fn
            found |= {"requires_grad": self.value.requires_grad, "grad_fn": None if node is None else node.name()}
        return found


class PrintRecord(Record):
    """What one call of `print` wrote."""

    __slots__ = ("end", "text", "values")
    kind = "print"

    def __init__(self, text: str, values: tuple[Any, ...], end: str = "\n") -> None:
        self.text, self.values, self.end = text, values, end

    def draw(self, width: int) -> Sequence[Any]:
        from gradsh.view.document import Line

        return [Line(part) for part in self.text.split("\n")]

    def plain(self, width: int = 80) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        one = fields_of(self.values[0]) if len(self.values) == 1 else {}
        return {"kind": self.kind, "text": self.text, **one}
