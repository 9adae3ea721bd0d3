"""Copies, other handles on the same memory, and writing one tensor over another."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import Alias
from gradsh.engine.batched import Batched
from gradsh.engine.create import NUMBERS
from gradsh.engine.inplace import check_overlap, inplace, is_array, is_view, not_broadcast, overwrite, special, writable
from gradsh.engine.op import general, linear
from gradsh.engine.promote import common_shape
from gradsh.engine.runtime import shared
from gradsh.engine.state import state, stop_following
from gradsh.engine.tensor import Tensor, number_raw, wrap
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.examples import aligned
from gradsh.ops.registry import attribute, function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import sum_to_size, summed, to_dtype, zeros


@linear(x=lambda g: g, sample=Sample(reals(2, 3)), at=(), name="clone", batch="elementwise")
def copied(xp, x):
    """A copy, its memory in the same order."""
    return xp.duplicate(x)


@linear(x=lambda g: g, sample=Sample(reals(2, 3)), at=(), grad_fn="CloneBackward0", batch="elementwise")
def copied_in_rows(xp, x):
    """A copy that lies in memory row by row."""
    return xp.array(x, order="C")


@linear(x=lambda g: aliased(g), sample=Sample(reals(2, 3)), at=(), view=True, name="alias", batch="elementwise")
def aliased(xp, x):
    """Another view of the whole."""
    return xp.asarray(x)[...]


@function(example="clone(ones(3))")
def clone(input, *, memory_format=None):
    """A copy; gradients pass through it."""
    rows = getattr(memory_format, "name", None) == "contiguous_format"
    return (copied_in_rows if rows else copied)(operand(input))


def handle(tensor, alias):
    """Another tensor on the same memory, without a history."""
    if isinstance(tensor, Wrapped):
        return tensor.detached(lambda inner: handle(inner, alias))
    if tensor.raw.__class__ is float or not tensor.raw.ndim:
        tensor.raw = shared(tensor.raw)
    found = wrap(tensor.raw)
    found.extra = alias(tensor)
    return found


@function(example="ones(3).detach()")
def detach(input):
    """The same memory as a tensor of its own, through which no gradient passes."""
    return handle(operand(input), Alias.detached)


@function(at=("Tensor",), example="ones(3).detach_()")
def detach_(self):
    """Cut this tensor off from what it was computed from."""
    if self.extra is not None and self.extra.base is not None:
        raise fault(
            RuntimeError,
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, "
            "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
            "cannot be "
            "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution.",
        )
    self.node = None
    return self


def _set_data(self, value):
    if not isinstance(value, Tensor):
        raise fault(TypeError, f"Variable data has to be a tensor, but got {type(value).__name__}")
    if self.requires_grad and value.dtype.category != FLOATING:
        raise fault(
            RuntimeError, "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    stop_following()
    value.raw = shared(value.raw)
    self.raw = value.raw


def data(self):
    """The same memory without a history; what is changed through it is not noticed by the backward pass."""
    if isinstance(self, Batched):
        raise fault(RuntimeError, "accessing `data` under vmap transform is not allowed", hint=".detach()")
    return handle(self, Alias.untracked)


attribute(data, _set_data)


# ---- writing over what is there


def _zeros(g, x_shape):
    return zeros(g, shape=x_shape)


FILLED = Sample(reals(2, 3), reals())


@linear(
    x=_zeros,
    y=lambda g, y_shape, y_dtype: summed(g, y_shape, y_dtype),
    sample=[Sample(reals(2, 3), reals(2, 3)), Sample(reals(2, 3), reals(3))],
    at=(),
    grad_fn="CopyBackwards",
    batch="elementwise",
)
def replaced(xp, x, y):
    """The second tensor, in the shape and type of the first."""
    out = xp.empty_like(x)
    out[...] = y
    return out


@linear(x=_zeros, sample=Sample(reals(2, 3)), at=(), grad_fn="ZeroBackward0", batch="elementwise")
def zeroed(xp, x):
    """Zeros in the place of a tensor."""
    return xp.zeros_like(x)


def _fill(tensor_fn, number_fn):
    """Every number of a tensor made one: that of a 0-d tensor, or Python's."""

    @linear(
        x=_zeros,
        y=lambda g: sum_to_size(g, size=()),
        sample=FILLED,
        at=(),
        grad_fn=tensor_fn,
        name=f"filled{tensor_fn[-1]}",
        batch=lambda x, y: replaced(x, aligned(y, x.ndim - 1)),
    )
    def filled(xp, x, y):
        return xp.full_like(x, y)

    @general(
        x=_zeros,
        sample=Sample(reals(2, 3), value=2.0),
        at=(),
        grad_fn=number_fn,
        name=f"filled{number_fn[-1]}",
        batch="elementwise",
    )
    def filled_by_number(xp, x, *, value):
        return xp.full_like(x, value)

    return filled, filled_by_number


