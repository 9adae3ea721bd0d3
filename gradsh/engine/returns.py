"""The named tuples that operations with several outputs return, printed as PyTorch prints them."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.engine.op import Op

_types: dict[tuple[str, tuple[str, ...]], type[Returned]] = {}


class Returned(tuple["Any", ...] if TYPE_CHECKING else tuple):  # type: ignore[misc]
    """Several outputs: a tuple whose items have names."""

    __slots__ = ()
    names: tuple[str, ...] = ()
    label = ""

    def __new__(cls, *values: Any) -> Returned:
        return tuple.__new__(cls, values)

    def __repr__(self) -> str:
        body = ",\n".join(f"{name}={value!r}" for name, value in zip(self.names, self, strict=True))
        return f"torch.return_types.{self.label}(\n{body})"


def named(label: str, names: tuple[str, ...]) -> type[Returned]:
    """The type of the results of `torch.<label>`."""
    found = _types.get((label, names))
    if found is None:
        fields: dict[str, Any] = {name: property(itemgetter(k)) for k, name in enumerate(names)}
        found = type(label, (Returned,), {"__slots__": (), "names": names, "label": label, **fields})
        _types[label, names] = found
    return found


def return_type(op: Op) -> type[Returned]:
    return named(op.returns, op.outputs)
