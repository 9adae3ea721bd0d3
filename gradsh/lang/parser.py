"""Tokens into forms: an iterative driver of Lark's LALR tables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gradsh.lang.form import Form
    from gradsh.lang.lexer import Token
    from gradsh.lang.tables import Tables

    Rule = tuple[int, str, int, tuple[int | None, ...] | None, type[Form] | None, int, tuple[None, ...]]

# What a rule makes: its one kept part, a form, a form whose last field takes what is left over, a list that joins the
# rule around it, or the tuple of its parts.
_PART, _FORM, _FORM_AND_REST, _LIST, _TUPLE = range(5)


class Unexpected(Exception):
    """A token that cannot stand where it does, with the driver's stacks at that point."""

    def __init__(self, number: int, token: Token, states: list[int], values: list[Any], starts: list[int]) -> None:
        self.number, self.token, self.states, self.values, self.starts = number, token, states, values, starts


class _Chain(dict[str, int]):
    """The state to be in after a symbol, by the token that follows: rules that only pass one part on are skipped.

    An operand passes some fifteen levels of precedence, and nothing happens on the way; each chain is walked once.
    """

    __slots__ = ("parser", "row", "symbol")

    def __init__(self, parser: Parser, row: dict[str, int], symbol: str) -> None:
        self.parser, self.row, self.symbol = parser, row, symbol

    def __missing__(self, kind: str) -> int:
        state = self.row[self.symbol]
        while True:
            action = self.parser.actions[state].get(kind)
            if action is None or action >= 0:
                break
            size, origin, make = self.parser.rules[action][:3]
            if size != 1 or make != _PART:
                break
            state = self.row[origin]
        self[kind] = state
        return state


class _Chains(dict[str, _Chain]):
    """The chains that start in one state, by the symbol that was read there."""

    __slots__ = ("parser", "row")

    def __init__(self, parser: Parser, row: dict[str, int]) -> None:
        self.parser, self.row = parser, row

    def __missing__(self, symbol: str) -> _Chain:
        chain = self[symbol] = _Chain(self.parser, self.row, symbol)
        return chain


class _States(dict[int, _Chains]):
    """The chains of each state; a short program comes through few."""

    __slots__ = ("parser",)

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def __missing__(self, state: int) -> _Chains:
        chains = self[state] = _Chains(self.parser, self.parser.tables.gotos[state])
        return chains


class _Rules(dict[int, "Rule"]):
    """The rules by the action that reduces by them."""

    __slots__ = ("forms", "rows")

    def __init__(self, rows: list[Any], forms: Mapping[str, type[Form]]) -> None:
        self.rows, self.forms = rows, forms

    def __missing__(self, action: int) -> Rule:
        size, origin, name, keep = self.rows[~action]
        rule = self[action] = _prepared(size, origin, name, keep, self.forms)
        return rule


class Parser:
    """The driver, with the class that each rule makes; a rule without one makes the tuple of its parts."""

    def __init__(self, tables: Tables, forms: Mapping[str, type[Form]]) -> None:
        self.tables, self.start, self.end = tables, tables.start, tables.end
        self.actions = tables.actions
        self.rules = _Rules(tables.rules, forms)
        self.chains = _States(self)

    def parse(self, tokens: Iterable[Token]) -> Any:
        """What the start rule makes of `tokens`; `Unexpected` at the first token that cannot stand where it does."""
        actions, rules, chains = self.actions, self.rules, self.chains
        new: Any = tuple.__new__
        states, starts = [self.start], [0]
        values: list[Any] = []
        state = self.start
        end = 0
        for number, (kind, begin, stop, text) in enumerate(tokens):
            while True:
                action = actions[state].get(kind)
                if action is None:
                    raise Unexpected(number, (kind, begin, stop, text), states, values, starts)
                if action >= 0:
                    states.append(action)
                    values.append(text)
                    starts.append(begin)
                    state, end = action, stop
                    break
                size, origin, make, keep, form, fixed, padding = rules[action]
                if size == 1:
                    parts = [values.pop()]
                    states.pop()
                    start = starts.pop()
                elif size:
                    parts = values[-size:]
                    start = starts[-size]
                    del values[-size:], states[-size:], starts[-size:]
                else:
                    parts, start = [], begin
                if keep is not None:
                    parts = _kept(parts, keep)
                if make == _PART:
                    values.append(parts[0])
                elif make == _FORM:
                    values.append(new(form, (start, end, *parts, *padding)))
                elif make == _LIST:
                    values.append(parts)
                elif make == _TUPLE:
                    values.append(tuple(parts))
                else:
                    values.append(new(form, (start, end, *parts[:fixed], tuple(parts[fixed:]))))
                state = chains[states[-1]][origin][kind]
                states.append(state)
                starts.append(start)
                if state == self.end and kind == "$END":
                    return values[-1]
        raise AssertionError("the tokens have no end")

    def failure(self, tokens: Iterable[Token]) -> tuple[int, str] | None:
        """The state and the type of the token where parsing stops, or None where it does not."""
        try:
            self.parse(tokens)
        except Unexpected as error:
            return error.states[-1], error.token[0]
        return None


def _kept(parts: list[Any], keep: tuple[int | None, ...]) -> list[Any]:
    """The parts that a rule keeps, lists joined; one that comes first is extended in place: repetition stays linear."""
    kept: list[Any] = []
    for number in keep:
        if number is None:
            kept.append(None)
        elif number >= 0:
            kept.append(parts[number])
        elif kept:
            kept += parts[~number]
        else:
            kept = parts[~number]
    return kept


def _prepared(
    size: int, origin: str, name: str | None, keep: tuple[int | None, ...] | None, forms: Mapping[str, type[Form]]
) -> Rule:
    """(size, origin, what it makes, keep, form, parts before the rest, Nones for the fields that are absent)."""
    if name is None:
        return size, origin, _PART, None if size == 1 else keep, None, 0, ()
    form = forms.get(name)
    if form is None:
        return size, origin, _LIST if name.startswith("_") else _TUPLE, keep, None, 0, ()
    if form.rest:
        return size, origin, _FORM_AND_REST, keep, form, len(form.fields) - 1, ()
    given = size if keep is None else len(keep)
    return size, origin, _FORM, keep, form, 0, (None,) * (len(form.fields) - given)
