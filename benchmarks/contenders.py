"""Who is timed, and how: each a command for a program of work/, run in a process of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

# Work that is a whole process: from nothing to the first gradient, printed.
START_UP = "start_up"

FIRST_GRADIENT = {
    "PyTorch": "import torch; x = torch.tensor([2.0, 3.0], requires_grad=True); (x * x).sum().backward(); print(x.grad)",
    "JAX": "import jax, jax.numpy as jnp; print(jax.grad(lambda x: (x * x).sum())(jnp.array([2.0, 3.0])))",
    "JAX jit": "import jax, jax.numpy as jnp; print(jax.jit(jax.grad(lambda x: (x * x).sum()))(jnp.array([2.0, 3.0])))",
    "autograd": "import autograd, autograd.numpy as np; print(autograd.grad(lambda x: np.sum(x * x))(np.array([2.0, 3.0])))",
}
PEERS = (("JAX", "jax_work", ()), ("JAX jit", "jax_work", ("jit",)), ("autograd", "autograd_work", ()))


class Failed(Exception):
    """A program did not run to its end."""


@dataclass
class Contender:
    """A side of the comparison.

    `command` is completed by the path of a program, or by the work's name where the library has words of its own,
    which then says what `works` there are. `start_up` is the whole command of the first gradient.
    """

    name: str
    command: list[str]
    start_up: list[str]
    works: set[str] | None = None

    def has(self, work: str) -> bool:
        """Whether the work is written for it."""
        return self.works is None or work in self.works or work == START_UP

    def measured(self, work: str, folder: Path) -> tuple[float, float]:
        """Seconds for a unit of work, and the peak memory of the process in MiB."""
        if work == START_UP:
            runs = [run(self.start_up) for _ in range(5)]
            return statistics.median(seconds for _, seconds, _ in runs), runs[0][2]
        argument = work
        if self.works is None:
            path = folder / f"{work}.py"
            path.write_text(program(work), encoding="utf-8")
            argument = str(path)
        output, _, memory = run([*self.command, argument])
        return float(output.split()[-1]), memory


def contenders(gradsh: list[str], torch: list[str], peers: list[str]) -> list[Contender]:
    """gradsh, and of the others those that the Pythons given can import."""
    first = ["-e", "x = param([2.0, 3.0]); y = (x * x).sum(); :backward y", "-e", ":grad x"]
    found = [Contender("gradsh", gradsh, [*gradsh, *first])]
    if torch:
        found.append(Contender("PyTorch", torch, [*torch, "-c", FIRST_GRADIENT["PyTorch"]]))
    for name, module, more in PEERS if peers else ():
        command = [*peers, "-m", f"benchmarks.peers.{module}", *more]
        try:
            works = run(command)[0].split()
        except Failed:
            continue
        found.append(Contender(name, command, [*peers, "-c", FIRST_GRADIENT[name]], set(works)))
    return found


def program(work: str) -> str:
    """A program of work/, with the timing loop behind it in the same language, printing seconds per unit of work."""
    text = (HERE / "work" / f"{work}.py").read_text(encoding="utf-8")
    timing = "single(step)" if "\nonce = True" in text else "measure(step, 0.1, 5)"
    return f"{text}\n{(HERE / 'measure.py').read_text(encoding='utf-8')}\nprint({timing} / per)\n"


def run(command: list[str], stdin: Path | None = None) -> tuple[str, float, float]:
    """A whole process: what it printed, its seconds and its peak memory in MiB."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
        open(stdin or os.devnull, "rb") as source,
    ):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=errors, cwd=HERE.parent)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            raise Failed(" | ".join(errors.read().decode(errors="replace").splitlines()[-3:]))
        kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
        return out.read().decode(), seconds, kilobytes / 1024
