"""Quantiles: numbers at a part of the way through the sorted ones, which differ in how they go between two."""

from __future__ import annotations

from gradsh.backend.dtypes import float32, float64, int64
from gradsh.engine import runtime
from gradsh.engine.create import tensor
from gradsh.engine.op import OPS, linear
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, floats
from gradsh.ops.choice import where
from gradsh.ops.comparison import isnan
from gradsh.ops.dimensions import axis_of, kept_shape
from gradsh.ops.ordering import sort
from gradsh.ops.picking import take_along
from gradsh.ops.reduction import any_over, sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshape, reshaped
from gradsh.ops.structure import to_dtype
from gradsh.ops.transposing import movedim

MODES = ("linear", "lower", "higher", "midpoint", "nearest")
REST = 'int dim = None, bool keepdim = False, *, str interpolation = "linear", Tensor out = None)'
OVERLOADS = (f"(Tensor input, Tensor q, {REST}", f"(Tensor input, float q, {REST}")


@linear(
    x=lambda g, x_shape: reshaped(g, size=x_shape),
    sample=Sample(reals(2, 3, 1), size=(2, 3)),
    at=(),
    grad_fn="SqueezeBackward4",
    batch="sized",
)
def squeezed_to(xp, x, *, size):
    """The same numbers with dimensions of length 1 dropped or added."""
    return xp.asarray(x).reshape(size)


def _ranks(sorted_, q, ignore_nan):
    """Where in each sorted lane the quantiles are; at the last number, which is nan, where nan is not passed over."""
    last = (sorted_.ndim - 1,)
    steps = sorted_.shape[-1] - 1
    if ignore_nan:
        counts = sum_over(to_dtype(isnan(sorted_).logical_not(), dtype=sorted_.dtype), axes=last, keepdim=True)
        ranks = q * (counts - 1)
        return where(ranks < 0, 0.0, ranks)
    return where(any_over(isnan(sorted_), axes=last, keepdim=True), float(steps), q * steps)


def _quantile(input, q, dim, keepdim, interpolation, ignore_nan):
    input = floats(input)
    if interpolation not in MODES:
        raise fault(
            RuntimeError,
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}",
        )
    q = _checked(q, input)
    axis = None if dim is None else axis_of(dim, input.ndim)
    if not all(0 <= part <= 1 for part in runtime.arrays.ravel(numbers_of(q)).tolist()):
        raise fault(RuntimeError, "quantile() q values must be in the range [0, 1]")
    lanes = reshape(input, (-1,)) if axis is None or not input.ndim else movedim(input, axis, -1)
    sorted_ = sort(lanes).values
    ranks = _ranks(sorted_, reshape(q, (-1,)), ignore_nan)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = getattr(ranks, {"lower": "floor", "higher": "ceil", "nearest": "round"}[interpolation])()
    below = to_dtype(ranks.detach(), dtype=int64)
    place = sorted_.ndim - 1
    found = take_along(sorted_, below, axis=place)
    if interpolation in ("linear", "midpoint"):
        above = take_along(sorted_, to_dtype(ranks.detach().ceil(), dtype=int64), axis=place)
        weight = (ranks * 0 + 0.5).detach() if interpolation == "midpoint" else ranks - below
        found = OPS["lerp_tensor"](found, above, weight)
    size = tuple(lanes.shape[:-1])
    if keepdim:
        size = (1,) * input.ndim if axis is None else kept_shape(input.shape, (axis,))
    if q.ndim:
        found, size = movedim(found, -1, 0), (q.shape[0], *size)
    return squeezed_to(found, size=size)


def _checked(q, input):
    """The parts of the way, as a tensor of the input's type."""
    number = isinstance(q, int | float)
    if number and not 0 <= q <= 1:
        raise fault(RuntimeError, f"quantile() q must be in the range [0, 1] but got {q:g}")
    if not number and not isinstance(q, Tensor):
        raise Unfit("q", "float", q)
    if not input.numel():
        raise fault(RuntimeError, "quantile() input tensor must be non-empty")
    if not number and q.ndim > 1:
        raise fault(RuntimeError, "quantile() q must be a scalar or 1D tensor")
    if input.dtype not in (float32, float64):
        raise fault(
            RuntimeError, "quantile() input tensor must be either float or double dtype", hint=".double() first"
        )
    if number:
        return tensor(float(q), dtype=input.dtype)
    if q.dtype is not input.dtype:
        raise fault(RuntimeError, "quantile() q tensor must be same dtype as the input tensor")
    return q


@function(example="quantile(tensor([1.0, 2.0, 6.0]), 0.5)", overloads=OVERLOADS)
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The numbers at q (one part of the way, or several) through the sorted ones along dim, or all."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@function(example="nanquantile(tensor([1.0, nan, 6.0]), 0.5)", overloads=OVERLOADS)
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """As `quantile`, of the numbers that are not nan."""
    return _quantile(input, q, dim, keepdim, interpolation, True)
