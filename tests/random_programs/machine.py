"""Runs a random program in NumPy, on real numbers or off them: what a program means, and its derivatives by complex steps.

A value without a derivative (detached, or computed under `no_grad`) and every choice (which side of a kink, which
branch) is what it was at the point itself, wherever the program is run: `Machine.constant` notes it there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
STEP, SHIFT = 1e-40, 1e-4


class Machine:
    """Runs steps one after the other; `values` are the program's variables, in the order of their assignment.

    notes: what `constant` noted at the point itself; None while it is noting.
    """

    def __init__(self, inputs: list[Array], notes: list[Array] | None = None) -> None:
        self.values = list(inputs)
        self.noted: list[Array] = []
        self.replayed = None if notes is None else iter(notes)

    def constant(self, make: Callable[[], Any]) -> Array:
        """What was found at the point itself."""
        if self.replayed is not None:
            found = next(self.replayed)
            return np.asarray(found, complex if found.dtype.kind == "f" else found.dtype)
        self.noted.append(np.array(make()))
        return self.noted[-1]

    def chosen(self, test: Array, a: Any, b: Any) -> Array:
        """`a` where the test held at the point itself, else `b`."""
        return np.asarray(np.where(self.constant(lambda: test), a, b))


@dataclass(frozen=True)
class Step:
    """A statement: its text, and what it does to a machine.

    run gives the new variable, or None where it changes one in place.
    """

    text: str
    run: Callable[[Machine], Array | None]


@dataclass
class Program:
    """Inputs, of which the first `leaves` require a gradient, and steps; variables: how many there are in the end."""

    inputs: list[Array]
    leaves: int
    variables: int
    steps: list[Step] = field(default_factory=list)

    def text(self) -> str:
        """The program, in the language: it ends with `loss`, and `leaves` is what to differentiate by."""
        lines = ["import torch", ""]
        for k, value in enumerate(self.inputs):
            data = f"torch.tensor({value.tolist()})" if value.size else f"torch.zeros({value.shape})"
            lines.append(f"v{k} = {data}" + (".requires_grad_()" if k < self.leaves else ""))
        lines += [step.text for step in self.steps]
        weighted = " + ".join(f"({weight} * v{k}).sum()" for k, weight in self.weights())
        return "\n".join([*lines, f"loss = {weighted}", f"leaves = [{', '.join(f'v{k}' for k in range(self.leaves))}]"])

    def weights(self) -> list[tuple[int, float]]:
        """Which variables the loss is made of: the last ones, and every third before them."""
        count = self.variables
        return [(k, round(0.5 + 0.25 * (k % 5), 2)) for k in range(count) if k >= count - 3 or k % 3 == 0]

    def loss(self, inputs: list[Array], notes: list[Array] | None) -> tuple[Any, list[Array]]:
        """The loss, and what was noted on the way."""
        machine = Machine(inputs, notes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # means of nothing, written nowhere
            for step in self.steps:
                made = step.run(machine)
                if made is not None:
                    machine.values.append(made)
        return sum(weight * machine.values[k].sum() for k, weight in self.weights()), machine.noted


def directions(program: Program, phase: float) -> list[Array]:
    """A direction in the space of the leaves, of numbers that are written out in full."""
    return [
        np.round(np.cos(1.7 * np.arange(x.size) + 0.9 * k + phase), 2).reshape(x.shape)
        for k, x in enumerate(program.inputs[: program.leaves])
    ]


def slopes(program: Program) -> tuple[float, float, float]:
    """The derivative of the loss along one direction, the derivative of that along another, and the error of the latter."""
    _, notes = program.loss([x.copy() for x in program.inputs], None)
    along, across = directions(program, 0.0), directions(program, 2.0)

    def slope(shift: float) -> float:
        moved = [
            x + shift * w + 1j * STEP * v
            for x, v, w in zip(program.inputs[: program.leaves], along, across, strict=True)
        ]
        rest = [x.astype(complex) for x in program.inputs[program.leaves :]]
        return float(np.imag(program.loss([*moved, *rest], notes)[0])) / STEP

    def second(step: float) -> float:
        return (slope(step) - slope(-step)) / (2 * step)

    coarse, fine = second(SHIFT), second(SHIFT / 2)
    return slope(0.0), fine + (fine - coarse) / 3, abs(fine - coarse)
