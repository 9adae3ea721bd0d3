"""Tuples, lists, sets, dicts, comprehensions and generator expressions."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import LOAD, STORE
from gradsh.lang.form import Form
from gradsh.lang.forms.access import DoubleStarred

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, expr_context

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest


class Tuple(Form):
    kind = "tuple"
    items: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        return _ast.Tuple([item.emit(out) for item in self.items], LOAD, **out.at(self))

    def target(self, out: Emitter, context: expr_context) -> expr:
        """Targets to unpack into."""
        return _ast.Tuple(_targets(self.items, out, context), context, **out.at(self))


class List(Form):
    """With shell defaults a list has arithmetic, which `.list` gives it."""

    kind = "list"
    items: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        at = out.at(self)
        made = _ast.List([item.emit(out) for item in self.items], LOAD, **at)
        return out.helper(".list", (made,), at) if out.shell else made

    def target(self, out: Emitter, context: expr_context) -> expr:
        """Targets to unpack into."""
        return _ast.List(_targets(self.items, out, context), context, **out.at(self))


class Set(Form):
    kind = "set display"
    items: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        return _ast.Set([item.emit(out) for item in self.items], **out.at(self))


class Pair(Form):
    key: Form
    value: Form


class Dict(Form):
    kind = "dict literal"
    pairs: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        keys: list[expr | None] = []
        values: list[expr] = []
        for pair in self.pairs:
            keys.append(None if type(pair) is DoubleStarred else pair.key.emit(out))
            values.append(pair.value.emit(out))
        return _ast.Dict(keys, values, **out.at(self))


class Clauses(Form):
    """The `for` and `if` parts of a comprehension."""

    clauses: Rest[Form]


class ForClause(Form):
    targets: Form
    values: Form


class IfClause(Form):
    test: Form


class Comprehension(Form, rule=""):
    """What comprehensions share; the item is evaluated last, and inside."""

    item: Form
    clauses: Clauses

    def parts(self, out: Emitter) -> list[_ast.comprehension]:
        """The clauses as Python has them; call it before the item is emitted."""
        made: list[_ast.comprehension] = []
        for clause in self.clauses.clauses:
            if type(clause) is ForClause:
                values = clause.values.emit(out)
                made.append(_ast.comprehension(clause.targets.target(out, STORE), values, [], 0))
            else:
                made[-1].ifs.append(clause.test.emit(out))
        return made

    def emit(self, out: Emitter) -> expr:
        out.comprehensions += 1
        try:
            return self.emit_inside(out)
        finally:
            out.comprehensions -= 1

    def emit_inside(self, out: Emitter) -> expr:
        raise NotImplementedError


class Generator(Comprehension):
    kind = "generator expression"

    def emit_inside(self, out: Emitter) -> expr:
        parts = self.parts(out)
        return _ast.GeneratorExp(self.item.emit(out), parts, **out.at(self))


class ListComprehension(Comprehension):
    kind = "list comprehension"

    def emit_inside(self, out: Emitter) -> expr:
        parts = self.parts(out)
        at = out.at(self)
        made = _ast.ListComp(self.item.emit(out), parts, **at)
        return out.helper(".list", (made,), at) if out.shell else made


class SetComprehension(Comprehension):
    kind = "set comprehension"

    def emit_inside(self, out: Emitter) -> expr:
        parts = self.parts(out)
        return _ast.SetComp(self.item.emit(out), parts, **out.at(self))


class DictComprehension(Comprehension):
    kind = "dict comprehension"

    def emit_inside(self, out: Emitter) -> expr:
        parts = self.parts(out)
        key, value = self.item.key.emit(out), self.item.value.emit(out)
        return _ast.DictComp(key, value, parts, **out.at(self))


def _targets(items: tuple[Form, ...], out: Emitter, context: expr_context) -> list[expr]:
    return [item.target(out, context) for item in items]
