"""Activation functions made of straight lines, at their kinks with PyTorch's derivatives."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.inplace import inplace as change
from gradsh.engine.level import VMAP
from gradsh.engine.op import elementwise
from gradsh.engine.promote import NUMBERS
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.arithmetic import vanishing, whole
from gradsh.ops.choice import where
from gradsh.ops.generator import stream_of
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Sample, nonzero, reals

EVERYWHERE = ("torch", "Tensor", "F")
TORCH_F = ("torch", "F")
F = ("F",)


def floats_for(kernel):
    """What an activation's op declares: PyTorch's kernel refuses integers."""
    return {"refuses": (kernel, "bool integer"), "at": ()}


def applied(op, name, input, inplace, **settings):
    """An activation of a tensor, written over it if told so; its other arguments are numbers."""
    for place, (argument, value) in enumerate(settings.items(), 2):
        if not isinstance(value, NUMBERS):
            kind = type(value).__name__
            raise fault(TypeError, f"{name}(): argument '{argument}' (position {place}) must be Number, not {kind}")
    if inplace or not is_number(input):
        input = tensor_argument(input, name)
    return change(op, input, what=f"{name}_", **settings) if inplace else op(input, **settings)


def is_number(input):
    """Whether an activation is asked of a bare number where the shell's defaults allow it."""
    return not isinstance(input, Tensor) and state.lists and isinstance(input, NUMBERS)


# ---- what passes: a gradient where the activation's operand lets it through, with a second derivative of 0


@elementwise(
    x=lambda g, y, threshold: let_above(g, y, threshold=threshold),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 3), threshold=0.5)],
    at=(),
    grad_fn="ThresholdBackwardBackward0",
)
def let_above(xp, x, y, *, threshold):
    """x where y is above the threshold, else 0."""
    return xp.where(y <= threshold, 0.0, x)


@elementwise(
    x=lambda g, y, low, high: let_between(g, y, low=low, high=high),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 3), low=-1.0, high=0.5)],
    at=(),
    grad_fn="HardtanhBackwardBackward0",
)
def let_between(xp, x, y, *, low, high):
    """x where y lies between two numbers, else 0."""
    return xp.where((y > low) & (y < high), x, 0.0)


@elementwise(
    x=lambda g, y, width: let_outside(g, y, width=width),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 3), width=0.5)],
    at=(),
    grad_fn="HardshrinkBackwardBackward0",
)
def let_outside(xp, x, y, *, width):
    """x where y is further from 0 than a width, else 0."""
    return xp.where((y > width) | (y < -width), x, 0.0)


@elementwise(
    x=lambda g, y, slope: let_sloped(g, y, slope=slope),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 3), slope=0.1)],
    at=(),
    grad_fn="LeakyReluBackwardBackward0",
)
def let_sloped(xp, x, y, *, slope):
    """x where y is positive, else x times a slope."""
    return xp.where(y > 0, x, x * slope)


# ---- straight lines


def no_truth_values(message):
    """PyTorch's refusal of truth values."""

    def check(x):
        if x.dtype.category == BOOL:
            raise fault(RuntimeError, message, hint="x.float()")

    return check


@elementwise(
    x=lambda g, out: let_above(g, out, threshold=0),
    sample=nonzero,
    name="relu",
    at=(),
    check=no_truth_values("Boolean inputs not supported for relu"),
)
def rectified(xp, x):
    """x where it is positive, else 0."""
    return xp.maximum(x, 0)


@function(at=EVERYWHERE, inplace=True, example="relu(tensor([-1.0, 2.0]))")
def relu(input, inplace=False):
    """input where it is positive, else 0; the derivative at 0 is 0."""
    if not isinstance(input, Tensor) and not is_number(input):
        input = tensor_argument(input, "relu")
    return change(rectified, input, what="relu_") if inplace else rectified(input)


@elementwise(
    x=lambda g, x, min_val, max_val: let_between(g, x, low=min_val, high=max_val),
    sample=[Sample(reals(2, 3), min_val=-1.0, max_val=1.0), Sample(reals(), min_val=-1.0, max_val=1.0)],
    at=(),
    name="hardtanh",
    check=no_truth_values("Bool inputs not supported for hardtanh"),
)
def held_between(xp, x, *, min_val, max_val):
    """x, held between two numbers."""
    return xp.minimum(xp.maximum(x, whole(min_val, x)), whole(max_val, x))


