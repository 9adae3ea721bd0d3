"""Which members of numpy's arrays, scalars and types a program may read, and the class that it sees for arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsh.fault import fault
from gradsh.lang import members
from gradsh.library.outside.arguments import admitted, guarded

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUES = frozenset("shape dtype ndim size T itemsize nbytes flat real imag strides".split())
METHODS = frozenset(
    (
        "all any argmax argmin argpartition argsort astype clip compress conj copy cumprod cumsum diagonal dot fill "
        "flatten item max mean min nonzero partition prod put ravel repeat reshape round searchsorted sort squeeze std sum "
        "swapaxes take tolist trace transpose var is_integer as_integer_ratio"
    ).split()
)
DTYPE = ("name", "kind", "itemsize", "char", "str", "type", "num")


def _repeated(array: Any) -> Any:
    def room(repeats: Any, axis: Any = None) -> Iterable[int]:
        return [array.size, int(np.max(repeats, initial=0))]

    return room


def member(value: Any, name: str) -> Any:
    """An attribute of an array or of a scalar."""
    if name in VALUES:
        return getattr(value, name)
    kind = type(value)
    if name in METHODS and hasattr(value, name):
        return guarded(getattr(value, name), _repeated(value) if name == "repeat" else None)
    label = f"'numpy.{kind.__name__}' object"
    notes = ("gradsh has the part of numpy that computes",) if hasattr(kind, name) else ()
    error = fault(AttributeError, f"{label} has no attribute '{name}'", notes=notes)
    error.name, error.obj = name, value  # type: ignore[attr-defined]
    raise error


class _ArrayType(type):
    def __call__(cls, shape: Any, dtype: Any = float) -> Any:
        return guarded(np.zeros)(admitted(shape), dtype)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.ndarray)

    def __subclasscheck__(cls, kind: type) -> bool:
        return cls is kind or issubclass(kind, np.ndarray)

    def __repr__(cls) -> str:
        return "<class 'numpy.ndarray'>"


class Array(metaclass=_ArrayType):
    """The `numpy.ndarray` of programs: for `isinstance` and `type(x)`; numpy's own would take any memory for its own."""

    def __init_subclass__(cls) -> None:
        raise fault(TypeError, "type 'numpy.ndarray' is not an acceptable base type")


Array.__name__ = Array.__qualname__ = "ndarray"
Array.__module__ = "numpy"


def register() -> None:
    """Tell the language of numpy's types; called once numpy is there."""
    members.policy(np.ndarray, member)
    members.policy(np.generic, member)
    members.allow(np.dtype, DTYPE)
    members.allow(np.finfo, ("eps", "max", "min", "tiny", "resolution", "dtype", "bits", "smallest_normal"))
    members.allow(np.iinfo, ("max", "min", "dtype", "bits"))
    members.SHOWN[np.ndarray] = Array
