"""The forms of real Python code against Python's own parser: the same tree, with the same places in characters."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest
from lang.trees import Plain, Restored, described, emitted
from support.running import ROOT

from gradsh.lang import Source, parse_program
from gradsh.lang.forms import access
from gradsh.lang.forms.imports import Import, ImportFrom

LIBRARY = Path(sysconfig.get_path("stdlib"))
# Modules that use the language widely and that every Python has, and the programs that we keep.
MODULES = ["_collections_abc", "argparse", "ast", "bisect", "calendar", "configparser", "contextlib", "copy", "csv",
"dataclasses", "datetime",
           "difflib", "enum", "fractions", "functools", "gettext", "heapq", "inspect", "ipaddress", "numbers",
           "operator", "optparse", "pprint",
           "random", "statistics", "string", "symtable", "textwrap", "tokenize", "traceback"]  # fmt: skip
FILES = [LIBRARY / f"{name}.py" for name in MODULES] + sorted((ROOT / "tests" / "conformance").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_same_tree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statement by statement, where gradsh takes the statement at all (no second base, no metaclass, no bytes)."""
    monkeypatch.setattr(access, "check_attribute", lambda name, form, out: name)
    text = path.read_text(encoding="utf-8")
    source = Source(str(path), text)
    try:
        forms = parse_program(source, "torch")
    except SyntaxError as error:
        if any(word in str(error) for word in ("bytes", "import *", "relative", "async", "match", "complex")):
            pytest.skip(str(error))
        raise
    wanted = ast.parse(source.text)
    assert len(forms) == len(wanted.body)
    lines = source.text.split("\n")
    for form, node in zip(forms, wanted.body):
        if isinstance(form, Import | ImportFrom) or any(
            isinstance(n, ast.Import | ast.ImportFrom) for n in ast.walk(node)
        ):
            continue
        try:
            made = emitted(source, (form,))
        except SyntaxError as error:
            assert "a class takes" in str(error)
            continue
        plain = Plain().visit(node)
        if plain is not None:
            assert described(Restored().visit(made).body[0]) == described(plain, lines)
