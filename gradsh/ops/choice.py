"""Choosing between numbers: where, the larger and the smaller, bounds, and what replaces nan and infinity."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, boolean
from gradsh.engine.batched import Batched
from gradsh.engine.op import OPS, elementwise
from gradsh.engine.promote import NUMBERS, common_dtype, fitting
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.arithmetic import underivable, vanishing
from gradsh.ops.calls import Unfit, for_number, operand
from gradsh.ops.comparison import isfinite
from gradsh.ops.examples import refused
from gradsh.ops.options import fits_none
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, between, booleans, nonzero, reals

# ---- where


@elementwise(
    x=lambda g, condition: where(condition, g, 0.0),
    y=lambda g, condition: where(condition, 0.0, g),
    sample=(booleans, reals, reals),
    at=(),
)
def where(xp, condition, x, y):
    """x where the condition holds, else y."""
    return xp.where(condition, x, y)


def _condition(value):
    if not isinstance(value, Tensor):
        raise Unfit("condition", "Tensor", value)
    if value.dtype is not boolean:
        if value.dtype.name == "uint8":
            return OPS["to_dtype"](value, dtype=boolean)
        from gradsh.engine.alias import TYPE_NAMES

        raise fault(
            RuntimeError,
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + TYPE_NAMES[value.dtype.name],
            hint="x > 0, or x.bool()",
        )
    return value


@function("where", at=("torch",), example="where(tensor([True, False]), tensor([1.0, 2.0]), 0.0)")
def chosen(condition, input=None, other=None):
    """input where the condition holds, else other; with the condition alone, the indices where it holds."""
    if input is None and other is None:
        if isinstance(condition, Batched):
            refused("where")()
        return condition.nonzero(as_tuple=True)
    return where(_condition(condition), input, other)


@function("where", at=("Tensor",), example="tensor([1.0, 2.0]).where(tensor([True, False]), 0.0)")
def kept(self, condition, other):
    """The tensor where the condition holds, else other."""
    return where(_condition(condition), self, other)


# ---- the larger and the smaller: equal numbers share the gradient


@elementwise(
    x=lambda g, x, y: where(x == y, g / 2, where(x < y, 0.0, g)),
    y=lambda g, x, y: where(x == y, g / 2, where(x > y, 0.0, g)),
    sample=reals,
    inplace=False,
    numbers=False,
    example="maximum(tensor([1.0, 5.0]), tensor([3.0, 2.0]))",
)
def maximum(xp, x, y):
    """The larger of two numbers; nan if one is nan."""
    return xp.maximum(x, y)


@elementwise(
    x=lambda g, x, y: where(x == y, g / 2, where(x > y, 0.0, g)),
    y=lambda g, x, y: where(x == y, g / 2, where(x < y, 0.0, g)),
    sample=reals,
    inplace=False,
    numbers=False,
    example="minimum(tensor([1.0, 5.0]), tensor([3.0, 2.0]))",
)
def minimum(xp, x, y):
    """The smaller of two numbers; nan if one is nan."""
    return xp.minimum(x, y)


@elementwise(
    x=lambda g, x, y: where((x >= y) | (y != y), g, 0.0),
    y=lambda g, x, y: where((x >= y) | (y != y), 0.0, g),
    sample=reals,
    inplace=False,
    numbers=False,
    example="fmax(tensor([1.0, nan]), tensor([3.0, 2.0]))",
)
def fmax(xp, x, y):
    """The larger of two numbers, the other one if one is nan."""
    return xp.fmax(x, y)


@elementwise(
    x=lambda g, x, y: where((x <= y) | (y != y), g, 0.0),
    y=lambda g, x, y: where((x <= y) | (y != y), 0.0, g),
    sample=reals,
    inplace=False,
    numbers=False,
    example="fmin(tensor([1.0, nan]), tensor([3.0, 2.0]))",
)
def fmin(xp, x, y):
    """The smaller of two numbers, the other one if one is nan."""
    return xp.fmin(x, y)


# ---- bounds: at a bound the gradient passes

LOW = {"x": lambda g, x, y: where(x >= y, g, 0.0), "y": lambda g, x, y: where(x < y, g, 0.0), "sample": reals, "at": ()}
HIGH = {
    "x": lambda g, x, y: where(x <= y, g, 0.0),
    "y": lambda g, x, y: where(x > y, g, 0.0),
    "sample": reals,
    "at": (),
}


def at_least(xp, x, y):
    """x, but no less than y."""
    return xp.maximum(x, y)


def at_most(xp, x, y):
    """x, but no more than y."""
    return xp.minimum(x, y)


def bounded(xp, x, low, high):
    """x, but no less than low and no more than high."""
    return xp.minimum(xp.maximum(x, low), high)


def _bound(rules, kernel, node):
    return elementwise(**rules, name=f"{kernel.__name__}_{node}", grad_fn=node)(kernel)


LOWER = {
    node: _bound(LOW, at_least, node)
    for node in ("ClampBackward0", "ClampBackward1", "ClampMinBackward0", "ClampMinBackward1")
}
UPPER = {
    node: _bound(HIGH, at_most, node)
    for node in ("ClampBackward0", "ClampBackward1", "ClampMaxBackward0", "ClampMaxBackward1")
}

clamp_both = elementwise(
    x=lambda g, x, low, high: where((x >= low) & (x <= high), g, 0.0),
    low=lambda g, x, low, high: where((x < low) & (low < high), g, 0.0),
    high=lambda g, x, low, high: where((x > high) | (high < low), g, 0.0),
    sample=(reals, between(-1.0, 0.0), between(0.1, 1.0)),
    at=(),
    name="clamp_both",
    grad_fn="ClampBackward0",
)(bounded)


@elementwise(
    x=lambda g, x, low, high: where((x >= low) & (x <= high), g, 0.0),
    sample=[Sample(reals(2, 3), low=-0.5, high=1.0), Sample(reals(), low=-0.5, high=1.0)],
    at=(),
    grad_fn="ClampBackward1",
)
def clamp_numbers(xp, x, *, low, high):
    """x, but no less than low and no more than high, both Python numbers."""
    return xp.minimum(xp.maximum(x, low), high)


def _in_common_type(x, *numbers):
    """A tensor of integers in the type that it and Python numbers promote to."""
    if x.dtype.category == FLOATING:
        return x
    dtype = common_dtype((x, *numbers), False)
    return x if x.dtype is dtype else OPS["to_dtype"](x, dtype=dtype)


def _bound_argument(value):
    if not isinstance(value, (Tensor, *NUMBERS)) and value is not None:
        raise fits_none()
    return value


CLAMP = ("torch", "Tensor", "torch:clip", "Tensor:clip")
SIGNATURES = (
    "(Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None)",
    "(Tensor input, Number min = None, Number max = None, *, Tensor out = None)",
)


@function(at=CLAMP, inplace=True, overloads=SIGNATURES, example="clamp(tensor([-2.0, 0.5, 2.0]), min=-1, max=1)")
def clamp(input, min=None, max=None):
    """input, but no less than min and no more than max; one of them may be left out."""
    if input.__class__ in NUMBERS:
        return for_number(clamp, input, min, max)
    x, low, high = operand(input), _bound_argument(min), _bound_argument(max)
    numbers = not isinstance(low, Tensor) and not isinstance(high, Tensor)
    if low is None and high is None:
        raise fault(RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")
    if low is not None and high is not None:
        if numbers:
            x = _in_common_type(x, low, high)
            return clamp_numbers(x, low=fitting(low, x.dtype), high=fitting(high, x.dtype))
        if any(not isinstance(value, Tensor) and other.ndim for value, other in ((low, high), (high, low))):
            raise fits_none()
        return clamp_both(x, low, high)
    node = "ClampBackward1" if numbers else "ClampBackward0"
    return LOWER[node](x, low) if high is None else UPPER[node](x, high)


@function(
    inplace=True,
    overloads=("(Tensor input, Tensor min)", "(Tensor input, Number min)"),
    example="clamp_min(tensor([-2.0, 0.5]), 0)",
)
def clamp_min(input, min):
    """input, but no less than min."""
    if input.__class__ in NUMBERS:
        return for_number(clamp_min, input, min)
    node = "ClampMinBackward1" if isinstance(min, Tensor) else "ClampMinBackward0"
    return LOWER[node](operand(input), _bound_argument(min))


@function(
    inplace=True,
    overloads=("(Tensor input, Tensor max)", "(Tensor input, Number max)"),
    example="clamp_max(tensor([0.5, 2.0]), 1)",
)
def clamp_max(input, max):
    """input, but no more than max."""
    if input.__class__ in NUMBERS:
        return for_number(clamp_max, input, max)
    node = "ClampMaxBackward1" if isinstance(max, Tensor) else "ClampMaxBackward0"
    return UPPER[node](operand(input), _bound_argument(max))


# ---- nan, infinity, signs, steps


@elementwise(
    x=lambda g, x: where(isfinite(x), g, 0.0),
    sample=[Sample(reals(2, 3), nan=0.0, high=None, low=None)],
    at=(),
    name="nan_to_num",
)
def numbers_for(xp, x, *, nan, high, low):
    """Numbers in place of nan and the infinities; for these the largest ones of the type where none are given."""
    x = xp.asarray(x)
    if x.dtype.kind != "f":
        return x.copy()
    limit = float(xp.finfo(x.dtype).max)
    found = xp.where(x == xp.inf, limit if high is None else high, x)
    found = xp.where(x == -xp.inf, -limit if low is None else low, found)
    return xp.where(x != x, nan, found)[()]


@function(inplace=True, example="nan_to_num(tensor([nan, inf, 1.0]), posinf=9.0)")
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    """input with numbers in place of nan (0) and the infinities (the largest numbers of its type)."""
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if value is not None and not isinstance(value, NUMBERS):
            raise Unfit(name, "float", value)
    return numbers_for(input, nan=0.0 if nan is None else nan, high=posinf, low=neginf)


def _sign_moved(g, x, out):
    return g * where(x == 0, 0.0, out / x)


MOVED_SIGN = {"x": _sign_moved, "y": vanishing, "sample": nonzero, "floating": True, "at": ()}
_copysign = elementwise(**MOVED_SIGN, name="copysign", grad_fn="CopysignBackward0")(lambda xp, x, y: xp.copysign(x, y))
_copysign_number = elementwise(**MOVED_SIGN, name="copysign_number", grad_fn="CopysignBackward1")(
    lambda xp, x, y: xp.copysign(x, y)
)


@function(inplace=True, example="copysign(tensor([1.0, 2.0]), tensor([-1.0, 1.0]))")
def copysign(input, other):
    """The magnitude of input with the sign of other."""
    return (_copysign_number if isinstance(other, NUMBERS) else _copysign)(input, other)


def same_types(x, y):
    """PyTorch's refusal of different element types."""
    if x.dtype is not y.dtype:
        raise fault(RuntimeError, "heaviside is not yet implemented for tensors with different dtypes.")


@elementwise(
    x=underivable("heaviside"),
    y=underivable("heaviside"),
    grad_fn="NotImplemented",
    numbers=False,
    check=same_types,
    public={"x": "input", "y": "values"},
    example="heaviside(tensor([-1.0, 0.0, 2.0]), tensor(0.5))",
)
def heaviside(xp, x, y):
    """0 for negative numbers, 1 for positive ones, and a value of one's own at 0."""
    return xp.where(x == 0, y, x > 0)


@elementwise(
    x=lambda g, x, y: where(x == y, 0.0, g),
    y=vanishing,
    sample=reals,
    numbers=False,
    refuses=("nextafter_cpu", "bool integer"),
    example="nextafter(tensor(1.0), tensor(2.0))",
)
def nextafter(xp, x, y):
    """The next number after x in the direction of y."""
    return xp.nextafter(x, y)
