"""Compiled programs, kept from one run to the next as Python keeps its modules."""

from __future__ import annotations

import os
import sys

from gradsh.lang.program import Program, compile_program
from gradsh.lang.source import Shown, Span
from gradsh.stored import key_of_files, key_of_text, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.lang.commands import Resolver
    from gradsh.lang.program import Dialect
    from gradsh.lang.source import Source

# Shorter texts are compiled in about the time that it takes to look for them; in characters.
SHORTEST = 2_000
# Of all programs that are kept together, in bytes.
MOST = 32 << 20

_HERE = os.path.dirname(os.path.abspath(__file__))
_compiler: list[str] = []


def compiler_key() -> str:
    """A key that changes when any file of the compiler, or the grammar, does."""
    if not _compiler:
        from gradsh.lang.tables import sources

        paths = [os.path.join(folder, name) for folder, _, names in os.walk(_HERE) for name in names]
        paths = sorted(path for path in paths if path.endswith(".py"))
        _compiler.append(key_of_files([*paths, *sources()], sys.implementation.cache_tag or "", sys.version))
    return _compiler[0]


def compiled_program(source: Source, *, dialect: Dialect, echo: bool | str, signatures: Resolver) -> Program:
    """What `compile_program` makes, or made in an earlier run. Programs with commands are always compiled anew."""
    made: list[Program] = []

    def compiled() -> Program:
        return compile_program(source, dialect=dialect, echo=echo, signatures=signatures)

    def make() -> Any:
        made.append(compiled())
        return None if made[0].commands else _packed(made[0])

    if len(source.given) < SHORTEST:
        return compiled()
    about = compiler_key(), source.filename, source.name, dialect, str(echo)
    parts = stored("program", lambda: key_of_text(*about, source.given), make, MOST)
    if made:
        return made[0]
    if parts is None:
        return compiled()
    source.dialect = dialect
    return _unpacked(source, parts)


def _packed(program: Program) -> tuple[Any, ...]:
    return (
        program.code,
        [(shown.start, shown.end, shown.name) for shown in program.shown],
        {name: _place(span) for name, span in program.free_names.items()},
        sorted(program.assigned),
        [(text, _place(span)) for text, span in program.warnings],
        program.source.skipped,
    )


def _unpacked(source: Source, parts: tuple[Any, ...]) -> Program:
    program = Program()
    code, shown, free_names, assigned, warnings, skipped = parts
    program.source, program.code, program.commands, program.statements = source, code, [], []
    program.shown = [Shown(source, *each) for each in shown]
    program.free_names = {name: Span(source, *place) for name, place in free_names.items()}
    program.assigned = set(assigned)
    program.warnings = [(text, Span(source, *place)) for text, place in warnings]
    source.skipped = skipped
    return program


def _place(span: Span) -> tuple[int, int, int, int]:
    return span.line, span.column, span.end_line, span.end_column
