"""Exponentials weighed against each other: softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import OPS, general
from gradsh.engine.state import state
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, in_type, operand
from gradsh.ops.dimensions import axes_of, axis_of
from gradsh.ops.reduction import sum_over, unreduced
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Sample, reals
from gradsh.ops.unary import exp

ALONG = [Sample(reals(2, 3), axes=(1,)), Sample(reals(2, 3), axes=(0,)), Sample(reals(), axes=())]
NAMES = ("torch", "Tensor", "special")


def _total(x, axes):
    return sum_over(x, axes=axes, keepdim=True)


def _shifted(xp, x, axes):
    """The numbers less the largest of them along a dimension, so that nothing overflows; halves in singles."""
    x = xp.asarray(x)
    if x.dtype.char == "e":
        x = x.astype("f4")
    return x - xp.maximum.reduce(x, axes, None, None, True) if x.size else x


def _restored(found, x):
    """A result in halves where the operand was."""
    return found.astype("f2") if x.__class__ is not float and x.dtype.char == "e" else found


@general(x=lambda g, out, axes: out * (g - _total(g * out, axes)), sample=ALONG, at=(), name="softmax")
def normalised(xp, x, *, axes):
    """exp(x) over the sum of them along a dimension."""
    weights = xp.exp(_shifted(xp, x, axes))
    return _restored(weights / xp.sums(weights, axes), x)


@general(x=lambda g, out, axes: g - exp(out) * _total(g, axes), sample=ALONG, at=(), name="log_softmax")
def log_normalised(xp, x, *, axes):
    """The logarithm of softmax."""
    shifted = _shifted(xp, x, axes)
    return _restored(shifted - xp.log(xp.sums(xp.exp(shifted), axes)), x)


def _along(op, input, dim, dtype):
    x = in_type(input, dtype)
    axis = axis_of(dim, x.ndim)
    if x.dtype.category != FLOATING:
        if not x.numel():  # PyTorch's kernel, which is for floats, is not called
            return OPS["clone"](x)
        place = "softmax_lastdim_kernel_impl" if axis >= x.ndim - 1 else "softmax_kernel_impl"
        kernel = place if op is normalised or op is OPS["softmax"].call else f"log_{place}"
        raise fault(
            NotImplementedError, f"\"{kernel}\" not implemented for '{TYPE_NAMES[x.dtype.name]}'", hint="x.float()"
        )
    return op(x, axes=(axis,) if x.ndim else ())


def _functional(op, name, input, dim, dtype):
    """As F's functions take their arguments: a dimension is chosen where none is given."""
    x = tensor_argument(input, name)
    if dim is None:
        dim = int(x.ndim not in (0, 1, 3))
    elif not isinstance(dim, int):
        raise fault(TypeError, f"{name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    return _along(op, x, dim, dtype)


@function("softmax", at=("F",), example="torch.nn.functional.softmax(tensor([1.0, 2.0]), dim=0)")
def softmax_of(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) over the sum of them along dim."""
    return _functional(normalised, "softmax", input, dim, dtype)


@function(at=NAMES, example="softmax(tensor([1.0, 2.0]), dim=0)")
def softmax(input, dim, dtype=None):
    """exp(input) over the sum of them along dim."""
    return _along(normalised, input, dim, dtype)


@function("log_softmax", at=("F",), example="torch.nn.functional.log_softmax(tensor([1.0, 2.0]), dim=0)")
def log_softmax_of(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax along dim."""
    return _functional(log_normalised, "log_softmax", input, dim, dtype)


@function(at=NAMES, example="log_softmax(tensor([1.0, 2.0]), dim=0)")
def log_softmax(input, dim, dtype=None):
    """The logarithm of softmax along dim, without its loss."""
    return _along(log_normalised, input, dim, dtype)


@function(at=("F",), example="softmin(tensor([1.0, 2.0]), dim=0)")
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of the negative numbers."""
    return _functional(normalised, "softmax", -tensor_argument(input, "softmin"), dim, dtype)


# ---- the logarithm of a sum


def _shares(g, x, out, x_shape, axes, keepdim):
    return unreduced(g, x_shape, axes, keepdim) * exp(x - unreduced(out, x_shape, axes, keepdim))


@general(
    x=_shares,
    sample=[
        Sample(reals(2, 3), axes=(1,), keepdim=False),
        Sample(reals(2, 3), axes=(0, 1), keepdim=True),
        Sample(reals(), axes=(), keepdim=False),
    ],
    at=(),
    name="logsumexp",
)
def log_of_sum(xp, x, *, axes, keepdim):
    """The logarithm of the sum of exponentials over dimensions, without overflow."""
    x = xp.asarray(x)
    largest = xp.maximum.reduce(x, axes, None, None, True, initial=-xp.inf)
    largest = xp.where(xp.isfinite(largest), largest, 0).astype(x.dtype)
    found = xp.log(xp.sums(xp.exp(x - largest), axes, keepdim))
    return found + (largest if keepdim else largest.reshape(found.shape))


@function(at=NAMES, example="logsumexp(tensor([1.0, 1000.0]), dim=0)")
def logsumexp(input, dim, keepdim=False):
    """The logarithm of the sum of exponentials over dim (one or several), without overflow."""
    x = operand(input)
    if dim is None:
        raise Unfit("dim", "tuple of ints", dim)
    if x.dtype.category != FLOATING:
        x = OPS["to_dtype"](x, dtype=state.default)
    if not isinstance(dim, int) and not dim and x.ndim and not keepdim:
        shape = [1] * x.ndim  # an oversight of PyTorch's: it takes no dimension for all, and removes none
        raise fault(RuntimeError, f"output with shape [] doesn't match the broadcast shape {shape}", hint="dim=(0, 1)")
    return log_of_sum(x, axes=axes_of(dim, x.ndim), keepdim=keepdim)
