"""The parser's tables: built from grammar/gradsh.lark by Lark, kept in a marshal file, read in about a millisecond.

`python -m gradsh.lang.tables OUT` writes the file that a wheel carries. A run looks for it beside this module, then in
the user's cache, and builds in memory where both are missing or were made from another grammar.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Raised whenever what is stored, or how the lexer and driver read it, changes.
FORMAT = 5

HERE = os.path.dirname(os.path.abspath(__file__))
SHIPPED = os.path.join(HERE, "tables.bin")


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
    sources = _sources()
    key = _key(sources)
    for path in (SHIPPED, _cache_path(key)):
        found = _read(path, key)
        if found is not None:
            return Tables(**found)
    tables = build(*sources)
    _write(_cache_path(key), key, tables)
    return tables


def _sources() -> tuple[str, str]:
    """The grammar and the mistakes, from the package (a wheel) or beside it; empty texts where there are none."""
    package = os.path.dirname(HERE)
    for folder in (os.path.join(package, "grammar"), os.path.join(os.path.dirname(package), "grammar")):
        try:
            return _text(os.path.join(folder, "gradsh.lark")), _text(os.path.join(folder, "mistakes.toml"))
        except OSError:
            continue
    return "", ""


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _key(sources: tuple[str, str]) -> str:
    """Names what the tables are made from; empty where the grammar is not at hand."""
    import _imp  # its hash is there without importing anything and takes 20 us

    if not sources[0]:
        return ""
    return _imp.source_hash(FORMAT, "\0".join(sources).encode()).hex()


def _cache_path(key: str) -> str:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "gradsh", f"tables-{key}.bin")


def _read(path: str, key: str) -> dict[str, Any] | None:
    """The parts stored in `path`, if they were made from this grammar; any damage counts as absence."""
    try:
        with open(path, "rb") as file:
            version, made_from, parts = marshal.loads(file.read())
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return parts if version == FORMAT and key in ("", made_from) else None


def _write(path: str, key: str, tables: Tables) -> None:
    """Store the tables, all or nothing; a folder that cannot be written only costs the next start some time."""
    beside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(beside, "wb") as file:
            file.write(_stored(key, tables))
        os.replace(beside, path)
    except OSError:
        try:
            os.unlink(beside)
        except OSError:
            pass


def _stored(key: str, tables: Tables) -> bytes:
    return marshal.dumps((FORMAT, key, tables.parts()), 4)


def build(grammar: str, mistakes: str) -> Tables:
    """The tables of a grammar, by Lark, and the rows of mistakes resolved into its states."""
    from gradsh.lang.build import build_tables

    return build_tables(grammar, mistakes)


if __name__ == "__main__":
    texts = _sources()
    with open(sys.argv[1], "wb") as output:
        output.write(_stored(_key(texts), build(*texts)))
