"""Views that repeat numbers along a dimension without a copy, and the shapes they come to."""

from __future__ import annotations

from gradsh.engine.alias import tensor_type
from gradsh.engine.op import linear
from gradsh.engine.promote import common_shape
from gradsh.engine.tensor import Size, Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.examples import aligned
from gradsh.ops.options import sizes, whole
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import sum_to_size


@linear(
    x=lambda g, x_shape: sum_to_size(g, size=x_shape),
    sample=[Sample(reals(1, 3), size=(2, 3)), Sample(reals(), size=(2,)), Sample(reals(3), size=(2, 3))],
    at=(),
    view=True,
    name="expand",
    batch=lambda x, size: expanded(aligned(x, len(size)), size=(x.shape[0], *size)),
)
def expanded(xp, x, *, size):
    """The numbers repeated along dimensions of length 1 and new ones, without a copy."""
    out = xp.broadcast_to(x, size)
    out.flags.writeable = True  # whether it may be written to is the strides' affair (`inplace.overwrite`)
    return out


def expanded_size(input, size):
    """A shape to expand to, with its -1 replaced, after PyTorch's checks."""
    have, ndim = input.shape, input.ndim
    new = len(size) - ndim
    if new < 0:
        raise fault(
            RuntimeError,
            f"expand({tensor_type(input)}{{{list(have)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({ndim})",
        )
    found = list(size)
    for place in reversed(range(len(size))):
        length = size[place]
        if place < new:
            if length == -1 and ndim:
                raise fault(
                    RuntimeError,
                    f"The expanded size of the tensor ({length}) isn't allowed in a leading, non-existing dimension "
                    f"{place}",
                )
        elif length == -1:
            found[place] = have[place - new]
        elif have[place - new] not in (length, 1):
            raise fault(
                RuntimeError,
                f"The expanded size of the tensor ({length}) must match the existing size ({have[place - new]}) at "
                f"non-singleton dimension {place}.  Target sizes: {list(size)}.  Tensor sizes: {list(have)}",
            )
    if min(found, default=0) < 0:
        raise fault(RuntimeError, "numel: integer multiplication overflow", notes=("a size is negative",))
    return tuple(found)


@function(at=("Tensor",), example="ones(3, 1).expand(3, 4)")
def expand(self, *sizes_given, size=None, implicit=False):
    """The numbers repeated along dimensions of length 1 and new ones, without a copy; -1 keeps a length."""
    return expanded(self, size=expanded_size(self, sizes("expand", sizes_given, size)))


@function(at=("Tensor",), example="ones(3, 1).expand_as(ones(3, 4))")
def expand_as(self, other):
    """Expanded to the shape of another tensor."""
    return expanded(self, size=expanded_size(self, tuple(operand(other, "other").shape)))


@function(example="broadcast_to(ones(3, 1), (3, 4))", several="size")
def broadcast_to(input, *sizes_given, size=None):
    """The numbers repeated along dimensions of length 1 and new ones, without a copy."""
    input = operand(input)
    return expanded(input, size=expanded_size(input, sizes("broadcast_to", sizes_given, size)))


@function(at=("torch",), example="broadcast_tensors(ones(3, 1), ones(4))")
def broadcast_tensors(*tensors):
    """Tensors expanded to the one shape they broadcast to."""
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            kind = type(tensor).__name__
            raise fault(TypeError, f"expected Tensor as element {place} in argument 0, but got {kind}")
    size = common_shape([tuple(tensor.shape) for tensor in tensors])
    return tuple(tensor if tensor.shape == size else expanded(tensor, size=size) for tensor in tensors)


@function(at=("torch",), example="broadcast_shapes((3, 1), (4,))")
def broadcast_shapes(*shapes):
    """The shape that shapes broadcast to."""
    found: list[int] = []
    for place, shape in enumerate(shapes):
        shape = (shape,) if whole(shape) is not None else shape
        found = [1] * (len(shape) - len(found)) + found
        for k in range(-1, -1 - len(shape), -1):
            if shape[k] < 0:
                raise fault(ValueError, "Attempting to broadcast a dimension with negative length!")
            if shape[k] == 1 or shape[k] == found[k]:
                continue
            if found[k] != 1:
                raise fault(
                    RuntimeError,
                    f"Attempting to broadcast a dimension of length {shape[k]} at {k}! Mismatching argument at "
                    f"index {place} "
                    f"had {shape!r}; but expected shape should be broadcastable to {found}",
                )
            found[k] = shape[k]
    return Size(found)


@function("sum_to_size", at=("Tensor",), example="ones(2, 3).sum_to_size(1, 3)")
def summed_to(self, *sizes_given, size=None):
    """The sum over the dimensions along which a shape would be broadcast to this tensor's."""
    wanted, have = sizes("sum_to_size", sizes_given, size), tuple(self.shape)
    tail = have[len(have) - len(wanted) :]
    if len(wanted) > len(have) or any(a not in (1, b) for a, b in zip(wanted, tail)):
        raise fault(RuntimeError, f"size {{{list(wanted)}}} is not expandable to size {{{list(have)}}}.")
    if not wanted:
        return self.sum() if have else self
    new = len(have) - len(wanted)
    dims = [*range(new), *(k + new for k, length in enumerate(wanted) if length == 1 != tail[k])]
    found = self.sum(dims, keepdim=True) if dims else self
    return found.view(wanted) if new else found
