"""Views: the same numbers in the same memory, under other dimensions."""

from __future__ import annotations

from gradsh.backend.dtypes import DType
from gradsh.engine.alias import TYPE_NAMES, Alias
from gradsh.engine.op import linear
from gradsh.engine.runtime import shared
from gradsh.engine.tensor import Size, wrap
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import copied_in_rows
from gradsh.ops.dimensions import axis_of
from gradsh.ops.examples import rest
from gradsh.ops.memory import contiguous, is_contiguous, strides_of
from gradsh.ops.options import integer, sizes, whole
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals


@linear(
    x=lambda g, x_shape: reshaped(g, size=x_shape),
    sample=Sample(reals(2, 3), size=(3, 2)),
    at=(),
    view=True,
    name="view",
    batch="sized",
)
def viewed(xp, x, *, size):
    """The numbers in their order under other dimensions, where memory allows it."""
    return xp.reshape(x, size)


@linear(
    x=lambda g, x_shape: reshaped(g, size=x_shape),
    sample=Sample(reals(2, 3), size=(3, 2)),
    at=(),
    view=True,
    name="reshape_alias",
    batch="sized",
)
def realigned(xp, x, *, size):
    """As `viewed`, of numbers that do not lie row by row."""
    return xp.reshape(x, size)


@linear(
    x=lambda g, x_shape: reshaped(g, size=x_shape),
    sample=Sample(reals(2, 3), size=(3, 2)),
    at=(),
    name="unsafe_view",
    batch="sized",
)
def reshaped(xp, x, *, size):
    """The numbers in their order under other dimensions; no view to the rules of in-place changes."""
    return xp.reshape(x, size)


def _squeeze(grad_fn, *settings, batch):
    samples = [Sample(reals(1, 3, 1), **one) for one in settings]
    return linear(x=_unsqueezed, sample=samples, at=(), view=True, grad_fn=grad_fn, batch=batch)


def _unsqueezed(g, x_shape):
    return reshaped(g, size=x_shape)


@_squeeze(
    "SqueezeBackward0", {}, batch=lambda x: squeezed_at_all(x, dim=tuple([k for k in rest(x) if x.shape[k] == 1]))
)
def squeezed(xp, x):
    """Without the dimensions of length 1."""
    return xp.asarray(x).squeeze()


@_squeeze(
    "SqueezeBackward1",
    {"dim": 0},
    {"dim": 1},
    {"dim": -1},
    batch=lambda x, dim: squeezed_at(x, dim=dim + (dim >= 0)) if x.ndim > 1 else squeezed_at_all(x, dim=()),
)
def squeezed_at(xp, x, *, dim):
    """Without a dimension, where its length is 1."""
    x = xp.asarray(x)
    return x.squeeze(dim) if x.ndim and x.shape[dim] == 1 else x[...]


@_squeeze(
    "SqueezeBackward2",
    {"dim": (0, 1)},
    {"dim": (0, -1)},
    batch=lambda x, dim: squeezed_at_all(x, dim=tuple([one + (one >= 0) for one in dim]) if x.ndim > 1 else ()),
)
def squeezed_at_all(xp, x, *, dim):
    """Without those of several dimensions whose length is 1."""
    x = xp.asarray(x)
    return x.squeeze(tuple([one for one in dim if x.shape[one] == 1])) if x.ndim else x[...]


@linear(
    x=lambda g, dim: squeezed_at(g, dim=dim),
    sample=Sample(reals(2, 3), dim=1),
    at=(),
    view=True,
    name="unsqueeze",
    batch=lambda x, dim: unsqueezed(x, dim=dim + (dim >= 0)),
)
def unsqueezed(xp, x, *, dim):
    """A new dimension of length 1."""
    return xp.expand_dims(x, dim)


# ---- reshaping


