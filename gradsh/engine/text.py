"""How tensors are written: PyTorch's `repr`, character for character.

The layout follows `torch/_tensor_str.py`: one format is chosen for all the numbers shown, so that
they line up, and what does not fit is summarised. Anything with `shape`, `take`, `ravel` and
`tolist` can be written; a Python number stands for a tensor without dimensions.
"""

from __future__ import annotations

from math import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": 80},
}


class PrintOptions:
    """The settings of `torch.set_printoptions`.

    `threshold` is the largest number of elements written in full, `edgeitems` how many are left at
    either end of a dimension above it; `sci_mode` None lets the numbers decide.
    """

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    precision: int
    threshold: float
    edgeitems: int
    linewidth: int
    sci_mode: bool | None

    def __init__(self) -> None:
        self.set(profile="default")

    def set(
        self,
        precision: int | None = None,
        threshold: float | None = None,
        edgeitems: int | None = None,
        linewidth: int | None = None,
        profile: str | None = None,
        sci_mode: bool | None = None,
    ) -> None:
        """Change what is given, after taking a whole profile; `sci_mode` is reset by every call, as in PyTorch."""
        given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
        chosen = {name: value for name, value in given.items() if value is not None}
        for name, value in (PROFILES.get(profile or "", {}) | chosen).items():
            setattr(self, name, value)
        self.sci_mode = sci_mode

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, as `torch.get_printoptions` gives them; `set(**d)` restores them."""
        return {name: getattr(self, name) for name in ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")}


def tensor_text(
    raw: Any,
    *,
    dtype_name: str,
    default_dtype: str,
    options: PrintOptions,
    suffixes: Iterable[str] = (),
    prefix: str = "tensor(",
) -> str:
    """The text of one tensor: numbers, then `size=`, `dtype=` where PyTorch shows them, then `suffixes`.

    `default_dtype` is the floating dtype in force, the one that goes without saying.
    """
    shape: tuple[int, ...] = getattr(raw, "shape", ())
    empty = 0 in shape
    notes: list[str] = []
    if (empty and len(shape) != 1) or not (empty or options.edgeitems):
        notes.append(f"size={shape}")
    if dtype_name != default_dtype and (empty or dtype_name not in ("int64", "bool")):
        notes.append(f"dtype=torch.{dtype_name}")
    notes.extend(suffixes)
    return _with_notes(prefix + contents_text(raw, options, len(prefix)), notes, len(prefix), options.linewidth)


def contents_text(raw: Any, options: PrintOptions, indent: int) -> str:
    """The nested brackets alone, for text that starts in column `indent`."""
    shape: tuple[int, ...] = getattr(raw, "shape", ())
    if 0 in shape:
        return "[]"
    if not shape:
        texts, width = _texts([raw.item() if hasattr(raw, "item") else raw], options)
        return texts[0].rjust(width)
    edge = options.edgeitems
    summarised = prod(shape) > options.threshold
    if summarised and not edge:
        return "[...]"
    cut = [summarised and length > 2 * edge for length in shape]
    for axis, length in enumerate(shape):
        if cut[axis]:
            raw = raw.take([*range(edge), *range(length - edge, length)], axis=axis)
    texts, width = _texts(raw.ravel().tolist(), options)
    items = [text.rjust(width) for text in texts]
    last = len(shape) - 1
    for axis in range(last, -1, -1):
        per_line = max(1, (options.linewidth - indent - last) // (width + 2)) if axis == last else 1
        line_break = "," + "\n" * max(1, last - axis) + " " * (indent + axis + 1)
        groups = [items[start : start + raw.shape[axis]] for start in range(0, len(items), raw.shape[axis])]
        if cut[axis]:
            gap = " ..." if axis == last else "..."
            groups = [[*group[:edge], gap, *group[edge:]] for group in groups]
        items = [_bracketed(group, per_line, line_break) for group in groups]
    return items[0]


def _bracketed(items: list[str], per_line: int, line_break: str) -> str:
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return "[" + line_break.join(lines) + "]"


def _texts(values: list[Any], options: PrintOptions) -> tuple[list[str], int]:
    """The numbers in the one format that suits them all, and the width that lines them up.

    Zeros, infinities and nans have no say in either, as in PyTorch; so they may stick out.
    """
    if not isinstance(values[0], float):
        texts = [str(value) for value in values]
        return texts, max(map(len, texts))
    telling = [value for value in values if value and value - value == 0.0]
    whole = all(map(float.is_integer, telling))
    scientific = bool(telling) and (
        _scientific([abs(value) for value in telling]) if options.sci_mode is None else bool(options.sci_mode)
    )
    if scientific:
        form = f"{{:.{options.precision}e}}".format
    elif whole:
        form = "{:.0f}.".format
    else:
        form = f"{{:.{options.precision}f}}".format
    width = max(map(len, map(form, telling)), default=1)
    texts = [form(value) for value in values]
    if whole and not scientific and len(telling) < len(values):
        texts = [text if value - value == 0.0 else text[:-1] for text, value in zip(texts, values, strict=True)]
    return texts, width


def _scientific(magnitudes: list[float]) -> bool:
    """Whether numbers of these magnitudes are too far apart, too large or too small to write plainly."""
    smallest, largest = min(magnitudes), max(magnitudes)
    return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4


def _with_notes(text: str, notes: list[str], indent: int, linewidth: int) -> str:
    """The text closed by `, note` for each note, a new line begun where one would pass the line's width."""
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for note in notes:
        if length + len(note) + 2 > linewidth:
            parts.append(",\n" + " " * indent + note)
            length = indent + len(note)
        else:
            parts.append(", " + note)
            length += len(note) + 2
    return "".join(parts) + ")"
