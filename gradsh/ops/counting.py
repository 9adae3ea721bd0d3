"""Which numbers there are and how many of each: unique, bincount, histc; and where numbers fall among sorted ones."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, INTEGER, boolean, float64, int32, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.create import tensor
from gradsh.engine.op import constant, general
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.dimensions import axis_of
from gradsh.ops.examples import refused
from gradsh.ops.registry import function
from gradsh.ops.structure import to_dtype

# ---- the different ones


def _underivable(name):
    def rule(g):
        raise fault(NotImplementedError, f"the derivative for '{name}' is not implemented.")

    return rule


UNIQUE = {"outputs": ("output", "inverse_indices", "counts"), "differentiable": (True, False, False), "at": ()}


def _different(xp, x, axis, in_runs):
    """(different numbers or slices, place of each in them, how many of each), by value or run by run."""
    flat = xp.asarray(x).reshape(-1) if axis is None else xp.moveaxis(xp.asarray(x), axis, 0)
    rows = flat.reshape(len(flat), flat.size // max(len(flat), 1))
    order = xp.arange(len(rows)) if in_runs else xp.lexsort(rows.T[::-1]) if rows.shape[1] else xp.arange(len(rows))
    ranked = rows[order]
    begins = xp.ones(len(rows), bool)
    begins[1:] = xp.logical_or.reduce(xp.not_equal(ranked[1:], ranked[:-1]), 1)
    starts = xp.flatnonzero(begins)
    counts = xp.diff(xp.append(starts, len(rows)))
    inverse = xp.empty(len(rows), xp.int64)
    inverse[order] = xp.cumsum(begins) - 1
    found = flat[order[starts]]
    if axis is None:
        return found, inverse.reshape(xp.shape(x)), counts
    return xp.moveaxis(found, 0, axis), inverse, counts


def _unique_op(name, grad_fn, torch_name, in_runs=False):
    def different(xp, x, *, axis):
        """The different numbers, or slices along an axis, with the place of each in them and how many of each."""
        return _different(xp, x, axis, in_runs)

    rule = refused(torch_name)
    return general(x=_underivable(torch_name), name=name, grad_fn=grad_fn, batch=rule, **UNIQUE)(different)


unique_numbers = _unique_op("unique", "Unique2Backward0", "_unique2")
unique_slices = _unique_op("unique_dim", "UniqueDimBackward0", "unique_dim")
unique_runs = _unique_op("unique_consecutive", "UniqueConsecutiveBackward0", "unique_consecutive", in_runs=True)


def _asked(found, return_inverse, return_counts):
    wanted = [found[0]] + [found[1]] * bool(return_inverse) + [found[2]] * bool(return_counts)
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


@function(python=True, example="unique(tensor([3.0, 1.0, 3.0]))")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different numbers in ascending order, or slices along dim; with their places and counts if asked."""
    input = operand(input)
    axis = None if dim is None else axis_of(dim, input.ndim)
    op = unique_numbers if axis is None else unique_slices
    return _asked(op(input, axis=axis), return_inverse, return_counts)


@function(python=True, example="unique_consecutive(tensor([1.0, 1.0, 3.0, 1.0]))")
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The numbers, or slices along dim, without those equal to the one before; with places and counts if asked."""
    input = operand(input)
    axis = None if dim is None else axis_of(dim, input.ndim)
    return _asked(unique_runs(input, axis=axis), return_inverse, return_counts)


# ---- counts


@constant(at=())
def counted(xp, x, weights=None, *, length):
    """How often each of 0, 1, 2, … occurs, or the sum of the weights where it does."""
    found = xp.bincount(x, weights, length)
    return found if weights is None or weights.dtype.char != "f" else found.astype(xp.float32)


@function(example="bincount(tensor([0, 1, 1, 3]))")
def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, 2, … occurs in a vector of integers, or the sum of its weights."""
    input = operand(input)
    if input.dtype.category != INTEGER:
        kind = TYPE_NAMES[input.dtype.name]
        raise fault(NotImplementedError, f"\"bincount_cpu\" not implemented for '{kind}'", hint=".long() first")
    if minlength < 0:
        raise fault(RuntimeError, "minlength should be >= 0")
    if input.ndim != 1 or bool((input < 0).any()):
        raise fault(RuntimeError, "bincount only supports 1-d non-negative integral inputs.")
    if weights is not None:
        weights = operand(weights, "weights")
        if weights.shape != input.shape:
            raise fault(RuntimeError, "weights should be 1-d and have the same length as input")
        if weights.dtype.name != "float32":
            weights = to_dtype(weights, dtype=float64)
    return counted(to_dtype(input, dtype=int64), weights, length=minlength)


