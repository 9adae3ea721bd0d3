"""Emitted trees brought back to Python's own shape, to be compared with what Python's parser makes of the same text."""

from __future__ import annotations

import ast
from typing import Any

from gradsh.lang.emitter import Emitter
from gradsh.lang.form import Form
from gradsh.lang.source import Source

POWERS = {".pow": ast.Pow, ".lshift": ast.LShift, ".repeat": ast.Mult, ".percent": ast.Mod}
IN_PLACE = {".ipow": ast.Pow, ".ilshift": ast.LShift}


class OpenEmitter(Emitter):
    """An emitter that refuses no name."""

    def name(self, name: str, form: Form) -> str:
        return name

    def bind(self, name: str, form: Form) -> str:
        return name


def emitted(source: Source, statements: tuple[Any, ...], shell: bool = False) -> ast.Module:
    """What gradsh emits for statements without echo."""
    out = OpenEmitter(source, shell=shell, echo=False, hooks=False, signatures=None)
    return ast.Module(out.block(statements), [])


class Restored(ast.NodeTransformer):
    """Undoes what gradsh emits in place of attributes, guarded operators and bare `except`."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == ".get":
            return place(node, ast.Attribute(node.args[0], constant(node.args[1]), ast.Load()))
        if name in POWERS:
            return place(node, ast.BinOp(node.args[0], POWERS[name](), node.args[1]))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == ".member":
            return place(node, ast.Attribute(value.args[0], constant(node.slice), node.ctx))
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == ".assign":
            new, value, name = call.args
            return place(node, ast.Assign([place(call, ast.Attribute(value, constant(name), ast.Store()))], new))
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == ".format":
            return ast.FormattedValue(value.args[0], constant(value.args[1]), value.args[2])
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in IN_PLACE:
            target: Any = node.targets[0]
            return place(node, ast.AugAssign(target, IN_PLACE[value.func.id](), value.args[1]))
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        """Without the look at exceptions on their way, before a jump."""
        self.generic_visit(node)
        node.finalbody = [item for item in node.finalbody if ".in_finally" not in ast.dump(item)[:80]]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Without the rewording of what it caught."""
        node.body = [item for item in node.body if ".caught" not in ast.dump(item)[:80]]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Without the hidden names of its fields."""
        node.body = [item for item in node.body if ".fields" not in ast.dump(item)]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.Name("Exception", node.ctx) if node.id == ".Exception" else node


def constant(node: ast.AST) -> Any:
    assert isinstance(node, ast.Constant)
    return node.value


def place(old: Any, new: Any) -> Any:
    return ast.copy_location(new, old)


class Plain(ast.NodeTransformer):
    """Python's tree without what gradsh leaves out, annotations, and with private names as they are stored."""

    owner = ""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        return None if node.value is None else place(node, ast.Assign([node.target], node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if self.owner and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.owner}{node.attr}"
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        outer, self.owner = self.owner, node.name.lstrip("_")
        self.generic_visit(node)
        self.owner = outer
        node.body = node.body or [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """Some Pythons leave empty texts in f-strings."""
        self.generic_visit(node)
        node.values = [value for value in node.values if not isinstance(value, ast.Constant) or value.value]
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        if node.type is None:
            node.type = ast.Name("Exception", ast.Load())
        return node


def described(node: Any, lines: list[str] | None = None, placed: bool = True) -> Any:
    """A tree as nested tuples with places; `lines` turns Python's columns in bytes into characters.

    Places inside f-strings differ between Pythons, and those of a call's only generator include the call's brackets.
    """
    if isinstance(node, list):
        return tuple(described(item, lines, placed) for item in node)
    if not isinstance(node, ast.AST):
        return repr(node)
    placed = placed and not isinstance(node, ast.JoinedStr)
    fields = [name for name in node._fields if name not in ("type_comment", "type_params", "kind")]
    made: list[Any] = [
        type(node).__name__,
        *((name, described(getattr(node, name, None), lines, placed)) for name in fields),
    ]
    if placed and isinstance(node, ast.expr | ast.stmt | ast.ExceptHandler) and not isinstance(node, ast.GeneratorExp):
        end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
        made += [
            node.lineno,
            _column(lines, node.lineno, node.col_offset),
            end_line,
            _column(lines, end_line, end_column),
        ]
    return tuple(made)


def _column(lines: list[str] | None, line: int, column: int) -> int:
    return column if lines is None else len(lines[line - 1].encode()[:column].decode())
