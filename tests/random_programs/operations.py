"""What the random programs are made of: each operation as text, and as NumPy does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from random_programs.machine import Array, Machine
from random_programs.writer import OPS, Kernel, Refused, Write, Writer, broadcast, clear


def unary(text: str, kernel: Kernel, *, domain: Any = None, kink: Any = None, saves: bool = True) -> Write:
    """An operation on one variable: where `domain` holds, and away from where `kink` is 0."""

    def write(writer: Writer, a: int, b: int, c: int) -> None:
        def within(value: Array) -> bool:
            return (domain is None or bool(np.all(domain(value)))) and (
                kink is None or not value.size or float(np.min(np.abs(kink(value)))) > 1e-4
            )

        writer.kernel(text, kernel, writer.such(a, within), saves=saves)

    return write


def binary(text: str, kernel: Kernel, *, saves: bool = True, kink: bool = False) -> Write:
    """An operation on two variables, broadcast; with a kink where they are equal."""

    def write(writer: Writer, a: int, b: int, c: int) -> None:
        x, y = broadcast(writer, a, b)
        if kink:
            clear(writer.values[x] - writer.values[y])
        writer.kernel(text, kernel, x, y, saves=saves)

    return write


def along(text: str, kernel: Kernel, *, fewest: int = 0, ties: bool = False, saves: bool = True) -> Write:
    """An operation along a dimension with `fewest` entries; with kinks where two of these are equal."""

    def write(writer: Writer, a: int, b: int, c: int) -> None:
        x = writer.such(a, lambda value: value.ndim > 0)
        dim = b % writer.values[x].ndim - (writer.values[x].ndim if c % 2 else 0)
        if writer.values[x].shape[dim] < fewest:
            raise Refused
        if ties:
            clear(np.diff(np.sort(writer.values[x], axis=dim), axis=dim))
        writer.kernel(text.replace("DIM", str(dim)), lambda machine, value: kernel(machine, value, dim), x, saves=saves)

    return write


def ranked(machine: Machine, x: Array, dim: int, place: Any) -> Array:
    """The entries at some places along a dimension, in the order that they have at the point itself."""
    order = machine.constant(lambda: np.argsort(x, axis=dim))
    return np.asarray(np.take(np.take_along_axis(x, order.astype(int), dim), place, axis=dim))


def moments(machine: Machine, x: Array, dim: int) -> Array:
    away = x - x.mean(axis=dim, keepdims=True)
    return np.asarray((away * away).sum(axis=dim) / (x.shape[dim] - 1))


def exponentials(x: Array, dim: int) -> Array:
    return np.asarray(np.exp(x) / np.exp(x).sum(axis=dim, keepdims=True))


def logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


SMOOTH = {
    "torch.sin({})": lambda m, x: np.sin(x),
    "{}.cos()": lambda m, x: np.cos(x),
    "torch.tanh({})": lambda m, x: np.tanh(x),
    "torch.exp(0.3 * {})": lambda m, x: np.exp(0.3 * x),
    "torch.sigmoid({})": lambda m, x: logistic(x),
    "{} ** 2": lambda m, x: x**2,
    "0.1 * {} ** 3": lambda m, x: 0.1 * x**3,
    "torch.atan({})": lambda m, x: np.arctan(x),
    "torch.log1p({} ** 2)": lambda m, x: np.log1p(x**2),
    "1.0 / (2.0 + {0} * {0})": lambda m, x: 1 / (2 + x * x),
    "torch.nn.functional.silu({})": lambda m, x: x * logistic(x),
    "torch.nn.functional.softplus({})": lambda m, x: np.log1p(np.exp(x)),
    "torch.asinh({})": lambda m, x: np.arcsinh(x),
    "torch.nn.functional.gelu({}, approximate='tanh')": lambda m, x: (
        0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    ),
    "{}.prod()": lambda m, x: x.prod(),
    "({0} * {0}).mean().sqrt()": lambda m, x: np.sqrt((x * x).mean()) if x.size else np.asarray(np.nan),
}
LINEAR = {
    "-{}": lambda m, x: -x,
    "{} * 0.7": lambda m, x: x * 0.7,
    "1.5 - {}": lambda m, x: 1.5 - x,
    "{}.clone()": lambda m, x: x.copy(),
    "{}.sum()": lambda m, x: x.sum(),
    "{0} + {0}": lambda m, x: x + x,
}
for text, kernel in SMOOTH.items():
    OPS[text] = unary(text, kernel, kink=(lambda x: x) if "prod" in text or "sqrt" in text else None)
for text, kernel in LINEAR.items():
    OPS[text] = unary(text, kernel, saves=False)
OPS |= {
    "sqrt": unary("{}.sqrt()", lambda m, x: np.sqrt(x), domain=lambda x: x > 0.05),
    "log": unary("torch.log({})", lambda m, x: np.log(x), domain=lambda x: x > 0.05),
    "reciprocal": unary("1 / {}", lambda m, x: 1 / x, domain=lambda x: np.abs(x) > 0.2),
    "pow": unary("{} ** 1.5", lambda m, x: x**1.5, domain=lambda x: x > 0.05),
    "relu": unary("torch.relu({})", lambda m, x: m.chosen(x > 0, x, 0.0), kink=lambda x: x),
    "abs": unary("{}.abs()", lambda m, x: m.chosen(x > 0, x, -x), kink=lambda x: x),
    "clamp": unary(
        "{}.clamp(-0.8, 0.9)",
        lambda m, x: m.chosen(x > 0.9, 0.9, m.chosen(x < -0.8, -0.8, x)),
        kink=lambda x: (x - 0.9) * (x + 0.8),
    ),
    "leaky": unary(
        "torch.nn.functional.leaky_relu({}, 0.2)", lambda m, x: m.chosen(x > 0, x, 0.2 * x), kink=lambda x: x
    ),
    "elu": unary(
        "torch.nn.functional.elu({})", lambda m, x: m.chosen(x > 0, x, np.exp(x) - 1), kink=lambda x: x
    ),
    "add": binary("{} + {}", lambda m, x, y: x + y, saves=False),
    "sub": binary("torch.sub({}, {}, alpha=0.5)", lambda m, x, y: x - 0.5 * y, saves=False),
    "mul": binary("{} * {}", lambda m, x, y: x * y),
    "div": binary("{} / (1.5 + {} ** 2)", lambda m, x, y: x / (1.5 + y**2)),
    # PyTorch takes the derivative by the base for a constant 0 where the exponent is 0, so the mixed one is 0 there.
    "power": binary("(0.5 + {} ** 2) ** (2.5 + 0.3 * {})", lambda m, x, y: (0.5 + x**2) ** (2.5 + 0.3 * y)),
    "maximum": binary("torch.maximum({}, {})", lambda m, x, y: m.chosen(x > y, x, y), kink=True),
    "minimum": binary("torch.minimum({}, {})", lambda m, x, y: m.chosen(x < y, x, y), kink=True),
    "where": binary("torch.where({0} > 0.1, {0}, {1})", lambda m, x, y: m.chosen(x > 0.1, x, y), saves=False),
    "hypot": binary("torch.hypot({}, 1.0 + {} ** 2)", lambda m, x, y: np.sqrt(x**2 + (1 + y**2) ** 2)),
    "lerp": binary("torch.lerp({}, {}, 0.3)", lambda m, x, y: x + 0.3 * (y - x)),
    "addcmul": binary("torch.addcmul({0}, {0}, {1}, value=0.5)", lambda m, x, y: x + 0.5 * x * y),
    "sum": along("{}.sum(DIM)", lambda m, x, dim: x.sum(axis=dim), saves=False),
    "sum_kept": along("{}.sum(DIM, keepdim=True)", lambda m, x, dim: x.sum(axis=dim, keepdims=True), saves=False),
    "mean": along("{}.mean(DIM)", lambda m, x, dim: x.mean(axis=dim), fewest=1, saves=False),
    "var": along("{}.var(DIM)", moments, fewest=2),
    "prod": along("{}.prod(DIM)", lambda m, x, dim: x.prod(axis=dim)),
    "softmax": along("torch.softmax({}, DIM)", lambda m, x, dim: exponentials(x, dim), fewest=1),
    "log_softmax": along(
        "torch.log_softmax({}, DIM)", lambda m, x, dim: np.log(exponentials(x, dim)), fewest=1
    ),
    "logsumexp": along("torch.logsumexp({}, DIM)", lambda m, x, dim: np.log(np.exp(x).sum(axis=dim)), fewest=1),
    "cumsum": along("{}.cumsum(DIM)", lambda m, x, dim: np.cumsum(x, axis=dim), saves=False),
    "cumprod": along("{}.cumprod(DIM)", lambda m, x, dim: np.cumprod(x, axis=dim)),
    "max": along("{}.max(DIM).values", lambda m, x, dim: ranked(m, x, dim, -1), fewest=1, ties=True),
    "amin": along("{}.amin(DIM)", lambda m, x, dim: ranked(m, x, dim, 0), fewest=1, ties=True),
    "sort": along("{}.sort(DIM)[0]", lambda m, x, dim: ranked(m, x, dim, np.arange(x.shape[dim])), ties=True),
    "median": along(
        "{}.median(DIM)[0]", lambda m, x, dim: ranked(m, x, dim, (x.shape[dim] - 1) // 2), fewest=1, ties=True
    ),
    "flip": along("{}.flip(DIM)", lambda m, x, dim: np.flip(x, dim).copy(), saves=False),
    "roll": along("{}.roll(1, DIM)", lambda m, x, dim: np.roll(x, 1, dim), saves=False),
    "stack": binary(
        "torch.stack(torch.broadcast_tensors({}, {}), -1)",
        lambda m, x, y: np.stack(np.broadcast_arrays(x, y), -1),
        saves=False,
    ),
    "cat": along("torch.cat([{0}, {0} * 0.5], DIM)", lambda m, x, dim: np.concatenate([x, x * 0.5], dim), saves=False),
    "select": along("{}.select(DIM, -1)", lambda m, x, dim: x[part(x, dim, -1)], fewest=1, saves=False),
    "narrow": along("{}.narrow(DIM, 1, 1)", lambda m, x, dim: x[part(x, dim, slice(1, 2))], fewest=2, saves=False),
    "unsqueeze": along("{}.unsqueeze(DIM)", lambda m, x, dim: np.expand_dims(x, dim), saves=False),
    "index_select": along(
        "{}.index_select(DIM, torch.tensor([0, 1, 0]))", lambda m, x, dim: np.take(x, [0, 1, 0], dim), fewest=2,
        saves=False,
    ),
    "gather": along(
        "{0}.gather(DIM, {0}.argsort(DIM))", lambda m, x, dim: ranked(m, x, dim, np.arange(x.shape[dim])), ties=True,
    ),
    "diff": along("{}.diff(dim=DIM)", lambda m, x, dim: np.diff(x, axis=dim), fewest=1, saves=False),
    "movedim": along("{}.movedim(DIM, 0)", lambda m, x, dim: np.moveaxis(x, dim, 0), saves=False),
    "T": unary("{}.mT", lambda m, x: np.swapaxes(x, -1, -2), domain=lambda x: x.ndim > 1, saves=False),
    "tril": unary("{}.tril()", lambda m, x: np.tril(x), domain=lambda x: x.ndim > 1, saves=False),
    "diagonal": unary(
        "{}.diagonal(0, -2, -1)", lambda m, x: x.diagonal(0, -2, -1), domain=lambda x: x.ndim > 1, saves=False
    ),
    "expand": unary(
        "{0}.expand(2, *{0}.shape)", lambda m, x: np.broadcast_to(x, (2, *x.shape)),
        domain=lambda x: x.ndim < 3, saves=False,
    ),
    "step": unary("{}[..., ::2]", lambda m, x: x[..., ::2], domain=lambda x: x.ndim > 0, saves=False),
    "none": unary("{}[None, ..., :1]", lambda m, x: x[None, ..., :1], domain=lambda x: 0 < x.ndim < 3, saves=False),
    "fancy": unary(
        "{}[[0, -1, 0]]", lambda m, x: x[[0, -1, 0]], domain=lambda x: x.ndim > 0 and len(x) > 0, saves=False
    ),
    "gram": unary("0.3 * {0} @ {0}.mT", lambda m, x: 0.3 * x @ np.swapaxes(x, -1, -2), domain=lambda x: x.ndim > 1),
    "dot": unary("{0} @ {0}", lambda m, x: x @ x, domain=lambda x: x.ndim == 1 or (x.ndim > 1 and x.shape[-1] == x.shape[-2])),
    "mask": unary(
        "{0}[{0} > 0.1]", lambda m, x: x[m.constant(lambda: x > 0.1)], kink=lambda x: x - 0.1, saves=False
    ),
}  # fmt: skip


def part(x: Array, dim: int, index: Any) -> tuple[Any, ...]:
    """The index that takes a part along one dimension, so that the result is a view even where it is one number."""
    return (*[slice(None)] * (dim % x.ndim), index, ...)


def operation(name: str) -> Callable[[Write], Write]:
    def register(write: Write) -> Write:
        OPS[name] = write
        return write

    return register


@operation("matmul")
def matmul(writer: Writer, a: int, b: int, c: int) -> None:
    """A product of matrices, or of a matrix and a vector."""
    x = writer.such(a, lambda value: value.ndim > 0)
    y = writer.such(b, lambda value: 0 < value.ndim < 3 and len(value) == writer.values[x].shape[-1])
    writer.kernel("{} @ {}", lambda m, x, y: x @ y, x, y)


@operation("einsum")
def einsum(writer: Writer, a: int, b: int, c: int) -> None:
    x = writer.such(a, lambda value: value.ndim == 2)
    y = writer.such(b, lambda value: value.ndim == 2 and len(value) == len(writer.values[x]))
    writer.kernel("torch.einsum('ij,ik->jk', {}, {})", lambda m, x, y: np.einsum("ij,ik->jk", x, y), x, y)


@operation("reshape")
def reshape(writer: Writer, a: int, b: int, c: int) -> None:
    """A view where one is possible, so neither may be changed."""
    x = writer.variable(a)
    writer.kernel("{}.reshape(-1)", lambda m, value: value.reshape(-1), x, saves=False)
    writer.fix(x, len(writer.values) - 1)


@operation("detach")
def detach(writer: Writer, a: int, b: int, c: int) -> None:
    x = writer.variable(a)
    writer.write(f"{{}} = v{x}.detach()", lambda m: m.constant(lambda: m.values[x]))
    writer.fix(x, len(writer.values) - 1)


@operation("no_grad")
def without_gradient(writer: Writer, a: int, b: int, c: int) -> None:
    """A stretch without gradients: what it computes is constant."""
    x, y = broadcast(writer, a, b)
    number = len(writer.values)
    writer.write(
        f"with torch.no_grad():\n    {{0}} = torch.sin(v{x}) * v{y}\n    {{0}} = {{0}} + 0.3",
        lambda m: m.constant(lambda: np.sin(m.values[x]) * m.values[y] + 0.3),
    )
    writer.fix(number)


@operation("no_grad_view")
def view_without_gradient(writer: Writer, a: int, b: int, c: int) -> None:
    x = writer.such(a, lambda value: value.ndim > 0)
    writer.write(f"with torch.no_grad():\n    {{}} = v{x}[..., :1]", lambda m: m.constant(lambda: m.values[x][..., :1]))
    writer.fix(x, len(writer.values) - 1)


@operation("loop")
def loop(writer: Writer, a: int, b: int, c: int) -> None:
    x, y = broadcast(writer, a, b)
    turns = 1 + c % 3

    def run(machine: Machine) -> Array:
        value, other = machine.values[x], machine.values[y]
        for turn in range(turns):
            value = np.sin(value) * 0.9 + other * turn
        return np.asarray(value)

    text = f"{{0}} = v{x}\nfor turn in range({turns}):\n    {{0}} = torch.sin({{0}}) * 0.9 + v{y} * turn"
    writer.write(text, run, (x, y), saves=True)


@operation("branch")
def branch(writer: Writer, a: int, b: int, c: int) -> None:
    x, y = broadcast(writer, a, b)
    clear(np.asarray(writer.values[x].sum() - 0.2))

    def run(machine: Machine) -> Array:
        first, second = machine.values[x], machine.values[y]
        return np.asarray(first * second if machine.constant(lambda: first.sum() > 0.2) else np.cos(second) - first)

    text = f"if v{x}.sum() > 0.2:\n    {{0}} = v{x} * v{y}\nelse:\n    {{0}} = torch.cos(v{y}) - v{x}"
    writer.write(text, run, (x, y), saves=True)
