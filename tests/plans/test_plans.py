"""Block plans: nothing that can be observed changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import random_programs.changes
import random_programs.operations  # noqa: F401
from random_programs.writer import OPS, SHAPES, written
from support import recorded

from gradsh import Session
from gradsh.engine.plans import tape
from gradsh.engine.state import state

PROGRAMS = 150


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every place that comes again is followed from its second turn on."""
    monkeypatch.setattr(state, "plans", "always")
    monkeypatch.setattr(state, "suspicion", None)  # of a nan, which other tests may have left
    yield
    tape.forget_all()


@pytest.mark.parametrize("path", recorded.programs(__file__), ids=lambda path: path.stem)
@pytest.mark.usefixtures("always")
def test_program(path: Path) -> None:
    recorded.check(path, 1e-6)


def turns(rng: random.Random) -> str:
    """A random program whose graph is made seven times, from other data or with changed leaves, and asked in some way."""
    names = sorted(OPS)
    pool = names if rng.random() < 0.5 else rng.sample(names, 6)
    instructions = [
        (rng.choice(pool), rng.randrange(16), rng.randrange(16), rng.randrange(16))
        for _ in range(rng.choice([5, 10, 20, 40]))
    ]
    shapes = [rng.randrange(len(SHAPES)) for _ in range(rng.randint(1, 4))]
    lines = [line for line in written(shapes, rng.randint(1, 3), instructions).text().split("\n") if line.strip()]
    stays = rng.random() < 0.5  # the leaves are the same tensors in each turn, and are changed in place
    outside, inside = [], []
    for line in lines[1:]:
        name, _, made = line.partition(" = ")
        if not line.endswith(".requires_grad_()"):
            inside.append(line)
        elif stays:
            outside.append(line)
        else:
            inside.append(f"{name} = ({made.removesuffix('.requires_grad_()')} * (1 + 0.1 * k)).requires_grad_()")
    variables = [line.partition(" = ")[0] for line in inside if line.startswith("v")]
    named = [name for name in variables if name[1:].isdigit()]
    some = ", ".join(rng.sample(named, min(2, len(named))))
    inside += rng.choice(
        [
            [],
            [f"for h in [{some}]:", "    if h.requires_grad and not h.is_leaf:", "        h.retain_grad()"],
            [f"for h in [{some}]:", "    if h.requires_grad:", "        h.register_hook(lambda g: g * 2)"],
            ["if k % 3 == 2:", "    loss = loss * 2"],
            [f"r += [str(h.grad_fn).split(' ')[0] for h in [{some}]]"],
            ["loss.backward(retain_graph=True)"],
        ]
    )
    inside += ["r.append(loss.item())"] * rng.randrange(2) + ["loss.backward()"]
    inside += ["r += [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]"]
    inside += [f"r += [h.tolist() for h in [{some}]]"]
    if stays:
        inside += ["with torch.no_grad():", "    for leaf in leaves:", "        if leaf.grad is not None:"]
        inside += ["            leaf.sub_(0.01 * leaf.grad)", "            leaf.grad = None"]
    body = "".join(f"    {line}\n" for line in ("r = []", *inside, "return r"))
    loop = "for k in range(7):\n    try:\n        out.append(turn(k))\n    except Exception as e:\n        out.append(str(e))\n"
    return "\n".join(["import torch", *outside, "def turn(k):"]) + f"\n{body}out = []\n{loop}"


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = turns(random.Random(seed))
    found = []
    for mode in ("off", "always"):
        monkeypatch.setattr(state, "plans", mode)
        session = Session(dialect="torch", dtype=("float32", "float64")[seed % 2], keep=False)
        session.run(text)
        found.append(repr(session["out"]))
        tape.forget_all()
    assert found[0] == found[1]


@pytest.mark.usefixtures("always")
def test_what_comes_again_is_computed_together() -> None:
    session = Session(dialect="torch", keep=False)
    session.run(
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "for k in range(6):\n    (torch.sin(x) * x + 1.0).sum().backward()\n"
    )
    (found,) = [plan for _, one in tape.tapes() for plan in one.plans()]
    assert [entry.op.name for entry in found.entries if entry.op] == ["sin", "mul", "add", "sum_all"]


@pytest.mark.usefixtures("always")
def test_the_command_shows_what_is_computed_together() -> None:
    session = Session(dialect="torch", keep=False)
    session.run(
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "for k in range(6):\n    (torch.sin(x) * x + 1.0).sum().backward()\n"
    )
    (record,) = session.run(":plan")
    (place,) = record.as_json()["places"]
    assert (place["place"], place["turns"]) == ("4:5", 6)
    (stretch,) = place["stretches"]
    assert stretch == {"operations": ["sin", "mul", "add", "sum_all"], "kept": 1, "runs": 2, "misses": 0}


def test_what_does_not_pay_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short stretches between decisions cost more than they save."""
    monkeypatch.setattr(state, "plans", "auto")
    session = Session(dialect="torch", keep=False)
    session.run(
        "import torch\nx = torch.tensor(1.0, requires_grad=True)\n"
        "for k in range(60):\n    y = x * 2.0\n    if y.item() > 1.0:\n        (y * y).backward()\n"
    )
    assert all(one.gain < 0 and not one.root.ways for _, one in tape.tapes())
    tape.forget_all()
