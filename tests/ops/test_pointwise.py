"""What pointwise operations answer beyond derivatives: PyTorch's nodes and refusals, exact numbers, operators."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradsh.backend.dtypes import float32
from gradsh.engine.backward import grad
from gradsh.engine.create import tensor
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.ops.index import load_all
from gradsh.ops.registry import NAMESPACES

load_all()

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = [  # of the nodes that PyTorch 2.13 makes
    ("x + y", "AddBackward0"),
    ("x + 2", "AddBackward0"),
    ("2 - x", "RsubBackward1"),
    ("x - 2", "SubBackward0"),
    ("torch.rsub(x, y)", "RsubBackward0"),
    ("x * 2", "MulBackward0"),
    ("x / y", "DivBackward0"),
    ("2 / x", "MulBackward0"),
    ("x // 2", "NotImplemented"),
    ("x % 2", "RemainderBackward0"),
    ("x % y", "RemainderBackward1"),
    ("2 % x", "NotImplemented"),
    ("torch.fmod(x, 2)", "FmodBackward0"),
    ("torch.fmod(x, y)", "FmodBackward1"),
    ("torch.div(x, y, rounding_mode='floor')", "DivBackward2"),
    ("x ** 2", "PowBackward0"),
    ("x ** y", "PowBackward1"),
    ("2 ** x", "PowBackward2"),
    ("torch.square(x)", "PowBackward0"),
    ("torch.float_power(x, y)", "PowBackward1"),
    ("-x", "NegBackward0"),
    ("abs(x)", "AbsBackward0"),
    ("torch.add(x, y, alpha=2)", "AddBackward0"),
    ("torch.sub(x, 1, alpha=2)", "SubBackward0"),
    ("torch.clamp(x, 0, 1)", "ClampBackward1"),
    ("torch.clamp(x, min=y)", "ClampBackward0"),
    ("x.clamp_min(0)", "ClampMinBackward0"),
    ("x.clamp_max(y)", "ClampMaxBackward1"),
    ("torch.maximum(x, y)", "MaximumBackward0"),
    ("torch.fmin(x, y)", "FminBackward0"),
    ("torch.where(m, x, 0.0)", "WhereBackward0"),
    ("torch.copysign(x, -1)", "CopysignBackward1"),
    ("torch.copysign(x, y)", "CopysignBackward0"),
    ("torch.heaviside(x, y)", "NotImplemented"),
    ("torch.lerp(x, y, 0.5)", "LerpBackward0"),
    ("torch.lerp(x, y, x)", "LerpBackward1"),
    ("torch.addcmul(x, x, y)", "AddcmulBackward0"),
    ("torch.xlogy(x, y)", "XlogyBackward0"),
    ("torch.xlogy(2, x)", "XlogyBackward1"),
    ("torch.xlogy(x, 2)", "XlogyBackward2"),
    ("torch.special.xlog1py(x, y)", "SpecialXlog1PyBackward0"),
    ("torch.log1p(x)", "Log1PBackward0"),
    ("torch.deg2rad(x)", "Deg2RadBackward0"),
    ("torch.round(x)", "RoundBackward0"),
    ("torch.round(x, decimals=1)", "RoundBackward1"),
    ("torch.polygamma(1, x)", "PolygammaBackward0"),
    ("torch.special.i0e(x)", "SpecialI0EBackward0"),
    ("torch.special.ndtr(x)", "MulBackward1"),
    ("torch.special.zeta(2.0, x)", "SpecialZetaBackward1"),
    ("torch.mvlgamma(x + 2, 2)", "MvlgammaBackward0"),
    ("torch.igamma(x.detach(), y)", "IgammaBackward0"),
    ("F.relu(x)", "ReluBackward0"),
    ("F.relu6(x)", "HardtanhBackward0"),
    ("F.selu(x)", "EluBackward0"),
    ("F.gelu(x, approximate='tanh')", "GeluBackward0"),
    ("F.softsign(x)", "DivBackward0"),
    ("F.tanhshrink(x)", "SubBackward0"),
    ("F.logsigmoid(x)", "LogSigmoidBackward0"),
    ("F.prelu(x, y[:1])", "PreluKernelBackward0"),
    ("F.rrelu(x)", "RreluWithNoiseBackward0"),
    ("F.glu(x)", "GluBackward0"),
    ("F.softmin(x, 0)", "SoftmaxBackward0"),
    ("torch.logsumexp(x, 0)", "LogsumexpBackward0"),
    ("torch.nan_to_num(x)", "NanToNumBackward0"),
    ("torch.ldexp(x, y)", "LdexpBackward0"),
]

# Expression, exception and the beginning of its message as PyTorch 2.13 has them.
REFUSALS: list[list[str]] = json.loads((Path(__file__).parent / "data" / "refusals.json").read_text())


@pytest.fixture(autouse=True)
def torch_dialect() -> Iterator[None]:
    state.lists = False
    with np.errstate(all="ignore"):
        yield
    state.lists = True


def run(expression: str) -> Any:
    """The value of an expression over some tensors."""
    x, y = tensor([0.3, 0.7], requires_grad=True), tensor([0.4, 0.2], requires_grad=True)
    torch = SimpleNamespace(**NAMESPACES["torch"], special=SimpleNamespace(**NAMESPACES["special"]))
    names: dict[str, Any] = {"x": x, "y": y, "whole": tensor([3, -2]), "mask": tensor([True, False])}
    names |= {"m": names["mask"], "torch": torch, "F": SimpleNamespace(**NAMESPACES["F"])}
    return eval(compile(expression, "<test>", "eval"), names)


@pytest.mark.parametrize(("expression", "name"), NAMES)
def test_nodes_have_their_names(expression: str, name: str) -> None:
    assert run(expression).grad_fn.name() == name


@pytest.mark.parametrize(("expression", "kind", "message"), REFUSALS)
def test_refusals(expression: str, kind: str, message: str) -> None:
    with pytest.raises(getattr(builtins, kind)) as caught:
        run(expression)
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith(message)


def second(expression: str, at: float) -> float:
    """The second derivative of an expression in x at a number."""
    x = tensor(at, requires_grad=True)
    value = eval(expression, {"x": x, "F": SimpleNamespace(**NAMESPACES["F"])})
    (slope,) = grad(value, x, create_graph=True)
    assert slope is not None
    (curvature,) = grad(slope, x)
    assert curvature is not None
    return float(curvature.item())


def test_second_derivatives_far_out() -> None:
    """Where PyTorch's own formulas cancel: the true values are exp(-40) and, for sinc at 0, -pi²/3."""
    assert second("F.logsigmoid(x)", -40.0) == pytest.approx(-math.exp(-40), rel=1e-12)
    assert second("F.logsigmoid(x)", 40.0) == pytest.approx(-math.exp(-40), rel=1e-12)
    assert second("F.softplus(x)", -40.0) == pytest.approx(math.exp(-40), rel=1e-12)
    assert second("x.sinc()", 0.0) == pytest.approx(-(math.pi**2) / 3, rel=1e-12)
    assert second("x.sinc()", 1e-6) == pytest.approx(-(math.pi**2) / 3, rel=1e-9)


