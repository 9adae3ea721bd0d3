"""Means over windows: average pooling, and the power means of lp_pool."""

from __future__ import annotations

from math import inf

from gradsh.backend.dtypes import float16, float32, float64, int64
from gradsh.engine.op import linear
from gradsh.fault import fault
from gradsh.ops.arithmetic import vanishing
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.options import whole
from gradsh.ops.pooling import flag, max_pool1d, max_pool2d, max_pool3d
from gradsh.ops.pooling_faults import (
    check_one,
    check_range,
    check_rank,
    check_settings,
    check_sizes,
    for_each,
    places_of,
    unsupported,
)
from gradsh.ops.registry import NAMESPACES, function, tensor_argument
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import squeezed_at, unsqueezed
from gradsh.ops.spatial import lengths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# geometry: (kernel, stride, padding, dilation, places), as gradsh.backend.pooling has it; divisor: what the sum of each
# window is divided by, or None for its length, with or without the padding.

TYPES = {2: (float64, float32, float16, int64), 3: (float64, float32, int64)}

UNEVEN = ((3, 2), (2, 1), (1, 0), (1, 1), (2, 3))
CASES: list[tuple[Any, Any, dict[str, Any]]] = [
    (reals(2, 5), reals(2, 2), {"geometry": ((2,), (2,), (0,), (1,), (2,)), "divisor": None, "include": True}),
    (reals(2, 1, 3, 4), reals(2, 1, 2, 3), {"geometry": UNEVEN, "divisor": None, "include": True}),
    (reals(2, 1, 3, 4), reals(2, 1, 2, 3), {"geometry": UNEVEN, "divisor": None, "include": False}),
    (reals(2, 1, 3, 4), reals(2, 1, 2, 3), {"geometry": UNEVEN, "divisor": 3, "include": True}),
]


def _divisors(xp, size, geometry, divisor, include):
    from gradsh.backend.pooling import window_lengths

    return window_lengths(size, geometry, include) if divisor is None else divisor


def _over(xp, x, divisors):
    """Sums over their divisors, in the type of the sums."""
    if x.dtype.kind == "f":
        return xp.divide(x, xp.asarray(divisors, x.dtype))
    return xp.trunc(xp.divide(x, divisors)).astype(x.dtype)


def in_singles(xp, compute, x, *rest):
    """A computation with halves in single precision."""
    return compute(x.astype(xp.float32), *rest).astype(xp.float16) if x.dtype.char == "e" else compute(x, *rest)


def _averaged(xp, x, *, geometry, divisor, include):
    """The sum of each window over its divisor."""
    from gradsh.backend.pooling import totals

    def compute(x):
        return _over(xp, totals(x, geometry), _divisors(xp, x.shape[-len(geometry[0]) :], geometry, divisor, include))

    return in_singles(xp, compute, x)


def _spread(xp, x, size, geometry, divisor, include):
    from gradsh.backend.pooling import totals_back

    def compute(x):
        return totals_back(_over(xp, x, _divisors(xp, size, geometry, divisor, include)), size, geometry)

    return in_singles(xp, compute, x)


@linear(
    x=lambda g, geometry, divisor, include: averaged(g, geometry=geometry, divisor=divisor, include=include),
    y=vanishing,
    sample=[Sample(out, whole, **settings) for whole, out, settings in CASES],
    at=(),
    batch="stacked",
)
def spread_average(xp, x, y, *, geometry, divisor, include):
    """The transpose of averaging: every number over its divisor, added in the shape of y to all of its window."""
    return _spread(xp, x, y.shape[y.ndim - len(geometry[0]) :], geometry, divisor, include)


def _op_of(name, grad_fn):
    return linear(
        x=lambda g, x, geometry, divisor, include: spread_average(
            g, x, geometry=geometry, divisor=divisor, include=include
        ),
        sample=[Sample(whole, **settings) for whole, _, settings in CASES],
        at=(),
        batch="stacked",
        name=name,
        grad_fn=grad_fn,
    )(_averaged)


averaged = _op_of("averaged", "SpreadAverageBackward0")
OVER = {dims: _op_of(f"avg_pool{dims}d", f"AvgPool{dims}DBackward0") for dims in (2, 3)}


