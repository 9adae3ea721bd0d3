"""Measures that time and memory grow in proportion: `python -m benchmarks.scale [NAME …]`.

Each line names what grows, the size, the seconds, what doubling the size does to them, and the peak memory of the
process. The exit status is 1 when doubling takes more than 2.3 times as long, or a bound on memory does not hold.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.contenders import Failed, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 2.3

# Programs in the language: what `grow(n)` does, and n.
LEAF, LEAVES = "torch.tensor(1.0, requires_grad=True)", "xs = [torch.tensor(1.0, requires_grad=True) for _ in range(n)]"
PAIRS = "xs = [torch.ones(2, requires_grad=True) for _ in range(n)]"
GROWING = {
    "chain": (100_000, f"x = {LEAF}\nfor _ in range(n):\n    x = x * 1.000001\nx.backward()"),
    "diamonds": (50_000, f"x = {LEAF}\nfor _ in range(n):\n    x = x * 0.4 + x * 0.6\nx.backward()"),
    "fan_out": (50_000, f"x = {LEAF}\ny = torch.tensor(0.0)\nfor _ in range(n):\n    y = y + x * 2\ny.backward()"),
    "leaves": (50_000, f"{LEAVES}\ny = torch.tensor(0.0)\nfor x in xs:\n    y = y + x\ny.backward()"),
    "cat": (20_000, f"{PAIRS}\ntorch.cat(xs).sum().backward()"),
    "stack": (20_000, f"{PAIRS}\ntorch.stack(xs).sum().backward()"),
    "sum_of_list": (50_000, f"{LEAVES}\nsum(xs).backward()"),
    "views": (20_000, "x = torch.ones(n, requires_grad=True)\nsum([v * v for v in x]).backward()"),
    "in_place": (10_000, f"x = {LEAF}.expand(3) * 1\nfor _ in range(n):\n    x[0] *= 1.0001\nx.sum().backward()"),
    "second_order": (
        20_000,
        f"x = {LEAF}\ny = x\nfor _ in range(n):\n    y = y * 1.000001 + x\n"
        "(g,) = torch.autograd.grad(y * y, x, create_graph=True)\ng.backward()",
    ),
    "gradients_of_many": (10_000, f"{LEAVES}\ntorch.autograd.grad(torch.stack(xs).sum(), xs)"),
    "recursion": (
        4_000,
        f"def down(x, k):\n    return x if k == 0 else down(x * 1.0001, k - 1)\ndown({LEAF}, n).backward()",
    ),
    "print": (20_000, "text = ''.join([str(torch.tensor(float(k))) for k in range(n)])"),
    "tensor_of_list": (200_000, "torch.tensor([float(k) for k in range(n)]).tolist()"),
}

TIMED = """
import time
import torch
def spent(n):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        grow(n)
        times.append(time.perf_counter() - start)
    return min(times)
