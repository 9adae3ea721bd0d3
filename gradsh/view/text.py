"""Short texts for values inside a line of a table or a tree."""

from __future__ import annotations

from gradsh.engine.tensor import Tensor, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def number(value: float | int | bool) -> str:
    """A number as it is written inside a line: all digits where few, else six that count."""
    if isinstance(value, bool | int):
        return str(value)
    exact = repr(value)
    if len(exact) <= 8:
        return exact
    brief = f"{value:.6g}"
    return brief if "." in brief or "e" in brief else f"{brief}.0"


def short(raw: Any, most: int = 6) -> str:
    """A raw value in one short line: `15.0`, `[1.0, 2.0]`, `[0.1, 0.2, …, 0.9]`."""
    if isinstance(raw, Tensor):
        raw = raw.raw
    if raw is None:
        return "None"
    if raw.__class__ is float:
        return number(raw)
    if not raw.ndim:
        return number(raw.item())
    if raw.size <= most:
        return _nested(raw.tolist())
    flat = raw.reshape(-1)
    ends = [number(flat[k].item()) for k in (0, 1, -1)]
    return f"[{ends[0]}, {ends[1]}, …, {ends[2]}]"


def _nested(values: Any) -> str:
    return "[" + ", ".join(_nested(value) if isinstance(value, list) else number(value) for value in values) + "]"


def shape_text(shape: Any) -> str:
    """A shape as Python writes a tuple; nothing for a single number."""
    return "" if not tuple(shape) else str(tuple(shape))


def full(value: Tensor) -> str:
    """A tensor as the answer of a command: a single number as Python writes it, else as PyTorch prints it."""
    if not value.ndim:
        return repr(value.item())
    return repr(wrap(value.raw))


def kind_of(value: Any) -> str:
    """What a value is, in two words: `tensor float64 (2, 3)`, `function`, `int`."""
    if isinstance(value, Tensor):
        return " ".join(
            part for part in (type(value).__name__.lower(), value.dtype.name, shape_text(value.shape)) if part
        )
    return type(value).__name__