def _pooled(input, kernel, stride, padding, ceil_mode, include, divisor, dims):
    name = f"avg_pool{dims}d"
    kernel = for_each(kernel, name, "kernel_size", dims)
    stride = for_each(stride or kernel, name, "stride", dims)
    padding = for_each(padding, name, "padding", dims)
    if divisor == 0:
        raise fault(RuntimeError, "divisor must be not zero")
    check_rank(input, dims, name)
    ones = (1,) * dims
    places = places_of(input.shape[input.ndim - dims :], kernel, stride, padding, ones, ceil_mode)
    check_settings(kernel, stride, ones)
    check_sizes(input, kernel, padding, places, name)
    if input.dtype not in TYPES[dims]:
        raise unsupported(input, name if dims == 2 else "avg_pool3d_out_frame")
    return OVER[dims](input, geometry=(kernel, stride, padding, ones, places), divisor=divisor, include=include)


def _stride(value, name):
    return () if value is None else lengths(value, name, "stride")


def _of_rank(dims):
    name = f"avg_pool{dims}d"

    def pool(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        input, kernel = operand(input), lengths(kernel_size, name, "kernel_size")
        stride, padding = _stride(stride, name), lengths(padding, name, "padding")
        ceil_mode, include = flag(ceil_mode, "ceil_mode"), flag(count_include_pad, "count_include_pad")
        divisor = divisor_override
        if divisor is not None:
            divisor = whole(divisor)
            if divisor is None or isinstance(divisor_override, bool):
                raise Unfit("divisor_override", "int", divisor_override)
        return _pooled(input, kernel, stride, padding, ceil_mode, include, divisor, dims)

    pool.__doc__ = "The mean of each window; with a divisor, its sum over that."
    size = ", ".join(["4"] * dims)
    return function(name, at=("F",), python=False, example=f"F.{name}(ones(1, 1, {size}), 2)")(pool)


avg_pool2d, avg_pool3d = _of_rank(2), _of_rank(3)


@function(at=("torch", "F"), python=False, example="avg_pool1d(tensor([[[1.0, 3.0, 5.0]]]), 2, 1)")
def avg_pool1d(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window of the last dimension."""
    name = "avg_pool1d"
    input, kernel = operand(input), lengths(kernel_size, name, "kernel_size")
    stride, padding = _stride(stride, name) or kernel, lengths(padding, name, "padding")
    ceil_mode, include = flag(ceil_mode, "ceil_mode"), flag(count_include_pad, "count_include_pad")
    check_range(input, name)
    for argument, value in (("kernel_size", kernel), ("stride", stride), ("padding", padding)):
        check_one(value, name, argument)
    kernel, stride, padding = (1, *kernel), (1, *stride), (0, *padding)
    out = _pooled(unsqueezed(input, dim=-2), kernel, stride, padding, ceil_mode, include, None, 2)
    return squeezed_at(out, dim=-2)


# ---- power means


def _power_mean(name, average, largest, dims):
    def pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        input = tensor_argument(input, name)
        if norm_type in (inf, -inf):
            sizes = input.abs() if norm_type > 0 else -input.abs()
            found = largest(sizes, kernel_size, stride, 0, 1, ceil_mode)
            return found if norm_type > 0 else -found
        found = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        count = kernel_size
        if dims > 1 and isinstance(kernel_size, list | tuple):
            count = 1
            for length in kernel_size:
                count *= length
        elif dims > 1:
            count = kernel_size**dims
        return (found.sign() * NAMESPACES["F"]["relu"](found.abs())).mul(count).pow(1.0 / norm_type)

    pool.__doc__ = "(sum of x^p)^(1/p) over each window."
    size = ", ".join(["4"] * dims)
    return function(name, at=("F",), example=f"F.{name}(ones(1, 1, {size}), 2.0, 2)")(pool)


lp_pool1d = _power_mean("lp_pool1d", avg_pool1d, max_pool1d, 1)
lp_pool2d = _power_mean("lp_pool2d", avg_pool2d, max_pool2d, 2)
lp_pool3d = _power_mean("lp_pool3d", avg_pool3d, max_pool3d, 3)
