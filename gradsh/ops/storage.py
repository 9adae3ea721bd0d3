"""The memory behind a tensor: `storage()`, other memory for the same tensor, and Python functions on every number."""

from __future__ import annotations

from gradsh.backend.memory import check_room
from gradsh.engine.alias import record_change
from gradsh.engine.create import NUMBERS
from gradsh.engine.exposure import owner_of_memory
from gradsh.engine.runtime import shared
from gradsh.engine.state import stop_following
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit
from gradsh.ops.options import sizes
from gradsh.ops.registry import function, readable


class TypedStorage:
    """All numbers of the memory that a tensor covers, or covers a part of, in a row."""

    __slots__ = ("_memory", "_tensor")
    __module__ = "torch.storage"

    def __init__(self, tensor):
        tensor.raw = shared(tensor.raw)
        self._tensor = tensor
        owner = owner_of_memory(tensor.raw)
        slowest_first = sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis])
        self._memory = owner.transpose(slowest_first).reshape(-1)

    @property
    def dtype(self):
        return self._tensor.dtype

    @property
    def device(self):
        return self._tensor.device

    def __len__(self):
        return self._memory.size

    def __getitem__(self, place):
        return self._memory[place].tolist()

    def __setitem__(self, place, value):
        stop_following()
        self._memory[place] = value

    def __iter__(self):
        return iter(self._memory.tolist())

    def size(self):
        """How many numbers there are."""
        return self._memory.size

    def tolist(self):
        """The numbers as a list."""
        return self._memory.tolist()

    def data_ptr(self):
        """Where the memory begins: equal for tensors that share it."""
        return self._memory.__array_interface__["data"][0]

    def element_size(self):
        """The bytes of one number."""
        return self._memory.itemsize

    def nbytes(self):
        """The bytes of all numbers."""
        return self._memory.nbytes

    def __repr__(self):
        numbers = "".join(f" {number}\n" for number in self._memory.tolist())
        return f"{numbers}[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"


class UntypedStorage(TypedStorage):
    """The same memory as bytes."""

    __slots__ = ()
    __module__ = "torch.storage"

    def __init__(self, tensor):
        super().__init__(tensor)
        self._memory = self._memory.view("u1")

    def __repr__(self):
        numbers = "".join(f" {number}\n" for number in self._memory.tolist())
        return f"{numbers}[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


readable(TypedStorage, ("data_ptr", "device", "dtype", "element_size", "nbytes", "size", "tolist"))


@function(at=("Tensor",), example="ones(2, 2)[1].storage()")
def storage(self):
    """The numbers of the memory behind the tensor, in a row."""
    return TypedStorage(self)


@function(at=("Tensor",))
def untyped_storage(self):
    """The bytes of the memory behind the tensor."""
    return UntypedStorage(self)


def _replace(tensor, raw, what):
    stop_following()
    tensor.raw = raw
    record_change(tensor, what)
    return tensor


@function(at=("Tensor",))
def set_(self, source=None):
    """Give this tensor another one's memory, or none."""
    if source is None:
        return _replace(self, self.raw[:0].reshape(-1) if self.ndim else shared(self.raw).reshape(1)[:0], "set_")
    if not isinstance(source, Tensor):
        raise Unfit("source", "Tensor", source)
    source.raw = shared(source.raw)
    return _replace(self, source.raw, "set_")


@function(at=("Tensor",), example="arange(6.0).resize_(2, 2)")
def resize_(self, *shape, size=None, memory_format=None):
    """Give this tensor another shape; its numbers stay in a row, cut off or followed by zeros."""
    if self.requires_grad:
        raise fault(RuntimeError, "cannot resize variables that require grad", hint=".detach()")
    from gradsh.backend import arrays

    shape = sizes("resize_", shape, size)
    count = check_room(shape, self.dtype.itemsize)
    row = shared(self.raw).reshape(-1)[:count]
    if row.size < count:
        row = arrays.concatenate([row, arrays.zeros(count - row.size, row.dtype)])
    return _replace(self, row.reshape(shape), "resize_")


@function(at=("Tensor",))
def resize_as_(self, the_template, memory_format=None):
    """Give this tensor another one's shape, as `resize_` does."""
    return resize_(self, *the_template.shape)


# ---- Python functions on every number


def _applied(tensor, name, function, *others):
    """Write the results of a Python function of numbers over a tensor."""
    if tensor.requires_grad:
        raise fault(
            RuntimeError,
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.",
            hint=f".detach().{name}(…)",
        )
    if not callable(function):
        raise fault(TypeError, f"'{type(function).__name__}' object is not callable")
    from gradsh.backend import arrays

    raw = shared(tensor.raw)
    columns = [arrays.broadcast_to(other.raw, raw.shape).ravel().tolist() for other in others]
    results = [function(*numbers) for numbers in zip(raw.ravel().tolist(), *columns)]
    for result in results:
        if not isinstance(result, NUMBERS):
            raise fault(TypeError, f"must be real number, not {type(result).__name__}")
    raw[...] = arrays.array(results).reshape(raw.shape)
    return _replace(tensor, raw, name)


@function(at=("Tensor",), example="ones(3).apply_(lambda v: v + 1)")
def apply_(self, callable):
    """Put a Python function's result in the place of every number; slow, and without a gradient."""
    return _applied(self, "apply_", callable)


@function(at=("Tensor",))
def map_(self, tensor, callable):
    """Put a Python function's result in the place of every number, called with it and the other tensor's."""
    if tensor.shape != self.shape:
        tensor = tensor.expand(self.shape)
    return _applied(self, "map_", callable, tensor)
