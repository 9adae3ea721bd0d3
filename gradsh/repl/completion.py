"""What the text before the cursor can go on with: names, members, commands and their arguments, files."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from gradsh.engine.tensor import Tensor
from gradsh.lang import keywords
from gradsh.library.namespaces import Namespace
from gradsh.repl.context import Context
from gradsh.repl.reach import MISSING, Reach, names, own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradsh.lang.lexer import Token
    from gradsh.repl.commands.command import Command
    from gradsh.session import Session

# What an operand can end with: behind it, a command goes on with a word.
_OPERAND_ENDS = frozenset(
    ("NAME", "NUMBER", "STRING", "PATH", "_F_STRING_END", ")", "]", "}", "None", "True", "False", "...")
)
_LONGEST = 60  # characters of a remark beside a completion


class Completion(NamedTuple):
    """A text to put in the place of the last `length` characters, and a remark on it."""

    text: str
    length: int
    remark: str = ""


class Completer:
    """Completes what is typed in a session. It reads names and attributes, and runs no call, subscript or property."""

    def __init__(self, session: Session, reach: Reach) -> None:
        self.session, self.reach = session, reach

    def complete(self, text: str) -> list[Completion]:
        """The completions of a text that ends at the cursor."""
        at = Context(text, self.session.dialect)  # type: ignore[arg-type]
        if at.silent:
            return []
        command = at.command()
        if command is not None:
            return self._command(at, command)
        return [] if at.literal else self._expression(at)

    # ---- names and members

    def _expression(self, at: Context) -> list[Completion]:
        statement = at.statement()
        last = at.tokens[-1][0] if at.tokens else ""
        if statement and statement[0][0] in ("import", "from"):
            return self._import(at, statement)
        if last in ("def", "class", "as"):
            return []
        if last == ".":
            return self._members(at)
        settings = _offered([f"{name}=" for name in self._parameters(at)], at.word, lambda name: "argument")
        return (
            settings + self._names(at.word) + (_offered(keywords(), at.word, lambda name: "keyword") if at.word else [])
        )

    def _names(self, word: str) -> list[Completion]:
        from gradsh.view.text import kind_of

        variables = self.reach.variables()
        ours = _offered(sorted(variables), word, lambda name: kind_of(variables[name]))
        return ours + _offered(sorted(self.reach.library.difference(variables)), word, _summary)

    def _members(self, at: Context) -> list[Completion]:
        dot = len(at.tokens) - 1
        path = at.path_before(dot)
        if path is not None:
            value = self.reach.value(path)
        else:
            value = "" if dot and at.tokens[dot - 1][0] == "STRING" else MISSING
        if value is MISSING:
            return []
        held = own(value)
        remark = _summary if isinstance(value, Tensor | Namespace) else _nothing
        return _offered(sorted(names(value), key=lambda name: name not in held), at.word, remark)

    def _parameters(self, at: Context) -> list[str]:
        """The parameters of the function whose call is being typed, where one can be given here."""
        opener = at.open_bracket()
        if not opener or at.tokens[opener][0] != "(" or at.tokens[-1][0] not in ("(", ","):
            return []
        path = at.path_before(opener)
        value = MISSING if path is None else self.reach.value(path)
        if path is None or value is MISSING:
            return []
        known = [] if path[0] in self.session and len(path) == 1 else _parameters_of_library(path[-1])
        is_method = len(path) > 1 and not isinstance(self.reach.value(path[:-1]), Namespace | type)
        found = known or _parameters_of(value)
        return found[1:] if is_method and found[:1] in (["input"], ["self"]) else found

    def _import(self, at: Context, statement: list[Token]) -> list[Completion]:
        from gradsh.library import namespaces, python_modules

        kinds = [token[0] for token in statement]
        if "as" in kinds:
            return []
        if kinds[0] == "from" and "import" in kinds:
            path = "".join(str(token[3]) for token in statement[1 : kinds.index("import")])
            space = namespaces.module(path)
            return [] if space is None else _offered(space.names(), at.word, _summary)
        if kinds[0] == "from" and len(kinds) > 1 and kinds[-1] != ".":
            return _offered(["import"], at.word, _nothing)
        found = re.search(r"[\w.]*\Z", at.text)
        assert found is not None
        depth = found[0].count(".") + 1
        paths = {".".join(path.split(".")[:depth]) for path in (*namespaces.paths(), *python_modules.TABLES)}
        return _offered(
            [path for path in sorted(paths) if path.count(".") == depth - 1], found[0], lambda path: "module"
        )

    # ---- commands

    def _command(self, at: Context, after: list[Token]) -> list[Completion]:
        import gradsh.repl.commands  # noqa: F401  (registers them)
        from gradsh.repl.commands.command import COMMANDS, WORDS

        if not after:
            return _commands(at.word)
        command = COMMANDS.get(str(after[0][3]))
        if command is None:
            return []
        arguments = after[1:]
        if at.open_bracket() is not None:
            return [] if at.literal else self._expression(at)
        if "settings" in command.completes:
            return self._settings([str(token[3]) for token in arguments], at.word)
        last = arguments[-1][0] if arguments else ""
        clause = next((token[0] for token in reversed(arguments) if token[0] in WORDS), "")
        kinds = ["names"] if clause else command.completes.split()
        if clause == "to" or "files" in kinds:
            return _files(at.text)
        if at.literal:
            return []
        if last == ".":
            return self._members(at)
        if last == "=":
            return _offered(["True", "False"], at.word, _nothing)
        if last in _OPERAND_ENDS:
            return _clauses(command, {str(token[3]) for token in arguments}, at.word)
        return (_commands(at.word) if "commands" in kinds else []) + self._names(at.word)

    def _settings(self, words: list[str], word: str) -> list[Completion]:
        rows = {name: (help, values) for name, _, help, values in self.session.settings.rows()}
        if not words:
            return _offered(rows, word, lambda name: rows[name][0])
        return _offered(rows[words[0]][1], word, _nothing) if len(words) == 1 and words[0] in rows else []


def _offered(candidates: Iterable[str], word: str, remark: Callable[[str], str]) -> list[Completion]:
    """Those that begin with a word; names with `_` in front are only offered where it was typed."""
    return [
        Completion(name, len(word), remark(name))
        for name in candidates
        if name.startswith(word) and (not name.startswith("_") or word.startswith("_"))
    ]


def _nothing(name: str) -> str:
    return ""


def _summary(name: str) -> str:
    """The first line of the help on a name of the library."""
    from gradsh.ops.registry import ENTRIES

    entry = ENTRIES.get(name)
    line = "" if entry is None else entry.doc.partition("\n")[0]
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _commands(word: str) -> list[Completion]:
    from gradsh.repl.commands.command import COMMANDS

    return _offered(sorted(COMMANDS), word, lambda name: COMMANDS[name].summary)


def _clauses(command: Command, used: set[str], word: str) -> list[Completion]:
    """The words and options that a command can go on with."""
    free = [one for one in command.parameters if one.clause and one.clause not in used]
    return _offered([f"{one.clause}=" if one.option else one.clause for one in free], word, lambda text: command.usage)


def _parameters_of_library(name: str) -> list[str]:
    """The parameters of an op or a function of the library."""
    from gradsh.ops.registry import ENTRIES

    entry = ENTRIES.get(name)
    if entry is None:
        return []
    if entry.op is None:
        return _parameters_of(entry.target)
    return [*(entry.op.public[operand] for operand in entry.op.operands), *entry.op.settings]


def _parameters_of(value: Any) -> list[str]:
    """The parameters of a function, or of what makes the values of a class."""
    if isinstance(value, type):
        makers = (base.__dict__["__init__"] for base in value.__mro__ if "__init__" in base.__dict__)
        return _parameters_of(next(makers))[1:]
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    if code is None:
        return []
    return list(code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount])


def _files(text: str) -> list[Completion]:
    """The files that the path at the end of a command can become; paths with blanks are put into quotes."""
    found = re.search(r"""(?:(?<=\s)|\A)(?:"[^"\n]*|'[^'\n]*|[^\s;"']*)\Z""", text)
    if found is None:
        return []
    typed = found[0]
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    folder, start = os.path.split(typed[len(quote) :])
    completions = []
    for name, is_folder in _entries(os.path.expanduser(folder) or "."):
        if not name.startswith(start) or (name.startswith(".") and not start.startswith(".")) or not name.isprintable():
            continue
        path = os.path.join(folder, name)
        mark = quote or ('"' if re.search(r"[\s;'\"]", path) else "")
        if not mark or mark not in path:
            whole = f"{mark}{path}{'/' if is_folder else mark}"
            completions.append(Completion(whole, len(typed), "folder" if is_folder else ""))
    return completions


def _entries(folder: str) -> list[tuple[str, bool]]:
    """The names in a folder, and whether they are folders."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir()) for entry in entries)
    except (OSError, ValueError):
        return []
