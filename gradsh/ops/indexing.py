"""`x[…]`: a chain of views for numbers, slices, `None` and `...`, then what index tensors name."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean, int32, int64, uint8
from gradsh.engine.batched import Batched
from gradsh.engine.create import tensor as make_tensor
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.copying import aliased
from gradsh.ops.index_tensors import indexed, indexed_by_all, mask_fault
from gradsh.ops.registry import bind_operator
from gradsh.ops.shape import unsqueezed, viewed
from gradsh.ops.slicing import selected, sliced

KINDS = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
INTEGER = {int}
MOST_INDICES = 32  # a longer list is never taken for a tuple of indices


def get_item(self, index):
    """`x[index]`."""
    kind = index.__class__
    if kind is int:
        return _at(self, 0, index, 0)
    if kind is slice:
        return _range(self, 0, index)
    if index is ...:
        return aliased(self)
    if kind is Tensor and index.dtype is int64 and index.ndim and self.ndim:
        return indexed(self, index, dim=0)
    if kind is tuple and 0 < len(index) <= self.ndim and {*map(type, index)} == INTEGER:
        part = self
        for place, item in enumerate(index):
            part = _at(part, 0, item, place)
        return part
    part, indices, places = chained(self, index)
    if not indices:
        return aliased(self) if part is self else part
    if len(indices) == 1:
        return indexed(part, indices[0], dim=places[0])
    return indexed_by_all(part, *indices, places=places)


# ---- numbers and slices


def _at(tensor, dim, index, given):
    """The part at an index. given: which of the program's indices it is."""
    raw = tensor.raw
    try:
        length = raw.shape[dim]
    except (AttributeError, IndexError):
        if index:
            raise fault(IndexError, f"index {index} is out of bounds for dimension {given} with size 0") from None
        raise fault(
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
            "a 0-dim "
            "tensor to a number",
            hint=".item()",
        ) from None
    if -length <= index < length:
        return selected(tensor, dim=dim, index=index)
    if not -(2**63) <= index < 2**63:
        raise fault(ValueError, "Overflow when unpacking long long")
    message = f"index {index} is out of bounds for dimension {given} with size {length}"
    raise fault(IndexError, message, notes=(f"the tensor has shape {tuple(raw.shape)}",))


def _bounds(index, length):
    """Start, end and step of a slice within a dimension."""
    try:
        start, end, step = index.indices(length)
    except (TypeError, ValueError) as error:
        raise fault(type(error), str(error)) from None
    if step < 0:
        raise fault(ValueError, "step must be greater than zero", hint="x.flip(0) reverses a dimension")
    return start, end if end > start else start, step


def _range(tensor, dim, index):
    if not tensor.ndim:
        raise fault(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    start, end, step = _bounds(index, tensor.raw.shape[dim])
    return sliced(tensor, dim=dim, start=start, end=end, step=step)


# ---- every form together


def chained(tensor, index):
    """The view that the plain parts of an index give, and its index tensors with the dimensions they begin at."""
    items = index if index.__class__ is tuple or _is_tuple(index) else (index,)
    specified = len(items)
    for item in items:
        if item.__class__ is not int and item.__class__ is not slice:
            items = [_item(item) for item in items]
            specified = sum(map(_dimensions, items))
            break
    ndim = tensor.ndim
    if specified > ndim:
        if index.__class__ is slice:
            raise fault(IndexError, "slice() cannot be applied to a 0-dim tensor.")
        raise fault(
            IndexError,
            f"too many indices for tensor of dimension {ndim}",
            notes=(f"the tensor has shape {tuple(tensor.shape)}, and there are {specified} indices",),
        )
    indices, places = [], []
    dim = 0
    for given, item in enumerate(items):
        kind = item.__class__
        if kind is int:
            tensor = _at(tensor, dim, item, given)
        elif kind is slice:
            length = tensor.raw.shape[dim]
            if not _is_whole(item, length):
                start, end, step = _bounds(item, length)
                tensor = sliced(tensor, dim=dim, start=start, end=end, step=step)
            dim += 1
        elif item is ...:
            dim += ndim - specified
        elif item is None:
            tensor = unsqueezed(tensor, dim=dim)
            dim += 1
        elif not item.ndim and item.dtype is boolean:
            tensor = unsqueezed(tensor, dim=dim)
            indices.append(viewed(item, size=(1,)))
            places.append(dim)
            dim += 1
        else:
            indices.append(item)
            places.append(dim)
            if item.dtype is boolean and not item.numel():  # numpy does not look at the shape of one
                wrong = mask_fault(tuple(tensor.shape), item.shape, dim)
                if wrong is not None:
                    raise wrong
            dim += item.ndim if item.dtype is boolean else 1
    if places and places[-1] >= tensor.ndim:
        raise fault(IndexError, f"too many indices for tensor of dimension {ndim} (got {places[-1] + 1})")
    return tensor, indices, tuple(places)


def _dimensions(item):
    """How many dimensions an item of an index stands for."""
    if item is None or item is ...:
        return 0
    return item.ndim if item.__class__ is Tensor and item.dtype is boolean else 1


def _is_whole(item, length):
    """Whether a slice among several indices makes no view: it is written as one of the whole dimension."""
    start, stop, step = item.start, item.stop, item.step
    if start is None and stop is None and step is None:
        return True
    try:
        return (start is None or start == 0) and (stop is None or stop >= length) and (step is None or step == 1)
    except TypeError:
        return False


def _is_tuple(index):
    """Whether a list is taken for a tuple of indices, by numpy's old rule, which PyTorch keeps."""
    if isinstance(index, Tensor) or not hasattr(index, "__getitem__") or not hasattr(index, "__len__"):
        return isinstance(index, tuple)
    if isinstance(index, tuple):
        return True
    if getattr(index, "ndim", None) is not None or isinstance(index, dict | str) or len(index) >= MOST_INDICES:
        return False
    return any(
        item is ... or item is None or isinstance(item, Tensor | slice | list | tuple | str | range) for item in index
    )


def _item(item):
    """One item of an index: an int, a slice, None, ..., a mask, or a tensor of places."""
    kind = item.__class__
    if kind is int or kind is slice or item is None or item is ...:
        return item
    if item is True or item is False:
        return make_tensor(item)
    if not isinstance(item, Tensor):
        item = _from_sequence(item)
        if item.__class__ is int:
            return item
    dtype = item.dtype
    if dtype is boolean:
        return item
    if dtype is uint8:
        return wrap(item.raw.astype(bool))
    if not item.ndim and dtype.category == int64.category and not isinstance(item, Batched):
        return int(item)
    if dtype is not int64 and dtype is not int32:
        raise fault(
            IndexError,
            "tensors used as indices must be long, int, byte or bool tensors",
            notes=(f"this one is {dtype.name}",),
            hint=".long() makes integers of it",
        )
    return item


def _from_sequence(item):
    """A list or array of places as a tensor, any other integer as Python's."""
    if isinstance(item, str):
        raise fault(TypeError, "new(): invalid data type 'str'")
    listed = isinstance(item, list | tuple | range)
    if listed or getattr(item, "ndim", None):
        found = make_tensor(item)
        if listed and found.dtype.category > int64.category:
            found = wrap(found.raw.astype(int64.code))
        return found
    try:
        return item.__index__()
    except (AttributeError, TypeError):
        raise fault(IndexError, KINDS.format(type(item).__name__)) from None


def backwards(self):
    """`reversed(x)`."""
    return self.flip(0) if self.ndim else self


bind_operator("__getitem__", get_item)
bind_operator("__reversed__", backwards)
