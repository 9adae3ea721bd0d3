"""Calls of ops that do not fit them: PyTorch's words, at the top and where a program catches the error."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from gradsh import Session
from gradsh.lang.locate import is_internal

# [expression, message of PyTorch's TypeError], the message of an invalid combination up to its list.
CALLS = json.loads((Path(__file__).parent / "data" / "misfits.json").read_text())
SETUP = """\
import torch
import torch.nn.functional as F
x = torch.tensor([[1.0, 2.0], [3.0, 4.5]])
n = torch.tensor([1, 2, 3])
"""


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session(dialect="torch", dtype="float64")
    session.run(SETUP)
    return session


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[call for call, _ in CALLS])
def test_words(session: Session, call: str, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        session.run(f"{call}\n")
    assert not is_internal(caught.value)
    assert str(caught.value).startswith(words)


def test_words_where_caught(session: Session) -> None:
    out = StringIO()
    with redirect_stdout(out):
        session.run("try:\n    x.sqrt(2)\nexcept TypeError as error:\n    print(error)\n")
    assert out.getvalue() == "TensorBase.sqrt() takes no arguments (1 given)\n"


def test_others_keep_their_words(session: Session) -> None:
    """A program's own function may have an op's name."""
    with pytest.raises(TypeError, match=r"^sqrt\(\) takes 1 positional argument but 2 were given$"):
        session.run("def sqrt(x):\n    return x\nsqrt(1, 2)\n")
    with pytest.raises(TypeError, match=r"^C.sqrt\(\) takes 1 positional argument but 2 were given$"):
        session.run("class C:\n    def sqrt(self):\n        return self\nC().sqrt(1)\n")


def test_kind_of_error(session: Session) -> None:
    """PyTorch looks at the types of arguments first, whatever would have failed later."""
    for call in (
        "x.resize_as_(2)",
        "torch.is_inference(1.0)",
        "torch.allclose(x, x, x)",
    ):
        with pytest.raises(TypeError, match="must be"):
            session.run(f"{call}\n")
    with pytest.raises(ValueError, match=r"^Overflow when unpacking long long$"):
        session.run("x.diag_embed(10**20)\n")
