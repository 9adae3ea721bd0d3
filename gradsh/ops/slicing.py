"""Views of a part along one dimension: an index, a range, windows; and a tensor with such a part replaced."""

from __future__ import annotations

from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.copying import copied
from gradsh.ops.dimensions import axis_of
from gradsh.ops.options import integer, whole
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import to_dtype


def at(dim, key):
    """The key that numpy takes for a part along a dimension."""
    return (slice(None),) * dim + (key, ...)


# ---- one index


@linear(
    x=lambda g, x_shape, dim, index: spread(g, size=x_shape, dim=dim, index=index),
    sample=Sample(reals(2, 3), dim=1, index=-1),
    at=(),
    view=True,
    name="select",
)
def selected(xp, x, *, dim, index):
    """The part at an index of a dimension."""
    return x[(slice(None),) * dim + (index, ...)] if dim else x[index, ...]


@linear(
    x=lambda g, x_shape, dim, index: spread(g, size=x_shape, dim=dim, index=index),
    sample=Sample(reals(3), dim=0, index=1),
    at=(),
    grad_fn="SelectBackward0",
)
def entry(xp, x, *, dim, index):
    """As `selected`, but no view to the rules of in-place changes; a number where one is left."""
    return x[(slice(None),) * dim + (index,)]


@linear(
    x=lambda g, dim, index: entry(g, dim=dim, index=index),
    sample=Sample(reals(2), size=(2, 3), dim=1, index=-1),
    at=(),
    grad_fn="SelectBackwardBackward0",
)
def spread(xp, x, *, size, dim, index):
    """Zeros with the part at an index set."""
    out = xp.zeros(size, xp.dtype_of(x).code)
    out[(slice(None),) * dim + (index,)] = x
    return out


@linear(
    x=lambda g, dim, index: with_part(g, 0.0, dim=dim, index=index),
    y=lambda g, dim, index: entry(g, dim=dim, index=index),
    sample=Sample(reals(2, 3), reals(2), dim=1, index=-1),
    at=(),
    name="select_scatter",
)
def with_part(xp, x, y, *, dim, index):
    """A copy with the part at an index replaced."""
    out = xp.array(x)
    out[(slice(None),) * dim + (index,)] = y
    return out


# ---- a range


@linear(
    x=lambda g, x_shape, dim, start, end, step: spread_range(g, size=x_shape, dim=dim, start=start, end=end, step=step),
    sample=[Sample(reals(2, 5), dim=1, start=1, end=5, step=2), Sample(reals(3), dim=0, start=0, end=2, step=1)],
    at=(),
    view=True,
    name="slice",
)
def sliced(xp, x, *, dim, start, end, step):
    """The part at a range of places of a dimension, which lie within it."""
    return x[(slice(None),) * dim + (slice(start, end, step),)] if dim else x[start:end:step]


@linear(
    x=lambda g, dim, start, end, step: sliced(g, dim=dim, start=start, end=end, step=step),
    sample=Sample(reals(2, 2), size=(2, 5), dim=1, start=1, end=5, step=2),
    at=(),
    grad_fn="SliceBackwardBackward0",
)
def spread_range(xp, x, *, size, dim, start, end, step):
    """Zeros with the part at a range set."""
    out = xp.zeros(size, xp.dtype_of(x).code)
    out[(slice(None),) * dim + (slice(start, end, step),)] = x
    return out


@linear(
    x=lambda g, dim, start, end, step: with_range(g, 0.0, dim=dim, start=start, end=end, step=step),
    y=lambda g, dim, start, end, step: sliced(g, dim=dim, start=start, end=end, step=step),
    sample=Sample(reals(2, 5), reals(2, 2), dim=1, start=1, end=5, step=2),
    at=(),
    name="slice_scatter",
)
def with_range(xp, x, y, *, dim, start, end, step):
    """A copy with the part at a range replaced."""
    out = xp.array(x)
    out[(slice(None),) * dim + (slice(start, end, step),)] = y
    return out


def part(tensor, dim, start, end):
    """A range of places without gaps."""
    return sliced(tensor, dim=dim, start=start, end=end, step=1)


# ---- the functions


def _index_of(input, dim, index):
    """A dimension and an index in it, or PyTorch's error."""
    if not input.ndim:
        raise fault(IndexError, "select() cannot be applied to a 0-dim tensor.")
    dim, index, length = axis_of(dim, input.ndim), integer(index, "index"), None
    length = input.shape[dim]
    if not -length <= index < length:
        raise fault(
            IndexError,
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}",
        )
    return dim, index


@function(example="select(arange(6.0).view(2, 3), 1, -1)")
def select(input, dim, index):
    """The part at an index of a dimension, without that dimension."""
    input = operand(input)
    dim, index = _index_of(input, dim, index)
    return selected(input, dim=dim, index=index)


