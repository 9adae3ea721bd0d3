"""Numbers in order along a dimension: sort and its kin, the k largest, the k-th smallest, the median, the mode."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops import selection
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.dimensions import axis_of
from gradsh.ops.examples import over_flat
from gradsh.ops.extrema import check_not_empty, parted, share_of_all
from gradsh.ops.picking import put_along
from gradsh.ops.reduction import unreduced
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, distinct
from gradsh.ops.structure import expand_to

LONGEST = 100_000  # of lanes whose equal numbers are followed through C++'s algorithms


def ordered_places(xp, x, descending=False):
    """The stable order of the numbers along the last axis; nan counts as the largest."""
    if not descending:
        return xp.argsort(x, -1, kind="stable")
    return x.shape[-1] - 1 - xp.argsort(x[..., ::-1], -1, kind="stable")[..., ::-1]


def _lanes(xp, x, axis):
    """The numbers as lanes of the last of two axes, and how to bring results for the lanes back."""
    x = xp.asarray(x)
    if not x.ndim:
        return x.reshape(1, 1), lambda found, keepdim=True: found.reshape(())
    if x.ndim == 1 and x.size:
        return x[None], lambda found, keepdim=True: found[0] if keepdim or found.shape[1] != 1 else found[0, 0]
    moved = xp.moveaxis(x, axis, -1)

    def back(found, keepdim=True):
        if not keepdim and found.shape[-1] == 1:
            return found.reshape(moved.shape[:-1])
        return xp.moveaxis(found.reshape(*moved.shape[:-1], found.shape[-1]), -1, axis)

    return moved.reshape(-1, moved.shape[-1]) if x.size else moved.reshape(0, moved.shape[-1]), back


def picked(xp, lanes, places):
    """The numbers at places of each lane."""
    return lanes[xp.arange(len(lanes))[:, None], places]


def _along_rule(g, x_shape, indices, axis):
    return put_along(g, indices, size=x_shape, axis=axis) if x_shape else g


def _reduced_rule(g, x_shape, indices, axis, keepdim):
    if not x_shape:
        return g
    axes = (axis,)
    return put_along(
        unreduced(g, x_shape, axes, keepdim), unreduced(indices, x_shape, axes, keepdim), size=x_shape, axis=axis
    )


def _picked(xp, x, axis, keepdim, choose):
    """(values, places) of one number of each lane; `choose` gives the places."""
    lanes, back = _lanes(xp, x, axis)
    places = xp.asarray(choose(lanes), xp.int64).reshape(-1, 1)
    return back(picked(xp, lanes, places), keepdim), back(places, keepdim)


def _before(numbers, largest=False):
    """Whether the number at one place comes before that at another; nan is the largest (or, for None, beside all)."""
    if largest is None:
        return lambda i, j: numbers[i] < numbers[j]
    if largest:
        return lambda i, j: numbers[i] > numbers[j] or (numbers[i] != numbers[i] and numbers[j] == numbers[j])
    return lambda i, j: numbers[i] < numbers[j] or (numbers[j] != numbers[j] and numbers[i] == numbers[i])


PAIR = {"outputs": ("values", "indices"), "differentiable": (True, False), "at": ()}


# ---- sort


def _sort_op(name, grad_fn):
    """The same op under the two names that PyTorch has for its nodes."""

    def sorted_along(xp, x, *, axis, descending):
        """The numbers in order along a dimension, and their places."""
        lanes, back = _lanes(xp, x, axis)
        places = ordered_places(xp, lanes, descending)
        return xp.asarray(back(picked(xp, lanes, places)), order="C"), xp.asarray(back(places), order="C")

    return general(
        x=_along_rule,
        sample=[Sample(distinct(2, 4), axis=1, descending=True), Sample(distinct(4, 2), axis=0, descending=False)],
        name=name,
        grad_fn=grad_fn,
        returns="sort",
        **PAIR,
    )(sorted_along)


sorted_along = _sort_op("sort", "SortBackward0")
sorted_stably = _sort_op("stable_sort", "SortBackward1")

SORT = (
    "(Tensor input, *, bool stable, int dim = -1, bool descending = False, tuple of Tensors out = None)",
    "(Tensor input, int dim = -1, bool descending = False, *, tuple of Tensors out = None)",
)


@function(example="sort(tensor([3.0, 1.0, 2.0]), descending=True)", overloads=SORT)
def sort(input, dim=-1, descending=False, *, stable=None):
    """The numbers in order along dim, and the places they had; equal numbers keep their order."""
    input = operand(input)
    op = sorted_along if stable is None else sorted_stably
    return op(input, axis=axis_of(dim, input.ndim), descending=bool(descending))


@function(
    example="argsort(tensor([3.0, 1.0, 2.0]))",
    overloads=(
        "(Tensor input, *, bool stable, int dim = -1, bool descending = False, Tensor out = None)",
        "(Tensor input, int dim = -1, bool descending = False)",
    ),
)
def argsort(input, dim=-1, descending=False, *, stable=False):
    """The places of the numbers in order along dim."""
    return sort(input, dim, descending, stable=stable).indices


@function(example="msort(tensor([[3.0, 1.0], [2.0, 5.0]]))")
def msort(input):
    """The numbers in ascending order along the first dimension."""
    return sort(input, 0).values


# ---- the k largest


def _ranked(xp, lanes, k, largest, in_order):
    """The places of the k largest (or smallest) numbers of each lane, equal ones as PyTorch's algorithm leaves them."""
    order = ordered_places(xp, lanes, largest)
    count = lanes.shape[1]
    places = order[:, :k].copy()
    ahead = picked(xp, lanes, order[:, : k + 1])
    tied = (
        xp.logical_or.reduce(xp.equal(ahead[:, 1:], ahead[:, :-1]), 1)
        if k and count > 1
        else xp.zeros(len(lanes), bool)
    )
    if not in_order and 64 * k > count:
        tied[:] = True
    if k and count <= LONGEST:
        for lane in xp.flatnonzero(tied):
            rest, before = list(range(count)), _before(lanes[lane].tolist(), largest)
            if 64 * k <= count:
                selection.partial_sort(rest, 0, k, count, before)
            else:
                selection.nth_element(rest, 0, k - 1, count, before)
                if in_order:
                    selection.sort(rest, 0, k - 1, before)
            places[lane] = rest[:k]
    return places