@function(at=F, inplace=True, example="hardtanh(tensor([-2.0, 0.5, 3.0]))")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input, held between min_val and max_val; the derivative at the bounds is 0."""
    if min_val > max_val:
        raise fault(ValueError, "min_val cannot be greater than max_val")
    if int(min_val) < 0 and tensor_argument(input, "hardtanh").dtype.name == "uint8":
        raise fault(RuntimeError, "cannot do hardtanh on an unsigned type with negative limits")
    return applied(held_between, "hardtanh", input, inplace, min_val=min_val, max_val=max_val)


@function(at=F, example="relu6(tensor([-1.0, 2.0, 9.0]))")
def relu6(input, inplace=False):
    """input, held between 0 and 6."""
    return applied(held_between, "hardtanh", input, inplace, min_val=0, max_val=6)


@elementwise(
    x=lambda g, x, negative_slope: let_sloped(g, x, slope=negative_slope),
    sample=[Sample(nonzero(2, 3), negative_slope=0.1), Sample(reals(), negative_slope=-0.5)],
    name="leaky_relu",
    **floats_for("leaky_relu_cpu"),
)
def leaky(xp, x, *, negative_slope):
    """x where it is positive, else x times a slope."""
    return xp.where(x > 0, x, x * negative_slope)


@function(at=F, example="leaky_relu(tensor([-1.0, 2.0]))")
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input where it is positive, else input times negative_slope."""
    return applied(leaky, "leaky_relu", input, inplace, negative_slope=negative_slope)


@elementwise(
    x=lambda g, x, threshold: let_above(g, x, threshold=threshold),
    sample=[Sample(reals(2, 3), threshold=0.1, value=5.0), Sample(reals(), threshold=0.1, value=5.0)],
    name="threshold",
    at=(),
    refuses=("threshold_cpu", "bool"),
)
def above(xp, x, *, threshold, value):
    """x where it is above the threshold, else a value."""
    return xp.where(x <= threshold, whole(value, x), x)


@function(at=TORCH_F, called="_threshold", example="threshold(tensor([-1.0, 2.0]), 0.5, 9.0)")
def threshold(input, threshold, value, inplace=False):
    """input where it is above threshold, else value."""
    return applied(above, "threshold", input, inplace, threshold=threshold, value=value)


@elementwise(
    x=lambda g, x, lambd: let_outside(g, x, width=lambd),
    sample=[Sample(reals(2, 3), lambd=0.3), Sample(reals(), lambd=0.3)],
    refuses=("hardshrink_cpu", "bool integer"),
    at=EVERYWHERE,
    inplace=False,
    example="hardshrink(tensor([-1.0, 0.2]))",
)
def hardshrink(xp, x, *, lambd=0.5):
    """x, but 0 from -lambd to lambd."""
    return xp.where((x >= -lambd) & (x <= lambd), 0.0, x)


@elementwise(
    x=lambda g, x, lambd: let_outside(g, x, width=lambd),
    sample=[Sample(reals(2, 3), lambd=0.3), Sample(reals(), lambd=0.3)],
    name="softshrink",
    **floats_for("softshrink_check"),
)
def shrunk(xp, x, *, lambd):
    """x, nearer to 0 by lambd."""
    return xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, x * 0))


@function(at=F, example="softshrink(tensor([-1.0, 0.2]))")
def softshrink(input, lambd=0.5):
    """input, nearer to 0 by lambd, and 0 where that is too far."""
    if lambd < 0:
        dtype = tensor_argument(input, "softshrink").dtype
        limit = {"float64": "1.79769e+308", "float32": "3.40282e+38", "float16": "65504"}.get(dtype.name, "")
        raise fault(
            RuntimeError,
            f"lambda must be in range [0, {limit}] for input dtype {TYPE_NAMES[dtype.name]}, but found {lambd:g}",
        )
    return applied(shrunk, "softshrink", input, False, lambd=lambd)


@elementwise(
    x=lambda g, x: let_between(g / 6, x, low=-3, high=3),
    sample=reals,
    name="hardsigmoid",
    **floats_for("hardsigmoid_cpu"),
)
def straight_sigmoid(xp, x):
    """x / 6 + 1 / 2, held between 0 and 1."""
    return xp.minimum(xp.maximum(x + 3, 0), 6) / 6


@function(at=F, example="hardsigmoid(tensor([-4.0, 0.0, 1.0]))")
def hardsigmoid(input, inplace=False):
    """input / 6 + 1 / 2, held between 0 and 1."""
    return applied(straight_sigmoid, "hardsigmoid", input, inplace)


