"""Golden programs: a program, and beside it exactly what it must print.

`NAME.grad` or `NAME.py` comes with `NAME.out` (standard output) and, where there is any, `NAME.err` (standard error,
then a line `exit status N` if N is not 0). Where both dialects of one name stand side by side, the files are
`NAME.grad.out` and `NAME.py.out`. A first line `# options: …` in the program gives options of the command line.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.running import Completed

OPTIONS = "# options:"


def programs(folder: Path) -> list[Path]:
    """Every program below a folder: the files that have an expected output, and those that still want one."""
    return sorted(path for suffix in (".grad", ".py") for path in folder.rglob("*" + suffix) if not is_ours(path))


def is_ours(path: Path) -> bool:
    """Whether a file belongs to the tests themselves, or is a module that programs import (`_NAME`)."""
    return path.name == "conftest.py" or path.name.startswith(("test_", "_"))


def beside(program: Path, suffix: str) -> Path:
    """Where an output of the program is kept."""
    twin = program.with_suffix(".py" if program.suffix == ".grad" else ".grad")
    return program.with_name((program.name if twin.exists() else program.stem) + suffix)


def run(program: Path, runner: Callable[..., Completed]) -> dict[Path, str]:
    """Run the program in its own folder; the text that belongs in each file beside it."""
    first, *_ = program.read_text(encoding="utf-8").split("\n", 1)
    options = shlex.split(first.removeprefix(OPTIONS)) if first.startswith(OPTIONS) else []
    done = runner(*options, program.name, folder=program.parent)
    status = f"exit status {done.status}\n" if done.status else ""
    return {beside(program, ".out"): done.out, beside(program, ".err"): done.err + status}


def check(texts: dict[Path, str]) -> None:
    """Compare with what is kept, errors first: they explain the rest."""
    for path, text in sorted(texts.items(), key=lambda item: item[0].suffix):
        kept = path.read_bytes().decode() if path.exists() else ""
        assert text == kept, path.name


def write(texts: dict[Path, str]) -> None:
    """Make these the expected outputs; an empty one has no file, but standard output always has."""
    for path, text in texts.items():
        if text or path.suffix == ".out":
            path.write_bytes(text.encode())
        else:
            path.unlink(missing_ok=True)
