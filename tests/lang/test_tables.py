"""The tables: built from the grammar without a conflict, stored, found again, and driven as Lark itself does."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lang.test_against_python import SNIPPETS
from support.running import ROOT

from gradsh import stored
from gradsh.lang import tables
from gradsh.lang.build import build_tables
from gradsh.lang.forms import FORMS
from gradsh.lang.lexer import Lexer
from gradsh.lang.parser import Parser

GRAMMAR = (ROOT / "grammar" / "gradsh.lark").read_text(encoding="utf-8")
COMPILE = "from gradsh.lang import Source, compile_program; program = compile_program(Source('<test>', 'x = 1'))"
MISTAKES = (ROOT / "grammar" / "mistakes.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built() -> tables.Tables:
    return build_tables(GRAMMAR, MISTAKES)


def test_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    """Lark resolves a shift/reduce conflict in silence unless it is asked to say so."""
    from lark import Lark, logger

    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(caplog.handler)
    try:
        Lark(GRAMMAR, parser="lalr", lexer="basic", start="program", maybe_placeholders=True, debug=True)
    finally:
        logger.removeHandler(caplog.handler)
        logger.setLevel(level)
    assert [record.getMessage() for record in caplog.records if "conflict" in record.getMessage().lower()] == []


def test_stored_ones_are_those_of_the_grammar(built: tables.Tables) -> None:
    """States may be numbered otherwise in another process; what they are for is the same."""
    loaded = tables.load()
    assert (len(loaded.actions), loaded.rules, loaded.pattern, loaded.kinds, loaded.words) == (
        len(built.actions),
        built.rules,
        built.pattern,
        built.kinds,
        built.words,
    )
    assert sorted(sorted(row) for row in loaded.actions) == sorted(sorted(row) for row in built.actions)
    assert loaded.messages == built.messages


def test_the_same_tree_as_larks_own_parser() -> None:
    """Lark's parser over our tokens against our driver without forms."""
    from lark import Lark, Token, Transformer
    from lark.lexer import Lexer as LarkLexer

    ours = Lexer(tables.load())

    class Tokens(LarkLexer):
        names: dict[str, str]

        def __init__(self, configuration: Any) -> None:
            pass

        def lex(self, text: str) -> Any:  # type: ignore[override]
            for kind, start, _, word in ours.tokens(text)[:-1]:
                yield Token(self.names.get(kind, kind), word, start)

    class Tuples(Transformer[Any, Any]):
        def __default__(self, data: str, children: list[Any], meta: object) -> Any:
            return tuple(children)

        def __default_token__(self, token: Any) -> str:
            return str(token)

    lark = Lark(GRAMMAR, parser="lalr", lexer=Tokens, start="program", maybe_placeholders=True)
    Tokens.names = {
        terminal.pattern.value: terminal.name for terminal in lark.terminals if terminal.pattern.type == "str"
    }
    parser = Parser(tables.load(), {})
    for text in SNIPPETS.values():
        theirs = Tuples().transform(lark.parse(text + "\n"))
        assert parser.parse(ours.tokens(text + "\n")) == theirs


def test_every_form_has_a_rule_and_its_fields(built: tables.Tables) -> None:
    made: dict[str, list[int]] = {}
    for size, _, name, keep in built.rules:
        if name in FORMS:
            joined = keep is not None and any(part is not None and part < 0 for part in keep)
            made.setdefault(name, []).append(-1 if joined else size if keep is None else len(keep))
    assert set(FORMS) == set(made)
    for name, counts in made.items():
        form = FORMS[name]
        for count in counts:
            assert form.rest or 0 <= count <= len(form.fields), name


def test_loading_is_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tables.load()
    best = min(_seconds(tables.load) for _ in range(20))
    assert best < 0.02


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(stored, "SHIPPED", str(tmp_path / "none"))
    made: list[int] = []
    real = tables.build

    def counted(grammar: str, mistakes: str) -> tables.Tables:
        made.append(1)
        return real(grammar, mistakes)

    monkeypatch.setattr(tables, "build", counted)
    tables.load()
    (file,) = (tmp_path / "cache" / "gradsh").iterdir()
    tables.load()
    assert made == [1]
    for damage in (b"", b"no marshal", file.read_bytes()[:1000]):
        file.write_bytes(damage)
        tables.load()
    assert len(made) == 4
    tables.load()
    assert len(made) == 4
    other = tmp_path / "gradsh.lark", tmp_path / "mistakes.toml"
    for path, text in zip(other, (GRAMMAR + " ", MISTAKES)):
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(tables, "sources", lambda: other)
    tables.load()
    assert len(made) == 5
    assert len(list((tmp_path / "cache" / "gradsh").iterdir())) == 2


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    for home in (tmp_path / "missing" / "deeper", Path(os.devnull)):
        environment = {**os.environ, "XDG_CACHE_HOME": str(home), "HOME": str(home)}
        code = f"{COMPILE}; print(program.assigned)"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("{'x'}\n", "")


def test_no_run_but_the_building_one_imports_lark() -> None:
    code = f"{COMPILE}; import sys; print(*sorted(sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"lark", "ast", "inspect", "dataclasses", "tomllib", "difflib", "threading", "unicodedata"} & set(loaded)


def test_the_grammar_names_what_the_lexer_makes() -> None:
    """Terminals that are declared without a pattern are those that the lexer makes by itself."""
    declared = set(re.findall(r"\w+", GRAMMAR.split("%declare")[1]))
    assert declared == {"_INDENT", "_DEDENT", "F_STRING_TEXT", "_F_STRING_END", "CARET_POWER"}
