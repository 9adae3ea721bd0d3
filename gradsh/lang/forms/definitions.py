"""Functions, classes, lambdas and their parameters."""

from __future__ import annotations

import _ast
import sys

from gradsh.lang.emitter import STORE
from gradsh.lang.form import Form, Statement, emitted
from gradsh.lang.forms.access import arguments
from gradsh.lang.names import DEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, stmt
    from typing import Any

    from gradsh.lang.emitter import Emitter

    Block = tuple[Statement, ...]


# Pythons from 3.12 on have type parameters, and must be told that there are none.
_NO_TYPE_PARAMETERS: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}


class TypedName(Form):
    name: str
    annotation: Form


class Parameter(Form):
    name: str | TypedName
    default: Form | None


class LambdaParameter(Form):
    name: str
    default: Form | None


class StarParameter(Form):
    name: str | TypedName


class LambdaStar(Form):
    name: str


class DoubleStarParameter(Form):
    name: str | TypedName


class LambdaDoubleStar(Form):
    name: str


class PositionalMark(Form):
    pass


class KeywordMark(Form):
    pass


def parameters(given: tuple[Form, ...] | None, out: Emitter) -> _ast.arguments:
    """The parameters of a function, in the order that Python allows; defaults are evaluated outside it."""
    positional_only: list[_ast.arg] = []
    positional: list[_ast.arg] = []
    keyword_only: list[_ast.arg] = []
    defaults: list[expr] = []
    keyword_defaults: list[expr | None] = []
    star: _ast.arg | None = None
    double_star: _ast.arg | None = None
    starred: Form | None = None
    for item in given or ():
        kind = type(item)
        if double_star is not None:
            raise out.error(item, "arguments cannot follow var-keyword argument")
        if kind is PositionalMark:
            if starred is not None:
                raise out.error(item, "/ must be ahead of *")
            if positional_only:
                raise out.error(item, "/ may appear only once")
            if not positional:
                raise out.error(item, "at least one argument must precede /")
            positional_only, positional = positional, []
        elif kind is KeywordMark or kind is StarParameter or kind is LambdaStar:
            if starred is not None:
                raise out.error(item, "* argument may appear only once")
            starred = item
            star = None if kind is KeywordMark else _argument(item, out)
        elif kind is DoubleStarParameter or kind is LambdaDoubleStar:
            double_star = _argument(item, out)
        elif starred is not None:
            keyword_only.append(_argument(item, out))
            keyword_defaults.append(emitted(item.default, out))
        else:
            if item.default is not None:
                defaults.append(item.default.emit(out))
            elif defaults:
                raise out.error(item, "non-default argument follows default argument")
            positional.append(_argument(item, out))
    if type(starred) is KeywordMark and not keyword_only:
        raise out.error(starred, "named arguments must follow bare *")
    return _ast.arguments(positional_only, positional, star, keyword_only, keyword_defaults, double_star, defaults)


def _argument(item: Form, out: Emitter) -> _ast.arg:
    """A parameter by its name, which stands after the stars and before the default."""
    name = item.name
    if type(name) is TypedName:
        return _ast.arg(out.name(name.name, item), **out.at(name))
    starred = type(item) not in (Parameter, LambdaParameter)
    start = item.end - len(name) if starred else item.start
    return _ast.arg(out.name(name, item), **out.between(start, start + len(name)))


class Lambda(Form):
    kind = "lambda"
    parameters: tuple[Form, ...] | None
    value: Form

    def emit(self, out: Emitter) -> expr:
        made = parameters(self.parameters, out)
        comprehensions, out.comprehensions = out.comprehensions, 0
        out.definitions += 1
        value = self.value.emit(out)
        out.definitions -= 1
        out.comprehensions = comprehensions
        return _ast.Lambda(made, value, **out.at(self))


class Function(Statement):
    """`def`; annotations are not evaluated."""

    has_block = True
    name: str
    parameters: tuple[Form, ...] | None
    result: Form | None
    body: Block

    def emit(self, out: Emitter, decorators: tuple[Form, ...] = ()) -> stmt:
        before = [decorator.emit(out) for decorator in decorators]
        made = parameters(self.parameters, out)
        fields, out.fields = out.fields, None
        out.definitions += 1
        body = out.block(self.body)
        out.definitions -= 1
        out.fields = fields
        hidden = out.fields is not None and self.name in DEFINED
        name = self.name if hidden else out.bind(self.name, self)
        return _ast.FunctionDef(name, made, body, before, None, None, **_NO_TYPE_PARAMETERS, **out.at(self))


class Class(Statement):
    """`class`, without keywords; `.fields` holds the names annotated in it, if there are any."""

    has_block = True
    name: str
    arguments: tuple[Form, ...] | None
    body: Block

    def emit(self, out: Emitter, decorators: tuple[Form, ...] = ()) -> stmt:
        at = out.at(self)
        before = [decorator.emit(out) for decorator in decorators]
        bases, keywords = arguments(self.arguments, out)
        if keywords or any(type(base) is _ast.Starred for base in bases):
            raise out.error((self.arguments or ())[-1], "a class takes no keywords and no stars, only bases")
        outer = out.fields, out.class_name
        out.fields, out.class_name = [], self.name
        out.definitions += 1
        body = out.block(self.body)
        out.definitions -= 1
        if out.fields:
            names: Any = tuple(out.fields)
            body.append(_ast.Assign([_ast.Name(".fields", STORE, **at)], _ast.Constant(names, **at), **at))
        out.fields, out.class_name = outer
        return _ast.ClassDef(out.bind(self.name, self), bases, [], body, before, **_NO_TYPE_PARAMETERS, **at)


class Decorated(Statement):
    has_block = True
    decorators: tuple[Form, ...]
    definition: Function | Class

    def emit(self, out: Emitter) -> stmt:
        return self.definition.emit(out, self.decorators)
