"""Answers about variables: `:vars`, `:info`, `:type`."""

from __future__ import annotations

from gradsh.engine.alias import version_of
from gradsh.engine.tensor import Tensor
from gradsh.view.document import Line, Table, cut
from gradsh.view.record import Record
from gradsh.view.text import kind_of, shape_text, short
from gradsh.view.value import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradsh.session import Session
    from gradsh.view.document import Block


class VariablesRecord(Record):
    """The variables with their types and values."""

    __slots__ = ("rows",)
    kind = "vars"

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    @classmethod
    def of(cls, variables: Iterable[tuple[str, Any]]) -> VariablesRecord:
        return cls([_row(name, value) for name, value in variables])

    def draw(self, width: int) -> Sequence[Block]:
        if not self.rows:
            return [Line(("no variables yet", "muted"))]
        room = max(
            width - 2 - sum(max(len(str(row[key])) for row in self.rows) + 2 for key in ("name", "type")) - 24, 16
        )
        rows = [
            (
                (row["name"], "name"),
                row["type"],
                (shape_text(row["shape"] or ()), "shape"),
                (cut(row["value"], room), "number"),
                (row["grad"] or "", "number"),
            )
            for row in self.rows
        ]
        return [Table(("name", "type", "shape", "value", "grad"), rows)]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "variables": self.rows}


def _row(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Tensor):
        leaf = " leaf" if value.is_leaf and value.requires_grad else ""
        return {
            "name": name,
            "type": f"{value.dtype.name}{leaf}",
            "shape": list(value.shape),
            "value": short(value),
            "grad": None if value.grad is None else short(value.grad),
        }
    text = repr(value).partition("\n")[0]
    return {"name": name, "type": kind_of(value), "shape": None, "value": text, "grad": None}


class InfoRecord(Record):
    """What is known of one value, as (what, value) rows."""

    __slots__ = ("name", "rows", "value")
    kind = "info"

    def __init__(self, name: str, value: Any, rows: list[tuple[str, str]]) -> None:
        self.name, self.value, self.rows = name, value, rows

    @classmethod
    def of(cls, name: str, value: Any, session: Session) -> InfoRecord:
        rows = [("type", _type_text(value))]
        if isinstance(value, Tensor):
            rows += _tensor_rows(value, session)
        elif hasattr(value, "named_parameters") and not isinstance(value, type):
            sizes = [parameter.numel() for _, parameter in value.named_parameters()]
            rows += [("parameters", f"{len(sizes)} with {sum(sizes):,} numbers")]
        elif hasattr(value, "__len__"):
            rows += [("length", str(len(value)))]
        return cls(name, value, rows)

    def draw(self, width: int) -> Sequence[Block]:
        return [Table(("", ""), [((what, "muted"), value) for what, value in self.rows])]

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, **{what.replace(" ", "_"): value for what, value in self.rows}}


def _tensor_rows(value: Tensor, session: Session) -> list[tuple[str, str]]:
    count, size = value.numel(), value.dtype.itemsize
    rows = [
        ("dtype", value.dtype.name),
        ("shape", f"{tuple(value.shape)}, {count} number{'s' * (count != 1)}"),
        ("memory", f"{count * size:,} bytes"),
    ]
    if count and value.dtype.category == 2:
        from gradsh.backend import arrays

        raw = arrays.asarray(value.raw)
        bad = int((~arrays.isfinite(raw)).sum())
        rows.append(
            (
                "range",
                f"{short(arrays.canonical(raw.min()))} to {short(arrays.canonical(raw.max()))}"
                + (f", {bad} not finite" if bad else ""),
            )
        )
    node = value.grad_fn
    if node is not None:
        place = session.place_of(node.code, node.lasti)
        rows.append(("made by", node.name() + ("" if place is None else f" at {place.where()}: {place.text}")))
    elif value.requires_grad:
        rows.append(("history", "a leaf that requires a gradient"))
    else:
        rows.append(("history", "requires no gradient"))
    if value.grad is not None:
        rows.append(("grad", short(value.grad)))
    extra = value.extra
    if extra is not None and extra.base is not None:
        rows.append(("view of", session.name_of(extra.base) or "a tensor without a name"))
    changes = version_of(value)
    if changes:
        rows.append(("changed in place", f"{changes} time{'s' * (changes != 1)}"))
    return rows


class TypeRecord(Record):
    """The type of a value."""

    __slots__ = ("text", "value")
    kind = "type"

    def __init__(self, value: Any, text: str) -> None:
        self.value, self.text = value, text

    @classmethod
    def of(cls, value: Any) -> TypeRecord:
        return cls(value, _type_text(value))

    def draw(self, width: int) -> Sequence[Block]:
        return [Line(self.text)]

    def as_json(self) -> dict[str, Any]:
        found = fields_of(self.value)
        return {"kind": self.kind, "text": self.text, **{key: found[key] for key in ("dtype", "shape") if key in found}}


def _type_text(value: Any) -> str:
    if not isinstance(value, Tensor):
        return kind_of(value)
    return f"{type(value).__name__}, {value.dtype.name}, shape {tuple(value.shape)}" + (
        ", requires grad" if value.requires_grad else ""
    )
