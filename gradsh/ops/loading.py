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
    Tensor.__getattr__ = _member  # type: ignore[attr-defined]
    parts = index()
    for dunder, file in parts["operators"].items():
        if not is_loaded(file):
            setattr(Tensor, dunder, _operator(dunder, file))
    for name, file in parts["attributes"].items():
        if not is_loaded(file):
            setattr(Tensor, name, _attribute(name, file))


def _find_op(name: str) -> None:
    file = index()["ops"].get(name)
    if file is not None:
        load(file)


def _member(self: Tensor, name: str) -> Any:
    """A method of Tensor whose file is not imported yet."""
    file = index()["Tensor"].get(name)
    if file is None or name in Tensor.__dict__:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
    load(file)
    return getattr(self, name)


def _operator(dunder: str, file: str) -> Any:
    def first(*operands: Any, **settings: Any) -> Any:
        load(file)
        return getattr(Tensor, dunder)(*operands, **settings)

    first.__name__ = dunder
    return first


def _attribute(name: str, file: str) -> Any:
    def read(self: Tensor) -> Any:
        load(file)
        return getattr(self, name)

    def write(self: Tensor, value: Any) -> None:
        load(file)
        setattr(self, name, value)

    return property(read, write)
