"""Smooth activation functions: sigmoids, softplus and their kin, exponential and gaussian linear units, gates."""

from __future__ import annotations

import math

from gradsh.backend.blocks import in_blocks
from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import elementwise, general
from gradsh.fault import fault
from gradsh.ops.arithmetic import abs as absolute, div, sub
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axis_of
from gradsh.ops.joining import joined
from gradsh.ops.rectifiers import TORCH_F, F, applied, floats_for
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Sample, nonzero, reals
from gradsh.ops.slicing import part
from gradsh.ops.unary import exp, sigmoid, tanh

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
ROOT_HALF = math.sqrt(0.5)
ROOT_2_PI_BELOW = 1 / math.sqrt(2 * math.pi)
ROOT_2_PI, CUBIC = math.sqrt(2 / math.pi), 0.044715  # of gelu's form with tanh

# ---- sigmoids


@elementwise(x=lambda g, x: g * (logistic(x) * logistic(-x)), sample=reals, at=())
def logistic(xp, x):
    """As sigmoid, with a derivative that stays exact where the function is almost 1."""
    return xp.divide(1, 1 + xp.exp(-x))


@elementwise(
    x=lambda g, x: g * logistic(-x),
    sample=reals,
    refuses=("log_sigmoid_cpu", "bool integer"),
    name="log_sigmoid",
    at=("F:logsigmoid",),
    inplace=False,
    grad_fn="LogSigmoidBackward0",
    example="torch.nn.functional.logsigmoid(tensor([0.0, -50.0]))",
)
def log_sigmoid(xp, x):
    """log(sigmoid(x)), exact far out too."""
    return xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.absolute(x)))


@elementwise(
    x=lambda g, x, beta, threshold: where(x * beta > threshold, g, g * logistic(x * beta)),
    sample=[Sample(reals(2, 3), beta=1.0, threshold=20.0), Sample(reals(), beta=2.0, threshold=1.0)],
    name="softplus",
    **floats_for("softplus_cpu"),
)
def soft_rectified(xp, x, *, beta, threshold):
    """log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""
    scaled = x * beta
    return xp.where(scaled > threshold, x, xp.divide(xp.log1p(xp.exp(xp.minimum(scaled, threshold))), beta))


@function(at=F, example="softplus(tensor([0.0, 50.0]))")
def softplus(input, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold."""
    return applied(soft_rectified, "softplus", input, False, beta=beta, threshold=threshold)


@function(at=F, example="softsign(tensor([1.0, -3.0]))")
def softsign(input):
    """input / (1 + |input|)."""
    return div(input, absolute(input) + 1)


@function(at=F, example="tanhshrink(tensor([1.0, -3.0]))")
def tanhshrink(input):
    """input - tanh(input)."""
    return sub(input, tanh(input))


# ---- exponential linear units


@elementwise(x=lambda g, x, out: where(x >= 0, 0.0, g * out), sample=nonzero, at=())
def decay(xp, x):
    """exp(x) where x is not positive, else 1."""
    return xp.exp(xp.minimum(x, 0))


@elementwise(
    x=lambda g, x, alpha, scale, rate: where(x > 0, g * scale, g * (alpha * scale * rate) * decay(x * rate)),
    sample=[
        Sample(nonzero(2, 3), alpha=1.5, scale=1.2, rate=1.0),
        Sample(reals(2, 3), alpha=1.0, scale=1.0, rate=1.0),
        Sample(reals(), alpha=0.5, scale=1.0, rate=2.0),
    ],
    name="elu",
    **floats_for("elu_cpu"),
)
def exponential_linear(xp, x, *, alpha, scale, rate):
    """scale x where x is positive, else scale alpha (exp(rate x) - 1)."""
    return xp.where(x > 0, x * scale, xp.expm1(xp.minimum(x, 0) * rate) * (alpha * scale))


celu_op = elementwise(
    x=exponential_linear.rules["x"], sample=exponential_linear.sample, name="celu", **floats_for("elu_cpu")
)(exponential_linear.kernel)


@function(at=F, example="elu(tensor([-1.0, 2.0]))")
def elu(input, alpha=1.0, inplace=False):
    """input where it is positive, else alpha * (exp(input) - 1)."""
    return applied(exponential_linear, "elu", input, inplace, alpha=alpha, scale=1.0, rate=1.0)


@function(at=TORCH_F, example="selu(tensor([-1.0, 2.0]))")
def selu(input, inplace=False):
    """elu, scaled so that mean 0 and variance 1 are kept from layer to layer."""
    return applied(exponential_linear, "selu", input, inplace, alpha=SELU_ALPHA, scale=SELU_SCALE, rate=1.0)


