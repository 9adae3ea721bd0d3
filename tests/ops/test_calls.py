"""Calls that do not fit: numpy's names of arguments, `out=`, and PyTorch's TypeErrors, word for word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gradsh.engine.create import tensor
from gradsh.engine.state import state
from gradsh.ops.registry import NAMESPACES

TORCH, TENSOR, LINALG = (NAMESPACES[place] for place in ("torch", "Tensor", "linalg"))


@pytest.fixture(autouse=True)
def without_lists() -> Iterator[None]:
    """Lists are not tensors, as in PyTorch."""
    before, state.lists = state.lists, False
    yield
    state.lists = before


def matrix() -> Any:
    return tensor([[1.0, 5.0], [3.0, 4.0]])


def test_takes_numpys_names() -> None:
    x = matrix()
    assert x.sum(axis=0, keepdims=True).tolist() == [[4.0, 9.0]]
    assert TORCH["max"](x, axis=1).indices.tolist() == [1, 1]
    assert TORCH["sum"](a=x).item() == 13.0


def test_writes_into_out() -> None:
    total, values, places = tensor([0.0, 0.0]), tensor([0.0, 0.0]), tensor([0, 0])
    assert TORCH["sum"](matrix(), 0, out=total) is total
    TORCH["max"](matrix(), 1, out=(values, places))
    assert (total.tolist(), values.tolist(), places.tolist()) == ([4.0, 9.0], [5.0, 4.0], [1, 1])


SUM = "sum() received an invalid combination of arguments - got ({}), but expected one of:\n"
WORDS = [
    (lambda x: TORCH["sum"](x, foo=1), SUM.format("Tensor, foo=int")),
    (lambda x: x.sum(foo=1), SUM.format("foo=int, ")),
    (lambda x: x.sum("a"), SUM.format("str")),
    (lambda _: TORCH["sum"](), SUM.format("")),
    (lambda _: TORCH["sum"](3), "sum(): argument 'input' (position 1) must be Tensor, not int"),
    (lambda _: TORCH["sum"]([1.0]), "sum(): argument 'input' (position 1) must be Tensor, not list"),
    (
        lambda x: x.max(1, 2, 3),
        "max() received an invalid combination of arguments - got (int, int, int), but expected one of:\n",
    ),
    (lambda x: x.mm(3), "mm(): argument 'mat2' (position 1) must be Tensor, not int"),
    (lambda x: x.argmax("a"), "argmax(): argument 'dim' (position 1) must be int, not str"),
    (lambda x: x.amax(dim="a"), "amax(): argument 'dim' must be tuple of ints, not str"),
    (lambda x: TORCH["amax"](x, "a"), "amax(): argument 'dim' (position 2) must be tuple of ints, not str"),
    (
        lambda x: LINALG["vector_norm"](x, "a"),
        "linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str",
    ),
    (TORCH["kron"], 'kron() missing 1 required positional arguments: "other"'),
    (lambda _: TORCH["kron"](), 'kron() missing 2 required positional argument: "input", "other"'),
    (lambda x: x.cumsum(0, 1), "cumsum() takes 1 positional argument but 2 were given"),
    (lambda x: x.cumsum(0, foo=1), "cumsum() got an unexpected keyword argument 'foo'"),
    (TORCH["tensordot"], "tensordot() missing 1 required positional argument: 'b'"),
]


@pytest.mark.parametrize(("call", "words"), WORDS, ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_type_errors(call: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(matrix())
    assert str(caught.value).startswith(words)
