"""Attributes, calls and subscripts."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import LOAD
from gradsh.lang.form import Form, emitted
from gradsh.lang.forms.operators import LeftDeep
from gradsh.lang.names import check_attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, expr_context, stmt

    from gradsh.lang.emitter import Emitter


class Attribute(LeftDeep):
    """`a.b`: a call of `.get`, which knows what each type lets a program read; no attribute node is ever made."""

    kind = "attribute"
    value: Form
    name: str

    def emit_on(self, operand: expr, out: Emitter) -> expr:
        at = out.at(self)
        return out.helper(".get", (operand, _ast.Constant(self.stored_name(out), **at)), at)

    def target(self, out: Emitter, context: expr_context) -> expr:
        """`a.b` where it is set or deleted: the item "b" of what `.member` makes of a."""
        at = out.at(self)
        members = out.helper(".member", (self.value.emit(out),), at)
        return _ast.Subscript(members, _ast.Constant(self.stored_name(out), **at), context, **at)

    def assigned(self, new: expr, out: Emitter, **at: int) -> stmt:
        """`a.b = new`: a call, which evaluates the new value first as Python does."""
        here = out.at(self)
        name = _ast.Constant(self.stored_name(out), **here)
        return _ast.Expr(out.helper(".assign", (new, self.value.emit(out), name), here), **at)

    def stored_name(self, out: Emitter) -> str:
        if not self.name.startswith("__") or (self.name == "__getattr__" and _is_super(self.value)):
            return self.name
        return out.private(check_attribute(self.name, self, out))


def _is_super(form: Form) -> bool:
    """Whether a form is `super()` in its text."""
    return isinstance(form, Call) and getattr(form.function, "name", None) == "super"


class Call(LeftDeep):
    kind = "function call"
    function: Form
    arguments: tuple[Form, ...] | None

    def emit_on(self, operand: expr, out: Emitter) -> expr:
        positional, keywords = arguments(self.arguments, out)
        return _ast.Call(operand, positional, keywords, **out.at(self))


class Subscript(LeftDeep):
    kind = "subscript"
    value: Form
    key: Form

    def emit_on(self, operand: expr, out: Emitter) -> expr:
        return _ast.Subscript(operand, self.emit_index(out), LOAD, **out.at(self))

    def target(self, out: Emitter, context: expr_context) -> expr:
        """The item where it is set or deleted."""
        return _ast.Subscript(self.value.emit(out), self.emit_index(out), context, **out.at(self))

    def emit_index(self, out: Emitter) -> expr:
        index: expr = self.key.emit(out)
        if type(index) is _ast.Starred:
            return _ast.Tuple([index], LOAD, **out.at(self.key))
        return index


class Slice(Form):
    kind = "slice"
    lower: Form | None
    upper: Form | None
    stride: Form | None

    def emit(self, out: Emitter) -> expr:
        parts = [emitted(part, out) for part in self[2:]]
        return _ast.Slice(*parts, **out.at(self))


class Starred(Form):
    kind = "starred"
    value: Form

    def emit(self, out: Emitter) -> expr:
        return _ast.Starred(self.value.emit(out), LOAD, **out.at(self))

    def target(self, out: Emitter, context: expr_context) -> expr:
        """What takes the values left over."""
        return _ast.Starred(self.value.target(out, context), context, **out.at(self))


class DoubleStarred(Form):
    value: Form


class Keyword(Form):
    name: str
    value: Form


def arguments(given: tuple[Form, ...] | None, out: Emitter) -> tuple[list[expr], list[_ast.keyword]]:
    """Positional and keyword arguments of a call, in the order that Python allows."""
    positional: list[expr] = []
    keywords: list[_ast.keyword] = []
    unpacked = False
    for argument in given or ():
        kind = type(argument)
        if kind is Keyword:
            keywords.append(_ast.keyword(argument.name, argument.value.emit(out), **out.at(argument)))
        elif kind is DoubleStarred:
            unpacked = True
            keywords.append(_ast.keyword(None, argument.value.emit(out), **out.at(argument)))
        elif kind is Starred:
            if unpacked:
                raise out.error(argument, "iterable argument unpacking follows keyword argument unpacking")
            positional.append(argument.emit(out))
        elif keywords:
            last = "keyword argument unpacking" if unpacked else "keyword argument"
            raise out.error(argument, f"positional argument follows {last}")
        else:
            positional.append(argument.emit(out))
    return positional, keywords
