"""What a command is: a function whose parameters are what it takes.

    @command("jacobian")
    def jacobian(session: Session, of: Value, *, wrt: Values) -> MatrixView:
        \"\"\"Show the Jacobian of a value with respect to leaves.  :jacobian y wrt x\"\"\"

Positional parameters are the arguments that stand first, keyword-only ones are clauses (named after their word, with a
`_` behind it where the word is Python's own) or `key=value` options. A parameter's annotation says what it takes:

    Value      an expression, evaluated             Values     one or more of them
    Name       the text of a name, not evaluated    Names      any number of them
    Thunk      an expression, evaluated when called
    Path       a file's path                        Pattern    any text
    Flag, Count, Text   an evaluated option: a truth value, a whole number, a text

The docstring's first line is the summary, followed by `  :usage`; further lines are the help.
"""

from __future__ import annotations

from gradsh.fault import CommandError, fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradsh.lang.commands import Argument, CommandCall, Mode
    from gradsh.lang.source import Span
    from gradsh.view.record import Record

    Values = tuple["Value", ...]
    Name = str
    Names = tuple[str, ...]
    Path = str
    Pattern = str
    Flag = bool
    Count = int
    Text = str

COMMANDS: dict[str, Command] = {}
WORDS = ("of", "wrt", "with", "at", "to", "from", "as", "by", "for", "on")
MODES: dict[str, Mode] = {
    "Value": "value",
    "Values": "value",
    "Thunk": "thunk",
    "Flag": "value",
    "Count": "value",
    "Text": "value",
}


class Value:
    """An evaluated expression: its value, its text, its name where it is a bare one, and its place."""

    __slots__ = ("name", "span", "text", "value")

    def __init__(self, value: Any, text: str, name: str | None, span: Span) -> None:
        self.value, self.text, self.name, self.span = value, text, name, span


class Thunk:
    """An expression that is evaluated when called."""

    __slots__ = ("call", "span", "text")

    def __init__(self, call: Callable[[], Any], text: str, span: Span) -> None:
        self.call, self.text, self.span = call, text, span


class Parameter:
    """One parameter of a command: its name in Python, the word it stands behind ("" for what stands first), its kind."""

    __slots__ = ("clause", "kind", "name", "option", "required")

    def __init__(self, name: str, clause: str, kind: str, required: bool, option: bool) -> None:
        self.name, self.clause, self.kind, self.required, self.option = name, clause, kind, required, option

    @property
    def many(self) -> bool:
        return self.kind in ("Values", "Names")


