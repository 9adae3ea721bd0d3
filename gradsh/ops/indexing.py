"""`x[…]`, read and assigned to: a chain of views for numbers, slices, `None`, `...`, then what index tensors name."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean, int32, int64, uint8
from gradsh.engine.alias import TYPE_NAMES, record_change, tensor_type
from gradsh.engine.create import C_NAMES, NUMBERS, held, tensor as make_tensor
from gradsh.engine.inplace import check_overlap, old_value, rebase, special, writable
from gradsh.engine.op import OPS
from gradsh.engine.promote import record
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, number_raw, wrap
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import aliased, apart, fill_with, write
from gradsh.ops.expanding import expanded, expanded_size
from gradsh.ops.index_tensors import explained, indexed, indexed_by_all, put
from gradsh.ops.registry import bind_operator, function
from gradsh.ops.shape import unsqueezed, viewed
from gradsh.ops.slicing import selected, sliced
from gradsh.ops.structure import to_dtype

KINDS = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
ASSIGNMENT = "x[…] = …"
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
    part, indices, places = _chained(self, index)
    if not indices:
        return aliased(self) if part is self else part
    if len(indices) == 1:
        return indexed(part, indices[0], dim=places[0])
    return indexed_by_all(part, *indices, places=places)


def set_item(self, index, value):
    """`x[index] = value`."""
    if _set_at_once(self, index, value):
        return
    if not isinstance(value, Tensor):
        value = _assigned(self, value)
    part, indices, places = _chained(self, index)
    if indices:
        put_in(part, indices, places, _fitting(part, value, indices), ASSIGNMENT)
    else:
        _write_part(part, value)


def _share_memory(one, other):
    from gradsh.backend import arrays

    return arrays.may_share_memory(one, other)


def _set_at_once(self, index, value):
    """Assign the usual: a number, or a tensor of the part's very shape, where integers say, and nothing is recorded.

    False where it is anything else, or does not fit; nothing has changed then.
    """
    raw, kind, extra = self.raw, value.__class__, self.extra
    if self.__class__ is not Tensor or raw.__class__ is float or not raw.flags.c_contiguous:
        return False
    if raw.dtype.char not in "df" or (extra is not None and extra.inference) or (state.grad and self.requires_grad):
        return False
    if index.__class__ is not int and not (index.__class__ is tuple and {*map(type, index)} == INTEGER):
        return False
    try:
        if kind is Tensor:
            if state.grad and value.requires_grad:
                return False
            shares, value = value.extra is not None, value.raw
            if value.__class__ is not float:
                part = raw[index]
                if value.shape != part.shape or (shares and value.ndim and _share_memory(value, part)):
                    return False
        elif kind is not float:
            return False
        raw[index] = value
    except IndexError:
        return False
    record_change(self, ASSIGNMENT)
    return True


# ---- numbers and slices


def _at(tensor, dim, index, given_dim):
    """The part at an index. given_dim: the dimension that the program's index stands for."""
    raw = tensor.raw
    try:
        length = raw.shape[dim]
    except (AttributeError, IndexError):
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
    message = f"index {index} is out of bounds for dimension {given_dim} with size {length}"
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


def _chained(tensor, index):
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
        raise fault(
            IndexError,
            f"too many indices for tensor of dimension {ndim}",
            notes=(f"the tensor has shape {tuple(tensor.shape)}, and there are {specified} indices",),
        )
    indices, places = [], []
    dim = given_dim = 0
    for item in items:
        kind = item.__class__
        if kind is int:
            tensor = _at(tensor, dim, item, given_dim)
            given_dim += 1
        elif kind is slice:
            length = tensor.raw.shape[dim]
            if not _is_whole(item, length):
                start, end, step = _bounds(item, length)
                tensor = sliced(tensor, dim=dim, start=start, end=end, step=step)
            dim += 1
            given_dim += 1
        elif item is ...:
            dim += ndim - specified
            given_dim += ndim - specified
        elif item is None:
            tensor = unsqueezed(tensor, dim=dim)
            dim += 1
        elif not item.ndim:
            tensor = unsqueezed(tensor, dim=dim)
            indices.append(viewed(item, size=(1,)))
            places.append(dim)
            dim += 1
        else:
            indices.append(item)
            places.append(dim)
            taken = item.ndim if item.dtype is boolean else 1
            dim += taken
            given_dim += taken
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
    if not item.ndim and dtype.category == int64.category:
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


# ---- assigning


def _assigned(self, value):
    """What is to be assigned, as a tensor: a number, or where the shell's defaults allow it, a list."""
    if isinstance(value, NUMBERS):
        dtype = self.dtype
        if value.__class__ is not float or dtype.category != 2:
            if not isinstance(value, float) and not -(2**63) <= value < 2**63:
                raise fault(ValueError, "Overflow when unpacking long long")
            value = held(value, dtype, names=C_NAMES)
        return wrap(number_raw(value, dtype))
    if getattr(value, "dtype", None) is not None and hasattr(value, "ndim"):
        return make_tensor(value)
    if state.lists and isinstance(value, list | tuple | range):
        return make_tensor(value, dtype=self.dtype)
    kind = type(value)
    name = f"{kind.__module__}.{kind.__name__}" if kind.__module__ == "torch" else kind.__name__
    raise fault(TypeError, f"can't assign a {name} to a {tensor_type(self)}", hint="torch.tensor(…) makes one")


