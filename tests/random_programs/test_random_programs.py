"""Random programs: first and second derivatives along directions are those of an independent interpreter in NumPy.

500 programs in each run, 20,000 where the environment has GRADSH_NIGHTLY=1.
"""

from __future__ import annotations

import os

import numpy as np
import random_programs.changes
import random_programs.operations  # noqa: F401
from hypothesis import HealthCheck, given, note, settings, strategies as st
from random_programs.machine import slopes
from random_programs.writer import OPS, SHAPES, Instruction, written

from gradsh import Session

EXAMPLES = 20_000 if os.environ.get("GRADSH_NIGHTLY") else 500
DERIVATIVES = """
def direction(phase):
    return [
        (torch.cos(1.7 * torch.arange(x.numel()) + 0.9 * k + phase)).round(decimals=2).reshape(x.shape)
        for k, x in enumerate(leaves)
    ]

along, across = direction(0.0), direction(2.0)
first = torch.autograd.grad(loss, leaves, create_graph=True, materialize_grads=True)
slope = sum((g * d).sum() for g, d in zip(first, along))
second = [torch.zeros_like(leaf) for leaf in leaves]
if slope.requires_grad:
    second = torch.autograd.grad(slope, leaves, retain_graph=True, materialize_grads=True)
curvature = sum((h * d).sum() for h, d in zip(second, across))
scale = sum(g.abs().sum() + h.abs().sum() for g, h in zip(first, second))
loss.backward()
disagreement = sum((leaf.grad - g).abs().sum() for leaf, g in zip(leaves, first) if leaf.grad is not None)
"""
number = st.integers(0, 15)
instruction = st.tuples(st.sampled_from(sorted(OPS)), number, number, number)
inputs = st.lists(st.integers(0, len(SHAPES) - 1), min_size=1, max_size=4)


@settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(inputs, st.integers(1, 3), st.lists(instruction, max_size=60))
def test_derivatives(shapes: list[int], leaves: int, instructions: list[Instruction]) -> None:
    program = written(shapes, leaves, instructions)
    text = program.text() + DERIVATIVES
    note(text)
    with np.errstate(all="ignore"):
        slope, curvature, error = slopes(program)
        value = float(program.loss([x.copy() for x in program.inputs], None)[0])
    session = Session(dialect="torch", dtype="float64")
    session.run(text)
    found = {name: session[name].item() for name in ("loss", "slope", "curvature", "scale", "disagreement")}
    note(f"{found}, expected {value}, {slope}, {curvature} ± {error}")
    scale = 1 + found["scale"]
    assert abs(found["loss"] - value) < 1e-10 * (1 + abs(value))
    assert abs(found["slope"] - slope) < 1e-9 * scale
    assert found["disagreement"] < 1e-11 * scale
    assert abs(found["curvature"] - curvature) < 1e-6 * scale + 10 * error