@general(
    x=_along_rule,
    sample=[
        Sample(distinct(2, 4), axis=1, k=2, largest=True, in_order=True),
        Sample(distinct(4, 2), axis=0, k=3, largest=False, in_order=False),
    ],
    name="topk",
    **PAIR,
)
def ranked_along(xp, x, *, axis, k, largest, in_order):
    """The k largest or smallest numbers along a dimension and their places."""
    lanes, back = _lanes(xp, x, axis)
    places = _ranked(xp, lanes, k, largest, in_order)
    return back(picked(xp, lanes, places)), back(places)


@function(example="topk(tensor([3.0, 1.0, 2.0]), k=2)")
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) numbers along dim, and their places."""
    input = operand(input)
    axis = axis_of(dim, input.ndim)
    if not isinstance(k, int):
        raise Unfit("k", "int", k)
    if not 0 <= k <= (input.shape[axis] if input.ndim else 1):
        raise fault(
            RuntimeError,
            "selected index k out of range",
            notes=(f"there are {input.shape[axis] if input.ndim else 1} numbers along dim {dim}",),
        )
    if input.dtype is boolean:
        raise fault(RuntimeError, "topk does not support bool dtypes on CPU", hint=".byte()")
    return ranked_along(input, axis=axis, k=k, largest=bool(largest), in_order=bool(sorted))


def _check_kernel(input, kernel):
    """What PyTorch's kernel of this name is made for: anything but truth values."""
    if not input.dtype.category:
        raise fault(
            NotImplementedError, f"\"{kernel}\" not implemented for 'Bool'", hint=".long() makes integers of truths"
        )


# ---- the k-th smallest


def _kth(xp, lanes, k):
    """The place of the k-th smallest number of each lane, counted from 0."""
    order = ordered_places(xp, lanes)
    places = order[:, k].copy()
    numbers = picked(xp, lanes, order[:, max(k - 1, 0) : k + 2])
    tied = xp.logical_or.reduce(xp.equal(numbers[:, 1:], numbers[:, :-1]), 1)
    if lanes.shape[1] <= LONGEST:
        for lane in xp.flatnonzero(tied):
            rest = list(range(lanes.shape[1]))
            selection.quick_select(rest, k, _before(lanes[lane].tolist()))
            places[lane] = rest[k]
    return places


@general(
    x=_reduced_rule,
    sample=[Sample(distinct(2, 4), axis=1, k=2, keepdim=False), Sample(distinct(4, 2), axis=0, k=1, keepdim=True)],
    name="kthvalue",
    **PAIR,
)
def kth_along(xp, x, *, axis, k, keepdim):
    """The k-th smallest number along a dimension and its place."""
    return _picked(xp, x, axis, keepdim, lambda lanes: _kth(xp, lanes, k - 1))


