"""Compares what a program prints with what it printed under PyTorch."""

from __future__ import annotations

from pathlib import Path

from support import texts
from support.running import run_inside

# What NumPy before 2.4 says.
OLD_NUMPY = "only length-1 arrays can be", "only 0-dimensional arrays can be"


def programs(test: str) -> list[Path]:
    """The programs beside a test module, in `data`; each with its recorded output in `NAME.out`."""
    return sorted((Path(test).parent / "data").glob("*.py"))


def check(path: Path, relative: float = 1e-12) -> None:
    """Fail unless the program prints what was recorded, and nothing on standard error; numbers may differ that much."""
    done = run_inside(path.name, folder=path.parent)
    want = texts.of_this_python(path.with_suffix(".out").read_text(encoding="utf-8")).splitlines()
    got = done.out.replace(*OLD_NUMPY).splitlines()
    assert [(g, w) for g, w in zip(got, want) if not texts.same(g, w, relative)] == []
    assert (done.status, done.err, len(got)) == (0, "", len(want))