# PyTorch's nodes have other names where it is done in place.
FILL, FILL_IN_PLACE = _fill("FillBackward1", "FillBackward0"), _fill("FillBackward3", "FillBackward2")
OVERLOADS = ("(Tensor input, Tensor value)", "(Tensor input, Number value)")


def write(tensor, value, what, *, spread=False):
    """Write a tensor, broadcast and in the written one's type, over another."""
    found = special(tensor, value)
    if found is not None:
        writable(tensor, (value,), what)
        found.change(lambda target, part: write(target, part, what, spread=spread), tensor, value, what)
        return tensor
    tracked = writable(tensor, (value,), what)
    if value.raw.__class__ is not float:
        check_overlap(tensor, value)
        if value.shape != tensor.shape and common_shape([tuple(tensor.shape), tuple(value.shape)]) != tensor.shape:
            raise not_broadcast(tensor, value)
    if tracked and not is_view(tensor):
        value = replaced(wrap(tensor.raw, tensor.node), value)
    overwrite(tensor, value, what, spread=spread, copied=True)
    return tensor


@function(at=("Tensor",), example="zeros(3).copy_(ones(3))")
def copy_(self, other, non_blocking=False):
    """Write the numbers of another tensor over this one's."""
    if isinstance(other, NUMBERS):
        other = wrap(number_raw(other))
    return write(self, operand(other, "other"), "copy_")


def _value(value, dtype):
    """What to fill with: a 0-d tensor or a number, and which of the two ops does it."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise fault(
                RuntimeError,
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.",
            )
        return 0, value if value.dtype is dtype else to_dtype(value, dtype=dtype)
    if not isinstance(value, NUMBERS):
        raise Unfit("value", "Number", value)
    return 1, value


@function(at=("torch",), example="fill(ones(3), 2.0)", overloads=OVERLOADS)
def fill(input, value):
    """Every number of a tensor made one."""
    input = operand(input)
    by_number, value = _value(value, input.dtype)
    return FILL[1](input, value=value) if by_number else FILL[0](input, value)


def apart(value):
    """The same value and history, its number apart from memory that is about to be written to."""
    if isinstance(value, Wrapped):
        return copied(value)
    return wrap(value.raw.copy(), value.current_node() if state.grad else None) if is_array(value.raw) else value


def fill_with(tensor, value, what):
    """Write the number of a 0-d tensor throughout another tensor."""
    value = apart(value)
    return write(tensor, value, what) if is_view(tensor) else inplace(FILL_IN_PLACE[0], tensor, value, what=what)


@function(example="zeros(3).fill_(2.0)", overloads=OVERLOADS)
def fill_(input, value):
    """Make every number of this tensor one."""
    by_number, value = _value(value, input.dtype)
    if not by_number:
        return fill_with(input, value, "fill_")
    if is_view(input):
        return write(input, wrap(number_raw(value)), "fill_", spread=True)
    return inplace(FILL_IN_PLACE[1], input, value=value, what="fill_", spread=True)


@function(example="ones(3).zero_()")
def zero_(input):
    """Make every number of this tensor zero."""
    if is_view(input):
        return write(input, wrap(0.0), "zero_", spread=True)
    return inplace(zeroed, input, what="zero_", spread=True)
