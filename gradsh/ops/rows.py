"""Lists with the shell's defaults: arithmetic that Python has no meaning for treats them as tensors."""

from __future__ import annotations

from gradsh.engine.create import tensor
from gradsh.engine.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Row(list["Any"] if TYPE_CHECKING else list):  # type: ignore[misc]
    """A list display of a program: `[1, 2] * 2` and `[1] + [2]` are Python's, `[1, 2] * 0.5` and `[1, 2] - 1` tensors."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return Row(list.__add__(self, other)) if isinstance(other, list) else tensor(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + tensor(self)

    def __mul__(self, other: Any) -> Any:
        return Row(list.__mul__(self, other)) if isinstance(other, int) else tensor(self) * _operand(other)

    def __rmul__(self, other: Any) -> Any:
        return Row(list.__mul__(self, other)) if isinstance(other, int) else _operand(other) * tensor(self)

    def __neg__(self) -> Any:
        return -tensor(self)

    def __pos__(self) -> Any:
        return tensor(self)


Row.__name__ = Row.__qualname__ = "list"
Row.__module__ = "builtins"


def _operand(value: Any) -> Any:
    return tensor(value) if isinstance(value, list) else value


def _binary(operator: Callable[[Any, Any], Any]) -> tuple[Callable[[Row, Any], Any], Callable[[Row, Any], Any]]:
    """An operator that Python gives lists no meaning for, and the same reflected."""

    def forward(self: Row, other: Any) -> Any:
        return operator(tensor(self), _operand(other)) if _is_operand(other) else NotImplemented

    def reflected(self: Row, other: Any) -> Any:
        return operator(_operand(other), tensor(self)) if _is_operand(other) else NotImplemented

    return forward, reflected


def _is_operand(value: Any) -> bool:
    return isinstance(value, int | float | list)  # a tensor's own operators take lists


def _bind() -> None:
    import operator

    for name in ("sub", "truediv", "floordiv", "mod", "pow", "matmul"):
        forward, reflected = _binary(getattr(operator, name))
        setattr(Row, f"__{name}__", forward)
        setattr(Row, f"__r{name}__", reflected)


_bind()


def caret(a: Any, b: Any) -> Any:
    """`a ^ b` with the shell's defaults: exclusive or between bool and int tensors, else a power."""
    whole = all(value.dtype.category < 2 if isinstance(value, Tensor) else isinstance(value, int) for value in (a, b))
    return a ^ b if whole else a**b
