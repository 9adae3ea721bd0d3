"""Gradients that are nan because 0 met an infinite slope: noticed without asking any number, and said where they were born.

A nan comes from an invalid operation, which the processor notes and numpy tells of (`noticed`), or from data (`watch`).
Until then nothing here runs. In a pass, the node that is at work when that happens is remembered; a pass that begins
after it looks at every gradient. Only if a nan arrives where the pass ends is there a warning.
"""

from __future__ import annotations

import sys

from gradsh.engine.node import Node, OpNode, operation_name
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import Details

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import CodeType
    from typing import Any

INFINITY = float("inf")
DIVIDE, INVALID = 1, 8  # numpy's names for what the processor noted (ufuncobject.h: UFUNC_FPE_…)

# Ops that leave some of an operand's numbers out: what those get back is 0.
MASKS = {
    "where",
    "masked_fill",
    "masked_fill_number",
    "indexed",
    "masked_select",
    "nan_to_num",
    "select",
    "index_select",
}
PRODUCTS = {"mul"}

# What programs call ops that have other names here.
CALLED = {
    "masked_fill_number": "masked_fill", "indexed": "an index", "select": "an index", "mul": "a product", "div": "a division",
    "rdiv": "a division",
}  # fmt: skip
ZERO = "gradient is nan: {} has no finite slope at a value that {} leaves out, and 0 times that is nan"
STEEP = "gradient is nan: {} is infinitely steep here, and that meets a slope of 0 further on"


class GradientWarning(RuntimeWarning):
    """A gradient that is nan for a reason that was hardly meant.

    at, mask: (code object, instruction offset) of the op whose slope is not finite, and of the one that leaves its value
    out, None where there is none. op, mask_op: their names in the registry. operand: which operand of the op is to blame,
    None where the op tells. side: which operand of the mask it comes in by.
    """

    def __init__(self, message: str, node: Node, operand: int | None, mask: Node | None, side: int) -> None:
        super().__init__(message)
        self.op = None if node.op is None else node.op.name
        self.mask_op = None if mask is None or mask.op is None else mask.op.name
        self.at = node.code, node.lasti
        self.mask = None if mask is None else (mask.code, mask.lasti)
        self.operand, self.side = operand, side
        self.details = Details(notes=("PyTorch's gradient is nan here too",))


class Suspicion:
    """That a gradient may be nan.

    careful: the pass under way looks at every gradient. zero: the first node where a nan was born from an incoming 0, with
    the node that its slope comes from and the operand. steep: the first that passed on an infinite gradient which had come
    in finite. infinite, other: whether a nan was born from an infinite one, and otherwise.
    """

    __slots__ = ("careful", "infinite", "other", "steep", "zero")

    def __init__(self) -> None:
        self.careful = self.infinite = self.other = False
        self.zero: tuple[Node, Node, int | None] | None = None
        self.steep: Node | None = None

    def born(self, node: Node, zero: bool, infinite: bool) -> None:
        """A nan was born at a node from an incoming 0, an infinite gradient, or neither."""
        if zero:
            if self.zero is None:
                self.zero = (node, *_source(node))
        elif infinite:
            self.infinite = True
        else:
            self.other = True

    def blamed(self) -> bool:
        """Whether it is known why a gradient is nan: Python's own numbers go from infinite to nan without a word."""
        return self.zero is not None or (self.steep is not None and (self.infinite or not self.other))


def watch() -> Suspicion:
    """Have the next passes look at every gradient."""
    found: Suspicion = state.suspicion or Suspicion()
    state.suspicion = found
    return found


def watch_data(raw: Any) -> None:
    """The same, where data hold a nan."""
    if raw.__class__ is not float:
        if raw.dtype.kind != "f":
            return
        from gradsh.backend.arrays import total

        raw = total(raw)
    if raw != raw:
        watch()


def noticed(kind: str, flag: int) -> None:
    """What numpy calls when the processor has noted a division by 0, an overflow or an invalid operation."""
    suspicion = watch()
    if not state.backward_depth or suspicion.careful:
        return
    from gradsh.engine.backward import walk

    frame = sys._getframe(1)
    while frame.f_code is not walk.__code__:
        if frame.f_back is None:
            return
        frame = frame.f_back
    node, g = frame.f_locals.get("node"), frame.f_locals.get("g")
    if not isinstance(node, Node):
        return
    came = _arrays(g)
    infinite = any((abs(raw) == INFINITY).any() for raw in came)
    if flag & INVALID:
        suspicion.born(node, any((raw == 0).any() for raw in came), infinite)
    elif flag & DIVIDE and suspicion.steep is None and not infinite:
        suspicion.steep = node


def observe(node: Node, g: Any, given: Sequence[Any]) -> None:
    """Look at what a node makes of a gradient, in a pass that is careful."""
    suspicion = state.suspicion
    if suspicion is None:
        return
    came = _arrays(g)
    if any((raw != raw).any() for raw in came):
        return
    infinite = any((abs(raw) == INFINITY).any() for raw in came)
    for raw in _arrays(given):
        nan = raw != raw
        if nan.any():
            there = [one[nan] if one.shape == raw.shape else one for one in came]
            zero = any((one == 0).any() for one in there)
            suspicion.born(node, zero, any((abs(one) == INFINITY).any() for one in there))
        if suspicion.steep is None and not infinite and (abs(raw) == INFINITY).any():
            suspicion.steep = node


