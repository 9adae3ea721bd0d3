"""Changes in place of intermediate values, themselves or through views of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from random_programs.machine import Array, Machine
from random_programs.writer import OPS, Kernel, Writer, root


def changeable(writer: Writer) -> Callable[[Array], bool]:
    """Whether a variable may be changed in place."""
    return lambda value: value.flags.writeable and id(root(value)) not in writer.fixed | writer.saved


def in_place(name: str, text: str, kernel: Kernel, *, saves: str = "", domain: Any = None) -> None:
    """A change of a variable, maybe by another that is broadcast to it. saves: which of `xy` its node may save."""
    takes_another = "{1}" in text or text.count("{}") > 1

    def write(writer: Writer, a: int, b: int, c: int) -> None:
        free = changeable(writer)
        target = writer.such(a, lambda value: free(value) and (domain is None or bool(np.all(domain(value)))))
        shape = writer.values[target].shape

        def fits(value: Array) -> bool:
            try:
                return np.broadcast_shapes(value.shape, shape) == shape and root(value) is not root(
                    writer.values[target]
                )
            except ValueError:
                return False

        operands = [target, writer.such(b, fits)] if takes_another else [target]
        writer.change(text, kernel, *operands, saves=tuple(operands["xy".index(one)] for one in saves))

    OPS[name] = write


def become(value: Array, new: Any) -> None:
    value[...] = new


def change_without_gradient(writer: Writer, a: int, b: int, c: int) -> None:
    """A change in place that is not recorded: the numbers change, the derivatives stay."""

    def kernel(machine: Machine, value: Array) -> None:
        value += machine.constant(lambda: -0.25 * value + 0.5)

    target = writer.such(a, changeable(writer))
    writer.change("with torch.no_grad():\n    {}.mul_(0.75).add_(0.5)", kernel, target)


OPS["change_no_grad"] = change_without_gradient


def some(x: Array) -> bool:
    """Whether there is a first part."""
    return x.ndim > 0 and len(x) > 0


def ended(x: Array) -> bool:
    """Whether there is a last part."""
    return x.ndim > 0 and x.shape[-1] > 0


def off(x: Array) -> Any:
    """Away from where the masks below change."""
    return np.abs(x - 0.2) > 1e-4


in_place("add_", "{} += {}", lambda m, x, y: become(x, x + y))
in_place("sub_", "{}.sub_({}, alpha=2)", lambda m, x, y: become(x, x - 2 * y))
in_place("mul_", "{} *= {}", lambda m, x, y: become(x, x * y), saves="y")
in_place("div_", "{}.div_(2.0 + {} ** 2)", lambda m, x, y: become(x, x / (2 + y**2)), saves="y")
in_place("copy_", "{}.copy_({})", lambda m, x, y: become(x, y))
in_place("addcmul_", "{0}.addcmul_({1}, {1})", lambda m, x, y: become(x, x + y * y), saves="y")
in_place("lerp_", "{}.lerp_({}, 0.25)", lambda m, x, y: become(x, x + 0.25 * (y - x)))
in_place("sin_", "{}.sin_()", lambda m, x: become(x, np.sin(x)))
in_place("tanh_", "{}.tanh_()", lambda m, x: become(x, np.tanh(x)), saves="x")
in_place("exp_", "{}.mul_(0.3).exp_()", lambda m, x: become(x, np.exp(0.3 * x)), saves="x")
in_place("pow_", "{}.pow_(2)", lambda m, x: become(x, x**2))
in_place("zero_", "{}.zero_()", lambda m, x: become(x, 0.0))
in_place("neg_", "{}.neg_()", lambda m, x: become(x, -x))
in_place(
    "relu_",
    "{}.relu_()",
    lambda m, x: become(x, m.chosen(x > 0, x, 0.0)),
    saves="x",
    domain=lambda x: np.abs(x) > 1e-4,
)
in_place(
    "masked_fill_",
    "{0}.masked_fill_({0} > 0.2, 0.5)",
    lambda m, x: become(x, m.chosen(x > 0.2, 0.5, x)),
    domain=off,
)
in_place("first", "{}[0] = {}.sum()", lambda m, x, y: become(x[0, ...], y.sum()), domain=some)
in_place(
    "last",
    "{}[..., -1] *= {}.sum()",
    lambda m, x, y: become(x[..., -1], x[..., -1] * y.sum()),
    domain=lambda x: x.ndim and x.shape[-1],
)
in_place(
    "several",
    "{}[..., 1:] -= {}.mean()",
    lambda m, x, y: become(x[..., 1:], x[..., 1:] - y.mean()),
    domain=lambda x: x.ndim,
)
in_place("by_mask", "{0}[{0} > 0.2] = {1}.sum()", lambda m, x, y: become(x, m.chosen(x > 0.2, y.sum(), x)), domain=off)
in_place("by_index", "{}[[0]] = {}.sum() * 0.5", lambda m, x, y: become(x[:1], y.sum() * 0.5), domain=some)
in_place("transposed", "{}.mT.mul_({}.sum())", lambda m, x, y: become(x, x * y.sum()), domain=lambda x: x.ndim > 1)
in_place(
    "index_add_",
    "{0}.index_add_(0, torch.tensor([0]), {1}.sum().expand_as({0}[:1]))",
    lambda m, x, y: become(x[:1], x[:1] + y.sum()),
    domain=some,
)
