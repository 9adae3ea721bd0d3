"""Lark's LALR tables, terminals and tree-building options turned into `Tables`, by a run that has to build them."""

from __future__ import annotations

import re
import sys

from gradsh.lang.tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lark import Lark
    from lark.grammar import Rule

# Terminals that the lexer looks for only where they can stand.
CONTEXTUAL = ("PATH", "CONVERSION")
# Rules whose literal words are names everywhere else.
SOFT_RULES = ("word", "clause")


def build_tables(grammar: str, mistakes: str) -> Tables:
    """The tables of `grammar` (Lark's language), with the rows of `mistakes` (TOML) resolved into its states."""
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift

    parser = Lark(grammar, parser="lalr", lexer="basic", start="program", maybe_placeholders=True)
    literals = {t.name: t.pattern.value for t in parser.terminals if t.pattern.type == "str"}

    def symbol(name: str) -> str:
        """A literal token is called what it looks like, everything else as in the grammar."""
        return sys.intern(str(literals.get(name, name)))

    table: Any = parser.parser.parser._parse_table
    numbers = {rule: number for number, rule in enumerate(parser.rules)}
    actions: list[dict[str, int]] = [{} for _ in range(max(table.states) + 1)]
    gotos: list[dict[str, int]] = [{} for _ in actions]
    rules = {rule.origin.name for rule in parser.rules}
    for state, row in table.states.items():
        for name, (action, argument) in row.items():
            if name in rules:
                gotos[state][sys.intern(str(name))] = argument
            else:
                actions[state][symbol(name)] = argument if action is Shift else ~numbers[argument]
    words = {text: symbol(name) for name, text in literals.items() if text.isalpha()}
    hard = {symbol(s.name) for rule in parser.rules if rule.origin.name not in SOFT_RULES for s in rule.expansion}
    tables = Tables(
        actions=_shared(actions),
        gotos=_shared(gotos),
        rules=[_rule(rule) for rule in parser.rules],
        start=table.start_states["program"],
        end=table.end_states["program"],
        words=words,
        soft=frozenset(words) - hard,
        contextual={t.name: t.pattern.to_regexp() for t in parser.terminals if t.name in CONTEXTUAL},
        anywhere=[],
        mistakes={},
        messages=[],
        **_scanner(parser),
    )
    _resolve(mistakes, tables)
    return tables


def _shared(rows: list[dict[str, int]]) -> list[dict[str, int]]:
    """The rows, with equal ones the same object: marshal then stores and reads it once."""
    seen: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    return [seen.setdefault(tuple(sorted(row.items())), row) for row in rows]


def _rule(rule: Rule) -> tuple[int, str, str | None, tuple[int | None, ...] | None]:
    """(size, origin, name, keep) of a rule, by the logic of Lark's ParseTreeBuilder.

    `name` is None where the one part kept is passed through. `keep` lists the parts: number n for part n, ~n where part
    n is a list to be joined, None where something optional is absent; None where all are kept as they are.
    """
    options = rule.options
    absent = "".join("01"[empty] for empty in options.empty_indices).split("0")
    keep: list[int | None] = []
    for number, part in enumerate(rule.expansion):
        if options.empty_indices:
            keep += [None] * len(absent[number])
        if options.keep_all_tokens or not (part.is_term and getattr(part, "filter_out", False)):
            joined = not part.is_term and part.name.startswith("_")
            keep.append(~number if joined else number)
    if options.empty_indices:
        keep += [None] * len(absent[len(rule.expansion)])
    size, origin = len(rule.expansion), sys.intern(str(rule.origin.name))
    if options.expand1 and not rule.alias:
        if len(keep) != 1 or keep[0] is None or keep[0] < 0:
            raise ValueError(f"{rule}: an alternative of a `?` rule with several parts needs a name")
        return size, origin, None, (keep[0],)
    return size, origin, str(rule.alias or origin), None if keep == list(range(size)) else tuple(keep)


def _scanner(parser: Lark) -> dict[str, Any]:
    """One regular expression for all tokens, in Lark's order of terminals, and what each of its groups is."""
    order = sorted(parser.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    groups: list[tuple[str, str]] = []
    operators: list[str] = []
    for terminal in order:
        if terminal.name in parser.ignore_tokens or terminal.name in CONTEXTUAL or terminal.pattern.value.isalpha():
            continue
        if terminal.pattern.type == "str":
            operators.append(re.escape(terminal.pattern.value))
        else:
            groups.append((terminal.name, terminal.pattern.to_regexp()))
    groups.append(("", "|".join(operators)))
    ignored = "|".join(t.pattern.to_regexp() for t in order if t.name in parser.ignore_tokens)
    return {
        "pattern": f"(?:{ignored})*(?:" + "|".join(f"({text})" for _, text in groups) + ")?",
        "kinds": ["", *(sys.intern(name) for name, _ in groups)],
    }


def _resolve(mistakes: str, tables: Tables) -> None:
    """Run the examples of each row up to the token that is wrong, and note the row at that state and token type."""
    import tomllib

    from gradsh.lang.lexer import Lexer
    from gradsh.lang.parser import Parser

    lexer, parser = Lexer(tables), Parser(tables, {})
    for row in tomllib.loads(mistakes).get("mistake", []):
        number = len(tables.messages)
        if row.get("anywhere"):
            tables.anywhere.append(number)
        tables.messages.append((row["message"], row.get("help"), row.get("before"), row.get("after")))
        for example in row["examples"]:
            where = parser.failure(lexer.tokens(example))
            if where is None:
                raise ValueError(f"mistakes.toml: this example is not a mistake: {example!r}")
            state, kind = where
            rows = tables.mistakes.setdefault(state, {}).setdefault(kind, [])
            if number not in rows:
                rows.append(number)
