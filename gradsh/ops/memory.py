"""How a tensor lies in memory, how large it is, and views made from strides."""

from __future__ import annotations

from gradsh.engine.alias import version_of
from gradsh.engine.exposure import owner_of_memory
from gradsh.engine.op import linear
from gradsh.engine.promote import dimension_fault
from gradsh.engine.runtime import shared
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.copying import copied_in_rows
from gradsh.ops.options import integer, sizes
from gradsh.ops.registry import attribute, function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import for_all


def strides_of(tensor):
    """The strides in elements, as PyTorch has them: along a dimension of length 1 as if it were longer."""
    raw = tensor.raw
    if raw.__class__ is float or not raw.ndim:
        return ()
    found, step = [], 1
    if raw.flags.c_contiguous:
        for length in raw.shape[::-1]:
            found.append(step)
            step *= max(length, 1)
        return tuple(found[::-1])
    for length, stride in zip(raw.shape[::-1], raw.strides[::-1]):
        if stride or length != 1:
            step = stride // raw.itemsize
        found.append(step)
        step *= max(length, 1)
    return tuple(found[::-1])


def _one(values, dim, ndim):
    """All of the values, or the one of a dimension."""
    if dim is None:
        return values
    dim = integer(dim, "dim")
    if not ndim:
        raise fault(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise dimension_fault(dim, ndim)
    return values[dim]


@function(at=("Tensor",), example="ones(2, 3).size()")
def size(self, dim=None):
    """The shape, or the length of one dimension."""
    return _one(self.shape, dim, self.ndim)


@function(at=("Tensor",), example="ones(2, 3).stride()")
def stride(self, dim=None):
    """How many elements lie between neighbours, along every dimension or along one."""
    return _one(strides_of(self), dim, self.ndim)


@function(at=("Tensor",), example="ones(2, 3).dim()")
def dim(self):
    """How many dimensions there are."""
    return self.ndim


@function(at=("Tensor",), example="ones(2, 3).ndimension()")
def ndimension(self):
    """How many dimensions there are."""
    return self.ndim


@function(at=("torch",), example="numel(ones(2, 3))")
def numel(input):
    """How many numbers a tensor holds."""
    return operand(input).numel()


@function(at=("Tensor",), example="ones(2, 3).nelement()")
def nelement(self):
    """How many numbers the tensor holds."""
    return self.numel()


@function(at=("Tensor",), example="ones(2).element_size()")
def element_size(self):
    """How many bytes a number takes."""
    return self.dtype.itemsize


@attribute
def itemsize(self):
    """How many bytes a number takes."""
    return self.dtype.itemsize


@attribute
def nbytes(self):
    """How many bytes the numbers take."""
    return self.numel() * self.dtype.itemsize


@attribute
def _version(self):
    """How many in-place changes the memory has seen."""
    return version_of(self)


@function(at=("Tensor",), example="ones(2, 3).is_contiguous()")
def is_contiguous(self, memory_format=None):
    """Whether the numbers lie in memory row by row."""
    return self.raw.__class__ is float or self.raw.flags.c_contiguous


@function(at=("Tensor",), example="ones(2, 3).t().contiguous()")
def contiguous(self, memory_format=None):
    """The tensor itself where it lies in memory row by row, else a copy that does."""
    return self if is_contiguous(self) else copied_in_rows(self)


@function(at=("Tensor",), example="ones(2).is_same_size(zeros(2))")
def is_same_size(self, other):
    """Whether another tensor has the same shape."""
    return self.shape == operand(other, "other").shape


def _address(raw):
    return raw.__array_interface__["data"][0]


@function(at=("Tensor",))
def data_ptr(self):
    """Where the first number lies in memory: equal for two tensors that start at the same one."""
    self.raw = shared(self.raw)
    return _address(self.raw)


@function(at=("Tensor",), example="arange(6.0)[2:].storage_offset()")
def storage_offset(self):
    """How many elements of the memory lie before the first number."""
    if self.raw.__class__ is float or not self.raw.size:
        return 0
    return (_address(self.raw) - _address(owner_of_memory(self.raw))) // self.raw.itemsize


# ---- views by strides


@linear(
    x=lambda g, layout: window_sums(g, layout=layout),
    sample=[
        Sample(reals(3, 4), layout=((3, 4), None, (2, 2), (4, 2), 5)),
        Sample(reals(5), layout=((5,), None, (3, 2), (1, 1), 1)),
    ],
    at=(),
    view=True,
    name="as_strided",
    batch=lambda x, layout: windowed(x, layout=for_all(x, layout)),
)
def windowed(xp, x, *, layout):
    """The elements at strides of a tensor's memory; `layout` as `inplace.geometry` describes a view."""
    return xp.strided_view(x, layout)


@linear(
    x=lambda g, layout: windowed(g, layout=layout),
    sample=Sample(reals(3, 2), layout=((5,), None, (3, 2), (1, 1), 1)),
    at=(),
    grad_fn="AsStridedBackwardBackward0",
    batch=lambda x, layout: window_sums(x, layout=for_all(x, layout)),
)
def window_sums(xp, x, *, layout):
    """Zeros to which numbers are added at the places of strided windows."""
    return xp.strided_sums(x, layout)


@function(example="as_strided(arange(6.0), (2, 2), (1, 1))")
def as_strided(input, size, stride, storage_offset=None):
    """A view of the elements at given strides, in elements of the memory."""
    input = operand(input)
    raw = input.raw = shared(input.raw)
    size, stride = sizes("as_strided", (), size), sizes("as_strided", (), stride, "stride")
    if len(size) != len(stride):
        raise fault(RuntimeError, "mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise fault(
            RuntimeError,
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}",
        )
    memory = owner_of_memory(raw)
    before = (_address(raw) - _address(memory)) // raw.itemsize
    offset = before if storage_offset is None else integer(storage_offset, "storage_offset")
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * step for n, step in zip(size, stride))
    if needed * raw.itemsize > memory.nbytes:
        raise fault(
            RuntimeError,
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{raw.itemsize} "
            f"requiring a storage size of {needed * raw.itemsize} are out of bounds for storage of size "
            f"{memory.nbytes}",
        )
    strides = None if raw.flags.c_contiguous else strides_of(input)
    return windowed(input, layout=(tuple(raw.shape), strides, size, stride, offset - before))
