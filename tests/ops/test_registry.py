"""Every declared op, from the registry: raw = recorded = forward mode = central differences, to second order.

The second order is checked in reverse mode over reverse mode, and in forward mode over reverse mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradsh.backend import arrays
from gradsh.engine.backward import grad
from gradsh.engine.create import tensor
from gradsh.engine.forward import jvp
from gradsh.engine.op import CONSTANT, ELEMENTWISE, OPS, Op
from gradsh.engine.tensor import Tensor, wrap
from gradsh.ops import index
from gradsh.ops.samples import Domain, Sample

index.load_all()

SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (3,), ()),
    ((1, 3), (2, 1), (3,)),
    ((), (), ()),
]


def test_index_is_what_is_declared() -> None:
    from gradsh.ops import registry

    assert index.index() == registry.declared()


def samples(op: Op) -> list[Sample]:
    """What an op is tested on: its own samples, or for a domain, equal shapes, broadcast ones and numbers."""
    if isinstance(op.sample, Sample):
        return [op.sample]
    if isinstance(op.sample, list):
        return op.sample
    count = len(op.operands)
    domains = (op.sample,) * count if isinstance(op.sample, Domain) else op.sample
    chosen = SHAPES if count > 1 else [SHAPES[0], SHAPES[-1], ((0, 2),)]
    return [Sample(*(domain(*shape) for domain, shape in zip(domains, shapes, strict=False))) for shapes in chosen]


def draw(op: Op, sample: Sample, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [None if one is None else one(rng) for one in sample.operands]


def names_of(op: Op, values: list[Any]) -> list[str]:
    return (
        op.operands
        if op.variadic is None
        else [*op.operands[:-1], *[op.variadic] * (len(values) - len(op.operands) + 1)]
    )


def differentiable(op: Op, values: list[Any]) -> list[int]:
    return [
        k
        for k, name in enumerate(names_of(op, values))
        if name in op.rules and isinstance(values[k], (float, np.ndarray)) and np.asarray(values[k]).dtype.kind == "f"
    ]


def outputs(op: Op, found: Any) -> list[Tensor]:
    """The outputs of a call that have a derivative."""
    if op.many:
        return list(found)
    return [value for value, keep in zip(found, op.differentiable, strict=True) if keep] if op.outputs else [found]


def gradients(total: Tensor, leaves: list[Any], **settings: bool) -> list[Any]:
    """A gradient for each leaf, zeros where it has no part in the total."""
    return list(grad(total, leaves, allow_unused=True, materialize_grads=True, **settings))


class Case:
    """An op on drawn operands, as a function of those that have a derivative."""

    def __init__(self, op: Op, sample: Sample) -> None:
        self.op, self.settings = op, sample.settings
        self.values = draw(op, sample)
        self.free = differentiable(op, self.values)
        rng = np.random.default_rng(1)
        self.point = [np.asarray(self.values[k], float) for k in self.free]
        self.direction = [rng.uniform(-1, 1, x.shape) for x in self.point]
        self.weights = [rng.uniform(-1, 1, out.shape) for out in self.run([leaf(x) for x in self.point])]

    def run(self, free: list[Any]) -> list[Tensor]:
        operands = [None if value is None else tensor(value) for value in self.values]
        for k, value in zip(self.free, free, strict=True):
            operands[k] = value
        return outputs(self.op, self.op(*operands, **self.settings))

    def loss(self, free: list[Any]) -> Tensor:
        """The weighted sum of the outputs."""
        total: Any = tensor(0.0)
        for out, weight in zip(self.run(free), self.weights, strict=True):
            total = total + OPS["sum_all"](out * tensor(weight))
        assert isinstance(total, Tensor)
        return total

    def gradient(self, *free: Tensor) -> tuple[Any, ...]:
        """The gradient of the loss as it stands in a program, of tensors that may have tangents."""
        return grad(self.loss(list(free)), free, create_graph=True, allow_unused=True, materialize_grads=True)

    def slope(self, point: list[Any]) -> list[np.ndarray]:
        """The gradient of the loss, by the raw backward pass."""
        leaves = [leaf(x) for x in point]
        total = self.loss(leaves)
        if not total.requires_grad:
            return [np.zeros_like(x) for x in point]
        return [np.asarray(g.raw) for g in gradients(total, leaves)]

    def shifted(self, step: float) -> list[np.ndarray]:
        return [x + step * d for x, d in zip(self.point, self.direction, strict=True)]


def leaf(value: Any) -> Tensor:
    return tensor(value, requires_grad=True)


def dot(a: list[Any], b: list[Any]) -> float:
    return float(sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in zip(a, b, strict=True)))


def cases() -> list[Any]:
    return [
        pytest.param(op, sample, id=f"{op.name}-{k}")
        for op in OPS.values()
        if op.kind != CONSTANT and op.rules and op.sample is not None
        for k, sample in enumerate(samples(op))
    ]


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.rules and op.kind != CONSTANT], ids=lambda op: op.name)
def test_has_sample(op: Op) -> None:
    assert op.sample is not None or op.name in WITHOUT_SAMPLE, (
        f"{op.name} is declared without a sample: nothing tests its rule"
    )


# Tested by the promotion of the elementwise ops; and those that PyTorch has no derivative of.
WITHOUT_SAMPLE = {
    "to_dtype", "floor_divide", "heaviside", "remainder_of_number", "geqrf", "unique", "unique_dim", "unique_consecutive",
    "ctc_losses", "ctc_slopes",  # PyTorch's is the derivative by what log_softmax was taken of
}  # fmt: skip


@pytest.mark.parametrize(("op", "sample"), cases())
def test_derivatives(op: Op, sample: Sample) -> None:
    with np.errstate(all="ignore"):
        case = Case(op, sample)
        if not case.free:
            pytest.fail("the sample has no operand with a derivative")
        leaves = [leaf(x) for x in case.point]
        total = case.loss(leaves)
        raw = case.slope(case.point)

        # recorded = raw
        if total.requires_grad:
            recorded = gradients(total, leaves, create_graph=True)
        else:
            recorded = [tensor(np.zeros_like(x)) for x in case.point]
        for one, other in zip(raw, recorded, strict=True):
            np.testing.assert_allclose(other.raw, one, rtol=1e-9, atol=1e-12)

        # raw = central differences along a direction
        step = 1e-6
        along = dot(raw, case.direction)
        numeric = (value(case.loss, case.shifted(step)) - value(case.loss, case.shifted(-step))) / (2 * step)
        np.testing.assert_allclose(along, numeric, rtol=2e-5, atol=2e-7)

        # forward mode = raw
        _, tangent = jvp(
            lambda *free: case.loss(list(free)), [tensor(x) for x in case.point], [tensor(d) for d in case.direction]
        )
        np.testing.assert_allclose(tangent.raw, along, rtol=1e-9, atol=1e-9)

        # second order: the gradient of <slope, direction> = central differences of the slope
        if not total.requires_grad:
            return
        inner: Any = tensor(0.0)
        for g, d in zip(recorded, case.direction, strict=True):
            inner = inner + OPS["sum_all"](g * tensor(d))
        numeric_second = [
            (up - down) / (2e-5)
            for up, down in zip(case.slope(case.shifted(1e-5)), case.slope(case.shifted(-1e-5)), strict=True)
        ]
        if inner.requires_grad:
            second = [g.raw for g in gradients(inner, leaves)]
        else:
            second = [np.zeros_like(x) for x in case.point]
        for one, other in zip(second, numeric_second, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

        # forward mode over reverse mode = reverse mode over reverse mode
        _, moved = jvp(case.gradient, leaves, [tensor(d) for d in case.direction])
        for one, other in zip(moved, second, strict=True):
            np.testing.assert_allclose(one.raw, other, rtol=1e-8, atol=1e-9)


def value(function: Any, point: list[np.ndarray]) -> float:
    return float(function([tensor(x) for x in point]).item())


@pytest.mark.parametrize(
    "op", [op for op in OPS.values() if op.kind == ELEMENTWISE and op.sample is not None], ids=lambda op: op.name
)
def test_scalars_are_arrays(op: Op) -> None:
    """The namespace of scalars gives what the namespace of arrays gives, at ordinary and at special points."""
    domains = (op.sample,) * len(op.operands) if isinstance(op.sample, Domain) else op.sample
    if not all(isinstance(domain, Domain) for domain in domains):
        pytest.skip("given with samples of its own, which settle the shapes")
    rng = np.random.default_rng(2)
    rows = [[domain.draw(rng, ()) for domain in domains] for _ in range(5)]
    if all(domain.kind == "float" for domain in domains):
        rows += [[point] * len(domains) for point in (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, -745.2)]
    with np.errstate(all="ignore"):
        for row in rows:
            one = op(
                *(
                    tensor(
                        float(x)
                        if np.asarray(x).dtype.kind == "f"
                        else bool(x)
                        if np.asarray(x).dtype.kind == "b"
                        else int(x)
                    )
                    for x in row
                )
            )
            many = op(*(wrap(arrays.array([x])) for x in row))
            np.testing.assert_allclose(np.asarray(one.raw), np.asarray(many.raw)[0], rtol=1e-14, atol=1e-300)