@function(at=TORCH_F, example="celu(tensor([-1.0, 2.0]))")
def celu(input, alpha=1.0, inplace=False):
    """input where it is positive, else alpha * (exp(input / alpha) - 1)."""
    if alpha == 0:
        raise fault(RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU")
    return applied(celu_op, "celu", input, inplace, alpha=alpha, scale=1.0, rate=1.0 / alpha)


# ---- gates


@elementwise(
    x=lambda g, x: g * (exp(-0.5 * x * x) * (2 - x * x) * ROOT_2_PI_BELOW),
    sample=reals,
    at=(),
)
@in_blocks
def gaussian_slope(xp, x):
    """The derivative of x Φ(x), with Φ the normal distribution function: Φ(x) + x φ(x)."""
    density = xp.exp(-0.5 * x * x)
    density *= x
    density *= ROOT_2_PI_BELOW
    share = xp.erf(x * ROOT_HALF)
    share += 1
    share *= 0.5
    share += density
    return share


@elementwise(
    x=lambda g, x: g * gaussian_slope(x),
    sample=reals,
    name="gelu",
    **floats_for("GeluKernelImpl"),
)
@in_blocks
def gaussian_gate(xp, x):
    """x times the normal distribution function of x."""
    found = xp.erf(x * ROOT_HALF)
    found += 1
    found *= x
    found *= 0.5
    return found


def _gelu_tanh_slope(g, x):
    bend = tanh(ROOT_2_PI * (x + CUBIC * (x * x * x)))
    return g * (0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * (ROOT_2_PI * (1 + 3 * CUBIC * (x * x))))


@elementwise(
    x=_gelu_tanh_slope, sample=reals, grad_fn="GeluBackward0", name="gelu_tanh", **floats_for("GeluKernelImpl")
)
def gaussian_gate_by_tanh(xp, x):
    """gelu with the distribution function approximated by a tanh."""
    return 0.5 * x * (1 + xp.tanh(ROOT_2_PI * (x + CUBIC * (x * x * x))))


@function(at=F, python=False, example="gelu(tensor([-1.0, 2.0]))")
def gelu(input, *, approximate="none"):
    """input times the normal distribution function of it, or an approximation by 'tanh'."""
    if approximate not in ("none", "tanh"):
        raise fault(RuntimeError, "approximate argument must be either none or tanh.")
    return (gaussian_gate_by_tanh if approximate == "tanh" else gaussian_gate)(input)


def _silu_slope(g, x):
    gate = sigmoid(x)
    return g * (gate * (1 + x * (1 - gate)))


@elementwise(x=_silu_slope, sample=reals, name="silu", **floats_for("silu_cpu"))
def logistic_gate(xp, x):
    """x sigmoid(x)."""
    return xp.divide(x, 1 + xp.exp(-x))


@function(at=F, example="silu(tensor([-1.0, 2.0]))")
def silu(input, inplace=False):
    """input * sigmoid(input)."""
    return applied(logistic_gate, "silu", input, inplace)


def _mish_slope(g, x):
    gate = tanh(softplus_of(x))
    return g * (gate + x * (1 - gate * gate) * logistic(x))


@elementwise(x=lambda g, x: g * logistic(x), sample=reals, at=())
def softplus_of(xp, x):
    """log(1 + exp(x)), without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.absolute(x)))


@elementwise(x=_mish_slope, sample=reals, name="mish", **floats_for("mish_cpu"))
def soft_gate(xp, x):
    """x tanh(softplus(x))."""
    return x * xp.tanh(xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.absolute(x))))


@function(at=F, example="mish(tensor([-1.0, 2.0]))")
def mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return applied(soft_gate, "mish", input, inplace)


def _glu_slopes(g, x, dim):
    half = _half(x, dim)
    value, gate = part(x, dim, 0, half), sigmoid(part(x, dim, half, 2 * half))
    return joined(g * gate, g * value * (gate * (1 - gate)), dim=dim, starts=(0, half, 2 * half))


def _half(x, dim):
    return x.shape[dim] // 2


@general(x=_glu_slopes, sample=[Sample(reals(2, 4), dim=1), Sample(reals(2), dim=0)], at=(), name="glu")
def halves_gated(xp, x, *, dim):
    """The first half along a dimension times the sigmoid of the second."""
    value, gate = xp.split(x, 2, dim)
    return value / (1 + xp.exp(-gate))


@function(at=F, example="glu(tensor([1.0, 2.0, 0.0, 3.0]))")
def glu(input, dim=-1):
    """The first half along dim times the sigmoid of the second."""
    x = tensor_argument(input, "glu")
    if not x.ndim:
        raise fault(RuntimeError, "glu does not support scalars because halving size must be even")
    if x.dtype.category != FLOATING:
        raise fault(
            NotImplementedError, f"\"glu_cpu\" not implemented for '{TYPE_NAMES[x.dtype.name]}'", hint="x.float()"
        )
    axis = axis_of(dim, x.ndim)
    if x.shape[axis] % 2:
        raise fault(RuntimeError, f"Halving dimension must be even, but dimension {axis} is size {x.shape[axis]}")
    return halves_gated(x, dim=axis)
