"""What PyTorch answered to lines of Python, value or error, against what the same lines give here.

`data/answers/NAME.json` is one session: each line with what it printed, the text of its value, or its error. All were
recorded from PyTorch 2.13 on a CPU with float64 as the default type.
"""

from __future__ import annotations

import contextlib
import io
import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradsh.backend.dtypes import float64
from gradsh.engine.state import State, state
from gradsh.engine.tensor import Parameter
from gradsh.engine.text import PrintOptions
from gradsh.ops.index import load_all

ANSWERS = Path(__file__).parent / "data" / "answers"


def torch_names() -> dict[str, Any]:
    """`torch`, `F` and `np` as plain namespaces."""
    from gradsh.ops.registry import NAMESPACES

    load_all()
    torch = types.SimpleNamespace()
    spaces = {"torch": torch}
    for place in sorted(NAMESPACES):
        if place in ("torch", "Tensor", "F", "autograd.gradcheck"):
            continue
        at = torch
        for part in place.split("."):
            if not hasattr(at, part):
                setattr(at, part, types.SimpleNamespace())
            at = getattr(at, part)
        spaces[place] = at
    for place, space in spaces.items():
        for name, value in NAMESPACES[place].items():
            setattr(space, name, value)
    torch.nn = types.SimpleNamespace(Parameter=Parameter)
    return {"torch": torch, "F": types.SimpleNamespace(**NAMESPACES["F"]), "np": np}


@pytest.fixture(autouse=True)
def as_torch() -> Iterator[None]:
    """PyTorch's dialect with float64, and everything as it was afterwards."""
    before = {name: getattr(state, name) for name in State.__slots__}
    state.lists, state.default, state.print_options = False, float64, PrintOptions()
    with np.errstate(all="ignore"):
        yield
    for name, value in before.items():
        setattr(state, name, value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted(ANSWERS.glob("*.json")), ids=lambda path: path.stem)
def test_session(path: Path) -> None:
    names = torch_names()
    differences = []
    for wanted in json.loads(path.read_text()):
        found: dict[str, Any] = {"code": wanted["code"]}
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                try:
                    found["value"] = repr(eval(compile(wanted["code"], "<line>", "eval"), names))
                except SyntaxError:
                    exec(compile(wanted["code"], "<line>", "exec"), names)
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {error}"
        if out.getvalue():
            found["printed"] = out.getvalue()
        if found != wanted:
            differences.append(f"{wanted}\n{found}")
    assert not differences, "\n\n".join(differences)
