"""Programs that an earlier run compiled: found again, the same in everything, bounded, and never in the way."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.running import command, environment, run_command

from gradsh.lang import Source, compiled
from gradsh.lang.program import Program, compile_program

LONG = "".join(f"def f{k}(x):\n    return x * {k}\nf{k}(2)\ny = f{k}(1)\n'x' is y\n" for k in range(60))
FAILING = LONG + "import torch\ndef g(q):\n    return q @ torch.ones(3)\ng(torch.ones(2))\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradsh"


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that was really compiled."""
    found: list[str] = []

    def counted(source: Source, **options: Any) -> Program:
        found.append(source.text)
        return compile_program(source, **options)

    monkeypatch.setattr(compiled, "compile_program", counted)
    return found


def program(text: str, number: int = 7, dialect: Any = "torch", echo: bool = True) -> Program:
    from gradsh.repl.commands.command import resolve

    return compiled.compiled_program(Source("a.py", text, number), dialect=dialect, echo=echo, signatures=resolve)


def parts(program: Program) -> list[Any]:
    shown = [(each.name, each.text, repr(each.span)) for each in program.shown]
    names = {name: repr(span) for name, span in program.free_names.items()}
    remarks = [(text, repr(span)) for text, span in program.warnings]
    return [program.code, shown, names, remarks, program.assigned, program.forms, program.source.skipped]


def test_what_is_found_again_is_the_same(cache: Path, times: list[str]) -> None:
    text = f"%matplotlib inline\n{LONG}y\n"
    first, again = program(text), program(text)
    assert times == [text] and parts(first) == parts(again)
    assert len(first.shown) == 121 and first.warnings and first.source.skipped


@pytest.mark.parametrize("change", [{"number": 8}, {"dialect": "shell"}, {"echo": False}, {"text": LONG + " "}])
def test_anything_else_is_compiled_anew(cache: Path, times: list[str], change: dict[str, Any]) -> None:
    program(LONG)
    program(**{"text": LONG, **change})
    assert len(times) == 2


def test_programs_with_commands_and_short_ones_are_not_kept(cache: Path, times: list[str]) -> None:
    import gradsh.repl.commands  # noqa: F401  (registers them)

    for text in (f"{LONG}:vars\n", "x = 1\n"):
        before = len(times)
        assert len(program(text, dialect="shell").commands) == len(program(text, dialect="shell").commands)
        assert len(times) == before + 2


def test_what_is_kept_is_bounded(cache: Path, times: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MOST", 100_000)
    for k in range(40):
        program(f"{LONG}# {k}")
        assert sum(path.stat().st_size for path in cache.glob("program-*")) <= 100_000
    program(f"{LONG}# 39")
    assert len(times) == 40  # the newest stays


@pytest.mark.parametrize("damage", [b"", b"nothing that marshal knows"])
def test_damage_is_absence(cache: Path, times: list[str], damage: bytes) -> None:
    program(LONG)
    (path,) = cache.glob("program-*")
    path.write_bytes(damage)
    program(LONG)
    assert len(times) == 2


def test_errors_keep_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAILING, encoding="utf-8")
    cache = tmp_path / "cache"
    first, again, without = (
        run_command("a.py", folder=tmp_path, XDG_CACHE_HOME=str(folder)) for folder in (cache, cache, tmp_path / "a.py")
    )
    assert list((cache / "gradsh").glob("program-*"))
    assert first.err == again.err == without.err
    assert (
        "a.py:303:12: " in again.err
        and "| ^ (2,)" in " ".join(again.err.split())
        and "in g, called at 304:1" in again.err
    )


def test_two_processes_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LONG + "print(y)\n", encoding="utf-8")
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    line = [*command(), "a.py"]
    both = [subprocess.Popen(line, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["59\n", "59\n"]
    assert len(list((tmp_path / "cache" / "gradsh").glob("program-*"))) == 1
