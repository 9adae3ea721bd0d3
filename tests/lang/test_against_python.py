"""Programs without tensors print under PyTorch's defaults what Python prints."""

from __future__ import annotations
import __future__

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import pytest

from gradsh.lang import Source, builtin_names, compile_program, runtime_names

_, *PARTS = Path(__file__, "..", "snippets.txt").resolve().read_text(encoding="utf-8").split("\n=== ")
SNIPPETS = {name: text for name, _, text in (part.partition("\n") for part in PARTS)}


def printed(run: Any) -> str:
    """What a run prints, and how it ends."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            run()
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return output.getvalue()


def gradsh(text: str, hooks: bool = False) -> None:
    program = compile_program(Source.add("<test>", text), dialect="torch", echo=False, hooks=hooks)
    names = {**builtin_names(), **runtime_names(), "print": print, ".statement": lambda number: None}
    exec(program.code, {"__builtins__": names, "__name__": "__main__"})


@pytest.mark.parametrize("hooks", [False, True], ids=["plain", "hooked"])
@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS.keys())
def test_prints_what_python_prints(text: str, hooks: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # gradsh never evaluates annotations.
        code = compile(text, "<test>", "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    wanted = printed(lambda: exec(code, {"__name__": "__main__"}))
    assert "SyntaxError" not in wanted
    assert printed(lambda: gradsh(text, hooks)) == wanted