def _without_leading_ones(value):
    shape = value.shape
    first = next((k for k, length in enumerate(shape) if length != 1), len(shape))
    return viewed(value, size=tuple(shape[first:])) if first else value


def _write_part(part, value):
    """Write a value, broadcast, over a view."""
    if not value.ndim and part.ndim:
        fill_with(part, value, ASSIGNMENT)
        return
    if value.shape != part.shape:
        value = _without_leading_ones(value)
        if value.shape != part.shape:
            value = expanded(value, size=expanded_size(value, tuple(part.shape)))
    write(part, value, ASSIGNMENT)


def _fitting(part, value, indices):
    """A value to put at index tensors: of the tensor's type, but for one number behind one mask."""
    single = value.numel() == 1 and len(indices) == 1 and indices[0].dtype is boolean
    if single:
        value = apart(value)
    if value.dtype is not part.dtype:
        if not single:
            raise fault(
                RuntimeError,
                "Index put requires the source and destination dtypes match, got "
                f"{TYPE_NAMES[part.dtype.name]} for the destination and {TYPE_NAMES[value.dtype.name]} for the source.",
            )
        value = to_dtype(value, dtype=part.dtype)
    return _without_leading_ones(value) if value.ndim else value


def put_in(tensor, indices, places, value, what, add=False):
    """Write a value over, or add it to, the parts that index tensors name."""
    from gradsh.backend import arrays

    found = special(tensor, value)
    if found is not None:
        found.__change__(lambda target, part: put_in(target, indices, places, part, what, add), tensor, value)
        return tensor

    tracked = writable(tensor, (value,))
    check_overlap(tensor, value)
    changed = wrap(tensor.raw)
    if tracked:
        operands = (old_value(tensor, kept=False), value, *indices)
        nodes = [operands[0].node, value.current_node(), *[None] * len(indices)]
        settings = {"places": places, "add": add}
        record(OPS["index_put"], operands, tuple([one.raw for one in operands]), nodes, [changed], settings, False)
    key = arrays.key_of(tuple([index.raw for index in indices]), places)
    try:
        if add:
            arrays.add.at(tensor.raw, key, value.raw)
        else:
            tensor.raw[key] = value.raw
    except (IndexError, ValueError) as error:
        raise _misfit(tensor, value, indices, places, error) from None
    record_change(tensor, what)
    if tracked:
        rebase(tensor, changed, changed.node)
    return tensor


def _misfit(tensor, value, indices, places, error):
    """PyTorch's error for index tensors or a value that do not fit."""
    if isinstance(error, ValueError):
        have, want = list(indexed_by_all(wrap(tensor.raw), *indices, places=places).shape), list(value.shape)
        message = f"shape mismatch: value tensor of shape {want} cannot be broadcast to indexing result of shape {have}"
        return fault(RuntimeError, message)
    return explained(error, tensor, *indices, places=places) or error


def delete_item(self, index):
    """`del x[index]`, which tensors have not."""
    raise fault(TypeError, "Tensor does not support deleting items")


def backwards(self):
    """`reversed(x)`."""
    return self.flip(0) if self.ndim else self


bind_operator("__getitem__", get_item)
bind_operator("__setitem__", set_item)
bind_operator("__delitem__", delete_item)
bind_operator("__reversed__", backwards)


# ---- the same by name


def index_list(input, indices):
    """The index tensors of `index_put`."""
    if not isinstance(indices, list | tuple):
        raise Unfit("indices", "tuple of Tensors", indices)
    for place, index in enumerate(indices):
        if not isinstance(index, Tensor):
            raise fault(TypeError, f"expected Tensor as element {place} in argument 0, but got {type(index).__name__}")
    if len(indices) > input.ndim:
        raise fault(IndexError, f"too many indices for tensor of dimension {input.ndim} (got {len(indices)})")
    return _chained(input, tuple(index if index.ndim else viewed(index, size=(1,)) for index in indices))


@function(at=("Tensor",), example="zeros(3).index_put_((tensor([0, 2]),), tensor(1.0))")
def index_put_(self, indices, values, accumulate=False):
    """Write values over, or add them to, the parts that index tensors name."""
    _, indices, places = index_list(self, indices)
    return put_in(self, indices, places, _fitting(self, operand(values, "values"), indices), "index_put_", accumulate)


@function(example="index_put(zeros(3), (tensor([0, 2]),), tensor(1.0))")
def index_put(input, indices, values, accumulate=False):
    """A copy with the parts that index tensors name replaced, or added to."""
    input = operand(input)
    _, indices, places = index_list(input, indices)
    values = _fitting(input, operand(values, "values"), indices)
    try:
        return put(input, values, *indices, places=places, add=bool(accumulate))
    except ValueError as error:
        raise _misfit(input, values, indices, places, error) from None
