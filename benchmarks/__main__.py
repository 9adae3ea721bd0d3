"""Times the programs of work/ under gradsh and under other libraries, in turn, and prints the ratios as one table.

    python -m benchmarks [--torch PYTHON] [--peers PYTHON] [--only NAME …] [--rounds 3] [--json FILE]

See README.md beside this file for what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.contenders import HERE, START_UP, Failed, contenders
from benchmarks.table import Row, line, table

WORK = [START_UP, *sorted(path.stem for path in (HERE / "work").glob("*.py"))]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    this = f"{shlex.quote(sys.executable)} -m gradsh"
    parser.add_argument("--gradsh", default=this, help="the command to measure", metavar="COMMAND")
    parser.add_argument("--torch", default="", help="a Python that has PyTorch", metavar="PYTHON")
    parser.add_argument("--peers", default="", help="a Python that has JAX or HIPS autograd or both", metavar="PYTHON")
    parser.add_argument("--only", nargs="+", default=WORK, choices=WORK, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the numbers of every round")
    options = parser.parse_args()
    sides = contenders(shlex.split(options.gradsh), shlex.split(options.torch), shlex.split(options.peers))
    rows = [Row(name, {}, {}) for name in options.only]
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            for _ in range(options.rounds):  # in turn, so that a busy machine slows all of them
                for side in [side for side in sides if side.has(row.work) and side.name not in row.failures]:
                    try:
                        row.add(side.name, *side.measured(row.work, Path(folder)))
                    except Failed as failure:
                        row.failures[side.name] = str(failure)
            print(line(row), file=sys.stderr, flush=True)
    print(table(rows, [side.name for side in sides]))
    if options.json:
        options.json.write_text(json.dumps([row.as_json() for row in rows], indent=1), encoding="utf-8")
    return int(any(row.failures for row in rows))


if __name__ == "__main__":
    sys.exit(main())
