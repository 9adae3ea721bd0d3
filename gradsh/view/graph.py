"""The graph behind a value: as a tree, as JSON, as Graphviz's dot."""

from __future__ import annotations

from gradsh.engine import backward as passes
from gradsh.engine.node import AccumulateGrad, Node, Output
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.view.document import Line, Tree
from gradsh.view.record import Record
from gradsh.view.text import shape_text, short
from gradsh.view.value import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradsh.lang.places import Place
    from gradsh.session import Session
    from gradsh.view.document import Block

MOST = 200  # lines of a tree before the rest is counted instead
DEEPEST = 12  # levels of indentation before a chain goes on at the same one


class GraphNode:
    """One node of a graph record: what is known of a value and of how it was made.

    id: counts from 0 at the root, in the order of the tree. op: the node's name in PyTorch, "leaf" for a leaf.
    name: the variable that holds it, or held it when it was made. place: where it was made.
    value, grad: raw, or None where they were not kept.
    """

    __slots__ = (
        "dtype",
        "expression",
        "grad",
        "id",
        "inputs",
        "iteration",
        "name",
        "op",
        "path",
        "place",
        "saved",
        "seen",
        "shape",
        "value",
    )

    def __init__(self, number: int, op: str) -> None:
        self.id, self.op = number, op
        self.inputs: list[GraphNode] = []
        self.name: str | None = None
        self.expression: str | None = None
        self.place: Place | None = None
        self.path: list[Place] = []
        self.iteration: int | None = None
        self.shape: tuple[int, ...] | None = None
        self.dtype: str | None = None
        self.value: Any = None
        self.grad: Any = None
        self.saved: list[str] = []
        self.seen = 0


class GraphRecord(Record):
    """The graph behind a value, its nodes in the order in which a tree shows them."""

    __slots__ = ("cut", "nodes", "root")
    kind = "graph"

    def __init__(self, root: str, nodes: list[GraphNode], cut: int) -> None:
        self.root, self.nodes, self.cut = root, nodes, cut

    @classmethod
    def of(
        cls, tensor: Tensor, text: str, session: Session, start: Tensor | None = None, depth: int | None = None
    ) -> GraphRecord:
        """Read the graph behind a tensor, or of it what lies above `start`; to a depth, if one is given."""
        top = _operation(tensor.current_node())
        if top is None:
            raise fault(
                RuntimeError,
                f"{text} has no graph: it does not require a gradient",
                hint="make an input require one: x = param(2.0), or x.requires_grad_()",
            )
        wanted: set[int] | None = None
        if start is not None:
            low = _operation(start.current_node())
            wanted = {
                id(node) for node in passes._between(passes.reachable([top]), {low: None} if low is not None else {})
            }
            if id(top) not in wanted:
                raise fault(
                    RuntimeError,
                    f"{text} does not depend on that value",
                    hint=f":graph {text} shows what it depends on",
                )
        names = session.node_names()
        nodes: dict[int, GraphNode] = {}
        order: list[GraphNode] = []
        stack: list[tuple[Node, GraphNode | None, int]] = [(top, None, 0)]
        cut = 0
        while stack:
            node, parent, level = stack.pop()
            found = nodes.get(id(node))
            if found is None:
                found = nodes[id(node)] = _read(node, len(order), names, session)
                order.append(found)
                inputs = [
                    one
                    for one in map(_operation, node.parents())
                    if one is not None and (wanted is None or id(one) in wanted)
                ]
                if depth is not None and level >= depth:
                    cut += len(inputs)
                else:
                    stack += [(one, found, level + 1) for one in reversed(inputs)]
            found.seen += 1
            if parent is not None:
                parent.inputs.append(found)
        first = order[0]
        first.name = first.name or (text if text.isidentifier() else None)
        first.shape, first.dtype, first.value = tuple(tensor.shape), tensor.dtype.name, tensor.raw
        return cls(text, order, cut)

    # ---- as a tree

    def draw(self, width: int) -> Sequence[Block]:
        drawn: set[int] = set()
        root = Tree(Line(""))
        lines = 0
        left_out = 0
        stack: list[tuple[GraphNode, Tree, int]] = [(self.nodes[0], root, 0)]
        while stack:
            node, above, level = stack.pop()
            lines += 1
            if lines > MOST:
                left_out += node.id not in drawn
                drawn.add(node.id)
                continue
            tree = Tree(self._label(node, again=node.id in drawn))
            above.children.append(tree)
            if node.id in drawn:
                continue
            drawn.add(node.id)
            below = above if level >= DEEPEST else tree
            stack += [(one, below, level + 1) for one in reversed(node.inputs)]
        blocks: list[Block] = list(root.children)
        hidden = len(self.nodes) - len(drawn) + left_out
        if hidden > 0:
            blocks.append(Line((f"… and {hidden} more nodes: :graph {self.root} depth=N, from x, or to file", "muted")))
        if self.cut:
            blocks.append(Line((f"… {self.cut} inputs lie deeper", "muted")))
        return blocks

    def _label(self, node: GraphNode, *, again: bool) -> Line:
        mark = f" #{node.id}" if node.seen > 1 and node.op != "leaf" else ""
        title = node.name or node.expression or node.op
        parts: list[tuple[str, str]] = [(title, "name" if node.name else "code")]
        if node.name and node.expression and node.expression != node.name and not again:
            parts.append((f" = {node.expression}", "code"))
        if again:
            return Line(*parts, (f"{mark}  above" if mark else "  above", "muted"))
        if title != node.op:
            parts.append((f"  {node.op}", "op"))
        parts.append((mark, "muted"))
        if node.shape:
            parts.append((f"  {shape_text(node.shape)}", "shape"))
        if node.value is not None:
            parts.append((f"  {short(node.value)}", "number"))
        if node.grad is not None:
            parts += [("  grad ", "muted"), (short(node.grad), "number")]
        return Line(*parts)

    # ---- as data

    def as_json(self) -> dict[str, Any]:
        edges = [[node.id, one.id, index] for node in self.nodes for index, one in enumerate(node.inputs)]
        return {
            "kind": self.kind,
            "root": self.root,
            "nodes": [_node_json(node) for node in self.nodes],
            "edges": edges,
        }

    def json_text(self) -> str:
        import json

        return json.dumps(self.as_json(), ensure_ascii=False, indent=1)

    def dot(self) -> str:
        """The graph in Graphviz's language, inputs at the top."""
        lines = ["digraph {", '  rankdir="BT"; node [shape="box", fontname="monospace", style="rounded"];']
        for node in self.nodes:
            title = node.name or node.expression or node.op
            rows = [title, *([node.op] if title != node.op else []), *([shape_text(node.shape)] if node.shape else [])]
            rows += [short(node.value)] if node.value is not None else []
            rows += [f"grad {short(node.grad)}"] if node.grad is not None else []
            label = "\\n".join(row.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for row in rows)
            fill = ', style="rounded,filled", fillcolor="lightblue"' if node.op == "leaf" else ""
            lines.append(f'  n{node.id} [label="{label}"{fill}];')
        lines += [f"  n{one.id} -> n{node.id};" for node in self.nodes for one in node.inputs]
        return "\n".join([*lines, "}"])