@pytest.mark.parametrize("activation", ["relu", "relu6", "leaky_relu", "hardtanh", "hardshrink", "softshrink", "rrelu"])
def test_straight_lines_have_no_curvature(activation: str) -> None:
    """Zeros and not an error: a penalty on a gradient must be able to pass through."""
    assert second(f"F.{activation}(x)", 0.7) == 0.0


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "erf", "log1p", "expm1"])
def test_numbers_are_as_exact_as_pythons(name: str) -> None:
    for value in (0.1, 0.7, 1.3, 2.9):
        assert getattr(tensor(value), name)().item() == getattr(math, name)(value)
    for expression in ("x / 3", "10 / x", "x ** 3", "x % 3", "x // 2", "2 ** x", "x - 0.3"):
        for value in (1.1, -7.5):
            assert eval(expression, {"x": tensor(value)}).item() == eval(expression, {"x": value})


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "sign"])
def test_steps_have_zero_gradients(name: str) -> None:
    x = tensor([1.5, -0.3], requires_grad=True)
    (slope,) = grad(getattr(x, name)(), x, tensor([1.0, math.inf]))
    assert slope is not None
    assert slope.tolist() == [0.0, 0.0]


def test_equality_leaves_strangers_alone() -> None:
    x: Any = tensor([1.0, 2.0])
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    assert (x == 1).tolist() == [True, False]
    assert x in [x]
    assert {x: 1}[x] == 1


def test_bare_numbers_where_the_shell_allows_them() -> None:
    torch = NAMESPACES["torch"]
    state.lists = True
    found = [
        eval(compile(text, "<test>", "eval"), dict(torch))
        for text in ("sin(0.5)", "maximum(2.0, 3.0)", "clamp(7.0, 0, 1)", "square(3.0)", "add(2, 3)", "sqrt(4)")
    ]
    assert found == [math.sin(0.5), 3.0, 1.0, 9.0, 5, 2.0]
    assert not any(isinstance(value, Tensor) for value in found)


@pytest.mark.parametrize(
    "expression",
    [
        "x.relu()",
        "x.clamp(0, 1)",
        "x.sign()",
        "x.angle()",
        "x.floor()",
        "x ** 2",
        "2 ** x",
        "x % 2",
        "x.add(1, alpha=3)",
        "x.i0()",
    ],
)
def test_single_precision_stays(expression: str) -> None:
    for value in (-0.75, 0.0, 1.5):
        single: Any = eval(expression, {"x": tensor(value, dtype=float32, requires_grad=True)})
        many: Any = eval(expression, {"x": tensor([value], dtype=float32)})
        assert single.dtype is many.dtype is float32
        np.testing.assert_allclose(single.item(), many.item(), rtol=2e-7)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize("char", ["l", "i", "h", "b", "B"])
def test_whole_numbers_keep_their_type_where_they_are_rounded(name: str, char: str) -> None:
    x = tensor(np.array([3, 1], dtype=char))
    rounded = NAMESPACES["torch"][name](x)
    assert (rounded.dtype, rounded.tolist()) == (x.dtype, [3, 1])
