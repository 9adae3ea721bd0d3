"""The answer of `:source`: the text that a function or a class was written as."""

from __future__ import annotations

from gradsh.fault import CommandError, fault
from gradsh.view.document import Line
from gradsh.view.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.view.document import Block


class SourceRecord(Record):
    """The text of a definition, and where it stands."""

    __slots__ = ("line", "name", "text", "where")
    kind = "source"

    def __init__(self, name: str, text: str, where: str, line: int) -> None:
        self.name, self.text, self.where, self.line = name, text, where, line

    @classmethod
    def of(cls, name: str, value: Any) -> SourceRecord:
        """The definition of a function, a class, or the class of a value."""
        from gradsh.engine.op import OPS

        found = _definition(value) or _definition(type(value))
        if found is not None:
            return cls(name, *found)
        op = OPS.get(getattr(value, "__name__", name))
        if op is not None:
            return cls(name, *_op_source(op))
        python = _python_source(value)
        if python is not None:
            return cls(name, *python)
        raise fault(CommandError, f"{name} has no source to show: it is a {type(value).__name__}", hint=f":info {name}")

    def draw(self, width: int) -> Sequence[Block]:
        return [Line((part, "code")) for part in self.text.split("\n")]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "text": self.text, "where": self.where, "line": self.line}


def _definition(value: Any) -> tuple[str, str, int] | None:
    """(text, file, line) of what a program or the library defined in the language."""
    from gradsh.lang import Source

    value = getattr(value, "__func__", value)
    code = getattr(value, "__code__", None)
    if code is None and isinstance(value, type):
        code = next((one.__code__ for one in vars(value).values() if hasattr(one, "__code__")), None)
    source = None if code is None else Source.of(code.co_filename)
    if code is None or source is None:
        return None
    name = value.__name__
    from gradsh.lang.outline import definition

    found = definition(source, name, code.co_firstlineno)
    return None if found is None else (found[0], source.name, found[1])


def _op_source(op: Any) -> tuple[str, str, int]:
    import inspect

    text = inspect.getsource(op.kernel)
    return text.rstrip(), inspect.getsourcefile(op.kernel) or "", op.kernel.__code__.co_firstlineno


def _python_source(value: Any) -> tuple[str, str, int] | None:
    import inspect

    value = inspect.unwrap(value) if callable(value) else value
    try:
        file = inspect.getsourcefile(value) or ""
        if "gradsh" not in file:
            return None
        lines, line = inspect.getsourcelines(value)
    except (TypeError, OSError):
        return None
    return "".join(lines).rstrip(), file, line
