"""What programs see of the engine's own types."""

from __future__ import annotations

import pytest

from gradsh.session import Session

NODE = "f = torch.ones(2, requires_grad=True).mul(2).grad_fn\n"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("type(f).__name__", "'MulBackward0'"),
        ("type(f)", "<class 'MulBackward0'>"),
        ("type(f) is type(torch.ones(1, requires_grad=True).mul(3).grad_fn)", "True"),
        ("type(f) is type(torch.ones(1, dtype=torch.float64, requires_grad=True).mul(torch.ones(2)).grad_fn)", "True"),
        ("isinstance(f, type(f))", "True"),
        ("isinstance(f, type(torch.ones(1, requires_grad=True).add(3).grad_fn))", "False"),
    ],
)
def test_nodes_have_the_class_of_their_op(code: str, shown: str) -> None:
    session = Session()
    session.run(NODE)
    assert repr(session.eval(code)) == shown


@pytest.mark.parametrize("name", ["foo", "_saved_foo", "kind", "s0"])
def test_nodes_have_nothing_else(name: str) -> None:
    session = Session()
    session.run(NODE)
    with pytest.raises(AttributeError, match=f"^'MulBackward0' object has no attribute '{name}'"):
        session.eval(f"f.{name}")
