"""`:` commands: a name, operands, and clauses that a word or a key begins."""

from __future__ import annotations

import _ast

from gradsh.fault import CommandError, details_of, fault
from gradsh.lang.commands import Argument, CommandCall
from gradsh.lang.emitter import LOAD
from gradsh.lang.form import Form, Statement
from gradsh.lang.forms.strings import decoded
from gradsh.lang.forms.values import Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr, stmt
    from typing import Any

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest


class Operands(Form):
    values: Rest[Form]


class WordClause(Form):
    """The word, then what follows it."""

    word: tuple[str]
    values: Rest[Form]


class PathClause(Form):
    path: Path | str


class Path(Form):
    kind = "path"
    text: str

    def emit(self, out: Emitter) -> expr:
        return _ast.Constant(self.text, **out.at(self))


class Option(Form):
    name: str
    value: Form


class Command(Statement):
    name: str
    parts: Rest[Any]

    def emit(self, out: Emitter) -> stmt:
        at = out.at(self)
        call = self.call(out)
        modes = self.check(call, out)
        values: list[expr] = []
        for argument, mode in zip(call.arguments, modes, strict=True):
            here = out.at(argument.form)
            if mode == "value":
                values.append(argument.form.emit(out))
            elif mode == "thunk":
                out.definitions += 1
                nothing = _ast.arguments([], [], None, [], [], None, [])
                values.append(_ast.Lambda(nothing, argument.form.emit(out), **here))
                out.definitions -= 1
            else:
                values.append(_ast.Constant(None, **here))
        number = len(out.commands)
        out.commands.append(call)
        given = (_ast.Constant(number, **at), _ast.Tuple(values, LOAD, **at))
        return _ast.Expr(out.helper(".command", given, at), **at)

    def call(self, out: Emitter) -> CommandCall:
        """The command as a record."""
        source = out.source
        arguments: list[Argument] = []
        words: list[str] = []

        def add(clause: str, form: Form, is_option: bool = False) -> None:
            name = form.name if type(form) is Name else None
            text = source.text[form.start : form.end]
            arguments.append(Argument(source, clause, form, text, name, is_option))

        for part in self.parts:
            kind = type(part)
            if kind is Operands:
                for form in part.values:
                    add("", form)
            elif kind is WordClause:
                words.append(part.word[0])
                for form in part.values:
                    add(part.word[0], form)
            elif kind is PathClause:
                words.append("to")
                path = part.path
                if type(path) is not Path:
                    # A quoted path stands at the end of its clause.
                    path = Path((part.end - len(path), part.end, decoded(path, part, out)))
                arguments.append(Argument(source, "to", path, path.text, None))
            elif kind is Option:
                add(part.name, part.value, True)
            elif part is not None:
                add("", part)
        return CommandCall(source, self.start, self.end, self.name, arguments, words)

    def check(self, call: CommandCall, out: Emitter) -> list[str]:
        """How each argument is passed, as the command's signature says; values where nobody knows."""
        if out.signatures is None:
            return ["value"] * len(call.arguments)
        try:
            signature = out.signatures(self.name)
            if signature is None:
                raise fault(CommandError, f"unknown command :{self.name}", hint=":help")
            return [*signature.check(call)]
        except CommandError as error:
            details = details_of(error)
            if details is None:
                raise fault(CommandError, str(error), span=call.span) from None
            if details.span is None:
                details.span = call.span
            raise
