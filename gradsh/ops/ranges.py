"""Evenly spaced numbers: arange, range, linspace, logspace; and the indices of triangles.

The last bits of floats are PyTorch's: its kernels step from the start in one rounding (a fused multiply-add), arange in
groups of the vector unit's width, linspace from both ends (aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp).
"""

from __future__ import annotations

import math

from gradsh.backend.dtypes import FLOATING, boolean, float64 as double, int64
from gradsh.backend.memory import check_room
from gradsh.engine.create import C_NAMES, NUMBERS, held, leaf
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.options import TAIL, fits_none, integer, number, options, whole
from gradsh.ops.out import deliver, taken
from gradsh.ops.registry import function

KINDS = (("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"), ("Number", "Number"))


@function(
    at=("torch",),
    example="arange(0, 1, 0.25)",
    overloads=(
        f"(Number end, *, Tensor out = None, {TAIL}",
        f"(Number start, Number end, *, {TAIL}",
        f"(Number start, Number end, Number step = 1, *, Tensor out = None, {TAIL}",
    ),
)
def arange(
    start=None,
    end=None,
    step=1,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Numbers from start (0 if only one number is given) up to, not including, end."""
    if end is None:
        if start is None:
            raise fits_none()
        if not _is_number(start):
            raise fault(TypeError, f"arange(): argument 'end' (position 1) must be Number, not {type(start).__name__}")
        start, end = 0, start
    bounds = (0 if start is None else start, end, step)
    floats = any(
        isinstance(bound, float) or (isinstance(bound, Tensor) and bound.dtype.category == FLOATING) for bound in bounds
    )
    default = taken(out) or (state.default if floats else int64)
    start, end, step = (number(bound, "end") for bound in bounds)
    made = leaf(_stepped(start, end, step, options("arange", dtype, layout, device, default), "arange"), requires_grad)
    return made if out is None else deliver(out, made, "arange")


def _is_number(value):
    return isinstance(value, NUMBERS) or getattr(value, "ndim", None) == 0


def _count(start, end, step, name, extra=0):
    """How many numbers there are from start to end, or PyTorch's error."""
    if step == 0:
        raise fault(RuntimeError, "step must be nonzero")
    for value in (start, end):
        if not math.isfinite(value):
            raise fault(RuntimeError, f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise fault(
            RuntimeError,
            "upper bound and lower bound inconsistent with step sign",
            hint=f"{name}({start}, {end}, {-step})",
        )
    if extra:
        return math.floor((end - start) / step + 1)
    return math.ceil((end - start) / step)


def _stepped(start, end, step, dtype, name, extra=0):
    """start, start + step, …: the numbers of arange (or of range, where extra is 1) as an array."""
    from gradsh.backend import arrays

    if dtype is boolean:
        raise fault(NotImplementedError, f"\"{name}_cpu\" not implemented for 'Bool'")
    if dtype.category == FLOATING:
        count = _count(start, end, step, name, extra)
        check_room((count,), dtype.itemsize)
        lanes = 4 if dtype is double else 8
        return _by_lanes(float(start), float(step), count, lanes, dtype).astype(dtype.code)
    count = _count(start, end, step, name, extra)
    whole = [held(value, int64, names=C_NAMES) for value in (start, end, step)]
    if not whole[2]:
        raise fault(ValueError, "step must be nonzero", notes=(f"{step} as an integer is 0",))
    if dtype is int64:
        count = _count(whole[0], whole[1], whole[2], name, extra)
    start, _, step = whole
    check_room((count,), dtype.itemsize)
    return (start + step * arrays.arange(count)).astype(dtype.code)


def _is_exact(start, step, count, digits):
    """Whether start + step * i is a number of so many binary digits for every i below a count: nothing is rounded."""
    if not math.isfinite(start) or not math.isfinite(step):
        return False
    unit = max(start.as_integer_ratio()[1], step.as_integer_ratio()[1])
    return unit < 1 << digits and (abs(start) + abs(step) * count) * unit < 1 << digits


def _by_lanes(start, step, count, lanes, dtype):
    """start + step * i, where only the first of each group of lanes is computed from the start."""
    from gradsh.backend import arrays
    from gradsh.backend.fused import add_product, fused_multiply_add

    if _is_exact(start, step, count, 53 if dtype is double else 24 if dtype.itemsize == 4 else 11):
        return start + step * arrays.arange(float(count))
    whole = count // (2 * lanes) * (2 * lanes)
    out = arrays.empty(count)
    firsts = fused_multiply_add(arrays.arange(0.0, whole, lanes), step, start).astype(dtype.code).astype("f8")
    for lane in range(lanes):
        out[lane:whole:lanes] = add_product(firsts, float(lane), step) if lane else firsts
    out[whole:] = fused_multiply_add(arrays.arange(float(whole), count), step, start)
    return out


@function("range", at=("torch",))
def range_of(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Numbers from start up to and including end; `arange` is what PyTorch advises."""
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (number(value, "end") for value in (start, end, step))
    made = leaf(_stepped(start, end, step, options("range", dtype, layout, device), "range", extra=1), requires_grad)
    return made if out is None else deliver(out, made, "range")


# ---- a given number of steps


def _ends(name, start, end, steps):
    """The checked ends and number of steps of linspace or logspace."""
    for which, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.ndim:
            raise fault(
                RuntimeError,
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with {value.ndim} "
                "dimension(s).",
            )
    if not (_is_number(start) and _is_number(end)) or whole(steps) is None:
        raise fits_none()
    steps = integer(steps, "steps")
    if steps < 0:
        raise fault(RuntimeError, "number of steps must be non-negative")
    return number(start, "start"), number(end, "end"), steps


def _between(start, end, steps, dtype):
    """Numbers from start to end, stepped from both ends to the middle, as doubles."""
    from gradsh.backend import arrays
    from gradsh.backend.fused import fused_multiply_add, fused_multiply_add_single

    if steps < 2:
        return arrays.full(steps, float(start))
    half = steps // 2
    first, last = arrays.arange(0.0, half), arrays.arange(float(steps - half - 1), -1.0, -1.0)
    if dtype.category != FLOATING:
        start, end = int(start), int(end)
        step = (end - start) / (steps - 1)
        return arrays.concatenate([start + step * first, end - step * last])
    if dtype is double:
        step = (end - start) / (steps - 1)
        if _is_exact(float(start), step, steps, 53):
            return start + step * arrays.arange(float(steps))
        return arrays.concatenate(
            [fused_multiply_add(first, step, float(start)), fused_multiply_add(last, -step, float(end))]
        )
    single = arrays.float32
    start, end = single(start), single(end)
    step = float((end - start) / single(steps - 1))
    return arrays.concatenate(
        [fused_multiply_add_single(first, step, float(start)), fused_multiply_add_single(last, -step, float(end))]
    )


@function(
    at=("torch",),
    example="linspace(0, 1, 5)",
    overloads=tuple(f"({a} start, {b} end, int steps, *, Tensor out = None, {TAIL}" for a, b in KINDS),
)
def linspace(
    start, end, steps, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    """Evenly spaced numbers from start to end, both included."""
    start, end, steps = _ends("linspace", start, end, steps)
    dtype = options("linspace", dtype, layout, device)
    check_room((steps,), dtype.itemsize)
    made = leaf(_between(start, end, steps, dtype).astype(dtype.code), requires_grad)
    return made if out is None else deliver(out, made, "linspace")


@function(
    at=("torch",),
    example="logspace(0, 2, 3)",
    overloads=tuple(
        f"({a} start, {b} end, int steps, float base = 10.0, *, Tensor out = None, {TAIL}" for a, b in KINDS
    ),
)
def logspace(
    start,
    end,
    steps,
    base=10.0,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Powers of base whose exponents are evenly spaced from start to end."""
    start, end, steps = _ends("logspace", start, end, steps)
    dtype = options("logspace", dtype, layout, device)
    check_room((steps,), dtype.itemsize)
    from gradsh.backend import arrays

    if steps < 2:
        exponents = arrays.full(steps, float(start))
    else:
        half, step = steps // 2, (end - start) / (steps - 1)
        places = arrays.arange(0.0, steps)
        exponents = arrays.where(places < half, start + step * places, end - step * (steps - 1 - places))
    made = leaf(
        arrays.array([base**exponent for exponent in exponents.tolist()], "f8").astype(dtype.code), requires_grad
    )
    return made if out is None else deliver(out, made, "logspace")


# ---- triangles


@function(at=("torch",), example="tril_indices(3, 3)")
def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column of every element on and below a diagonal of a row by col matrix, as two rows."""
    return _triangle("tril_indices", row, col, offset, dtype, layout, device)


@function(at=("torch",), example="triu_indices(3, 3)")
def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column of every element on and above a diagonal of a row by col matrix, as two rows."""
    return _triangle("triu_indices", row, col, offset, dtype, layout, device)


def _triangle(name, row, col, offset, dtype, layout, device):
    from gradsh.backend import arrays

    row, col = integer(row, "row"), integer(col, "col")
    for what, length in (("row", row), ("col", col)):
        if length < 0:
            raise fault(RuntimeError, f"{what} must be non-negative, got{length}")
    dtype = options(name, dtype, layout, device, int64)
    check_room((2, row, col), dtype.itemsize)
    difference = arrays.arange(col) - arrays.arange(row)[:, None]
    inside = difference <= offset if name == "tril_indices" else difference >= offset
    return leaf(arrays.stack(arrays.nonzero(inside)).astype(dtype.code))