@constant(at=(), name="histc")
def histogram_of(xp, x, *, bins, low, high):
    """How many numbers fall in each of `bins` equal parts of [low, high]; others are left out."""
    x = xp.asarray(x).reshape(-1)
    inside = x[(x >= low) & (x <= high)]
    places = ((inside - low) / (high - low) * bins).astype(xp.int64)
    return xp.bincount(xp.minimum(places, bins - 1), minlength=bins).astype(x.dtype)


@function(example="histc(tensor([1.0, 2.0, 2.5]), bins=3)")
def histc(input, bins=100, min=0, max=0):
    """Histogram of the numbers between min and max, or between the extremes if these are equal."""
    input = operand(input)
    if input.dtype.category != FLOATING:
        raise fault(NotImplementedError, f"\"histogram_cpu\" not implemented for '{TYPE_NAMES[input.dtype.name]}'")
    if bins <= 0:
        raise fault(RuntimeError, f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and input.numel():
        low, high = input.detach().min().item(), input.detach().max().item()
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise fault(RuntimeError, f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise fault(RuntimeError, "torch.histc: max must be larger than min")
    if low == high:
        low, high = low - 1, high + 1
    return histogram_of(input, bins=bins, low=low, high=high)


# ---- places among sorted numbers


@constant(at=())
def places_among(xp, boundaries, values, order=None, *, right, code):
    """Where values would go among sorted boundaries, lane by lane of the last dimension; nan after everything."""
    boundaries, values = xp.asarray(boundaries), xp.asarray(values)
    if order is not None:
        boundaries = xp.take_along_axis(boundaries, xp.asarray(order), -1)
    if boundaries.ndim == 1:
        return _halved(xp, boundaries, values, right).astype(code)
    found = xp.empty(values.shape, code)
    for lane in xp.ndindex(*values.shape[:-1]):
        found[lane] = _halved(xp, boundaries[lane], values[lane], right)
    return found


def _halved(xp, boundaries, values, right):
    """Where values would go among boundaries; if these are in no order, where halving leads (`Bucketization.cpp`)."""
    if not (boundaries[1:] < boundaries[:-1]).any():
        return xp.searchsorted(boundaries, values, "right" if right else "left")
    start, end = xp.zeros(values.shape, int), xp.full(values.shape, boundaries.size)
    while (start < end).any():
        middle = (start + end) // 2
        at = boundaries[xp.minimum(middle, boundaries.size - 1)]
        after = (start < end) & ~(at > values if right else at >= values)
        end = xp.where((start < end) & ~after, middle, end)
        start = xp.where(after, middle + 1, start)
    return start


def _number_or_tensor(value, name):
    """The values to look for; a number becomes one in the boundaries' terms."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tensor(value, dtype=float64 if isinstance(value, float) else None)
    if not isinstance(value, Tensor):
        raise Unfit(name, "Tensor", value)
    return value


SEARCH = (
    "(Tensor sorted_sequence, Tensor input, *, bool out_int32 = False, bool right = False, str side = None, "
    "Tensor sorter = None, Tensor out = None)",
    "(Tensor sorted_sequence, Number self, *, bool out_int32 = False, bool right = False, str side = None, "
    "Tensor sorter = None, Tensor out = None)",
)


@function(at=("torch",), example="searchsorted(tensor([1.0, 3.0, 5.0]), tensor([2.0, 3.0]))", overloads=SEARCH)
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Places where the numbers of input would go in a sorted sequence; before equal ones, or after with right=True."""
    name = "torch.searchsorted()"
    boundaries = operand(sorted_sequence, "sorted_sequence")
    input = _number_or_tensor(input, "input")
    if side not in (None, "left", "right"):
        raise fault(RuntimeError, f"{name}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise fault(
            RuntimeError, f"{name}: side and right can't be set to opposites, got side of left while right was True"
        )
    if not boundaries.ndim and input.ndim:
        raise fault(RuntimeError, f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    if boundaries.ndim != 1 and not input.ndim:
        raise fault(
            RuntimeError,
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
            f"tensor dim({boundaries.ndim}) and input value's dim(0) numel(1)",
        )
    if boundaries.ndim != 1 and boundaries.shape[:-1] != input.shape[:-1]:
        raise fault(
            RuntimeError,
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
            f"input value tensor must match, but we got boundaries tensor {list(boundaries.shape)} and input value "
            f"tensor {list(input.shape)}",
        )
    if sorter is not None:
        if sorter.shape != boundaries.shape:
            sizes = f"boundary tensor {list(boundaries.shape)}and got sorter tensor {list(sorter.shape)}"
            raise fault(RuntimeError, f"{name}: boundary and sorter must have the same size, but got {sizes}")
        if sorter.dtype is not int64:
            got = TYPE_NAMES[sorter.dtype.name]
            raise fault(RuntimeError, f"{name}: sorter must be a tensor of long dtype but got dtype {got}")
        places = numbers_of(sorter)
        if places.size and not (places.min() >= 0 and places.max() < boundaries.shape[-1]):
            raise fault(RuntimeError, f"{name}: sorter index out of range")
    if boundaries.dtype is boolean and input.dtype is boolean:
        raise fault(NotImplementedError, "\"searchsorted_out_cpu\" not implemented for 'Bool'")
    return places_among(
        boundaries, input, sorter, right=right or side == "right", code=(int32 if out_int32 else int64).code
    )


BUCKETS = (
    "(Tensor input, Tensor boundaries, *, bool out_int32 = False, bool right = False, Tensor out = None)",
    "(Number self, Tensor boundaries, *, bool out_int32 = False, bool right = False)",
)


@function(at=("torch",), example="bucketize(tensor([2.0, 3.0]), tensor([1.0, 3.0, 5.0]))", overloads=BUCKETS)
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """Which of the buckets between sorted boundaries each number falls in."""
    boundaries = operand(boundaries, "boundaries")
    if boundaries.ndim != 1:
        raise fault(RuntimeError, f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    input = _number_or_tensor(input, "input")
    return places_among(boundaries, input, right=bool(right), code=(int32 if out_int32 else int64).code)


@function(
    at=("torch",),
    example="isin(tensor([1, 2, 3]), tensor([2, 3]))",
    overloads=(
        "(Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = False, Tensor out = None)",
        "(Number element, Tensor test_elements, *, bool assume_unique = False, bool invert = False, Tensor out = None)",
        "(Tensor elements, Number test_element, *, bool assume_unique = False, bool invert = False, Tensor out = None)",
    ),
)
def isin(elements=None, test_elements=None, *, element=None, test_element=None, assume_unique=False, invert=False):
    """Whether each element is among some others."""
    one = elements if element is None else element
    others = test_elements if test_element is None else test_element
    one, others = _number_or_tensor(one, "elements"), _number_or_tensor(others, "test_elements")
    found = (one.detach().unsqueeze(-1) == others.detach().reshape(-1)).any(-1)
    found = ~found if invert else found
    return found
