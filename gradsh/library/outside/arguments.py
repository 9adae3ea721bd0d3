"""What programs may hand to numpy: numbers, texts, arrays, tensors, and lists of them; nothing that answers for itself.

numpy asks an object that it does not know for its memory (`__array_interface__`), so it never sees one of a program's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsh.backend.dtypes import DType
from gradsh.backend.memory import SMALL, machine_memory
from gradsh.engine.tensor import Tensor
from gradsh.fault import blamed, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Room = Callable[..., Iterable[int] | None]

NUMBERS = frozenset((int, float, bool))
PLAIN = NUMBERS | {type(None), np.ndarray, Tensor, slice, type(...), range}
TYPES = (int, float, bool, str)
DEEPEST = 64  # the dimensions that numpy's arrays can have
# Element types whose texts are long: one element would take the memory of thousands.
LONG_TEXT = re.compile(r"[<>=|]?[USVa]\d{5,}|.*[USVa]\d{6,}")


def admitted(value: Any, depth: int = DEEPEST) -> Any:
    """The value as numpy may see it, or a TypeError."""
    kind = value.__class__
    if kind in PLAIN:
        return value
    if kind is str:
        if LONG_TEXT.fullmatch(value):
            raise fault(TypeError, f"data type {value!r} not understood")
        return value
    if isinstance(value, list | tuple):
        if not depth:
            raise fault(ValueError, f"arrays have at most {DEEPEST} dimensions")
        if (kind is list or kind is tuple) and {*map(type, value)} <= NUMBERS:
            return value
        made = [item if item.__class__ is str else admitted(item, depth - 1) for item in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, np.ndarray | np.generic | np.dtype | Tensor):
        return value
    if isinstance(value, type) and (value in TYPES or issubclass(value, np.generic)):
        return value
    if isinstance(value, str | int | float):
        return next(base(value) for base in TYPES if isinstance(value, base))
    if kind is DType:
        raise fault(TypeError, f"Cannot interpret '{value}' as a data type", hint=f"np.{value.name}")
    raise fault(
        TypeError,
        f"numpy's arrays hold numbers and texts here, not {kind.__name__}",
        hint="list(…)" if hasattr(kind, "__iter__") else None,
    )


def guarded(function: Callable[..., Any], room: Room | None = None) -> Callable[..., Any]:
    """A function of numpy's for programs. room: says the shape that a call's result will have, asked before it is made."""

    def call(*args: Any, **settings: Any) -> Any:
        args = tuple([value if value.__class__ in PLAIN else admitted(value) for value in args])
        for name, value in settings.items():
            if value.__class__ not in PLAIN:
                settings[name] = admitted(value)
        try:
            if room is not None:
                check_room(room(*args, **settings))
            return function(*args, **settings)
        except Exception as error:
            raise blamed(error)  # noqa: B904  (it is the same exception)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", "function")
    call.__doc__ = function.__doc__
    return call


def check_room(shape: Iterable[int] | None) -> None:
    """numpy's error for an array that this machine cannot hold."""
    if shape is None:
        return
    lengths = tuple(shape)
    size = 8
    for length in lengths:
        size *= max(length, 0)
    if size > SMALL and size > machine_memory():
        amount, unit = float(size), "B"
        for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
            if amount >= 1024:
                amount, unit = amount / 1024, larger
        raise fault(
            MemoryError,
            f"Unable to allocate {amount:.3g} {unit} for an array with shape {lengths} and data type float64",
        )
