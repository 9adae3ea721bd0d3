"""`x[…] = value`, and the same by name."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.alias import TYPE_NAMES, record_change, tensor_type
from gradsh.engine.captures import ASSIGNMENT
from gradsh.engine.create import C_NAMES, NUMBERS, held, tensor as make_tensor
from gradsh.engine.inplace import check_overlap, inplace, old_value, rebase, special, writable
from gradsh.engine.op import OPS
from gradsh.engine.promote import record
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, number_raw, wrap
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import apart, fill_with, write
from gradsh.ops.expanding import expanded, expanded_size
from gradsh.ops.index_tensors import explained, indexed_by_all, put
from gradsh.ops.indexing import INTEGER, chained
from gradsh.ops.registry import bind_operator, function
from gradsh.ops.shape import unsqueezed, viewed
from gradsh.ops.structure import to_dtype

SINGLE_RANGE = 3.4e38  # beyond it a number needs a closer look before it becomes a float32


def set_item(self, index, value):
    """`x[index] = value`."""
    if _set_at_once(self, index, value):
        return
    if not isinstance(value, Tensor):
        value = _assigned(self, value)
    if index is True or index is False:  # the whole, or nothing
        if index:
            _write_part(unsqueezed(self, dim=0), value)
        return
    part, indices, places = chained(self, index)
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
    if self.__class__ is not Tensor or state.levels or raw.__class__ is float or not raw.flags.c_contiguous:
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
        elif kind is not float or (raw.dtype.char == "f" and not abs(value) < SINGLE_RANGE):
            return False
        raw[index] = value
    except IndexError:
        return False
    record_change(self, ASSIGNMENT)
    return True


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

    if special(tensor, value, *indices) is not None:
        return inplace(put, tensor, value, *indices, places=places, add=add, what="index_put_")
    tracked = writable(tensor, (value,), "index_put_")
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
    except (IndexError, TypeError, ValueError) as error:
        raise _misfit(tensor, value, indices, places, error) from None
    record_change(tensor, what)
    if tracked:
        rebase(tensor, changed, changed.node)
    return tensor


def _misfit(tensor, value, indices, places, error):
    """PyTorch's error for index tensors or a value that do not fit."""
    if not isinstance(error, IndexError):
        have, want = list(indexed_by_all(wrap(tensor.raw), *indices, places=places).shape), list(value.shape)
        message = f"shape mismatch: value tensor of shape {want} cannot be broadcast to indexing result of shape {have}"
        return fault(RuntimeError, message)
    return explained(error, tensor, *indices, places=places) or error


def delete_item(self, index):
    """`del x[index]`, which tensors have not."""
    raise fault(TypeError, "Tensor does not support deleting items")


bind_operator("__setitem__", set_item)
bind_operator("__delitem__", delete_item)


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
    return chained(input, tuple(index if index.ndim else viewed(index, size=(1,)) for index in indices))


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
    except (TypeError, ValueError) as error:
        raise _misfit(input, values, indices, places, error) from None
