"""Writes a random program from a list of instructions, each a few small numbers: any list gives a program that is allowed.

An instruction that has no meaning where it stands is left out, as is one whose result is large or lies at a kink. So
hypothesis may shrink the list as it likes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from random_programs.machine import Array, Machine, Program, Step

LARGEST, KINK = 6.0, 1e-4
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (1,), (2, 2), (3, 1), (2, 1, 3), (2, 2, 2), (0,), (0, 3)]
Instruction = tuple[str, int, int, int]
Kernel = Callable[..., Any]
Write = Callable[["Writer", int, int, int], None]

OPS: dict[str, Write] = {}


class Refused(Exception):
    """An instruction that has no meaning where it stands."""


class Writer:
    """A program as it is written, run at the point itself as it grows.

    fixed: memory that may not be changed in place, since a view or an alias without derivative shows it; by identity.
    saved: memory that a node may have saved. required: memory that requires a gradient.
    late: views of memory that did not when they were made; PyTorch takes these for leaves when it does.
    """

    def __init__(self, shapes: list[int], leaves: int) -> None:
        inputs = [
            np.round(np.sin(2.3 * np.arange(int(np.prod(SHAPES[s]))) + 0.7 * k + s) * 1.4, 2).reshape(SHAPES[s])
            for k, s in enumerate(shapes)
        ]
        self.machine = Machine([x.copy() for x in inputs])
        self.program = Program(inputs, min(leaves, len(inputs)), len(inputs))
        self.fixed = {id(root(x)) for x in self.machine.values[: self.program.leaves]}
        self.required = set(self.fixed)
        self.saved: set[int] = set()
        self.late: set[int] = set()

    @property
    def values(self) -> list[Array]:
        return self.machine.values

    def variable(self, k: int) -> int:
        """The number of a variable, counted from the last."""
        return len(self.values) - 1 - k % len(self.values)

    def such(self, k: int, test: Callable[[Array], bool]) -> int:
        """The number of a variable that passes a test, counted from the last of them."""
        found = [n for n in reversed(range(len(self.values))) if test(self.values[n])]
        if not found:
            raise Refused
        return found[k % len(found)]

    def write(
        self, text: str, run: Callable[[Machine], Array | None], operands: tuple[int, ...] = (), *, saves: bool = False
    ) -> None:
        """Add a statement that makes a variable; `{}` is its name.

        operands: the variables that it has a derivative by. saves: its nodes may save these, or the new one.
        """
        noted = len(self.machine.noted)
        made = run(self.machine)
        assert made is not None
        if made.size > 30 or made.ndim > 4 or not np.all(np.abs(made) <= LARGEST):
            del self.machine.noted[noted:]
            raise Refused
        self.program.steps.append(Step(text.format(f"v{len(self.values)}"), run))
        self.values.append(made)
        self.program.variables += 1
        if self.requires(*operands):
            self.required.add(id(root(made)))
        elif made.base is not None:
            self.late.add(len(self.values) - 1)
        if saves:
            self.saved |= {id(root(value)) for value in (made, *(self.values[k] for k in operands))}

    def requires(self, *variables: int) -> bool:
        """Whether any of the variables requires a gradient."""
        return any(id(root(self.values[k])) in self.required for k in variables)

    def kernel(self, text: str, kernel: Kernel, *operands: int, saves: bool = True) -> None:
        """Add `v9 = text` with the operands' names in it; `kernel` takes the machine and their values."""
        names = [f"v{k}" for k in operands]
        self.write(
            "{} = " + text.format(*names),
            lambda machine: np.asarray(kernel(machine, *(machine.values[k] for k in operands))),
            operands,
            saves=saves,
        )

    def change(self, text: str, kernel: Kernel, target: int, *operands: int, saves: tuple[int, ...] = ()) -> None:
        """Add a statement that changes a variable in place, as `kernel` does with the machine and the values."""
        memory = root(self.values[target])
        if id(memory) in self.fixed | self.saved or not self.values[target].flags.writeable:
            raise Refused
        if target in self.late and self.requires(target):
            raise Refused
        if any(np.shares_memory(self.values[k], self.values[target]) for k in operands):
            raise Refused

        def run(machine: Machine) -> None:
            kernel(machine, *(machine.values[k] for k in (target, *operands)))

        before, noted = memory.copy(), len(self.machine.noted)
        run(self.machine)
        if not np.all(np.abs(memory) <= LARGEST):
            np.copyto(memory, before)
            del self.machine.noted[noted:]
            raise Refused
        self.program.steps.append(Step(text.format(*(f"v{k}" for k in (target, *operands))), run))
        if self.requires(*operands):
            self.required.add(id(memory))
        self.saved |= {id(root(self.values[k])) for k in saves}

    def fix(self, *variables: int) -> None:
        """Let nothing change these in place from now on."""
        self.fixed |= {id(root(self.values[k])) for k in variables}


def root(value: Array) -> Array:
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value


def written(shapes: list[int], leaves: int, instructions: list[Instruction]) -> Program:
    """The program of some instructions."""
    writer = Writer(shapes, leaves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of means of nothing and the like, which are refused
        for name, a, b, c in instructions:
            with suppress(Refused):
                OPS[name](writer, a, b, c)
    return writer.program


def clear(*values: Array) -> None:
    """Refuse what lies at a kink."""
    if any(value.size and np.min(np.abs(value)) < KINK for value in values):
        raise Refused


def broadcast(writer: Writer, a: int, b: int) -> tuple[int, int]:
    """Two variables that can be broadcast."""
    x = writer.variable(a)

    def fits(value: Array) -> bool:
        try:
            return len(np.broadcast_shapes(value.shape, writer.values[x].shape)) < 4
        except ValueError:
            return False

    return x, writer.such(b, fits)
