"""What a program's `:` commands look like to whoever carries them out, and what that must say before they run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, Protocol

    from gradsh.lang.form import Form
    from gradsh.lang.source import Source, Span

    # How an argument is passed: its value; a function without parameters that gives it; or None, where only the text,
    # the form or the name is of interest.
    Mode = Literal["value", "thunk", "text"]

    class Signature(Protocol):
        """What a command takes."""

        def check(self, call: CommandCall) -> Sequence[Mode]:
            """The mode of each of `call.arguments`; raises a CommandError fault where the command cannot take them.

            A fault without a span is shown at the command.
            """

    # The signature of a command, or None where there is no such command; it may raise a better CommandError itself.
    Resolver = Callable[[str], "Signature | None"]


class Argument:
    """One argument of a command: an expression, a path, or a word.

    `clause` is "" for what stands first, the word before it (`of`, `wrt` …), or the key of a `key=value`.
    `name` is the name where it is a bare one; `text` is what the user wrote, a path without its quotes.
    """

    __slots__ = ("clause", "end", "form", "is_option", "name", "source", "start", "text")

    def __init__(
        self, source: Source, clause: str, form: Form, text: str, name: str | None, is_option: bool = False
    ) -> None:
        self.source, self.clause, self.form, self.text, self.name = source, clause, form, text, name
        self.start, self.end, self.is_option = form.start, form.end, is_option

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    def __repr__(self) -> str:
        return f"Argument({self.clause!r}, {self.text!r})"


class CommandCall:
    """One command of a program. At run time `.command(number, values)` has a value for each of `arguments`."""

    __slots__ = ("arguments", "end", "name", "source", "start", "words")

    def __init__(
        self, source: Source, start: int, end: int, name: str, arguments: list[Argument], words: list[str]
    ) -> None:
        self.source, self.start, self.end, self.name = source, start, end, name
        self.arguments = arguments
        # The clause words in order, also those without an argument (`:set torch on`).
        self.words = words

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    @property
    def text(self) -> str:
        """The command as it was written."""
        return self.source.text[self.start : self.end]

    @property
    def first(self) -> list[Argument]:
        """The arguments before any word."""
        return self.clause("")

    @property
    def options(self) -> dict[str, Argument]:
        """The `key=value` arguments."""
        return {argument.clause: argument for argument in self.arguments if argument.is_option}

    def clause(self, word: str) -> list[Argument]:
        """The arguments after a word; those before any word for ""."""
        return [argument for argument in self.arguments if argument.clause == word and not argument.is_option]

    def __repr__(self) -> str:
        return f"CommandCall({self.text!r})"