def judge(roots: Iterable[Node], arrived: Iterable[Any], keep: bool) -> None:
    """At the end of a pass: warn if a nan has arrived and it is known where it was born. keep: the graph may be used again."""
    suspicion, state.suspicion = state.suspicion, Suspicion() if keep else None
    if suspicion is None or not suspicion.blamed():
        return
    if not any((raw != raw).any() for raw in _arrays(tuple(arrived))):
        return
    if suspicion.zero is not None:
        born, node, operand = suspicion.zero
        mask, side = _mask_after(born, roots)
        if mask is not None and (mask.code, mask.lasti) == (node.code, node.lasti):
            return  # parts of one operation of the program
        what = "the rest" if mask is None else _name(mask)
        warning = GradientWarning(ZERO.format(_name(node), what), node, operand, mask, side)
    else:
        assert suspicion.steep is not None
        warning = GradientWarning(STEEP.format(_name(suspicion.steep)), suspicion.steep, None, None, 0)
    _raise(warning)


def _name(node: Node) -> str:
    """What a program calls an operation."""
    name = "" if node.op is None else node.op.name
    return CALLED.get(name) or operation_name(node).lower()


def _source(node: Node) -> tuple[Node, int | None]:
    """The op that a slope which is not finite comes from: where its operands are finite, or are no results of ops.

    Also which of its operands is not finite, None where all are, or it keeps none. Ops that keep nothing have no slope of
    their own.
    """
    while isinstance(node, OpNode):
        operands = list(zip(node.op.rules, node.parents(), strict=False))
        guilty = [
            k for k, (name, _) in enumerate(operands) if name in node.kind.fields and _boundless(node.saved(name))
        ]
        if not guilty and "out" in node.kind.fields and _boundless(node.saved("out"), nan=True):
            guilty = [
                k for k, (_, parent) in enumerate(operands) if isinstance(parent, OpNode) and _keeps_boundless(parent)
            ]
        if not guilty:
            return node, None
        parent = operands[guilty[0]][1]
        if not isinstance(parent, OpNode) or not parent.kind.saves:
            return node, guilty[0]
        node = parent
    return node, None


def _keeps_boundless(node: OpNode) -> bool:
    return any(_boundless(node.saved(name)) for name in node.kind.saves if name in node.kind.fields)


def _boundless(saved: Any, nan: bool = False) -> bool:
    """Whether there is an infinite number or a nan in a saved value; a nan only, if so wanted."""
    if not isinstance(saved, Tensor) and not hasattr(saved, "dtype") and saved.__class__ is not float:
        return False
    return any((raw != raw).any() if nan else not (abs(raw) < INFINITY).all() for raw in _arrays(saved))


def _raise(warning: GradientWarning) -> None:
    """Have Python's `warnings` show it, as something that the line of the op said: once, and as the filters have it."""
    from warnings import warn_explicit

    code, lasti = warning.at
    frame = sys._getframe(1)
    while code is not None and frame.f_code.co_filename != code.co_filename and frame.f_back is not None:
        frame = frame.f_back
    found = frame.f_globals.setdefault("__warningregistry__", {}) if code is not None else None
    warn_explicit(
        warning, RuntimeWarning, "gradsh" if code is None else code.co_filename, _line(code, lasti), registry=found
    )


def _line(code: CodeType | None, lasti: int) -> int:
    if code is None:
        return 0
    return list(code.co_positions())[lasti // 2][0] or code.co_firstlineno


def _mask_after(node: Node, roots: Iterable[Node]) -> tuple[Node | None, int]:
    """The nearest op after a node that leaves numbers out, and which of its operands leads there."""
    from gradsh.engine.backward import reachable

    users: dict[int, list[tuple[Node, int]]] = {}
    for user in reachable(roots):
        for place, parent in enumerate(user.parents()):
            if parent is not None:
                users.setdefault(id(parent), []).append((user, place))
    product: tuple[Node | None, int] = None, 0
    seen = {id(node)}
    waiting = [node]
    for one in waiting:  # which grows: the nearest first
        for user, place in users.get(id(one), ()):
            name = user.op.name if isinstance(user, OpNode) else ""
            if name in MASKS:
                return user, place
            if name in PRODUCTS and product[0] is None:
                product = user, place
            if id(user) not in seen:
                seen.add(id(user))
                waiting.append(user)
    return product


def _arrays(g: Any) -> list[Any]:
    """The arrays in what a node gets or gives: one, several by number, tensors or raw values; those of floats only."""
    from gradsh.backend import arrays

    parts = g.values() if g.__class__ is dict else g if g.__class__ in (tuple, list) else (g,)
    found = (arrays.asarray(_raw(part)) for part in parts if part is not None)
    return [raw for raw in found if raw.dtype.kind == "f"]


def _raw(value: Any) -> Any:
    while isinstance(value, Wrapped):
        value = value.inner
    return value.raw if isinstance(value, Tensor) else value