class Command:
    """A command: its name, what it takes, what it does, its help; the signature that the language checks calls against.

    keeps: values, places and gradients are to be kept with the nodes of the graph in programs that use it.
    completes: what the arguments are completed with: "names", "library", "commands", "files", "settings", or several of them.
    """

    def __init__(self, name: str, run: Callable[..., Any], *, keeps: bool = False, completes: str = "names") -> None:
        self.name, self.run, self.keeps, self.completes = name, run, keeps, completes
        text = (run.__doc__ or "").strip()
        first, _, rest = text.partition("\n")
        self.summary, _, usage = first.partition("  :")
        self.usage = ":" + usage.strip() if usage else f":{name}"
        self.help = "\n".join(line.strip() for line in rest.strip().split("\n")) if rest.strip() else ""
        self.parameters = _parameters(run)

    def check(self, call: CommandCall) -> Sequence[Mode]:
        """How each argument is to be passed; CommandError where the command cannot take them."""
        by_clause = {parameter.clause: parameter for parameter in self.parameters if parameter.clause or parameter.many}
        first = [parameter for parameter in self.parameters if not parameter.clause]
        seen: dict[str, int] = {}
        modes: list[Mode] = []
        for argument in call.arguments:
            parameter = self._parameter(argument, by_clause, first, seen.get(argument.clause, 0))
            seen[argument.clause] = seen.get(argument.clause, 0) + 1
            if parameter.kind in ("Name", "Names") and argument.name is None:
                raise self._error(f":{self.name} takes a name here, not an expression", argument)
            modes.append(MODES.get(parameter.kind, "text"))
        names = self._words_as_names(call, first)
        for word in call.words:
            if word not in seen and word not in names:
                raise self._error(f":{self.name}: something is missing behind {word}", None)
        for parameter in self.parameters:
            if parameter.required and parameter.clause and parameter.clause not in seen:
                raise self._error(f":{self.name} needs a value behind {parameter.clause}", None)
        needed = sum(parameter.required for parameter in first)
        if seen.get("", 0) + len(self._words_as_names(call, first)) < needed:
            raise self._error(f":{self.name} needs {'a value' if needed == 1 else f'{needed} values'}", None)
        return modes

    def _words_as_names(self, call: CommandCall, first: list[Parameter]) -> list[str]:
        """A word with nothing behind it is a name where a command takes one: `:help for`, `:set torch on`."""
        index = min(len(call.first), len(first) - 1)
        if not first or first[index].kind not in ("Name", "Names", "Pattern"):
            return []
        return [word for word in call.words if not call.clause(word)][:1]

    def _parameter(
        self, argument: Argument, by_clause: dict[str, Parameter], first: list[Parameter], index: int
    ) -> Parameter:
        if argument.clause:
            parameter = by_clause.get(argument.clause)
            if parameter is None or parameter.option is not argument.is_option:
                raise self._error(
                    f":{self.name} takes no {argument.clause}{'=' if argument.is_option else ''}", argument
                )
            if index and not parameter.many:
                raise self._error(f":{self.name} takes one value behind {argument.clause}", argument)
            return parameter
        if index < len(first):
            return first[index]
        if first and first[-1].many:
            return first[-1]
        most = ("no arguments", "one argument", "two arguments", "three arguments")[len(first)]
        raise self._error(f":{self.name} takes {most}", argument)

    def _error(self, message: str, argument: Argument | None) -> BaseException:
        return fault(CommandError, message, hint=self.usage, span=None if argument is None else argument.span)

    def __call__(self, session: Any, call: CommandCall, values: Sequence[Any]) -> Record | Sequence[Record] | None:
        """Run the command on the values that the program passed."""
        by_clause = {parameter.clause: parameter for parameter in self.parameters if parameter.clause}
        first = [parameter for parameter in self.parameters if not parameter.clause]
        given: dict[str, Any] = {}
        index = 0
        for argument, value in zip(call.arguments, values, strict=True):
            if argument.clause:
                parameter = by_clause[argument.clause]
            else:
                parameter = first[min(index, len(first) - 1)]
                index += 1
            item = self._item(parameter, argument, value)
            if parameter.many:
                given[parameter.name] = (*given.get(parameter.name, ()), item)
            else:
                given[parameter.name] = item
        for word in self._words_as_names(call, first):
            parameter = first[min(index, len(first) - 1)]
            given.setdefault(parameter.name, (word,) if parameter.many else word)
        return self.run(session, **given)  # type: ignore[no-any-return]

    def _item(self, parameter: Parameter, argument: Argument, value: Any) -> Any:
        kind = parameter.kind
        if kind in ("Value", "Values"):
            return Value(value, argument.text, argument.name, argument.span)
        if kind == "Thunk":
            return Thunk(value, argument.text, argument.span)
        if kind in ("Name", "Names"):
            return argument.name
        if kind == "Count":
            if isinstance(value, bool) or not isinstance(value, int):
                raise self._error(f"{argument.clause}= takes a whole number", argument)
            return value
        if kind == "Flag":
            return bool(value)
        if kind == "Text":
            return value
        if kind == "Pattern":
            return argument.text.strip("\"'")  # a pattern with * is no expression, and so stands in quotes
        return argument.text


def _parameters(run: Callable[..., Any]) -> list[Parameter]:
    code = run.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    defaults = len(run.__defaults__ or ())
    found = []
    for index, name in enumerate(names, 1):
        keyword = index >= code.co_argcount
        required = name not in (run.__kwdefaults__ or {}) if keyword else index < code.co_argcount - defaults
        kind = str(run.__annotations__[name]).partition(" ")[0]
        word = name.rstrip("_")
        found.append(Parameter(name, word if keyword else "", kind, required, keyword and word not in WORDS))
    return found


def command(
    name: str, *, keeps: bool = False, completes: str = "names"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a command."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        COMMANDS[name] = Command(name, run, keeps=keeps, completes=completes)
        return run

    return register


def resolve(name: str) -> Command:
    """The command of a name; CommandError with the nearest one where there is none."""
    found = COMMANDS.get(name)
    if found is None:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, 1)
        raise fault(
            CommandError,
            f"there is no command :{name}",
            hint=f"did you mean :{near[0]}?" if near else ":help lists them",
        )
    return found
