"""Statements on one line: expressions, assignments, and those of one word."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import LOAD, STORE
from gradsh.lang.form import Form, Statement, emitted
from gradsh.lang.forms.access import Attribute, Subscript
from gradsh.lang.forms.displays import List, Tuple
from gradsh.lang.forms.operators import BINARY, GUARDED
from gradsh.lang.forms.strings import Strings
from gradsh.lang.forms.values import Name
from gradsh.lang.source import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, stmt
    from collections.abc import Sequence
    from typing import Any

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest

DELETE = _ast.Del()
# What an `=` after it may have been meant to compare.
_COMPARABLE = frozenset(
    (
        "expression",
        "function call",
        "literal",
        "f-string expression",
        "ellipsis",
        "dict literal",
        "set display",
        "yield expression",
    )
)


class ExpressionStatement(Statement):
    value: Form

    def emit(self, out: Emitter) -> stmt:
        at = out.at(self)
        value = self.value.emit(out)
        if out.echo and not out.definitions and not self.is_heading(out) and (out.only is None or out.only is self):
            number = len(out.shown)
            name = self.value.name if type(self.value) is Name else None
            out.shown.append(Shown(out.source, self.value.start, self.value.end, name))
            value = out.helper(".show", (value, _ast.Constant(number, **at)), at)
        return _ast.Expr(value, **at)

    def is_text(self) -> bool:
        return type(self.value) is Strings and not self.value.has_fields()

    def is_heading(self, out: Emitter) -> bool:
        """Whether this is the string that opens a file, which says what it is about."""
        return self.is_text() and self is out.first_statement and not out.source.name.startswith("<")


class Assign(Statement):
    """Targets, and last the value."""

    parts: Rest[Form]

    def emit(self, out: Emitter) -> stmt:
        *targets, value = self.parts
        first = targets[0]
        if len(targets) == 1 and first.described() in _COMPARABLE:
            raise out.error(first, f"cannot assign to {first.described()} here. Maybe you meant '==' instead of '='?")
        return _assigned(targets, value, out, **out.at(self))


def _assigned(targets: Sequence[Form], value: Form, out: Emitter, **at: Any) -> stmt:
    if len(targets) == 1 and type(targets[0]) is Attribute:
        return targets[0].assigned(value.emit(out), out, **at)
    return _ast.Assign([target.target(out, STORE) for target in targets], value.emit(out), **at)


class Augmented(Statement):
    """`a += b`. What has a guard is `a = .ipow(a, b)`, or for an item a call that evaluates its parts once."""

    place: Form
    operator: str
    value: Form

    def emit(self, out: Emitter) -> stmt:
        place, operator, at = self.place, self.operator[:-1], out.at(self)
        kind = type(place)
        if kind is not Name and kind is not Attribute and kind is not Subscript:
            raise out.error(place, f"'{place.described()}' is an illegal expression for augmented assignment")
        helper = "caret" if operator == "^" and out.shell else GUARDED.get(operator)
        if kind is Name:
            out.read(place.name, place)
        if helper is None:
            return _ast.AugAssign(place.target(out, STORE), BINARY[operator], self.value.emit(out), **at)
        if kind is Name:
            result = out.helper(f".i{helper}", (place.emit(out), self.value.emit(out)), at)
            return _ast.Assign([place.target(out, STORE)], result, **at)
        item = place.target(out, STORE)
        index = self.index_value(item.slice, out)
        pending = out.helper(f".i{helper}_item", (item.value, index), out.at(place))
        return _ast.Expr(_ast.Call(pending, [self.value.emit(out)], [], **at), **at)

    def index_value(self, index: expr, out: Emitter) -> expr:
        """A subscript's index as a value that can be passed: slices are made by a call."""
        at = out.at(self.place)
        if type(index) is _ast.Slice:
            parts = [part or _ast.Constant(None, **at) for part in (index.lower, index.upper, index.step)]
            return out.helper(".slice", parts, at)
        if type(index) is _ast.Tuple:
            return _ast.Tuple([self.index_value(part, out) for part in index.elts], LOAD, **at)
        return index


class Annotated(Statement):
    """`x: T = value`; T is not evaluated, and in a class the names are kept in order, for @dataclass."""

    place: Form
    annotation: Form
    value: Form | None

    def emit(self, out: Emitter) -> stmt | list[stmt]:
        place = self.place
        if type(place) not in (Name, Attribute, Subscript):
            if type(place) in (Tuple, List):
                raise out.error(place, f"only single target (not {place.described()}) can be annotated")
            raise out.error(place, "illegal target for annotation")
        if out.fields is not None and self.is_field(out):
            out.fields.append(place.name)
        if self.value is None:
            return []
        return _assigned([place], self.value, out, **out.at(self))

    def is_field(self, out: Emitter) -> bool:
        """Whether this names a field of instances for the first time."""
        text = out.source.text[self.annotation.start : self.annotation.end]
        of_class = text.partition("[")[0].rpartition(".")[2] == "ClassVar"
        return type(self.place) is Name and not of_class and self.place.name not in (out.fields or ())


class Delete(Statement):
    targets: Form

    def emit(self, out: Emitter) -> stmt:
        listed = type(self.targets) is Tuple and self.targets.items
        places = self.targets.items if listed else (self.targets,)
        return _ast.Delete([place.target(out, DELETE) for place in places], **out.at(self))


class Pass(Statement):
    def emit(self, out: Emitter) -> stmt:
        return _ast.Pass(**out.at(self))


class Break(Statement):
    def emit(self, out: Emitter) -> stmt:
        return _ast.Break(**out.at(self))


class Continue(Statement):
    def emit(self, out: Emitter) -> stmt:
        return _ast.Continue(**out.at(self))


class Return(Statement):
    value: Form | None

    def emit(self, out: Emitter) -> stmt:
        return _ast.Return(emitted(self.value, out), **out.at(self))


class Raise(Statement):
    error: Form | None
    cause: Form | None

    def emit(self, out: Emitter) -> stmt:
        return _ast.Raise(emitted(self.error, out), emitted(self.cause, out), **out.at(self))


class Assert(Statement):
    test: Form
    message: Form | None

    def emit(self, out: Emitter) -> stmt:
        return _ast.Assert(self.test.emit(out), emitted(self.message, out), **out.at(self))


class Global(Statement):
    names: Rest[str]

    def emit(self, out: Emitter) -> stmt:
        return _ast.Global([out.bind_global(name, self) for name in self.names], **out.at(self))


class Nonlocal(Statement):
    names: Rest[str]

    def emit(self, out: Emitter) -> stmt:
        return _ast.Nonlocal([out.name(name, self) for name in self.names], **out.at(self))


class Yielded(Form):
    kind = "yield expression"
    value: Form | None

    def emit(self, out: Emitter) -> expr:
        return _ast.Yield(emitted(self.value, out), **out.at(self))


class YieldedFrom(Form):
    kind = "yield expression"
    value: Form

    def emit(self, out: Emitter) -> expr:
        return _ast.YieldFrom(self.value.emit(out), **out.at(self))
