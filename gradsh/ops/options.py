"""Arguments that functions making tensors share: shapes, numbers, element type, place and layout."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.create import NUMBERS, dtype_argument
from gradsh.engine.device import check_device
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit

TAIL = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
    "bool requires_grad = False)"
)  # the end of PyTorch's signatures of functions that make tensors


def fits_none():
    """For arguments that none of a function's signatures takes: the error that lists these."""
    return Unfit("", "", None)


class layout:
    """How a tensor lies in memory: `torch.strided` here, always."""

    __slots__ = ("name",)
    __module__ = "torch"

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


class memory_format(layout):
    """The order of a tensor's dimensions in memory; accepted where PyTorch takes one."""

    __slots__ = ()
    __module__ = "torch"


strided = layout("strided")


def options(function, dtype, layout=None, device=None, default=None):
    """The element type that was asked for, or the default one, after a check of place and layout."""
    if layout is not None and layout is not strided:
        raise Unfit("layout", "torch.layout", layout)
    if device is not None:
        check_device(device, function)
    if dtype is None:
        return default or state.default
    return dtype_argument(dtype, function)


def sizes(function, given, size=None, argument="size"):
    """A shape given as one list, as several integers, or as `size=` (or under another name)."""
    if size is not None:
        if given:
            raise fault(TypeError, f"{function}() got multiple values for argument '{argument}'")
        if not isinstance(size, list | tuple):
            raise fault(
                TypeError,
                f"{function}(): argument '{argument}' must be tuple of ints, not {type(size).__name__}",
                hint=f"{argument}=({size},)",
            )
        given = size
    elif not given:
        raise fault(TypeError, f'{function}() missing 1 required positional arguments: "{argument}"')
    listed = size is not None or (len(given) == 1 and isinstance(given[0], list | tuple))
    if listed and size is None:
        given = given[0]
    for value in given:
        if value.__class__ is not int:
            break
    else:
        return tuple(given)
    if not listed and isinstance(given[0], list | tuple):
        raise fault(TypeError, f"{function}() takes 1 positional argument but {len(given)} were given")
    lengths: list[int] = []
    for place, value in enumerate(given):
        length = whole(value)
        if length is None or (place == 0 and isinstance(value, bool)):
            kind = type(value).__name__
            if place:
                error = f"type must be tuple of ints,but got {kind}"
                what = f'failed to unpack the object at pos {place + 1} with error "{error}"'
            elif listed:
                what = f"(position 1) must be tuple of ints, but found element of type {kind} at pos 0"
            else:
                what = f"(position 1) must be tuple of ints, not {kind}"
            hint = f"int({value})" if isinstance(value, float) else None
            raise fault(TypeError, f"{function}(): argument '{argument}' {what}", hint=hint)
        lengths.append(length)
    return tuple(lengths)


def whole(value):
    """An integer of any kind (Python's, numpy's, a tensor of one element) as Python's; None for anything else."""
    if value.__class__ is int:
        return value
    if isinstance(value, Tensor) and (value.dtype.category == FLOATING or value.numel() != 1):
        return None
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        return None


def integer(value, argument):
    """An argument that must be an integer."""
    found = whole(value)
    if found is None or isinstance(value, bool):
        raise Unfit(argument, "int", value)
    return found


def number(value, argument):
    """An argument that must be a number: Python's, or a 0-d tensor for its own."""
    if isinstance(value, NUMBERS):
        return value
    if getattr(value, "ndim", None) == 0:
        return value.item()
    raise Unfit(argument, "Number", value)
