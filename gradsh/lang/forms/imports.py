"""Imports: calls of `.import` and `.import_from`, which know what there is."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import STORE
from gradsh.lang.form import Form, Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, stmt

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest


class DottedName(Form):
    names: Rest[str]


class Imported(Form):
    module: DottedName
    name: str | None


class Import(Statement):
    """`import a.b` binds a, `import a.b as c` binds b: `.import("a.b", True)` is the first."""

    modules: Rest[Imported]

    def emit(self, out: Emitter) -> list[stmt]:
        made: list[stmt] = []
        for item in self.modules:
            path = item.module.names
            arguments: list[str | bool] = [".".join(path), item.name is None]
            made.append(_bind(item.name or path[0], ".import", arguments, item, out))
        return made


class ImportedName(Form):
    name: str
    alias: str | None


class ImportFrom(Statement):
    module: DottedName
    names: Rest[ImportedName]

    def emit(self, out: Emitter) -> list[stmt]:
        path = ".".join(self.module.names)
        return [_bind(item.alias or item.name, ".import_from", [path, item.name], item, out) for item in self.names]


def _bind(name: str, helper: str, arguments: list[str | bool], form: Form, out: Emitter) -> stmt:
    """`name = helper(arguments)`."""
    at = out.at(form)
    values: list[expr] = [_ast.Constant(argument, **at) for argument in arguments]
    return _ast.Assign([_ast.Name(out.bind(name, form), STORE, **at)], out.helper(helper, values, at), **at)