def _operation(node: Node | None) -> Node | None:
    """The operation behind an output of several."""
    return node.p if type(node) is Output else node


def _read(node: Node, number: int, names: dict[int, str], session: Session) -> GraphNode:
    leaf = isinstance(node, AccumulateGrad)
    found = GraphNode(number, "leaf" if leaf else node.name())
    found.name = names.get(id(node))
    if isinstance(node, AccumulateGrad):
        tensor = node.variable
        if tensor is not None:
            found.shape, found.dtype, found.value = tuple(tensor.shape), tensor.dtype.name, tensor.raw
            found.grad = None if tensor.grad is None else tensor.grad.raw
        elif node.kept is not None:
            gone = wrap(node.kept.raw)
            found.shape, found.dtype, found.value, found.grad = (
                tuple(gone.shape),
                gone.dtype.name,
                gone.raw,
                node.kept.g,
            )
        if found.name is None:
            found.place = session.place_of(node.code, node.lasti)
            found.expression = None if found.place is None else found.place.text
        return found
    found.place = session.place_of(node.code, node.lasti)
    if found.place is not None:
        found.expression = found.place.text
        if found.name is None:
            found.name = found.place.target
    found.saved = [name for name in node.saves if node.saved(name) is not None]
    kept = node.kept
    if kept is not None:
        value = wrap(kept.raw)
        found.shape, found.dtype, found.value = tuple(value.shape), value.dtype.name, kept.raw
        g = kept.g
        found.grad = g.raw if isinstance(g, Tensor) else g if not isinstance(g, dict) else None
        if kept.path is not None:
            found.path = [
                place for place in (session.place_of(*one) for one in kept.path.places()[1:]) if place is not None
            ]
            found.iteration = kept.turn if kept.path.count > 1 else None
    return found


def _node_json(node: GraphNode) -> dict[str, Any]:
    place = node.place
    return {
        "id": node.id,
        "op": node.op,
        "name": node.name,
        "span": None if place is None else place.numbers(),
        "call_path": [one.numbers() for one in node.path],
        "iteration": node.iteration,
        "shape": None if node.shape is None else list(node.shape),
        "dtype": node.dtype,
        "value": None if node.value is None else fields_of(wrap(node.value))["values"],
        "grad": None if node.grad is None else fields_of(wrap(node.grad))["values"],
        "saved": node.saved,
    }
