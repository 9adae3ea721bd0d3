"""Every declared op under vmap, from the registry: over any choice of its operands it gives what a loop gives.

Values, gradients, and gradients of the op's own derivative.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gradsh.engine.backward import grad
from gradsh.engine.batched import batched, zeros_like
from gradsh.engine.create import tensor
from gradsh.engine.level import VMAP, Level
from gradsh.engine.op import OPS, Op
from gradsh.engine.tensor import Tensor
from gradsh.ops import index
from gradsh.ops.samples import Domain, Sample

index.load_all()

SIZE = 3
SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (3,), ()),
    ((), (), ()),
    ((3,), (2, 1), (2, 3)),
]
# PyTorch refuses to vmap these over a mask: what comes out of it would have another shape for each example.
MASKS = {"indexed", "indexed_by_all", "index_sums", "index_put", "masked_select"}


def samples(op: Op) -> list[Sample]:
    if isinstance(op.sample, Sample):
        return [op.sample]
    if isinstance(op.sample, list):
        return op.sample
    count = len(op.operands)
    domains = (op.sample,) * count if isinstance(op.sample, Domain) else op.sample
    chosen = SHAPES if count > 1 else [SHAPES[0], SHAPES[2], ((0, 2),)]
    return [Sample(*(domain(*shape) for domain, shape in zip(domains, shapes, strict=False))) for shapes in chosen]


def is_float(value: Any) -> bool:
    return isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f"


def outputs(op: Op, found: Any) -> list[Tensor]:
    return list(found) if op.many or op.outputs else [found]


class Case:
    """An op with three examples of some of its operands, and one of the others."""

    def __init__(self, op: Op, sample: Sample, wide: tuple[int, ...]) -> None:
        self.op, self.settings, self.wide = op, sample.settings, wide
        rngs = [np.random.default_rng(seed) for seed in range(SIZE)]
        drawn: list[list[Any]] = [[None if one is None else one(rng) for one in sample.operands] for rng in rngs]
        self.values = [
            np.stack([row[k] for row in drawn]) if k in wide else drawn[0][k] for k in range(len(sample.operands))
        ]
        names = op.operands if op.variadic is None else [*op.operands[:-1], *[op.variadic] * len(sample.operands)]
        self.free = [k for k, value in enumerate(self.values) if names[k] in op.rules and is_float(value)]

    def leaves(self) -> list[Any]:
        return [
            None if value is None else tensor(value, requires_grad=k in self.free)
            for k, value in enumerate(self.values)
        ]

    def at_once(self, leaves: list[Any]) -> list[Tensor]:
        with Level(VMAP, size=SIZE) as level:
            operands = [batched(one, level) if k in self.wide else one for k, one in enumerate(leaves)]
            found = outputs(self.op, self.op(*operands, **self.settings))
            return [one.inner for one in found]

    def in_turn(self, leaves: list[Any]) -> list[Tensor]:
        rows = []
        for place in range(SIZE):
            operands = [
                OPS["select"](one, dim=0, index=place) if k in self.wide else one for k, one in enumerate(leaves)
            ]
            rows.append(outputs(self.op, self.op(*operands, **self.settings)))
        return [OPS["stack"](*column, dim=0) for column in zip(*rows, strict=True)]

    def gradients(self, outs: list[Tensor], leaves: list[Any], create: bool) -> tuple[Tensor, ...]:
        total: Any = tensor(0.0)
        for number, out in enumerate(outs):
            if out.requires_grad:
                weights = np.random.default_rng(number).uniform(-1, 1, out.shape)
                total = total + OPS["sum_all"](out * tensor(weights))
        free = [leaves[k] for k in self.free]
        if not total.requires_grad:
            return tuple(zeros_like(one) for one in free)
        return grad(total, free, create_graph=create, allow_unused=True, materialize_grads=True)  # type: ignore[return-value]


def cases() -> list[Any]:
    found = []
    for op in OPS.values():
        for number, sample in enumerate(samples(op) if op.sample is not None else []):
            places = [k for k, one in enumerate(sample.operands) if one is not None]
            for count in range(1, len(places) + 1):
                for wide in combinations(places, count):
                    found.append(pytest.param(op, sample, wide, id=f"{op.name}-{number}-{''.join(map(str, wide))}"))
    return found


@pytest.mark.parametrize(("op", "sample", "wide"), cases())
def test_equals_a_loop(op: Op, sample: Sample, wide: tuple[int, ...]) -> None:
    with np.errstate(all="ignore"):
        case = Case(op, sample, wide)
        if op.name in MASKS and any(np.asarray(case.values[k]).dtype.kind == "b" for k in wide):
            with pytest.raises(RuntimeError, match="vmap: "):
                case.at_once(case.leaves())
            return
        one, other = case.leaves(), case.leaves()
        expected, found = case.in_turn(one), case.at_once(other)
        for want, have in zip(expected, found, strict=True):
            assert have.dtype is want.dtype
            np.testing.assert_allclose(have.raw, want.raw, rtol=1e-12, atol=1e-14)
        if not case.free or not any(want.requires_grad for want in expected):
            return
        wanted, got = case.gradients(expected, one, True), case.gradients(found, other, True)
        for want, have in zip(wanted, got, strict=True):
            np.testing.assert_allclose(have.raw, want.raw, rtol=1e-10, atol=1e-12)
        second = case.gradients(list(wanted), one, False), case.gradients(list(got), other, False)
        for want, have in zip(*second, strict=True):
            np.testing.assert_allclose(have.raw, want.raw, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.sample is not None], ids=lambda op: op.name)
def test_cotangents_of_many_examples(op: Op) -> None:
    """A pass with cotangents of three examples gives what three passes give."""
    with np.errstate(all="ignore"):
        for sample in samples(op):
            case = Case(op, sample, ())
            leaves = case.leaves()
            outs = [out for out in outputs(op, op(*leaves, **sample.settings)) if out.requires_grad]
            free = [leaves[k] for k in case.free]
            if not outs or not free:
                continue
            rng = np.random.default_rng(5)
            seeds = [tensor(rng.uniform(-1, 1, (SIZE, *out.shape))) for out in outs]
            found = grad(outs, free, seeds, True, allow_unused=True, is_grads_batched=True)
            rows = [grad(outs, free, [seed[k] for seed in seeds], True, allow_unused=True) for k in range(SIZE)]  # type: ignore[index]
            for have, want in zip(found, zip(*rows, strict=True), strict=True):
                assert (have is None) == (want[0] is None)
                if have is not None:
                    np.testing.assert_allclose(
                        have.raw, np.stack([np.asarray(one.raw) for one in want]), rtol=1e-10, atol=1e-12
                    )
