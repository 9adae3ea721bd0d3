"""The language: text to forms to Python code, and faults that point into the text.

    source = Source.add(name="model.grad", text=text)
    program = compile_program(source, dialect="shell", echo=True, hooks=False, signatures=resolver)
    exec(program.code, {"__builtins__": {**names, **builtin_names(), **runtime_names()}, "__name__": "__main__"})

Emitted code calls helpers whose names start with a dot. Beside those of `runtime_names` it takes from the session:
`.show(value, number)` where it echoes, `.command(number, values)`, `.statement(number)` with hooks,
`.import(path, top)` and `.import_from(path, name)`; `.list(values)` makes the lists of shell defaults.
"""

from __future__ import annotations

from gradsh.lang.program import Program, compile_program, keywords, needs_more, parse_program, tokens
from gradsh.lang.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.lang.builtins import builtin_names, runtime_names
    from gradsh.lang.syntax import Incomplete

__all__ = [
    "Incomplete",
    "Program",
    "Source",
    "Span",
    "builtin_names",
    "compile_program",
    "keywords",
    "needs_more",
    "parse_program",
    "runtime_names",
    "tokens",
]


def __getattr__(name: str) -> Any:
    """What only running a program needs is loaded when it is asked for."""
    if name in ("builtin_names", "runtime_names"):
        from gradsh.lang import builtins

        return getattr(builtins, name)
    if name == "Incomplete":
        from gradsh.lang.syntax import Incomplete

        return Incomplete
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