@function(example="kthvalue(tensor([3.0, 1.0, 2.0]), k=2)")
def kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest number along dim, and its place."""
    input = operand(input)
    axis = axis_of(dim, input.ndim)
    check_not_empty(input, "kthvalue", axis)
    if not 1 <= k <= (input.shape[axis] if input.ndim else 1):
        raise fault(RuntimeError, f"kthvalue(): selected number k out of range for dimension {axis}")
    if input.ndim:
        _check_kernel(input, "kthvalue_cpu")
    return kth_along(input, axis=axis, k=k, keepdim=keepdim)


# ---- the median


def _middle(xp, lanes, skip_nan):
    """The place of the lower median of each lane, or of a nan that is not passed over; equal numbers in their order."""
    order = ordered_places(xp, lanes)
    nans = xp.add.reduce(xp.isnan(lanes), 1)
    count = lanes.shape[1]
    first_nan = count - nans
    middle = xp.maximum(first_nan - 1, 0) // 2 if skip_nan else xp.where(nans > 0, first_nan, (count - 1) // 2)
    return picked(xp, order, middle[:, None])


def _median_ops(name, skip_nan):
    """The op over everything, whose equal numbers share the gradient, and the one along a dimension."""

    def median_of_all(xp, x):
        """The lower median of all numbers; nan of none."""
        lanes = xp.asarray(x).reshape(1, -1)
        if not lanes.size:
            return lanes.dtype.type(xp.nan if lanes.dtype.kind == "f" else xp.iinfo(lanes.dtype).min)
        return lanes[0, _middle(xp, lanes, skip_nan)[0, 0]]

    def median_along(xp, x, *, axis, keepdim):
        """The lower median along a dimension and its place."""
        return _picked(xp, x, axis, keepdim, lambda lanes: _middle(xp, lanes, skip_nan))

    whole = general(
        x=lambda g, x, x_shape, out: parted(expand_to(g, size=x_shape), share_of_all(x, out)),
        sample=[Sample(distinct(5)), Sample(distinct(2, 2))],
        at=(),
        batch=over_flat(f"{name}_along"),
        name=name,
        grad_fn=f"{name.capitalize()}Backward0",
    )(median_of_all)
    along = general(
        x=_reduced_rule,
        sample=[Sample(distinct(2, 4), axis=1, keepdim=False), Sample(distinct(5, 2), axis=0, keepdim=True)],
        name=f"{name}_along",
        returns=name,
        grad_fn=f"{name.capitalize()}Backward1",
        **PAIR,
    )(median_along)
    return whole, along


median_ops = _median_ops("median", skip_nan=False)
nanmedian_ops = _median_ops("nanmedian", skip_nan=True)


def _median(name, ops, input, dim, keepdim):
    input = operand(input)
    if dim is ...:
        if keepdim:
            raise fault(TypeError, f'{name}() missing 1 required positional arguments: "dim"', hint="dim=0")
        _check_kernel(input, "median_cpu")
        return ops[0](input)
    axis = axis_of(dim, input.ndim)
    check_not_empty(input, "median", axis)
    _check_kernel(input, "median_out")
    return ops[1](input, axis=axis, keepdim=keepdim)


@function(example="median(tensor([3.0, 1.0, 2.0]))")
def median(input, dim=..., keepdim=False):
    """The lower median of all numbers, or along dim with its place."""
    return _median("median", median_ops, input, dim, keepdim)


@function(example="nanmedian(tensor([3.0, nan, 2.0]))")
def nanmedian(input, dim=..., keepdim=False):
    """The lower median of the numbers that are not nan, or along dim with its place."""
    return _median("nanmedian", nanmedian_ops, input, dim, keepdim)


# ---- the mode


def _commonest(xp, lanes):
    """The place of the commonest number of each lane, the smallest of several: where PyTorch's sort leaves its last."""
    found = []
    for numbers in lanes.tolist():
        places = list(range(len(numbers)))
        if len(numbers) <= 16:  # an insertion sort, which nan cannot lead astray
            selection.sort(places, 0, len(numbers), _before(numbers, None))
        elif len(numbers) <= LONGEST:
            selection.sort(places, 0, len(numbers), _before(numbers))
        else:
            places.sort(key=numbers.__getitem__)
        most = run = best = 0
        for k, place in enumerate(places):
            run += 1
            if k + 1 == len(places) or numbers[places[k + 1]] != numbers[place]:
                if run > most:
                    most, best = run, place
                run = 0
        found.append(best)
    return found


@general(
    x=_reduced_rule,
    sample=[Sample(distinct(2, 4), axis=1, keepdim=False), Sample(distinct(4, 2), axis=0, keepdim=True)],
    name="mode",
    **PAIR,
)
def mode_along(xp, x, *, axis, keepdim):
    """The commonest number along a dimension and a place of it."""
    return _picked(xp, x, axis, keepdim, lambda lanes: _commonest(xp, lanes))


@function(example="mode(tensor([3.0, 1.0, 3.0]))")
def mode(input, dim=-1, keepdim=False):
    """The commonest number along dim, the smallest of several, and a place of it."""
    input = operand(input)
    axis = axis_of(dim, input.ndim)
    check_not_empty(input, "mode", axis)
    return mode_along(input, axis=axis, keepdim=keepdim)