def _resolved(input, size):
    """A shape asked for, with its -1 worked out; PyTorch's errors where it does not hold the numbers."""
    unknown, count = None, 1
    for place, length in enumerate(size):
        if length >= 0:
            count *= length
        elif length != -1:
            raise fault(RuntimeError, f"invalid shape dimension {length} at index {place} of shape {list(size)}")
        elif unknown is not None:
            raise fault(RuntimeError, "only one dimension can be inferred")
        else:
            unknown = place
    numel = input.numel()
    if unknown is None:
        if count == numel:
            return size
    elif count and numel % count == 0:
        return (*size[:unknown], numel // count, *size[unknown + 1 :])
    elif not count and not numel:
        raise fault(
            RuntimeError,
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 "
            "can be "
            "any value and is ambiguous",
        )
    notes = (f"the tensor has shape {tuple(input.shape)}",)
    raise fault(RuntimeError, f"shape '{list(size)}' is invalid for input of size {numel}", notes=notes)


def _can_view(raw, size):
    """Whether an array can be seen under other dimensions without a copy."""
    if raw.__class__ is float or raw.flags.c_contiguous or not raw.size:
        return True
    raw = getattr(raw, "example", raw)  # under vmap
    from gradsh.backend import arrays

    return arrays.may_share_memory(raw.reshape(size), raw)


VIEW = ("(torch.dtype dtype)", "(tuple of ints size)")


@function(at=("Tensor",), example="arange(6.0).view(2, 3)", overloads=VIEW)
def view(self, *size, **named):
    """The same numbers under other dimensions, -1 for one to be worked out, or read as another element type."""
    if len(size) == 1 and isinstance(size[0], DType):
        return _reread(self, size[0])
    if named.keys() == {"dtype"}:
        return _reread(self, named["dtype"])
    if (not size and named.keys() != {"size"}) or (
        size and not isinstance(size[0], list | tuple) and whole(size[0]) is None
    ):
        raise Unfit("size", "tuple of ints", size)
    size = _resolved(self, sizes("view", size, **named))
    if not _can_view(self.raw, size):
        raise fault(
            RuntimeError,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.",
            notes=(f"it has shape {tuple(self.shape)} and strides {strides_of(self)}",),
            hint=f".reshape{tuple(size)}",
        )
    return viewed(self, size=size)


def _reread(self, dtype):
    """The memory of a tensor read as another element type."""
    raw = self.raw = shared(self.raw)
    have, want = raw.itemsize, dtype.itemsize
    names = f"view {TYPE_NAMES[self.dtype.name]} as {TYPE_NAMES[dtype.name]} (different element sizes)"
    if have != want:
        if not raw.ndim:
            raise fault(RuntimeError, f"self.dim() cannot be 0 to {names}")
        if raw.strides[-1] != have:
            raise fault(RuntimeError, f"self.stride(-1) must be 1 to {names}, but got {raw.strides[-1] // have}")
        if raw.shape[-1] * have % want:
            ratio = want // have
            raise fault(RuntimeError, f"self.size(-1) must be divisible by {ratio} to {names}, but got {raw.shape[-1]}")
    found = wrap(raw.view(dtype.code))
    found.extra = Alias.detached(self)
    return found


@function(example="reshape(arange(6.0), (2, 3))", several="shape")
def reshape(input, *sizes_given, shape=None):
    """The same numbers under other dimensions, -1 for one to be worked out; a view where memory allows it."""
    input = operand(input)
    size = _resolved(input, sizes("reshape", sizes_given, shape, "shape"))
    if is_contiguous(input):
        return viewed(input, size=size)
    return realigned(input, size=size) if _can_view(input.raw, size) else reshaped(copied_in_rows(input), size=size)


@function(at=("Tensor",), example="arange(6.0).view_as(ones(2, 3))")
def view_as(self, other):
    """The same numbers under the dimensions of another tensor."""
    return view(self, tuple(operand(other, "other").shape))


@function(at=("Tensor",), example="arange(6.0).reshape_as(ones(2, 3))")
def reshape_as(self, other):
    """As `view_as`, with a copy where memory asks for it."""
    return reshape(self, tuple(operand(other, "other").shape))


@function(example="flatten(ones(2, 3, 4), start_dim=1)")
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions start_dim to end_dim made one."""
    input = operand(input)
    start, end = axis_of(start_dim, input.ndim, "start_dim"), axis_of(end_dim, input.ndim, "end_dim")
    if start > end:
        raise fault(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim")
    if not input.ndim:
        return reshape(input, (1,))
    if start == end:
        return input
    shape = input.shape
    return reshape(input, (*shape[:start], shape[start : end + 1].numel(), *shape[end + 1 :]))


@function(example="unflatten(arange(6.0), 0, (2, 3))")
def unflatten(input, dim, sizes):
    """One dimension made several, -1 for one to be worked out."""
    input = operand(input)
    if not isinstance(sizes, list | tuple):
        raise Unfit("sizes", "tuple of ints", sizes)
    dim, length = axis_of(dim, input.ndim), tuple(integer(one, "sizes") for one in sizes)
    if not input.ndim:
        raise fault(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    if not length:
        raise fault(RuntimeError, "unflatten: sizes must be non-empty")
    if length.count(-1) > 1:
        raise fault(RuntimeError, "only one dimension can be inferred")
    known = Size(one for one in length if one != -1).numel()
    whole_length = input.shape[dim]
    if (-1 not in length and known != whole_length) or (-1 in length and (not known or whole_length % known)):
        raise fault(
            RuntimeError,
            f"unflatten: Provided sizes {list(length)} don't multiply up to the size of dim {dim} ({whole_length}) "
            "in the "
            "input tensor",
        )
    length = tuple(whole_length // known if one == -1 else one for one in length)
    return viewed(input, size=(*input.shape[:dim], *length, *input.shape[dim + 1 :]))


@function(example="ravel(ones(2, 3))")
def ravel(input):
    """All numbers in one dimension."""
    return view(contiguous(operand(input)), -1)


# ---- dimensions of length 1


SQUEEZE = ("(Tensor input)", "(Tensor input, int dim)", "(Tensor input, tuple of ints dim)")


@function(example="squeeze(ones(1, 3, 1))", overloads=SQUEEZE)
def squeeze(input, *dims, **named):
    """Without the dimensions of length 1: all of them, or those in dim."""
    input = operand(input)
    if named.keys() - {"dim"} or (named and dims):
        raise Unfit("dim", "int", named)
    if not named and not dims:
        return squeezed(input)
    dim = named["dim"] if named else dims[0] if len(dims) == 1 else dims
    if not isinstance(dim, list | tuple):
        return squeezed_at(input, dim=axis_of(dim, input.ndim))
    dims = tuple(axis_of(one, input.ndim) for one in dim)
    for place, one in enumerate(dims):
        if one in dims[:place]:
            raise fault(RuntimeError, f"dim {one} appears multiple times in the list of dims")
    return squeezed_at_all(input, dim=dims)


@function(example="unsqueeze(ones(3), 0)")
def unsqueeze(input, dim):
    """A new dimension of length 1."""
    input = operand(input)
    return unsqueezed(input, dim=axis_of(dim, input.ndim + 1))


def _at_least(name, steps):
    """`atleast_1d` and its like: what brings a tensor of 0, 1, … dimensions to enough of them."""

    def one(tensor):
        tensor = operand(tensor, "input")
        return steps[tensor.ndim](tensor) if tensor.ndim < len(steps) else tensor

    def at_least(*tensors):
        if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
            return one(tensors[0])
        return tuple(one(tensor) for tensor in (tensors[0] if len(tensors) == 1 else tensors))

    at_least.__name__ = name
    at_least.__doc__ = f"""Tensors with at least {len(steps)} dimension{"s" * (len(steps) > 1)}."""
    return function(at=("torch",), example=f"{name}(tensor(2.0))")(at_least)


atleast_1d = _at_least("atleast_1d", [lambda x: reshape(x, (1,))])
atleast_2d = _at_least("atleast_2d", [lambda x: reshape(x, (1, 1)), lambda x: unsqueeze(x, 0)])
atleast_3d = _at_least(
    "atleast_3d",
    [lambda x: reshape(x, (1, 1, 1)), lambda x: unsqueeze(unsqueeze(x, 0), -1), lambda x: unsqueeze(x, -1)],
)