NARROW = ("(Tensor input, int dim, Tensor start, int length)", "(Tensor input, int dim, int start, int length)")


@function(example="narrow(arange(6.0), 0, 1, 3)", overloads=NARROW)
def narrow(input, dim, start, length):
    """A range of a dimension, by its start and length."""
    input = operand(input)
    if not input.ndim:
        raise fault(RuntimeError, "narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.ndim or whole(start) is None):
        raise fault(RuntimeError, "start must be an 0-dim integral Tensor.")
    dim, start, length = axis_of(dim, input.ndim), integer(start, "start"), integer(length, "length")
    have = input.shape[dim]
    if length < 0:
        raise fault(RuntimeError, "narrow(): length must be non-negative.")
    if not -have <= start <= have:
        raise fault(IndexError, f"start out of range (expected to be in range of [{-have}, {have}], but got {start})")
    start += have if start < 0 else 0
    if start + length > have:
        raise fault(RuntimeError, f"start ({start}) + length ({length}) exceeds dimension size ({have}).")
    return part(input, dim, start, start + length)


@function(example="narrow_copy(arange(6.0), 0, 1, 3)")
def narrow_copy(input, dim, start, length):
    """A copy of a range of a dimension."""
    return copied(narrow(input, dim, start, length))


def fitting_part(source, input, shape, what):
    """What replaces a part of a tensor, in its element type; PyTorch's error where it has another shape."""
    if tuple(source.shape) != shape:
        raise fault(
            RuntimeError,
            f"expected src to have a size equal to the {what} of self. src size = {list(source.shape)}, {what} size = "
            f"{list(shape)}",
        )
    return source if source.dtype is input.dtype else to_dtype(source, dtype=input.dtype)


@function(example="select_scatter(zeros(2, 3), ones(2), 1, 0)")
def select_scatter(input, src, dim, index):
    """A copy with the part at an index of a dimension replaced."""
    input, src = operand(input), operand(src, "src")
    dim, index = _index_of(input, dim, index)
    src = fitting_part(src, input, (*input.shape[:dim], *input.shape[dim + 1 :]), "slice")
    return with_part(input, src, dim=dim, index=index)


@function(example="slice_scatter(zeros(2, 5), ones(2, 2), 1, 1, 5, 2)")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy with the part at a range of a dimension replaced."""
    input, src = operand(input), operand(src, "src")
    dim = axis_of(dim, input.ndim)
    if not input.ndim:
        raise fault(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    if integer(step, "step") < 1:
        raise fault(RuntimeError, "slice step must be positive")
    start, end, step = slice(start, end, step).indices(input.shape[dim])
    length = max(0, -((start - end) // step))
    src = fitting_part(src, input, (*input.shape[:dim], length, *input.shape[dim + 1 :]), "slice")
    return with_range(input, src, dim=dim, start=start, end=max(start, end), step=step)


# ---- windows


@linear(
    x=lambda g, x_shape, dim, size, step: window_sum(g, size=x_shape, dim=dim, length=size, step=step),
    sample=[Sample(reals(2, 5), dim=1, size=3, step=1), Sample(reals(6), dim=0, size=2, step=3)],
    at=(),
    view=True,
    name="unfold",
)
def windows(xp, x, *, dim, size, step):
    """Windows of a size along a dimension, each `step` places after the other, in a new last dimension."""
    x = xp.asarray(x)
    if not x.ndim:
        return x.reshape(1)[:size]
    found = xp.lib.stride_tricks.sliding_window_view(x, size, dim, writeable=True)
    return found[(slice(None),) * dim + (slice(None, None, step),)]


@linear(
    x=lambda g, dim, length, step: windows(g, dim=dim, size=length, step=step),
    sample=Sample(reals(2, 3, 3), size=(2, 5), dim=1, length=3, step=1),
    at=(),
    grad_fn="UnfoldBackwardBackward0",
)
def window_sum(xp, x, *, size, dim, length, step):
    """Zeros to which the windows are added at their places."""
    if not size:
        return xp.sum(x)
    out = xp.zeros(size, x.dtype)
    count = x.shape[dim]
    for place in range(length):
        out[(slice(None),) * dim + (slice(place, place + (count - 1) * step + 1, step),)] += x[..., place]
    return out


@function(at=("Tensor",), example="arange(5.0).unfold(0, 3, 1)")
def unfold(self, dimension, size, step):
    """Windows of a size along a dimension, each `step` places after the other, in a new last dimension."""
    dim, size, step = axis_of(dimension, self.ndim, "dimension"), integer(size, "size"), integer(step, "step")
    length = self.shape[dim] if self.ndim else 1
    if size > length:
        raise fault(RuntimeError, f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if size < 0:
        raise fault(RuntimeError, f"size is {size} but must be >= 0")
    if step <= 0:
        raise fault(RuntimeError, f"step is {step} but must be > 0")
    return windows(self, dim=dim, size=size, step=step)
