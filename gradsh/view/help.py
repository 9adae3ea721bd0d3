"""Answers about the library and the commands: `:help`, `:ops`."""

from __future__ import annotations

from gradsh.fault import CommandError, fault
from gradsh.view.document import Line, Prose, Table
from gradsh.view.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradsh.repl.commands.command import Command
    from gradsh.session import Session
    from gradsh.view.document import Block


class HelpRecord(Record):
    """Help on one name: how it is used, what it does, further remarks, an example; or the list of commands."""

    __slots__ = ("example", "name", "remarks", "summary", "table", "usage")
    kind = "help"

    def __init__(
        self,
        name: str | None,
        usage: str,
        summary: str,
        remarks: str = "",
        example: str | None = None,
        table: list[tuple[str, str]] | None = None,
    ) -> None:
        self.name, self.usage, self.summary, self.remarks, self.example, self.table = (
            name,
            usage,
            summary,
            remarks,
            example,
            table,
        )

    @classmethod
    def of(cls, name: str | None, session: Session, commands: Mapping[str, Command]) -> HelpRecord:
        """Help on a command, on a function or class of the library, on a variable's value, or the list of commands."""
        if name is None:
            return cls(None, "", "", table=[(command.usage, command.summary) for command in commands.values()])
        if name in commands and name not in session:
            command = commands[name]
            return cls(name, command.usage, command.summary, command.help)
        from gradsh.ops.registry import ENTRIES

        if name not in session and name in ENTRIES:
            return _of_entry(name)
        session.scope.provide([name])
        value = session.namespace.get(name, session.scope.names.get(name))
        if value is None:
            import difflib

            from gradsh.library.namespaces import bare_names

            near = difflib.get_close_matches(name, [*commands, *ENTRIES, *bare_names(), *session.scope.names], 1)
            raise fault(
                CommandError,
                f"there is no help on {name}",
                hint=f"did you mean :help {near[0]}?" if near else ":help lists the commands, :ops the library",
            )
        return _of_value(name, value)

    def draw(self, width: int) -> Sequence[Block]:
        if self.table is not None:
            return [
                Table(("", ""), [((usage, "name"), summary) for usage, summary in self.table]),
                Line(("names of the library: :ops, and :help NAME", "muted")),
            ]
        blocks: list[Block] = [Line((self.usage, "name")), Prose(self.summary)]
        if self.remarks:
            blocks += [Line(), *(Prose(part) for part in self.remarks.split("\n"))]
        if self.example:
            blocks += [Line(), Line(("example: ", "muted"), (self.example, "code"))]
        return blocks

    def as_json(self) -> dict[str, Any]:
        if self.table is not None:
            return {
                "kind": self.kind,
                "commands": [{"usage": usage, "summary": summary} for usage, summary in self.table],
            }
        return {
            "kind": self.kind,
            "name": self.name,
            "usage": self.usage,
            "summary": self.summary,
            "help": self.remarks,
            "example": self.example,
        }


def _of_entry(name: str) -> HelpRecord:
    from gradsh.ops.registry import ENTRIES

    entry = ENTRIES[name]
    summary, _, rest = entry.doc.partition("\n")
    remarks = "\n".join(part.strip() for part in rest.strip().split("\n"))
    if entry.op is not None:
        from gradsh.view.rules import rule_texts

        rules = rule_texts(entry.op)
        remarks = "\n".join([*([remarks] if remarks else []), *rules])
    return HelpRecord(name, f"{name}{signature_of(entry)}", summary, remarks, entry.example)


def signature_of(entry: Any) -> str:
    """A function's parameters, as they are written in a definition."""
    op = entry.op
    if op is None:
        return _signature(entry.target)
    parts = [
        f"*{op.public[name]}" if name == op.variadic else op.public[name] + ("=None" if name in op.optional else "")
        for name in op.operands
    ]
    parts += [name if repr(default) == "REQUIRED" else f"{name}={default!r}" for name, default in op.settings.items()]
    return f"({', '.join(parts)})"


def _signature(value: Any) -> str:
    import inspect

    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(…)"


def _of_value(name: str, value: Any) -> HelpRecord:
    text = (getattr(value, "__doc__", None) or "").strip()
    summary, _, rest = text.partition("\n")
    remarks = "\n".join(part.strip() for part in rest.strip().split("\n"))
    usage = f"{name}{_signature(value)}" if callable(value) else f"{name}: {type(value).__name__}"
    return HelpRecord(
        name, usage, summary if callable(value) else repr(value).partition("\n")[0], remarks if callable(value) else ""
    )


class OpsRecord(Record):
    """The library's functions: (name, where it is found, what it does)."""

    __slots__ = ("rows",)
    kind = "ops"

    def __init__(self, rows: list[tuple[str, str, str]]) -> None:
        self.rows = rows

    @classmethod
    def of(cls, pattern: str | None) -> OpsRecord:
        """Those whose name a pattern matches (`soft*`), or that have it in their name or help."""
        import fnmatch

        from gradsh.ops.index import load_all
        from gradsh.ops.registry import ENTRIES

        load_all()
        rows = [
            (entry.name, ", ".join(_place(place) for place in entry.at), entry.doc.partition("\n")[0])
            for entry in ENTRIES.values()
        ]
        if pattern is not None:
            glob = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
            rows = [
                row
                for row in rows
                if fnmatch.fnmatch(row[0], glob) or (glob != pattern and pattern.lower() in row[2].lower())
            ]
            if not rows:
                raise fault(CommandError, f"no function of the library matches {pattern}", hint=":ops lists them all")
        return cls(sorted(rows))

    def draw(self, width: int) -> Sequence[Block]:
        return [
            Table(
                ("name", "in", ""), [((name, "name"), (place, "muted"), summary) for name, place, summary in self.rows]
            )
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "functions": [{"name": name, "in": place, "summary": summary} for name, place, summary in self.rows],
        }


def _place(place: str) -> str:
    space = place.partition(":")[0]
    return {"torch": "torch", "Tensor": "Tensor", "F": "nn.functional"}.get(space, space)
