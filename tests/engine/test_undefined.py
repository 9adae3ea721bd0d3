"""Gradients that are nan because 0 met an infinite slope: PyTorch's number, with a warning whose rewrite is finite."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from support.running import run_inside

from gradsh import Session
from gradsh.engine.state import state

CASES = json.loads((Path(__file__).parent / "data" / "undefined.json").read_text())
BORN = [case for case in CASES if case["rewrite"]]


def program(case: dict[str, Any], loss: str) -> str:
    return f"{case['setup']}\ny = {loss}\n:backward y\nprint(x.grad.reshape(-1).tolist())"


def numbers(text: str) -> list[float]:
    return [float(part) for part in text.strip().strip("[]").split(",")]


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-12)


@pytest.mark.parametrize("case", BORN, ids=lambda case: case["loss"])
def test_the_number_is_pytorchs_and_a_warning_says_why(case: dict[str, Any]) -> None:
    done = run_inside("-e", program(case, case["loss"]))
    assert done.status == 0
    assert all(map(same, numbers(done.out), map(float, case["grad"])))
    column = 5 + case["loss"].index(case["blamed"])
    assert done.err.startswith(f"<eval>:2:{column}: warning: RuntimeWarning: gradient is nan: ")
    assert f"\nhelp: {case['rewrite']}\n" in done.err
    assert done.err.count("warning") == 1


@pytest.mark.parametrize("case", BORN, ids=lambda case: case["loss"])
def test_the_rewrite_is_finite(case: dict[str, Any]) -> None:
    done = run_inside("-e", program(case, case["loss"].replace(case["blamed"], case["rewrite"])))
    assert (done.status, done.err) == (0, "")
    assert all(map(same, numbers(done.out), case["safe"]))


@pytest.mark.parametrize(
    "text",
    [
        "x = param([-1.0, 4.0]); sqrt(x).sum().backward()",  # no derivative there, and no mask
        "x = param([0.0, 4.0]); sqrt(x).sum().backward()",  # infinite, which is right
        "x = param([1.0, 0.5]); acosh(x).sum().backward()",
        "x = param([0.0, 1.0]); (where(x > 0, x, 1).log() + x).sum().backward()",
        "x = param([0.0, 3.0]); norm(x).backward(); log(tensor(0.0)); (x * x).sum().backward()",
        "x = param([1.0, 2.0]); where(isnan(tensor([nan, 1.0])), 0.0, x).sum().backward()",
        "x = param([nan, 2.0]); (x * x).sum().backward()",
    ],
)
def test_there_is_no_warning_without_need(text: str) -> None:
    done = run_inside("-e", text)
    assert (done.status, done.err) == (0, "")


def test_a_place_is_warned_of_once() -> None:
    text = "for k in range(3):\n    x = param(0.0)\n    where(x > 0, sqrt(x), x).backward()\n"
    assert run_inside("-e", text).err.count("warning") == 1


def test_programs_can_have_it_filtered() -> None:
    text = "import warnings\nwarnings.filterwarnings('ignore')\nx = param(0.0)\nwhere(x > 0, sqrt(x), x).backward()\n"
    assert run_inside("-e", text).err == ""


def test_gradients_that_are_asked_for_and_recorded_ones_are_judged_too() -> None:
    text = "x = param([0.0, 1.0])\ny = where(x > 0, sqrt(x), x).sum()\n"
    for call in ("torch.autograd.grad(y, x)[0]", "torch.autograd.grad(y, x, create_graph=True)[0].detach()"):
        done = run_inside("-e", f"{text}print({call}.tolist())")
        assert done.out == "[nan, 0.5]\n"
        assert "help: sqrt(where(x > 0, x, 1))" in done.err


@pytest.mark.parametrize("text", ["split(x, 1)", "unbind(x)", "x.sort()", "var_mean(x)"])
def test_ops_of_several_outputs_pass_on_what_is_looked_at(text: str) -> None:
    seen = Session()
    seen.run(
        f"x = param([3.0, 2.0])\nlog(tensor(-1.0))\nparts = {text}\n(parts[0].sum() * 3 + parts[1].sum()).backward()"
    )
    plain = Session()
    plain.run(f"x = param([3.0, 2.0])\nparts = {text}\n(parts[0].sum() * 3 + parts[1].sum()).backward()")
    assert seen["x"].grad.tolist() == plain["x"].grad.tolist()


@pytest.mark.parametrize(
    "text", ["jacrev(f)(x)", "jacfwd(f)(x)", "torch.func.hessian(lambda x: f(x).sum())(x)", "vmap(grad(f))(x)"]
)
def test_transforms_can_be_looked_at(text: str) -> None:
    session = Session(dialect="torch", dtype="float64")
    session.run(
        "from torch.func import grad, jacfwd, jacrev, vmap\nf = lambda x: x.sin() * x\nx = torch.tensor([1.0, 2.0])"
    )
    plain = session.eval(f"{text}.tolist()")
    session.run(f"torch.log(torch.tensor(-1.0))\nfound = {text}.tolist()")
    assert session["found"] == plain


def test_nothing_is_suspected_where_all_is_finite() -> None:
    session = Session()
    before: list[Any] = []
    session["look"] = lambda: before.append(state.suspicion)
    session.run("x = param([1.0, 2.0])\nwhere(x > 0, sqrt(x), x).sum().backward()\nlook()")
    assert before == [None]
