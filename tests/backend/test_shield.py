"""Ctrl-C inside and outside of what must not be divided."""

from __future__ import annotations

from typing import Any

import pytest

from gradsh import Session
from gradsh.backend import shield as module
from gradsh.backend.shield import Shield, shield
from gradsh.engine import backward


def test_an_interrupt_waits_for_the_end_of_a_shielded_stretch() -> None:
    own, done = Shield(), []
    with pytest.raises(KeyboardInterrupt), own:
        with own:
            own.interrupt()
            done.append("inner")
        done.append("outer")
    assert done == ["inner", "outer"]
    with own:
        done.append("later")
    with pytest.raises(KeyboardInterrupt):
        own.interrupt()


def test_a_stretch_that_hangs_is_ended_by_asking_again(monkeypatch: pytest.MonkeyPatch) -> None:
    own, now = Shield(), [10.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with pytest.raises(KeyboardInterrupt), own:
        own.interrupt()
        own.interrupt()  # impatience is not enough
        now[0] += module.PATIENCE + 0.1
        own.interrupt()
        raise AssertionError("not ended")
    assert own.depth == 0
    with own:
        pass


RUDE = """
class Rude(SGD):
    def _update(self, param, grad, group):
        interrupt()
        super()._update(param, grad, group)

opt = Rude([x, y], lr=1.0)
"""


@pytest.fixture
def session() -> Session:
    session = Session()
    session.namespace["interrupt"] = shield.interrupt
    return session


def test_an_error_inside_does_not_keep_the_shield_up() -> None:
    own = Shield()
    with pytest.raises(ZeroDivisionError), own:
        1 // 0
    assert own.depth == 0


def test_gradients_of_the_leaves_arrive_together(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.run("x, y = param(2.0), param(3.0)")
    add_grad = backward.add_grad  # type: ignore[attr-defined]

    def interrupted(*arguments: Any) -> None:
        shield.interrupt()
        add_grad(*arguments)

    monkeypatch.setattr(backward, "add_grad", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.run("(x * y).backward()")
    assert (session["x"].grad.item(), session["y"].grad.item()) == (3.0, 2.0)


def test_a_step_of_an_optimiser_changes_every_parameter(session: Session) -> None:
    session.run("x, y = param(2.0), param(3.0)\n(x * y).backward()")
    session.run(RUDE)
    with pytest.raises(KeyboardInterrupt):
        session.run("opt.step()")
    assert (session["x"].item(), session["y"].item()) == (-1.0, 1.0)


def test_an_interrupted_session_goes_on(session: Session) -> None:
    session.run("x = param(2.0)")
    with pytest.raises(KeyboardInterrupt):
        session.run("with no_grad():\n    y = 1\n    interrupt()\n    y = 2")
    session.unwind()
    assert session["y"] == 1
    session.run("z = x * x\nz.backward()")
    assert session["x"].grad.item() == 4.0
