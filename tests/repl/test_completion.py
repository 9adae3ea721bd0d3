"""What is offered for the text before the cursor, and that nothing of the user's runs for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradsh import Session
from gradsh.repl.completion import Completer
from gradsh.repl.reach import Reach

PROGRAM = """
x = param([2.0])
called = []

class Net(Module):
    rate = 3

    def __init__(self):
        super().__init__()
        self.first = Linear(2, 3)
        self.label = "abc"

    @property
    def danger(self):
        called.append("danger")
        return self.first

    def forward(self, x, *, scale=1.0):
        called.append("forward")
        return self.first(x)

class Plain:
    def __init__(self):
        self._hidden, self.shown = 1, [1]

    def __len__(self):
        called.append("len")
        return 0

net, plain = Net(), Plain()

def helper(alpha, beta=2):
    return alpha
"""


@pytest.fixture(scope="module")
def completer() -> Completer:
    session = Session()
    session.run(PROGRAM)
    return Completer(session, Reach(session))


def offered(completer: Completer, text: str) -> list[str]:
    return [one.text for one in completer.complete(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # names, keywords, members
        ("x.req", ["requires_grad", "requires_grad_"]),
        ("y = plai", ["plain"]),
        ("retur", ["return"]),
        ("LayerNor", ["LayerNorm"]),
        ("torch.nn.functional.gel", ["gelu"]),
        ("F.gel", ["gelu"]),
        ("isinst", ["isinstance"]),
        ("net.first.we", ["weight"]),
        ("net.fi", ["first"]),
        ("net.label.startsw", ["startswith"]),
        ("net.rate.bit_c", ["bit_count"]),
        ("plain.shown.app", ["append"]),
        ("'text'.startsw", ["startswith"]),
        ("f'{x.requires_grad_", ["requires_grad_"]),
        ("if x:\n    y = [plai", ["plain"]),
        # what would have to run first
        ("net.danger.", []),
        ("net(x).", []),
        ("plain.shown[0].", []),
        ("net.forward(x).we", []),
        # nothing to complete
        ("# plai", []),
        ("y = 1  # plai", []),
        ("'plai", []),
        ('f"plai', []),
        ("def plai", []),
        ("12", []),
        ("nothing.", []),
        # imports
        ("from torch.nn.functional import gel", ["gelu"]),
        ("import torch.opt", ["torch.optim"]),
        ("from torch.nn imp", ["import"]),
        ("import torch as to", []),
        # commands
        (":gr", ["grad", "graph"]),
        ("y = 1; :backw", ["backward"]),
        ("for i in range(3):\n    :backw", ["backward"]),
        (":grad x ", ["of", "with"]),
        (":grad x o", ["of"]),
        (":grad x of plai", ["plain"]),
        (":grad net.first.we", ["weight"]),
        (":backward x with x ", ["retain=", "create="]),
        (":backward x retain=", ["True", "False"]),
        (":grad (plai", ["plain"]),
        (":set tor", ["torch"]),
        (":set torch ", ["on", "off"]),
        (":set torch on ", []),
        (":help backw", ["backward"]),
        (":help gel", ["gelu"]),
        (":nothing x", []),
    ],
)
def test_what_is_offered(completer: Completer, text: str, expected: list[str]) -> None:
    assert offered(completer, text) == expected


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("helper(", "alpha="),
        ("helper(1, be", "beta="),
        ("Linear(in_f", "in_features="),
        ("net.forward(x, sca", "scale="),
        ("x.sum(", "dim="),
        ("torch.sum(", "input="),
    ],
)
def test_arguments_of_a_call_come_first(completer: Completer, text: str, first: str) -> None:
    assert offered(completer, text)[0] == first
    assert not any(name.endswith("=") for name in offered(completer, f"{text} 1 + "))


def test_nothing_of_the_users_has_run(completer: Completer) -> None:
    for text in ("net.danger.we", "plain.", "net.", "len(pl", "net.danger", ":grad net.danger.", "net.forward("):
        completer.complete(text)
    assert completer.session["called"] == []


def test_own_attributes_come_first_and_private_ones_when_asked_for(completer: Completer) -> None:
    assert offered(completer, "net.")[:3] == ["first", "label", "training"]
    assert offered(completer, "plain.") == ["shown"]
    assert offered(completer, "plain._h") == ["_hidden"]


def test_remarks_say_what_a_completion_is(completer: Completer) -> None:
    remarks = {one.text: one.remark for text in ("x", "relu", ":gra", ":set ") for one in completer.complete(text)}
    assert remarks["x"] == "tensor float64 (1,)"
    assert remarks["relu"]
    assert remarks["graph"].startswith("Show the graph")
    assert remarks["seed"]


def test_files(completer: Completer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("one.grad", "folder/two.grad", "with blank.grad", ".hidden", "bell\a.grad"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert offered(completer, ":load ") == ["folder/", "one.grad", '"with blank.grad"']
    assert offered(completer, ":load folder/t") == ["folder/two.grad"]
    assert offered(completer, ":load ~/one") == ["~/one.grad"]
    assert offered(completer, ":load .h") == [".hidden"]
    assert offered(completer, ":load 'with") == ["'with blank.grad'"]
    assert offered(completer, ":graph x to on") == ["one.grad"]
    assert offered(completer, ":load nowhere/") == []


def test_a_completion_that_fails_offers_nothing(completer: Completer, monkeypatch: pytest.MonkeyPatch) -> None:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from gradsh.repl.terminal import _Completer

    asked = _Completer(completer)
    assert [one.text for one in asked.get_completions(Document("x.req"), CompleteEvent())] == offered(
        completer, "x.req"
    )
    monkeypatch.setattr(completer, "complete", lambda text: 1 // 0)
    assert list(asked.get_completions(Document("x.req"), CompleteEvent())) == []
