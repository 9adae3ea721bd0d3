"""Products of all ranks against numpy's, and what their derivatives do to memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradsh.engine.create import tensor
from gradsh.ops.registry import NAMESPACES

RANKS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3)), ((2, 3, 0), (0, 2)),
    ((0, 2, 3), (3, 2)),
]  # fmt: skip

EQUATIONS = [
    ("i,i->", (3,), (3,)), ("ij,jk->ik", (2, 3), (3, 4)), ("ij,kj->ki", (2, 3), (4, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk->ik", (2, 3, 4), (2, 4, 5)), ("ii->i", (3, 3)), ("iij->j", (3, 3, 2)), ("ij->ji", (2, 3)),
    ("...ij->...ji", (4, 2, 3)),
    ("i,j,k->kji", (2,), (3,), (4,)), ("ij,jk,kl,li->", (2, 3), (3, 4), (4, 5), (5, 2)), ("i...,...->i...", (2, 3, 4), (3, 4)),
    ("ij,ij->i", (2, 3), (2, 3)), ("ab,bc", (2, 3), (3, 4)), ("ba", (2, 3)), ("ik,jkl,il->ij", (2, 3), (4, 3, 5), (2, 5)),
]  # fmt: skip


def draw(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize(("left", "right"), RANKS)
def test_matmul_of_all_ranks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = draw(left, right)
    found: Any = tensor(a) @ tensor(b)  # type: ignore[operator]
    np.testing.assert_allclose(found.raw, a @ b, rtol=1e-12)
    assert tuple(found.shape) == (a @ b).shape


@pytest.mark.parametrize(("equation", "shapes"), [(equation, shapes) for equation, *shapes in EQUATIONS])
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    operands = draw(*shapes)
    found = NAMESPACES["torch"]["einsum"](equation, *map(tensor, operands))
    np.testing.assert_allclose(found.raw, np.einsum(equation, *operands), rtol=1e-12)


def test_gradient_of_a_weight_lies_in_memory_as_the_weight_does() -> None:
    x, w, b = (tensor(value) for value in draw((4, 3), (2, 3), (2,)))
    w.requires_grad_()
    NAMESPACES["F"]["linear"](x, w, b).sum().backward()
    assert w.grad is not None and w.grad.raw.flags.c_contiguous
    np.testing.assert_allclose(w.grad.raw, np.tile(x.raw.sum(0), (2, 1)))


def test_bias_is_added_in_the_products_memory() -> None:
    x, w, b = (tensor(value) for value in draw((4, 3), (2, 3), (2,)))
    found = NAMESPACES["F"]["linear"](x, w, b)
    np.testing.assert_allclose(found.raw, x.raw @ w.raw.T + b.raw)
    assert found.raw.base is None
