"""What is remembered of the backward runs that a gradient is the sum of."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from gradsh import Session
from gradsh.engine.ledger import LARGEST, LATEST, Ledger


@pytest.fixture
def session() -> Session:
    session = Session()
    session.run("x = param(3.0)")
    return session


def amounts(session: Session, name: str = "x") -> tuple[int, list[Any]]:
    count, runs = session.runs_of(session[name])
    return count, [None if value is None else value.tolist() for _, value in runs]


def test_runs_add_up_until_the_gradient_is_cleared(session: Session) -> None:
    assert amounts(session) == (0, [])
    session.run("(x * x).backward()\n(2 * x).backward()")
    assert amounts(session) == (2, [6.0, 2.0])
    assert [place for place, _ in session.runs_of(session["x"])[1]] == ["1:1", "2:1"]
    session.run("x.grad = None")
    assert amounts(session) == (0, [])
    session.run("(x * x).backward()")
    assert amounts(session) == (1, [6.0])


@pytest.mark.parametrize(
    "change", ["x.grad.zero_()", "x.grad = zeros_like(x)", "x.grad *= 0.5", ":zero x", "del x.grad"]
)
def test_any_change_of_the_gradient_begins_anew(session: Session, change: str) -> None:
    session.run("(x * x).backward()")
    session.run(change if change != "del x.grad" else "x.grad = None")
    assert amounts(session) == (0, [])
    session.run("(x * x).backward()\n(x * x).backward()")
    known = 2 if change in (":zero x", "del x.grad") else 0  # else the sum has a part that no run added
    assert amounts(session) == (known, [6.0] * known)


def test_amounts_are_not_what_is_added_to(session: Session) -> None:
    session.run("v = param([1.0, 2.0])\nfor k in range(3):\n    (v * v).sum().backward()")
    assert amounts(session, "v") == (3, [[2.0, 4.0]] * 3)
    assert session["v"].grad.tolist() == [6.0, 12.0]


def test_runs_that_are_recorded_themselves(session: Session) -> None:
    session.run("(x ** 3).backward(create_graph=True)\n(x ** 2).backward(create_graph=True)")
    assert amounts(session) == (2, [27.0, 6.0])


def test_large_amounts_and_old_runs_are_only_counted(session: Session) -> None:
    session.run(f"v = param(zeros({LARGEST + 1}))\nv.sum().backward()\nv.sum().backward()")
    assert amounts(session, "v") == (2, [None, None])
    session.run(f"for k in range({LATEST + 5}):\n    (k * x).backward()")
    count, latest = amounts(session)
    assert (count, latest[0], latest[-1], len(latest)) == (LATEST + 5, 5.0, LATEST + 4.0, LATEST)


def test_leaves_are_held_weakly(session: Session) -> None:
    session.run("y = param(1.0)\n(y * y).backward()")
    ledger = session._ledger
    assert isinstance(ledger, Ledger)
    before = len(ledger.runs)
    session.run("y = 0")
    gc.collect()
    assert len(ledger.runs) == before - 1


def test_a_session_that_keeps_nothing_has_no_ledger() -> None:
    session = Session(keep=False)
    session.run("x = param(3.0)\n(x * x).backward()")
    assert session.runs_of(session["x"]) == (0, [])


def test_json_says_what_each_run_added(session: Session) -> None:
    session.run(":backward x * x\n:backward 2 * x")
    (record,) = session.run(":grad x")
    assert [run["values"] for run in record.as_json()["runs"]] == [6.0, 2.0]
    assert record.remark() == "x.grad is the sum of 2 backward runs: 6.0 (1:1) + 2.0 (2:1); :zero x clears it"
