"""What a form needs while it becomes a Python syntax tree: places, helper names, scopes and the program's tables."""

from __future__ import annotations

from _ast import Call, Constant, Expr, Load, Name, NamedExpr, Pass, Store, Subscript, Tuple
from _bisect import bisect_right

from gradsh.fault import fault
from gradsh.lang.names import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, stmt
    from collections.abc import Sequence
    from typing import Any

    from gradsh.lang.commands import CommandCall, Resolver
    from gradsh.lang.form import Form, Statement
    from gradsh.lang.source import Shown, Source, Span

LOAD, STORE = Load(), Store()
# A left-deep chain longer than this is cut into steps: CPython's compiler recurses over the tree.
LONGEST_CHAIN = 200


class Emitter:
    """Carries one program's forms over to Python's syntax tree."""

    def __init__(
        self,
        source: Source,
        shell: bool,
        echo: bool,
        hooks: bool,
        signatures: Resolver | None,
        only: Statement | None = None,
    ) -> None:
        # Where only one statement is echoed: that one.
        self.only = only
        self.source, self.shell, self.echo, self.hooks, self.signatures = source, shell, echo, hooks, signatures
        self.starts, self.margins = source.starts, source.margins
        # The line of the last place asked for: its number, its offsets, and the offset of its column 0.
        self.line, self.low, self.high, self.base = 1, 0, 0, 0
        self.shown: list[Shown] = []
        self.commands: list[CommandCall] = []
        self.statements: list[Span] = []
        # Where each name is first read; what is bound at module level.
        self.reads: dict[str, tuple[int, int]] = {}
        self.assigned: set[str] = set()
        # Functions, classes and lambdas around this point, comprehensions, and the innermost class, for private names.
        self.definitions = 0
        self.comprehensions = 0
        self.class_name: str | None = None
        # Names of the fields annotated in the class body around this point; None outside one.
        self.fields: list[str] | None = None
        self.first_statement: Statement | None = None

    # ------------------------------------------------------------------------------------------------------ places

    def at(self, form: Form) -> dict[str, Any]:
        """The place of a form, as keyword arguments of a Python syntax node."""
        return self.between(form[0], form[1])

    def between(self, start: int, end: int) -> dict[str, Any]:
        if self.low <= start and end < self.high:
            base, line = self.base, self.line
            return {"lineno": line, "col_offset": start - base, "end_lineno": line, "end_col_offset": end - base}
        line, column = self.find(start)
        end_line, end_column = (line, column + end - start) if end < self.high else self.source.position(end)
        return {"lineno": line, "col_offset": column, "end_lineno": end_line, "end_col_offset": end_column}

    def find(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset; its line is remembered, since most of what follows is on it too."""
        line = min(bisect_right(self.starts, offset), len(self.starts) - 1)
        self.line, self.low, self.high = line, self.starts[line - 1], self.starts[line]
        self.base = self.low - self.margins.get(line, 0)
        return line, offset - self.base

    def error(self, form: Form, message: str, hint: str | None = None) -> BaseException:
        """A syntax error at a form, to raise."""
        return fault(SyntaxError, message, hint=hint, span=self.source.span(form.start, form.end))

    # ------------------------------------------------------------------------------------------------------- nodes

    def helper(self, name: str, arguments: Sequence[expr], at: dict[str, Any]) -> Call:
        """A call of one of our own helpers; their names start with a dot, which no program can write."""
        return Call(Name(name, LOAD, **at), [*arguments], [], **at)

    def name(self, name: str, form: Form) -> str:
        """A variable's name, refused where it is closed."""
        return check_name(name, form, self) if name.startswith("__") else name

    def read(self, name: str, form: Form) -> None:
        """Take note of a name that a program reads."""
        self.reads.setdefault(self.name(name, form), (form.start, form.end))

    def bind(self, name: str, form: Form) -> str:
        """A name that a program binds."""
        if not self.definitions and not self.comprehensions:
            self.assigned.add(name)
        return self.name(name, form)

    def bind_global(self, name: str, form: Form) -> str:
        """A name that a function binds at module level."""
        self.assigned.add(name)
        return self.name(name, form)

    def private(self, name: str) -> str:
        """An attribute's name as Python stores it: `__x` belongs to the class around it."""
        if name.startswith("__") and not name.endswith("__") and self.class_name is not None:
            owner = self.class_name.lstrip("_")
            return f"_{owner}{name}" if owner else name
        return name

    def block(self, statements: Sequence[Statement]) -> list[stmt]:
        """The statements of a block; every statement of a program passes here."""
        body: list[stmt] = []
        if self.first_statement is None and statements:
            self.first_statement = statements[0]
        for statement in statements:
            if self.hooks:
                number = len(self.statements)
                self.statements.append(self.source.span(statement.start, statement.end))
                at = self.at(statement)
                hook = Expr(self.helper(".statement", [Constant(number, **at)], at), **at)
                # A string that opens a function or class stays first: that is what makes it its documentation.
                if body or not statement.is_text():
                    body.append(hook)
            made = statement.emit(self)
            if type(made) is list:
                body += made
            else:
                body.append(made)
        return body or [Pass(**self.between(0, 0))]

    def in_steps(self, steps: list[expr], last: expr, at: dict[str, Any]) -> expr:
        """Evaluate `steps`, which leave their value in `.step`, then `last`: that is the value."""
        done = NamedExpr(Name(".step", STORE, **at), Constant(None, **at), **at)
        return Subscript(Tuple([*steps, last, done], LOAD, **at), Constant(-2, **at), LOAD, **at)

    def step(self, value: expr, at: dict[str, Any]) -> tuple[expr, expr]:
        """A step that keeps `value`, and what reads it."""
        return NamedExpr(Name(".step", STORE, **at), value, **at), Name(".step", LOAD, **at)
