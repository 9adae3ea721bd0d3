"""The parser's tables: built from grammar/gradsh.lark by Lark, stored, and read in about a millisecond."""

from __future__ import annotations

import os

from gradsh.stored import key_of_text, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Raised whenever what is stored, or how the lexer and driver read it, changes.
FORMAT = 5
NAME = "tables"


class Tables:
    """What the lexer and the driver need.

    `actions[state][token type]`: a state to go to (>= 0) or ~rule to reduce by; `gotos[state][rule]`: the state then.
    `rules`: (size, origin, name, keep): how many symbols a rule takes, what it makes, the form of that, which parts it
    keeps (see build.py). `pattern` is the lexer's one regular expression and `kinds` the meaning of its groups, ""
    for operators; `contextual` are the patterns of tokens that can only stand in some places. `words` maps what looks
    like a name to its token type, `soft` are those that are words in commands only.
    `mistakes[state][token type]`: numbers of rows in `messages`, (message, help, before, after) each; those in
    `anywhere` hold at every state.
    """

    __slots__ = (
        "actions", "anywhere", "contextual", "end", "gotos", "kinds", "messages", "mistakes", "pattern", "rules",
        "soft", "start", "words",
    )  # fmt: skip

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[tuple[int, str, str | None, tuple[int | None, ...] | None]]
    start: int
    end: int
    pattern: str
    kinds: list[str]
    words: dict[str, str]
    soft: frozenset[str]
    contextual: dict[str, str]
    mistakes: dict[int, dict[str, list[int]]]
    anywhere: list[int]
    messages: list[tuple[str, str | None, str | None, str | None]]

    def __init__(self, **parts: Any) -> None:
        for name, value in parts.items():
            setattr(self, name, value)

    def parts(self) -> dict[str, Any]:
        """Everything, as marshal can write it."""
        return {name: getattr(self, name) for name in self.__slots__}


def load() -> Tables:
    """The tables for the grammar at hand."""
    return Tables(**stored(NAME, lambda: key_of_text(str(FORMAT), *map(_text, sources())), make))


def make() -> dict[str, Any]:
    """The tables' parts, built by Lark."""
    return build(*map(_text, sources())).parts()


def sources() -> tuple[str, str]:
    """The files of the grammar and of the mistakes: in the package (a wheel) or beside it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "grammar")
    folder = inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "grammar")
    return os.path.join(folder, "gradsh.lark"), os.path.join(folder, "mistakes.toml")


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def build(grammar: str, mistakes: str) -> Tables:
    """The tables of a grammar, by Lark, and the rows of mistakes resolved into its states."""
    from gradsh.lang.build import build_tables

    return build_tables(grammar, mistakes)
