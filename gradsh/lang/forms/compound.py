"""Statements with blocks: if, while, for, try and with."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import LOAD, STORE
from gradsh.lang.form import Form, Statement
from gradsh.lang.forms.definitions import Class, Function
from gradsh.lang.forms.displays import Tuple
from gradsh.lang.forms.simple import Break, Continue, Return

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import stmt
    from typing import Any

    from gradsh.lang.emitter import Emitter

    Block = tuple[Statement, ...]


class If(Statement):
    has_block = True
    test: Form
    body: Block
    otherwise: Elif | Block | None

    def emit(self, out: Emitter) -> stmt:
        """Python nests each `elif` in the one before it; the loop keeps us from doing the same."""
        first = branch = _ast.If(self.test.emit(out), out.block(self.body), [], **out.at(self))
        otherwise = self.otherwise
        while type(otherwise) is Elif:
            following = _ast.If(otherwise.test.emit(out), out.block(otherwise.body), [], **out.at(otherwise))
            branch.orelse.append(following)
            branch, otherwise = following, otherwise.otherwise
        if otherwise is not None:
            branch.orelse = out.block(otherwise)
        return first


class Elif(Form):
    test: Form
    body: Block
    otherwise: Elif | Block | None


class While(Statement):
    has_block = True
    test: Form
    body: Block
    otherwise: Block | None

    def emit(self, out: Emitter) -> stmt:
        otherwise = out.block(self.otherwise) if self.otherwise else []
        return _ast.While(self.test.emit(out), out.block(self.body), otherwise, **out.at(self))


class For(Statement):
    has_block = True
    targets: Form
    values: Form
    body: Block
    otherwise: Block | None

    def emit(self, out: Emitter) -> stmt:
        values, targets = self.values.emit(out), self.targets.target(out, STORE)
        body = out.block(self.body)
        return _ast.For(targets, values, body, out.block(self.otherwise) if self.otherwise else [], **out.at(self))


class Try(Statement):
    has_block = True
    body: Block
    handlers: tuple[Handler, ...]
    otherwise: Block | None
    final: Block | None

    def emit(self, out: Emitter) -> stmt:
        body = out.block(self.body)
        for handler in self.handlers[:-1]:
            if handler.kinds is None:
                raise out.error(handler, "default 'except:' must be last")
        handlers = [handler.emit(out) for handler in self.handlers]
        otherwise = out.block(self.otherwise) if self.otherwise else []
        return _ast.Try(body, handlers, otherwise, final(self.final, out) if self.final else [], **out.at(self))


class Handler(Form):
    """`except`; a bare one catches what is an Exception: interrupts and limits are none."""

    kinds: Form | None
    name: str | None
    body: Block

    def emit(self, out: Emitter) -> _ast.ExceptHandler:
        at = out.at(self)
        kinds = self.kinds.emit(out) if self.kinds else _ast.Name(".Exception", LOAD, **at)
        name = self.name and out.bind(self.name, self)
        body = out.block(self.body)
        if name:
            body.insert(0, _ast.Expr(out.helper(".caught", (), at), **at))
        return _ast.ExceptHandler(kinds, name, body, **at)


def final(body: Block, out: Emitter) -> list[stmt]:
    """A `finally` block. One that jumps would drop an exception on its way: limits and interrupts stop it first."""
    made = out.block(body)
    if any(_jumps(statement) for statement in body):
        at = out.at(body[0])
        made.insert(0, _ast.Expr(out.helper(".in_finally", (), at), **at))
    return made


def _jumps(statement: Form) -> bool:
    """Whether a statement holds a `return`, `break` or `continue` of this function."""
    waiting: list[Any] = [statement]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Return | Break | Continue):
            return True
        if not isinstance(item, Function | Class):
            waiting += [part for part in item if isinstance(part, tuple)]
    return False


class TryFinally(Statement):
    has_block = True
    body: Block
    final: Block

    def emit(self, out: Emitter) -> stmt:
        return _ast.Try(out.block(self.body), [], [], final(self.final, out), **out.at(self))


class With(Statement):
    has_block = True
    items: tuple[Form, ...]
    body: Block

    def emit(self, out: Emitter) -> stmt:
        items = []
        for item in self.parenthesised(out) or self.items:
            value, name = (item.value, item.name) if type(item) is WithItem else (item, None)
            items.append(_ast.withitem(value.emit(out), None if name is None else name.target(out, STORE)))
        return _ast.With(items, out.block(self.body), **out.at(self))

    def parenthesised(self, out: Emitter) -> tuple[Form, ...]:
        """`with (a, b):` has two items and not one tuple, as in Python."""
        value = self.items[0].value if type(self.items[0]) is WithItem and self.items[0].name is None else None
        return value.items if len(self.items) == 1 and type(value) is Tuple else ()


class WithItem(Form):
    value: Form
    name: Form | None
