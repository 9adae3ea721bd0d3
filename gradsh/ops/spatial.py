"""Arguments of layers that go over the last dimensions: a number for each dimension, inputs with and without a batch."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.ops.calls import Unfit
from gradsh.ops.options import whole
from gradsh.ops.shape import squeezed_at, unsqueezed


def lengths(value, function, argument, position=""):
    """One integer, or several, as a tuple; position is what PyTorch's error says of where the argument stands."""
    if value.__class__ is int:
        return (value,)
    if not isinstance(value, list | tuple):
        found = None if isinstance(value, bool) else whole(value)
        if found is None:
            raise Unfit(argument, "tuple of ints", value)
        return (found,)
    for place, one in enumerate(value):
        if one.__class__ is not int and (whole(one) is None or (isinstance(one, bool) and not place)):
            kind = type(one).__name__
            if not place:
                raise fault(
                    TypeError,
                    f"{function}(): argument '{argument}'{position} must be tuple of ints, but found element of type {kind} at "
                    "pos 0",
                )
            error = f"type must be tuple of ints,but got {kind}"
            what = f'failed to unpack the object at pos {place + 1} with error "{error}"'
            raise fault(TypeError, f"{function}(): argument '{argument}' {what}")
    return tuple([whole(one) for one in value])


def batched(input, dims, function):
    """The input with a batch dimension, and whether it came with one."""
    if input.ndim == dims + 2:
        return input, True
    if input.ndim != dims + 1:
        raise fault(
            RuntimeError,
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {function}, but got input of size: "
            f"{list(input.shape)}",
        )
    return unsqueezed(input, dim=0), False


def unbatched(out):
    """Without the batch dimension that `batched` put in front."""
    return squeezed_at(out, dim=0)
