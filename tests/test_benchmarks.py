"""The benchmarks run, and their numbers are put together as they should be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.__main__ import WORK
from benchmarks.table import Row, table

ROOT = Path(__file__).parent.parent


def test_a_run_of_one_program(tmp_path: Path) -> None:
    kept = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks", "--only", "scalar_chain", "--rounds", "1", "--json", str(kept)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| `scalar_chain` \| +[\d.]+ µs \|", done.stdout, re.MULTILINE)
    (row,) = json.loads(kept.read_text(encoding="utf-8"))
    assert 0 < row["seconds"]["gradsh"][0] < 1e-3 and row["memory"]["gradsh"] > 10


def test_peers_do_work_that_there_is() -> None:
    for path in (ROOT / "benchmarks" / "peers").glob("*_work.py"):
        found = re.findall(r'^@work\("(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(found) > 5 and set(found) <= set(WORK)


def test_ratios_are_medians_over_rounds() -> None:
    row = Row("w", {}, {})
    for ours, theirs in ((1.0, 2.0), (8.0, 2.0), (3.0, 4.0)):
        row.add("gradsh", ours, 30.0)
        row.add("PyTorch", theirs, 200.0 + theirs)
    failed = Row("v", {"gradsh": [2e-6]}, {"gradsh": 31.0}, {"PyTorch": "no such op"})
    assert row.ratio("PyTorch") == 0.75
    assert table([row, failed], ["gradsh", "PyTorch"]).splitlines()[2:] == [
        "| `w`     |    3 s |      0.75 |              30, 204 |",
        "| `v`     |   2 µs |    failed |                31, – |",
    ]
