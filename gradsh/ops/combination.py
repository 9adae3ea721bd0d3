"""Functions of two or three numbers, element by element: angles, lengths, logarithms of sums, weighted sums."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.op import elementwise
from gradsh.engine.promote import NUMBERS
from gradsh.fault import fault
from gradsh.ops.arithmetic import whole
from gradsh.ops.calls import operand
from gradsh.ops.choice import where
from gradsh.ops.powers import number_power
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, nonzero, positive, probabilities, reals
from gradsh.ops.unary import exp

# ---- angles and lengths


def _over_square(g, x, y):
    """g / (x² + y²), 0 at the origin."""
    square = x * x + y * y
    return where(square == 0, 0.0, g / square)


@elementwise(
    x=lambda g, x, y: _over_square(g * y, x, y),
    y=lambda g, x, y: _over_square(-g * x, x, y),
    sample=nonzero,
    numbers=False,
    floating=True,
    at=("torch", "Tensor", "torch:arctan2", "Tensor:arctan2"),
    example="atan2(tensor([1.0, -1.0]), tensor([-1.0, -1.0]))",
)
def atan2(xp, x, y):
    """The angle of the point (y, x): of x / y, in its quadrant."""
    return xp.arctan2(x, y)


@elementwise(
    x=lambda g, x, out: g * (x / out),
    y=lambda g, y, out: g * (y / out),
    sample=nonzero,
    numbers=False,
    refuses=("hypot_cpu", "bool integer"),
    example="hypot(tensor([3.0]), tensor([4.0]))",
)
def hypot(xp, x, y):
    """The length of (x, y)."""
    return xp.hypot(x, y)


# ---- logarithms


@elementwise(
    x=lambda g, x, y: g / (1 + exp(y - x)),
    y=lambda g, x, y: g / (1 + exp(x - y)),
    sample=reals,
    inplace=False,
    numbers=False,
    refuses=("logaddexp_cpu", "bool integer"),
    example="logaddexp(tensor([0.0]), tensor([1000.0]))",
)
def logaddexp(xp, x, y):
    """log(exp(x) + exp(y)), without overflow."""
    return xp.logaddexp(x, y)


@elementwise(
    x=lambda g, x, y: g / (1 + number_power(2, y - x)),
    y=lambda g, x, y: g / (1 + number_power(2, x - y)),
    sample=reals,
    inplace=False,
    numbers=False,
    refuses=("logaddexp2_cpu", "bool integer"),
    example="logaddexp2(tensor([0.0]), tensor([1000.0]))",
)
def logaddexp2(xp, x, y):
    """The logarithm to base 2 of 2 to the power x and 2 to the power y together."""
    return xp.logaddexp2(x, y)


def weak(number, value):
    """A function of an operand: of a Python number a Python number, so that it does not raise the result's type."""
    return float(value) if number.__class__ in NUMBERS else value


def times_log(xp, x, y):
    """x log(y), 0 where x is 0 and y a number."""
    return xp.where((x == 0) & (y == y), 0.0, x * weak(y, xp.log(y)))


def times_log1p(xp, x, y):
    """x log(1 + y), 0 where x is 0 and y a number."""
    return xp.where((x == 0) & (y == y), 0.0, x * weak(y, xp.log1p(y)))


XLOGY = {
    "x": lambda g, x, y: where((x == 0) & (y <= 0), 0.0, xlogy_tensors(g, y)),
    "y": lambda g, x, y: g * x / y,
    "sample": (reals, positive),
    "floating": True,
    "at": (),
}
XLOG1PY = {
    "x": lambda g, x, y: where((x == 0) & (y <= -1), 0.0, xlog1py_tensors(g, y)),
    "y": lambda g, x, y: g * x / (y + 1),
    "sample": (reals, probabilities),
    "floating": True,
    "at": (),
}
xlogy_tensors = elementwise(**XLOGY, name="xlogy", grad_fn="XlogyBackward0")(times_log)
xlogy_of_number = elementwise(**XLOGY, name="xlogy_of_number", grad_fn="XlogyBackward1")(times_log)
xlogy_number = elementwise(**XLOGY, name="xlogy_number", grad_fn="XlogyBackward2")(times_log)
xlog1py_tensors = elementwise(**XLOG1PY, name="special_xlog1py", grad_fn="SpecialXlog1PyBackward0")(times_log1p)
xlog1py_of_number = elementwise(**XLOG1PY, name="xlog1py_of_number", grad_fn="SpecialXlog1PyBackward1")(times_log1p)
xlog1py_number = elementwise(**XLOG1PY, name="xlog1py_number", grad_fn="SpecialXlog1PyBackward2")(times_log1p)