@elementwise(
    x=lambda g, x: where(x <= -3, 0.0, where(x >= 3, g, g * (x / 3 + 0.5))),
    sample=reals,
    name="hardswish",
    **floats_for("hardswish_cpu"),
)
def straight_swish(xp, x):
    """x times hardsigmoid(x)."""
    return x * xp.minimum(xp.maximum(x + 3, 0), 6) / 6


@function(at=F, example="hardswish(tensor([-4.0, 0.0, 1.0]))")
def hardswish(input, inplace=False):
    """input times hardsigmoid(input)."""
    return applied(straight_swish, "hardswish", input, inplace)


@elementwise(
    x=lambda g, y, z: let_weighted(g, y, z),
    y=vanishing,
    z=lambda g, x, y: where(y > 0, 0.0, g * x),
    sample=[Sample(reals(2, 3), reals(2, 3), reals(3))],
    at=(),
    grad_fn="PreluKernelBackwardBackward0",
)
def let_weighted(xp, x, y, z):
    """x where y is positive, else x times z."""
    return xp.where(y > 0, x, x * z)


@elementwise(
    x=lambda g, x, y: let_weighted(g, x, y),
    y=lambda g, x: where(x > 0, 0.0, g * x),
    sample=[Sample(nonzero(2, 3), reals(3)), Sample(reals(), reals())],
    grad_fn="PreluKernelBackward0",
    name="prelu",
    **floats_for("prelu_cpu"),
)
def sloped(xp, x, y):
    """x where it is positive, else x times a slope y."""
    return xp.where(x > 0, x, x * y)


@function(at=EVERYWHERE, python=False, example="prelu(tensor([-1.0, 2.0]), tensor([0.25]))")
def prelu(input, weight):
    """input where it is positive, else input times weight: one number, or one for each channel (dimension 1)."""
    x, slope = tensor_argument(input, "prelu"), tensor_argument(weight, "prelu", "weight", 2)
    if x.dtype is not slope.dtype:
        kinds = f"{TYPE_NAMES[x.dtype.name]} and {TYPE_NAMES[slope.dtype.name]}"
        raise fault(RuntimeError, f"prelu: Type promoting not supported. Got {kinds}")
    count = slope.numel()
    if count != 1:
        if not x.ndim:
            raise fault(RuntimeError, "Not allow zero-dim input tensor.")
        channels = x.shape[1] if x.ndim > 1 else 1
        if channels != count:
            raise fault(
                RuntimeError,
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
                f"size = {channels}.",
            )
    if slope.ndim > 1:
        raise fault(RuntimeError, f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {slope.ndim}")
    shape = [count if k == 1 else 1 for k in range(x.ndim)]
    return sloped(x, slope if list(slope.shape) == shape else slope.reshape(shape))


@elementwise(
    x=lambda g, y, z: sloped_by(g, y, z),
    y=vanishing,
    sample=[Sample(reals(2, 3), reals(2, 3), reals(2, 3))],
    at=(),
    grad_fn="RreluWithNoiseBackwardBackward0",
)
def sloped_by(xp, x, y, z):
    """The gradient x of a number y times the slope z that was drawn for it."""
    return x * z


@elementwise(x=lambda g, x, y: sloped_by(g, x, y), sample=reals, at=())
def rrelu_with_noise(xp, x, y):
    """x times the slope that was drawn for it."""
    return xp.multiply(x, y)


rrelu_at_mean = elementwise(
    x=leaky.rules["x"],
    sample=leaky.sample,
    name="rrelu",
    grad_fn="RreluWithNoiseBackward0",
    **floats_for("leaky_relu_cpu"),
)(leaky.kernel)


@function(at=TORCH_F, example="rrelu(tensor([-1.0, 2.0]))")
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """input where it is positive, else times a slope: in training a random one, else the mean of lower and upper."""
    if lower > upper:
        raise fault(RuntimeError, "Lower bound should be less than or equal to the upper bound")
    if not training:
        return applied(rrelu_at_mean, "rrelu", input, inplace, negative_slope=(lower + upper) / 2)
    if any(level.kind == VMAP for level in state.levels):
        raise fault(RuntimeError, "vmap: we do not yet support aten::rrelu. Please file an issue")
    slopes = wrap(_drawn_slopes(tensor_argument(input, "rrelu"), lower, upper))
    return change(rrelu_with_noise, input, slopes, what="rrelu_") if inplace else rrelu_with_noise(input, slopes)


def _drawn_slopes(x, lower, upper):
    from gradsh.backend import arrays

    raw = arrays.asarray(x.raw)
    slopes = arrays.ones_like(raw)
    bent = raw <= 0
    slopes[bent] = stream_of(None).uniform((int(bent.sum()),), "float64", lower, upper)
    return slopes
