"""Source text to a program that can run: parse, emit, compile."""

from __future__ import annotations

import gc
import sys
import warnings

from gradsh.fault import fault
from gradsh.lang.source import Shown, Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Literal

    from gradsh.lang.commands import CommandCall, Resolver
    from gradsh.lang.form import Statement
    from gradsh.lang.lexer import Lexer, Token
    from gradsh.lang.parser import Parser

    Dialect = Literal["shell", "torch"]

# How deeply expressions can nest on every Python; most go on to several thousand levels.
DEEPEST = 1000
# For trees that are deeper than usual: Python frames, and bytes of C stack (CPython's compiler takes up to some
# kilobytes a level).
_FRAMES, _STACK = 50_000, 256 << 20


class Program:
    """A compiled text.

    `shown[n]` and `commands[n]` are what `.show(value, n)` and `.command(n, values)` refer to, `statements[n]` the
    place of the statement after `.statement(n)`. `free_names`: names that the program reads from its outermost
    scopes, with the place where each is first read; `assigned`: names that it binds at module level. `warnings`: what
    Python's compiler remarks (`"is" with a literal. Did you mean "=="?`), with the line.
    """

    __slots__ = ("assigned", "code", "commands", "free_names", "shown", "source", "statements", "warnings")

    source: Source
    code: CodeType
    shown: list[Shown]
    commands: list[CommandCall]
    statements: list[Span]
    free_names: dict[str, Span]
    assigned: set[str]
    warnings: list[tuple[str, Span]]

    @property
    def forms(self) -> tuple[Statement, ...]:
        """Its statements; what an earlier run compiled is parsed when they are asked for."""
        return self.source.forms


def parse_program(source: Source, dialect: Dialect = "shell") -> tuple[Statement, ...]:
    """The forms of a text's statements; a SyntaxError fault where it is wrong, `Incomplete` where it stops early."""
    from gradsh.lang.parser import Unexpected

    lexer, parser = _language()
    tokens = lexer.tokens(source.text, dialect == "shell", skipped=source.skipped)
    try:
        forms: tuple[Statement, ...] = parser.parse(tokens)
    except Unexpected as unexpected:
        from gradsh.lang.syntax import syntax_error

        error = syntax_error(source, tokens, unexpected, parser.tables)
    else:
        source.forms = forms
        return forms
    raise error


def needs_more(text: str, dialect: Dialect = "shell") -> bool:
    """Whether what was typed so far goes on: in a bracket or string, or in a block, which an empty line ends."""
    from gradsh.lang.syntax import Incomplete

    blank = not text.rpartition("\n")[2].strip()
    try:
        forms = parse_program(Source("<input>", text), dialect)
    except Incomplete as error:
        return error.inside != "block" or not blank
    except SyntaxError:
        return False
    return bool(forms) and forms[-1].has_block and not blank


def compile_program(
    source: Source,
    *,
    dialect: Dialect = "shell",
    echo: bool | str = True,
    hooks: bool = False,
    signatures: Resolver | None = None,
    forms: tuple[Statement, ...] | None = None,
) -> Program:
    """A text as code, or those `forms` of it. Faults: SyntaxError and its kinds, `Incomplete`, CommandError.

    `echo`: the value of an expression statement outside functions goes to `.show(value, number)`; "last": only where a text
    ends with it, and not with a semicolon, as in a notebook's cells. `hooks`:
    `.statement(number)` is called before every statement. `signatures`: says how a command takes its arguments.
    """
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree has no cycles, and going through it again and again takes as long as making it
    try:
        return _compiled(source, dialect, echo, hooks, signatures, forms)
    finally:
        if collecting:
            gc.enable()


