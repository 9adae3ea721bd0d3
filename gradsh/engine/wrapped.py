"""What the transforms make of tensors: a tensor around another one, that a level treats in its own way.

An op that meets such an operand is handed to the one of the innermost level (`general_call`); to it, those of other
levels are tensors like any other. So levels nest in any order, and no level sees another one's tangents or examples.
"""

from __future__ import annotations

from gradsh.engine.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gradsh.engine.level import Level
    from gradsh.engine.node import Node
    from gradsh.engine.op import Op

    Change = Callable[[Tensor, Tensor], Any]


class Wrapped(Tensor):
    """A tensor of a level. parts: what it is made of, the inner tensor first and its level last."""

    __slots__ = ()

    @property
    def inner(self) -> Tensor:
        return self.parts[0]  # type: ignore[no-any-return]

    @property
    def level(self) -> Level:
        return self.parts[-1]  # type: ignore[no-any-return]

    def apply(self, op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """An op of which this is an operand, the innermost one. Where its level has ended it stands for the inner one."""
        if self.level.alive:
            return self.transformed(op, operands, settings)
        return op(*(plain(operand) for operand in operands), **settings)

    def transformed(self, op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """The same while the level is in force."""
        raise NotImplementedError

    def change(self, change: Change, tensor: Tensor, value: Tensor, what: str) -> None:
        """An in-place change of a tensor by a value, of which this is the innermost: of the parts of both."""
        if self.level.alive:
            self.changed(change, tensor, value, what)
        else:
            change(plain(tensor), plain(value))

    def changed(self, change: Change, tensor: Tensor, value: Tensor, what: str) -> None:
        """The same while the level is in force."""
        raise NotImplementedError

    def old(self) -> Tensor:
        """What stands for this tensor in an operation that changes it."""
        raise NotImplementedError

    def detached(self, detach: Callable[[Tensor], Tensor]) -> Tensor:
        """Another handle on the same memory, without a history."""
        raise NotImplementedError


def plain(value: Any) -> Any:
    """A tensor without the levels that have ended."""
    while isinstance(value, Wrapped) and not value.level.alive:
        value = value.inner
    return value


def innermost(values: Iterable[Any]) -> Wrapped | None:
    """Of some values the tensor of the innermost level, or None where none is of a level."""
    found: Wrapped | None = None
    for value in values:
        if isinstance(value, Wrapped) and (found is None or value.level.number > found.level.number):
            found = value
    return found


def parts(tensor: Tensor) -> list[Tensor]:
    """The plain tensors that a tensor is made of."""
    if not isinstance(tensor, Wrapped):
        return [tensor]
    return [part for one in tensor.parts[:-1] for part in parts(one)]


def numbers_of(value: Any) -> Any:
    """The raw numbers of a tensor (or the raw value itself), under `vmap` those of all examples: for checks of them all."""
    while isinstance(value, Wrapped):
        value = value.inner
    return value.raw if isinstance(value, Tensor) else value


def history(tensor: Tensor) -> Node | None:
    """The node behind a tensor, whatever levels it is of."""
    while isinstance(tensor, Wrapped):
        tensor = tensor.inner
    return tensor.current_node()