@function(at=("torch", "Tensor", "special"), inplace=True, example="xlogy(tensor([0.0, 2.0]), tensor([0.0, 3.0]))")
def xlogy(input, other):
    """input * log(other), 0 where input is 0."""
    if isinstance(other, NUMBERS):
        return xlogy_number(input, other)
    return (xlogy_of_number if isinstance(input, NUMBERS) else xlogy_tensors)(input, other)


@function(at=("special",), example="torch.special.xlog1py(tensor([0.0, 2.0]), tensor([-1.0, 3.0]))")
def xlog1py(input, other):
    """input * log(1 + other), 0 where input is 0."""
    if isinstance(other, NUMBERS):
        return xlog1py_number(input, other)
    return (xlog1py_of_number if isinstance(input, NUMBERS) else xlog1py_tensors)(input, other)


# ---- weighted sums


def between_ends(xp, x, end, weight):
    """x + weight (end - x), from the nearer end."""
    return xp.where(xp.absolute(weight) < 0.5, x + weight * (end - x), end - (end - x) * (1 - weight))


LERP = {
    "x": lambda g, weight: g * (1 - weight),
    "end": lambda g, weight: g * weight,
    "at": (),
}
lerp_number = elementwise(
    **LERP,
    sample=[Sample(reals(2, 3), reals(3), weight=0.3), Sample(reals(), reals(), weight=0.8)],
    refuses=("lerp_kernel_scalar", "bool integer"),
    name="lerp_number",
    grad_fn="LerpBackward0",
)(lambda xp, x, end, *, weight: between_ends(xp, x, end, weight))
lerp_tensor = elementwise(
    **LERP,
    weight=lambda g, x, end: g * (end - x),
    sample=reals,
    refuses=("lerp_kernel_tensor", "bool integer"),
    name="lerp_tensor",
    grad_fn="LerpBackward1",
)(between_ends)


@function(
    inplace=True,
    overloads=(
        "(Tensor input, Tensor end, Tensor weight, *, Tensor out = None)",
        "(Tensor input, Tensor end, Number weight, *, Tensor out = None)",
    ),
    example="lerp(tensor([0.0, 10.0]), tensor([1.0, 20.0]), 0.3)",
)
def lerp(input, end, weight):
    """input + weight * (end - input): the point between two at that part of the way."""
    x, end = operand(input), operand(end, "end")
    number = isinstance(weight, NUMBERS)
    for name, value in (("end", end), ("weight", x if number else operand(weight, "weight"))):
        if value.dtype is not x.dtype:
            from gradsh.backend.continuous import SCALAR_TYPES

            wanted, got = SCALAR_TYPES[x.dtype.name][1], SCALAR_TYPES[value.dtype.name][1]
            raise fault(RuntimeError, f"expected dtype {wanted} for `{name}` but got dtype {got}")
    return lerp_number(x, end, weight=weight) if number else lerp_tensor(x, end, weight)


@elementwise(
    x=lambda g: g,
    y=lambda g, z, value: g * z * value,
    z=lambda g, y, value: g * y * value,
    sample=[Sample(reals(2, 3), reals(3), reals(2, 1), value=0.5), Sample(reals(), reals(), reals(), value=-2)],
    public={"x": "input", "y": "tensor1", "z": "tensor2"},
    refuses=("addcmul_cpu_out", "bool"),
    example="addcmul(tensor([1.0]), tensor([2.0]), tensor([3.0]), value=10)",
    numbers=False,
)
def addcmul(xp, x, y, z, *, value=1):
    """x + value * y * z."""
    return x + whole(value, x) * y * z


def no_integer_quotient(x, y, z):
    """PyTorch's refusal to divide integers here."""
    if all(value.dtype.category != FLOATING for value in (y, z)):
        raise fault(
            RuntimeError,
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            "* torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes.",
        )


@elementwise(
    x=lambda g: g,
    y=lambda g, z, value: g * (value / z),
    z=lambda g, y, z, value: -g * (value * y / (z * z)),
    sample=[Sample(reals(2, 3), reals(3), nonzero(2, 1), value=0.5), Sample(reals(), reals(), nonzero(), value=-2)],
    public={"x": "input", "y": "tensor1", "z": "tensor2"},
    example="addcdiv(tensor([1.0]), tensor([2.0]), tensor([4.0]), value=10)",
    numbers=False,
    check=no_integer_quotient,
)
def addcdiv(xp, x, y, z, *, value=1):
    """x + value * y / z."""
    return x + xp.divide(value * y, z)
