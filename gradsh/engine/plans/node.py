"""The one node that a plan makes in the graph, and how it is taken apart into the nodes of its operations.

Who asks for a single operation (its node's name, a hook, a recorded pass, a picture of the graph) gets it: the operations
are applied again one by one, on the numbers that were saved, and the plan's node passes on to their nodes.
"""

from __future__ import annotations

from gradsh.engine.generate import PLACES
from gradsh.engine.node import PENDING, Node, OpNode, Output, Released
from gradsh.engine.runtime import accumulate
from gradsh.engine.state import head, state
from gradsh.engine.undefined import Suspicion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.engine.plans.plan import Plan


class PlanNode(Node):
    """The operations of a plan as one node. Its parents, in `more`, are the nodes of the inputs that have one.

    inputs: what the plan was run on. numbers: what its backward pass needs of what was computed. real: the nodes of the
    results, once taken apart.
    """

    __slots__ = ("inputs", "numbers", "plan", "real")

    several = True

    plan: Plan
    inputs: tuple[Any, ...]
    numbers: tuple[Any, ...]
    real: list[Node] | None

    def __init__(
        self, seq: int, plan: Plan, inputs: tuple[Any, ...], numbers: tuple[Any, ...], parents: tuple[Node, ...]
    ) -> None:
        self.seq, self.plan, self.inputs, self.numbers, self.more = seq, plan, inputs, numbers, parents
        self.p = self.q = self.g = self.extra = None
        self.real = None
        self.code, self.lasti = plan.site

    def operand_count(self) -> int:
        return 0

    def run(self, g: Any, mark: Released | None = None) -> None:
        if self.real is not None:
            self._pass_on(g)
            self.g = None
            return
        arrived = g.__class__ is dict
        key = tuple(g) if arrived else (0,)
        backward = self.plan.backwards.get(key)
        if backward is None:
            backward = self.plan.backward_for(key)
        gradients = g.values() if arrived else (g,)
        try:
            done = backward(self, *gradients)
        except (ArithmeticError, ValueError):  # the single operations have IEEE's answers
            done = False
        if not done:
            parts = self.take_apart()
            self._run_parts(parts, g, mark)
        self.g = None
        if mark is not None:
            self.release(mark)

    def run_recorded(self, g: Any) -> None:
        assert self.real is not None  # a recorded pass takes plans apart first
        self._pass_on(g)

    def _pass_on(self, g: Any) -> None:
        assert self.real is not None
        for index, one in g.items() if g.__class__ is dict else ((0, g),):
            node = self.real[index]
            if node.g is PENDING:
                node.g, node.own = one, False
            elif hasattr(one, "node"):
                from gradsh.engine.runtime import accumulate_recorded

                accumulate_recorded(node, one)
            else:
                accumulate(node, one)

    def _run_parts(self, parts: list[Node], g: Any, mark: Released | None) -> None:
        for node in parts:
            node.g = PENDING
        self._pass_on(g)
        if state.suspicion is not None:
            state.suspicion = Suspicion()
            state.suspicion.careful = True
        for node in reversed(parts):
            arrived, node.g = node.g, None
            if arrived is PENDING:
                continue
            if state.suspicion is not None:
                from gradsh.engine.backward import observed

                observed(node, arrived, False)
                if mark is not None:
                    node.release(mark)
            else:
                node.run(arrived, mark)

    def release(self, mark: Released) -> None:
        if self.real is None and (self.numbers or self.plan.owners):
            self.numbers = self.inputs = ()
            self.g = mark

    def resolved(self) -> Node:
        self.take_apart()
        assert self.real is not None
        return self.real[0]

    def take_apart(self) -> list[Node]:
        """Apply the operations one by one; their nodes, oldest first."""
        if self.real is not None:
            return []
        from gradsh.engine.plans.plan import nodes_of

        state.apart = True
        before, head.next = head.next, None
        grad, state.grad = state.grad, True
        try:
            parts, self.real = nodes_of(self)
        finally:
            head.next, state.grad = before, grad
        for k, node in enumerate(parts):
            node.seq = self.seq - 1 + (k + 1) / (len(parts) + 2)  # type: ignore[assignment]
        self.more = tuple(dict.fromkeys(self.real))
        self.numbers = self.inputs = ()
        return parts


class PlanOutput(Output):
    """One of several results of a plan."""

    __slots__ = ()

    p: PlanNode
    several = True

    def resolved(self) -> Node:
        self.p.take_apart()
        assert self.p.real is not None
        return self.p.real[self.index]


def single_if_apart(node: Node) -> Node:
    """The node of the single operation, where that of a plan has been taken apart."""
    plan_node = node.p if isinstance(node, PlanOutput) else node
    return node.resolved() if isinstance(plan_node, PlanNode) and plan_node.real is not None else node


def hollow(entry: Any, parents: list[Any], mark: Released) -> OpNode:
    """The node of an operation that has given up what it saved."""
    node: OpNode = object.__new__(OpNode)
    kind = node.kind = entry.op.node_kind(False)
    slots = parents + [None] * (2 - len(parents))
    node.p, node.q, node.more = slots[0], slots[1], tuple(slots[2:]) or None
    node.extra, node.own, node.rest, node.fits = None, False, [None] * 8, ()
    for place in PLACES:
        setattr(node, place, None)
    node.g = mark if kind.saves else None
    node.code, node.lasti = entry.code, entry.lasti
    return node
