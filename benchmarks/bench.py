"""Times the programs of work/ under gradsh and under Python with PyTorch, in turn, and sets the ratios beside bars.

    python benchmarks/bench.py --torch /path/to/python-with-torch [--only mlp_step …] [--rounds 3] [--json out.json]

See README.md beside this file for what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).parent

# Ratios of gradsh to PyTorch eager, time to time: what eager execution must reach, and what block plans are for.
BARS = {
    "scalar_chain": (0.25, 0.05),
    "one_element_chain": (0.5, 0.15),
    "mlp_step": (0.75, 0.3),
    "mlp_by_hand": (0.75, 0.3),
    "rnn_loop": (0.75, 0.3),
    "long_chain": (0.2, 0.1),
    "million_chain": (0.2, 0.1),
    "elementwise_10m": (0.75, 0.2),
    "matmul_1024": (1.1, 1.0),
    "conv2d": (3.0, 1.5),
    "lenet_step": (3.0, 1.5),
    "while_loop": (0.5, 0.15),
    "hessian_rosenbrock": (1.0, 0.25),
    "jacobian_layer": (1.0, 0.25),
    "diamonds": (0.2, 0.1),
    "fan_out": (0.35, 0.2),
    "adam_transformer": (1.0, 0.5),
    "python_loop": (1.5, 1.2),
}

# A whole process, against `python -c "import numpy"`: the arguments of gradsh, and the two bars.
START_UP = {
    "startup_tensor": (
        ["-e", "x = param([2.0, 3.0]); y = (x * x).sum(); :backward y", "-e", ":grad x"],
        (1.8, 1.3),
    ),
    "startup_scalar": (
        ["-e", "x = param(2.0); y = param(3.0); z = x * y + y**2; :backward z", "-e", ":grad x"],
        (1.2, 0.5),
    ),
}


class Failed(Exception):
    """A program did not run to its end."""


@dataclass
class Row:
    """The comparison of one program: medians in seconds, peak memory in MiB, and the ratio of each round."""

    name: str
    first: float
    goal: float
    ours: float = 0.0
    theirs: float = 0.0
    our_memory: float = 0.0
    their_memory: float = 0.0
    ratios: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios) if self.ratios else float("inf")

    @property
    def mark(self) -> str:
        return "goal" if self.ratio <= self.goal else "first" if self.ratio <= self.first else "SHORT"

    def __str__(self) -> str:
        if not self.ratios:
            return f"{self.name:20} {self.note}"
        times = f"{self.ours * 1e6:12.2f} {self.theirs * 1e6:12.2f}"
        bars = f"{self.ratio:7.3f} {self.first:6} {self.goal:6}  {self.mark:5}"
        return f"{self.name:20} {times} {bars}  {self.our_memory:.0f} / {self.their_memory:.0f}"


def program(name: str) -> str:
    """A work program, with the timing loop behind it in the same language, printing seconds per unit of work."""
    work = (HERE / "work" / f"{name}.py").read_text(encoding="utf-8")
    timing = "single(step)" if "\nonce = True" in work else "measure(step, 0.1, 5)"
    return f"{work}\n{(HERE / 'measure.py').read_text(encoding='utf-8')}\nprint({timing} / per)\n"


def timed(command: list[str], path: Path) -> tuple[float, float]:
    """Seconds that the program reports, and its peak memory in MiB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([*command, str(path)], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise Failed(f"{Path(command[0]).name}: " + " | ".join(err.read().decode().splitlines()[:3]))
        kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
        return float(out.read().split()[-1]), kilobytes / 1024


def compare(name: str, ours: list[str], theirs: list[str], rounds: int, folder: Path) -> Row:
    """Run one program on both sides in turn, so that a busy machine slows both."""
    row = Row(name, *BARS[name])
    path = folder / f"{name}.py"
    path.write_text(program(name), encoding="utf-8")
    seconds: list[tuple[float, float]] = []
    try:
        for _ in range(rounds):
            our_time, row.our_memory = timed(ours, path)
            their_time, row.their_memory = timed(theirs, path)
            seconds.append((our_time, their_time))
            row.ratios.append(our_time / their_time)
    except Failed as failure:
        row.note = str(failure)
    if seconds:
        row.ours, row.theirs = (statistics.median(side) for side in zip(*seconds, strict=True))
    return row


def start_up(name: str, ours: list[str], rounds: int) -> Row:
    arguments, bars = START_UP[name]
    row = Row(name, *bars)
    try:
        for _ in range(rounds):
            row.ours, row.theirs = whole([*ours, *arguments]), whole([sys.executable, "-c", "import numpy"])
            row.ratios.append(row.ours / row.theirs)
    except (OSError, subprocess.CalledProcessError) as failure:
        row.note = str(failure)
    return row


def whole(command: list[str], runs: int = 7) -> float:
    """The median time of a whole process, in seconds."""
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gradsh", default="gradsh", help="the command to measure")
    parser.add_argument("--torch", default="python", help="a Python that has PyTorch")
    parser.add_argument("--only", nargs="*", default=[*BARS, *START_UP], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    ours, theirs = shlex.split(options.gradsh), shlex.split(options.torch)
    rows = []
    head = f"{'gradsh us':>12} {'torch us':>12} {'ratio':>7} {'first':>6} {'goal':>6}  {'':5}  memory MiB"
    print(f"{'program':20} {head}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            if name in BARS:
                rows.append(compare(name, ours, theirs, options.rounds, Path(folder)))
            else:
                rows.append(start_up(name, ours, options.rounds))
            print(rows[-1], flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    short = sum(row.mark == "SHORT" for row in rows)
    print(f"{len(rows) - short} at their first bar or better, {short} short of it")
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