def _compiled(
    source: Source,
    dialect: Dialect,
    echo: bool | str,
    hooks: bool,
    signatures: Resolver | None,
    forms: tuple[Statement, ...] | None,
) -> Program:
    chosen = source.forms = parse_program(source, dialect) if forms is None else forms

    def emit() -> Program:
        return _emitted(source, chosen, dialect, echo, hooks, signatures)

    try:
        return emit()
    except RecursionError:
        pass
    return _with_room(emit, source, chosen)


def _emitted(
    source: Source,
    forms: tuple[Statement, ...],
    dialect: Dialect,
    echo: bool | str,
    hooks: bool,
    signatures: Resolver | None,
) -> Program:
    from _ast import Module

    from gradsh.lang.emitter import Emitter

    if echo == "last":
        echo = bool(forms) and not source.text[forms[-1].end :].lstrip().startswith(";")
        out = Emitter(source, dialect == "shell", echo, hooks, signatures, forms[-1] if forms else None)
    else:
        out = Emitter(source, dialect == "shell", bool(echo), hooks, signatures)
    tree = Module(out.block(forms), [])
    program = Program()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            program.code = compile(tree, source.filename, "exec", 0, True, 0)
        except SyntaxError as error:
            raise _at_place(error, source) from None
    program.warnings = [(str(warning.message), _line(source, warning.lineno)) for warning in heard]
    program.source = source
    program.shown, program.commands, program.statements = out.shown, out.commands, out.statements
    used = _names_used(program.code)
    program.free_names = {name: source.span(*place) for name, place in out.reads.items() if name in used}
    program.assigned = out.assigned
    return program


def _with_room(emit: Callable[[], Program], source: Source, forms: tuple[Statement, ...]) -> Program:
    """Do it again in a thread with a large stack; a fault if that is not enough either."""
    import threading

    made: list[Program] = []
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            made.append(emit())
        except BaseException as error:
            wrong.append(error)

    size, limit = threading.stack_size(_STACK), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, _FRAMES))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    except RuntimeError as error:
        # No room for the stack.
        wrong.append(RecursionError(str(error)))
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if made:
        return made[0]
    if not isinstance(wrong[0], RecursionError):
        raise wrong[0]
    span = source.span(forms[0].start, forms[-1].end)
    raise fault(SyntaxError, f"expression nested too deeply (limit {DEEPEST})", span=span)


def _at_place(error: SyntaxError, source: Source) -> BaseException:
    """What Python's compiler finds wrong with the tree (`return` outside a function …), as a fault with its place."""
    line, column = error.lineno or 1, error.offset or 1
    end_line, end_column = error.end_lineno or line, error.end_offset or column
    return fault(type(error), error.msg, span=Span(source, line, column, end_line, end_column))


def _line(source: Source, number: int) -> Span:
    """The text of a line, without its indentation."""
    line = source.lines[number - 1]
    return Span(source, number, len(line) - len(line.lstrip()) + 1, number, len(line.rstrip()) + 1)


def _names_used(code: CodeType) -> set[str]:
    """All names that code and the functions in it look up outside functions; helpers have attributes, we have none."""
    used: set[str] = set()
    waiting = [code]
    while waiting:
        code = waiting.pop()
        used.update(code.co_names)
        waiting += [constant for constant in code.co_consts if type(constant) is type(code)]
    return used


_made: list[tuple[Lexer, Parser]] = []


def _language() -> tuple[Lexer, Parser]:
    if not _made:
        from gradsh.lang.forms import FORMS
        from gradsh.lang.lexer import Lexer
        from gradsh.lang.parser import Parser
        from gradsh.lang.tables import load

        tables = load()
        _made.append((Lexer(tables), Parser(tables, FORMS)))
    return _made[0]


def keywords() -> list[str]:
    """The words that cannot be names, sorted."""
    return sorted(_language()[0].words)


def tokens(text: str, tolerant: bool = True, dialect: Dialect = "shell") -> list[Token]:
    """The tokens of a text, (type, start, end, text) each: for highlighting and completion."""
    return _language()[0].tokens(text, dialect == "shell", tolerant)
