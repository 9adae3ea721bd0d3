"""Ties Tensor and the engine to the files of ops: what is not there yet is imported when it is asked for."""

from __future__ import annotations

from gradsh.engine.op import OPS
from gradsh.engine.tensor import Tensor
from gradsh.ops.index import index, is_loaded, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def bind() -> None:
    """Let methods, attributes and operators of Tensor, and ops by their name, import their files."""
    OPS.find = _find_op
    parts = index()
    for name, file in parts["Tensor"].items():
        if not is_loaded(file):
            setattr(Tensor, name, Unloaded(name, file))
    for dunder, file in parts["operators"].items():
        if not is_loaded(file):
            setattr(Tensor, dunder, _operator(dunder, file))


def _find_op(name: str) -> None:
    file = index()["ops"].get(name)
    if file is not None:
        load(file)


class Unloaded:
    """Stands for a method or attribute of Tensor until it is asked for: its file then puts the real one in its place.

    A `__getattr__` on Tensor would do the same and cost every access to a tensor's fields.
    """

    __slots__ = ("file", "name")

    def __init__(self, name: str, file: str) -> None:
        self.name, self.file = name, file

    def __get__(self, tensor: Tensor | None, kind: type[Tensor]) -> Any:
        load(self.file)
        return getattr(kind if tensor is None else tensor, self.name)

    def __set__(self, tensor: Tensor, value: Any) -> None:
        load(self.file)
        setattr(tensor, self.name, value)


def _operator(dunder: str, file: str) -> Any:
    def first(*operands: Any, **settings: Any) -> Any:
        load(file)
        return getattr(Tensor, dunder)(*operands, **settings)

    first.__name__ = dunder
    return first