spent({n} // 10)
print(spent({n}), spent(2 * {n}))
"""


def script(lines: int) -> str:
    """A long program: definitions, loops, ops and expressions, as people write them."""
    part = (
        "w{k} = torch.tensor([1.0, 2.0], requires_grad=True)\ndef f{k}(x, scale=2):\n    return (x * scale + w{k}).sum()\n"
        "y{k} = f{k}(torch.ones(2), scale=0.5)\nif y{k} > 1:\n    y{k} = y{k} * 2\nfor i in range(2):\n    y{k} = y{k} + i\n"
        "y{k}.backward()\nz{k} = {{'a': [1, 2, 3], 'b': (w{k}.grad * 2).tolist()}}\n"
    )
    return "import torch\n" + "".join(part.format(k=k) for k in range(lines // 10))


class Scale:
    """What is measured, with the command to measure and a folder for programs."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command, self.folder = command, folder
        self.empty = self.process("pass\n")

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def process(self, text: str, *options: str, name: str = "program.py") -> tuple[float, float]:
        """Seconds and peak memory of a program in a file."""
        _, seconds, memory = run([*self.command, *options, str(self.file(name, text))])
        return seconds, memory

    def growing(self, name: str) -> tuple[int, float, float, float]:
        """Size, seconds, what doubling does to them, and peak memory."""
        size, body = GROWING[name]
        body = body.replace("\n", "\n    ")
        path = self.file("program.py", f"def grow(n):\n    {body}\n{TIMED.format(n=size)}")
        output, _, memory = run([*self.command, str(path)])
        once, twice = map(float, output.split())
        return size, once, twice / once, memory

    def doubled(self, size: int, measure: Callable[[int], tuple[float, float]]) -> tuple[int, float, float, float]:
        """The same for whole processes; their start is taken off."""
        (once, _), (twice, memory) = (min(measure(n) for _ in range(3)) for n in (size, 2 * size))
        start = self.empty[0]
        return size, once - start, (twice - start) / (once - start), memory

    def scripts(self, size: int, *options: str) -> tuple[int, float, float, float]:
        """Long programs, from start to end; with `check`, parsing them alone."""
        return self.doubled(size, lambda n: self.process(script(n), *options))

    def graph(self, size: int) -> tuple[int, float, float, float]:
        """`:graph`, beside the same program without it."""
        chain = "x = param(1.0)\ny = x\nfor _ in range({n}):\n    y = y * 1.000001\n"
        rows = [
            (self.process(chain.format(n=n)), self.process(chain.format(n=n) + ":graph y\n")) for n in (size, 2 * size)
        ]
        once, twice = (shown[0] - plain[0] for plain, shown in rows)
        return size, once, twice / once, rows[0][1][1] - rows[0][0][1]

    def pipe(self, size: int) -> tuple[int, float, float, float]:
        """Lines on standard input, one by one."""

        def lines(n: int) -> tuple[float, float]:
            _, seconds, memory = run(self.command, stdin=self.file("lines", "1+1\n" * n))
            return seconds, memory

        return self.doubled(size, lines)

    def training(self, size: int) -> tuple[int, float, float, float]:
        text = (
            "import torch\nimport torch.nn as nn\nnet = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))\n"
            "optimizer = torch.optim.Adam(net.parameters())\nX = torch.randn(8, 4)\nlosses = 0.0\n"
            "for _ in range({n}):\n    optimizer.zero_grad()\n    loss = (net(X) ** 2).mean()\n    loss.backward()\n"
            "    optimizer.step()\n    losses += loss.item()\n"
        )
        return self.doubled(size, lambda n: self.process(text.format(n=n)))

    def rows(self, names: list[str]) -> Iterator[tuple[str, tuple[int, float, float, float], float | None]]:
        """Name, measurements, and the bound on memory in MiB."""
        measures: dict[str, tuple[Callable[[], tuple[int, float, float, float]], float | None]] = {
            name: (lambda name=name: self.growing(name), None)  # type: ignore[misc]
            for name in GROWING
        }
        measures |= {
            "script": (lambda: self.scripts(10_000), None),
            "script_check": (lambda: self.scripts(10_000, "check"), None),
            "graph": (lambda: self.graph(100_000), 300),
            "training": (lambda: self.training(50_000), self.empty[1] + 60),
            "pipe": (lambda: self.pipe(500_000), self.empty[1] + 200),
        }
        for name in names or measures:
            measure, bound = measures[name]
            yield name, measure(), bound


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--gradsh", default=f"{shlex.quote(sys.executable)} -m gradsh", metavar="COMMAND")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        scale = Scale(shlex.split(options.gradsh), Path(folder))
        for name, (size, seconds, doubled, memory), bound in scale.rows(options.names):
            wrong = doubled > MOST or (bound is not None and memory > bound)
            status |= wrong
            mark = "  TOO MUCH" if wrong else ""
            print(f"{name:18} {size:9,} {seconds:8.3f} s  x {doubled:4.2f} {memory:6.0f} MiB{mark}", flush=True)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"benchmarks.scale: {failure}")
