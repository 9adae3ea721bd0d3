"""Reverse mode for the transforms: what a function is differentiated by, and passes through tensors of any levels.

All levels record on one graph, that of the plain tensors inside. Reverse mode over examples is reverse mode on the
tensors of all of them, since no example enters into another's result; reverse mode over a tangent is two passes, for
the derivative of a gradient along the tangent is the gradient of what came out as tangent. Cotangents of a level that
began after the graph was made (`vmap` of a pass, say) go through the pass as they are: the rules are applied to them.
"""

from __future__ import annotations

from gradsh.engine.alias import Alias
from gradsh.engine.arrival import Relay
from gradsh.engine.batched import Batched, batched, of_all, spread, zeros_like
from gradsh.engine.forward import Dual, dual, split
from gradsh.engine.level import VMAP, levels
from gradsh.engine.node import AccumulateGrad, Kind, OpNode
from gradsh.engine.state import tick
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.wrapped import Wrapped, innermost, parts, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gradsh.engine.level import Level
    from gradsh.engine.node import Released


class Handle(Relay, AccumulateGrad):
    """A leaf to the transform that made it: what comes goes on to the tensor that it stands for, if that has a history."""

    __slots__ = ()

    def run(self, g: Any, mark: Released | None = None) -> None:
        self.g = None
        if self.p is not None:
            super().run(g)

    def run_recorded(self, g: Any) -> None:
        if self.p is not None:
            super().run_recorded(g)

    def operand_count(self) -> int:
        return 1


def handle(tensor: Tensor, record: bool = False, kept: bool = False, inside: int | None = None) -> Tensor:
    """A tensor of the same numbers to differentiate by, of every `vmap` in force, each example by itself.

    record: derivatives go on to what the tensor was computed from. kept: it is still used when the transform has ended,
    so that changes of the memory in place are to be noticed. inside: only of the vmaps that this level lies in.
    """
    within = [level for level in levels(VMAP) if inside is None or level.number < inside]
    return _handle(plain(tensor), within, record, kept)


def _handle(tensor: Tensor, within: list[Level], record: bool, kept: bool) -> Tensor:
    """The same for the vmaps that remain; a tangent stays what it is, its tensor gets the examples that it lacks."""
    number = tensor.level.number if isinstance(tensor, Wrapped) else 0
    for level in within:
        if level.number > number:
            tensor = batched(spread(tensor, level.size), level)
    if isinstance(tensor, Wrapped):
        number = tensor.level.number
        inner = _handle(tensor.inner, [level for level in within if level.number < number], record, kept)
        return dual(inner, tensor.tangent, tensor.level) if isinstance(tensor, Dual) else batched(inner, tensor.level)
    made = wrap(tensor.raw)
    if kept and tensor.raw.__class__ is not float:
        made.extra = Alias.detached(tensor)
    made.node = Handle(tick(), made)
    made.node.p = tensor.current_node() if record else None
    return made


def pull(
    outs: Sequence[Tensor], ins: Sequence[Tensor], cotangents: Sequence[Tensor], create: bool, keep: bool = True
) -> list[Tensor | None]:
    """The gradients of inputs, from those of the outputs; None where an input had no part in any of them.

    The three may be of any levels. create: the pass is recorded itself. keep: the graph is for further passes too.
    """
    outs, ins, cotangents = ([plain(one) for one in values] for values in (outs, ins, cotangents))
    top = innermost((*outs, *ins))
    if top is None:
        return _pulled(outs, ins, cotangents, create, keep)
    level = top.level
    if isinstance(top, Batched):
        outs, ins, cotangents = ([of_all(one, level) for one in values] for values in (outs, ins, cotangents))
        found = pull(outs, ins, cotangents, create, keep)
        return [None if value is None else batched(value, level) for value in found]
    primals = [split(one, level)[0] for one in ins]
    pairs = [(split(out, level), split(cotangent, level)) for out, cotangent in zip(outs, cotangents)]
    found = pull([out for (out, _), _ in pairs], primals, [one for _, (one, _) in pairs], create, keep=True)
    seeds = [(moved, one) for (_, moved), (one, _) in pairs if moved is not None]
    seeds += [(out, one) for (out, _), (_, one) in pairs if one is not None]
    tangents = pull([out for out, _ in seeds], primals, [one for _, one in seeds], create, keep)
    return [
        value if tangent is None else dual(zeros_like(tangent) if value is None else value, tangent, level)
        for value, tangent in zip(found, tangents)
    ]


def _pulled(
    outs: Sequence[Tensor], ins: Sequence[Tensor], cotangents: Sequence[Tensor], create: bool, keep: bool
) -> list[Tensor | None]:
    """The same where outputs and inputs are plain tensors."""
    from gradsh.engine.backward import gradients

    pairs = [(out, cotangent) for out, cotangent in zip(outs, cotangents) if out.current_node() is not None]
    if not pairs:
        return [None] * len(ins)
    return gradients([out for out, _ in pairs], list(ins), [cotangent for _, cotangent in pairs], keep, create)


def reaches_outside(tensors: Iterable[Tensor], start: int) -> bool:
    """Whether tensors depend on anything with a history but what a transform made itself, by the clock at its start.

    Only then can its result have a derivative outside.
    """
    stack = [part.current_node() for tensor in tensors for part in parts(tensor)]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.seq < start or node.__class__ is AccumulateGrad:
            return True
        stack.append(node.q)
        stack.append(node.p)
        if node.more is not None:
            stack += node.more
    return False


_lasting: dict[Kind, Kind] = {}


def make_lasting(tensors: Iterable[Tensor], start: int) -> None:
    """Have what lies behind tensors and was made since the clock at a transform's start keep its saved values.

    To PyTorch the graphs inside and outside are two; a pass outside must leave the pullback what it needs.
    """
    stack = [part.current_node() for tensor in tensors for part in parts(tensor)]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is None or node.seq < start or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, OpNode):
            node.kind = _lasting.get(node.kind) or _made_lasting(node.kind)
        stack += [node.p, node.q, *(node.more or ())]


def _made_lasting(kind: Kind) -> Kind:
    def run(node: OpNode, g: Any, mark: Released | None) -> None:
        kind.run(node, g, None)

    made = _lasting[kind] = kind.varied(run=run, release=lambda node, mark: None)
    _lasting[made] = made
    return made


def unlinked(tensor: Tensor, start: int) -> Tensor:
    """The tensor without what was recorded since the clock at a transform's start; itself where that is nothing."""
    if isinstance(tensor, Dual):
        return dual(unlinked(tensor.primal, start), unlinked(tensor.tangent, start), tensor.level)
    if isinstance(tensor, Batched):
        return batched(unlinked(tensor.inner, start), tensor.level)
    node = tensor.current_node()
    return tensor if node is None or node.seq < start else wrap(tensor.raw)
