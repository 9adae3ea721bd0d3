"""A stretch of a tape compiled: its operations as straight-line code on raw values, forward and backward.

The code is that of the single operations, kernel by kernel and rule by rule in the order in which they would run, so that
the numbers are the same to the last bit. Only results that the program still has are kept, and what the backward pass of
those needs.
"""

from __future__ import annotations

import sys

from gradsh.backend import scalars
from gradsh.engine import runtime
from gradsh.engine.alias import is_stale
from gradsh.engine.generate import INFIX, called, direct_name
from gradsh.engine.node import PENDING, Node, OpNode
from gradsh.engine.op import ELEMENTWISE
from gradsh.engine.plans.node import PlanNode, PlanOutput, hollow
from gradsh.engine.plans.tape import Entry, Source, become, singly
from gradsh.engine.state import state, tick
from gradsh.engine.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

    from gradsh.engine.op import Op


class Value:
    """A raw value in the code. name: its variable. owner: the place of the input tensor whose memory it lies in, or None."""

    __slots__ = ("dtype", "name", "owner", "raw_class", "shape")

    def __init__(
        self, name: str, raw_class: type, shape: tuple[int, ...], dtype: Any, owner: int | None = None
    ) -> None:
        self.name, self.raw_class, self.shape, self.dtype, self.owner = name, raw_class, shape, dtype, owner


class Plan:
    """The code for one stretch and the results that are kept.

    inputs: what comes from outside or from an earlier stretch. live: the entries whose results are kept. backwards: the
    code of the backward pass, by which of the results that require a gradient got one. runs, misses: how often it was run,
    and how often the inputs were not what the code was made for.
    """

    __slots__ = (
        "backwards", "differentiable", "entries", "forward", "inputs", "live", "misses", "owners", "parents", "runs", "saved",
        "site", "space", "values",
    )  # fmt: skip

    forward: Callable[..., Any]

    def __init__(self, stretch: Sequence[Entry], live: tuple[int, ...]) -> None:
        self.entries = tuple(stretch)
        self.live = tuple(stretch[k] for k in live)
        self.backwards: dict[Any, Callable[..., Any]] = {}
        self.space: dict[str, Any] = dict(runtime.names())
        runtime.bind_arrays(self.space, None, [])
        self.inputs: list[Entry | Source] = []
        self.values: dict[Entry | Source, Value] = {}
        self.differentiable = tuple([entry for entry in self.live if entry.requires])
        self.parents: list[int] = []
        self.saved: list[Value] = []
        self.owners: set[int] = set()
        self.runs = self.misses = 0
        self.site = stretch[-1].code, stretch[-1].lasti

    def run(self) -> bool:
        """Compute the kept results; False, with nothing changed, where the inputs are not what the code was made for."""
        inputs = [one.out for one in self.inputs]
        try:
            found = self.forward(*inputs)
        except (ArithmeticError, ValueError):  # the single operations have IEEE's answers
            found = None
        if found is None:
            self.misses += 1
            return False
        self.runs += 1
        results, saved, parents = found
        nodes: list[Any] = []
        if self.differentiable:
            tick()
            node = PlanNode(tick(), self, tuple(inputs), saved, parents)
            if len(self.differentiable) == 1:
                nodes = [node]
            else:
                nodes = [PlanOutput(tick(), node, k) for k in range(len(self.differentiable))]
        for entry, raw in zip(self.live, results):
            become(entry.out, raw, nodes.pop(0) if entry.requires else None)
        return True

    def backward_for(self, key: tuple[int, ...]) -> Callable[..., Any]:
        """The code of the backward pass from the results with these numbers."""
        found = self.backwards[key] = _backward(self, key)
        return found


def compiled(stretch: Sequence[Entry], live: tuple[int, ...]) -> Plan | Literal[False]:
    """The plan for a stretch; False where it cannot have one."""
    plan = Plan(stretch, live)
    if any(entry.op is not None and entry.op.view for entry in plan.live):
        return False  # it shares its base's memory, which must be a tensor, too
    lines: list[str] = []
    body: list[str] = []
    for number, entry in enumerate(stretch):
        _forward(plan, number, entry, body)
    for place in range(len(plan.inputs)):
        _checked(plan, place, lines)
    kept = "".join(f"{plan.values[entry].name}, " for entry in plan.live)
    needed = _saved_values(plan)
    plan.saved = needed
    names = ", ".join(f"t{k}" for k in range(len(plan.inputs)))
    text = f"def forward({names}):\n" + "".join(f"    {line}\n" for line in (*lines, *body))
    parents = "".join(f"n{place}, " for place in plan.parents)
    text += f"    return ({kept}), ({''.join(f'{value.name}, ' for value in needed)}), ({parents})\n"
    plan.forward = _made(text, "forward", plan.space)
    return plan


_count = iter(range(1 << 60))


def _made(text: str, name: str, space: dict[str, Any]) -> Callable[..., Any]:
    import os

    if os.environ.get("SHOWPLAN"):
        print(text)
    filename = f"gradsh plan {next(_count)} {name}"
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), space)
    return space.pop(name)  # type: ignore[no-any-return]


# ---- forward


def _input(plan: Plan, source: Entry | Source) -> Value:
    place = len(plan.inputs)
    plan.inputs.append(source)
    out = source.out
    if isinstance(out, Tensor):
        value = Value(f"i{place}", out.raw.__class__, tuple(out.shape), out.dtype, place)
        if out.requires_grad:
            plan.parents.append(place)
    else:
        value = Value(f"t{place}", out.__class__, (), None)
    plan.values[source] = value
    return value


def _operand(plan: Plan, source: Entry | Source) -> Value | None:
    if source.__class__ is Source:
        if source.out is None:
            return None
        if source.constant:
            return Value(repr(source.out), source.out.__class__, (), None)
    found = plan.values.get(source)
    return _input(plan, source) if found is None else found


def _checked(plan: Plan, place: int, lines: list[str]) -> None:
    """Take a raw value out of an input, if it is of the kind that the code was made for."""
    source = plan.inputs[place]
    value = plan.values[source]
    if value.dtype is None:
        lines += [f"if t{place}.__class__ is not {value.raw_class.__name__}:", "    return None"]
        return
    kind = value.raw_class.__name__
    lines += [
        f"i{place}, n{place} = t{place}.raw, t{place}.node",
        f"if t{place}.extra is not None:",
        f"    if not t{place}.extra.is_current():",
        "        return None",
        f"    n{place} = t{place}.current_node()",
        f"if i{place}.__class__ is not {kind} or n{place} {'is None' if place in plan.parents else 'is not None'}:",
        "    return None",
    ]
    if kind == "ndarray":
        plan.space[f"D{place}"] = source.out.raw.dtype
        lines += [f"if i{place}.shape != {value.shape!r} or i{place}.dtype is not D{place}:", "    return None"]


def _kernel(plan: Plan, op: Op, which: str, names: list[str], given: str) -> tuple[str, bool]:
    """The text of an operation on raw values, and whether it is an operator of Python's."""
    direct = direct_name(op)
    if direct in INFIX:
        return f"{names[0]} {INFIX[direct]} {names[1]}", True
    name, arguments = f"K_{op.name}_{which}", ", ".join(names)
    if direct is None:
        plan.space[name] = op.kernel
        return f"{name}({which}, {arguments}{given})", False
    plan.space[name] = getattr(plan.space[which], direct)
    if which == "singles" and (function := scalars.in_double(direct)) is not None:
        plan.space[name] = function
        return f"ONE * {name}({arguments})", False
    return f"{name}({arguments})", False


def _forward(plan: Plan, number: int, entry: Entry, lines: list[str]) -> None:
    op = entry.op
    assert op is not None
    operands = [_operand(plan, source) for source in entry.sources]
    classes = [one.raw_class for one in operands if one is not None and one.dtype is not None]
    on_arrays = op.kind != ELEMENTWISE or any(kind.__name__ == "ndarray" for kind in classes)
    which = "arrays" if on_arrays else "scalars" if classes[0] is float else "singles"
    given = "".join(f", {key}={setting!r}" for key, setting in zip(op.settings, entry.settings))
    text, infix = _kernel(plan, op, which, ["None" if one is None else one.name for one in operands], given)
    if op.result != "same":
        text = f"canonical({text})"
    elif which != "arrays":
        if not infix and not text.startswith("ONE * "):
            text = f"{'scalar' if which == 'scalars' else 'single'}_result({text})"
    elif entry.raw_class.__name__ != "ndarray" or op.kind != ELEMENTWISE:
        text = f"canonical({text})"
    lines.append(f"r{number} = {text}")
    owner = operands[0].owner if op.view and operands[0] is not None else None
    plan.values[entry] = Value(f"r{number}", entry.raw_class, entry.shape, entry.dtype, owner)


# ---- backward


def _needs(plan: Plan, source: Entry | Source) -> bool:
    """Whether a gradient is wanted for an operand."""
    if source in plan.values and source in plan.inputs:
        return plan.inputs.index(source) in plan.parents
    return source.__class__ is Entry and source.requires


def _wanted(plan: Plan, entry: Entry) -> list[tuple[str, Entry | Source, Any]]:
    """(operand, where it comes from, its rule) of those operands that get a gradient."""
    assert entry.op is not None
    return [
        (name, source, entry.op.rules[name])
        for name, source in zip(entry.op.operands, entry.sources)
        if name in entry.op.rules and _needs(plan, source)
    ]


def _back_from(plan: Plan, roots: Sequence[Entry]) -> list[Entry]:
    """The operations that the gradients of these results reach, newest first."""
    reached = set(roots)
    found = []
    for entry in reversed(plan.entries):
        if entry in reached:
            found.append(entry)
            reached.update(source for _, source, _ in _wanted(plan, entry) if source.__class__ is Entry)
    return found


def _argument(plan: Plan, entry: Entry, name: str, used: dict[str, Value]) -> str:
    """The text of what a rule asks for, but for the gradient."""
    op = entry.op
    assert op is not None
    if name == "out":
        value = plan.values[entry]
        used[value.name] = value
        return value.name
    if name in op.settings:
        return repr(entry.settings[list(op.settings).index(name)])
    if name in op.operands:
        found = _operand(plan, entry.sources[op.operands.index(name)])
        if found is None:
            return "None"
        used[found.name] = found
        return found.name
    operand, suffix = name.rsplit("_", 1)
    found = _operand(plan, entry.sources[op.operands.index(operand)])
    if found is None:
        return "None"
    if suffix == "shape":
        return repr(found.shape)
    label = f"T_{found.dtype.name}" if found.dtype is not None else "None"
    plan.space[label] = found.dtype
    return label


def _saved_values(plan: Plan) -> list[Value]:
    """What the backward pass may need of what the forward pass computes; notes which inputs it reads."""
    used: dict[str, Value] = {}
    for entry in _back_from(plan, plan.differentiable):
        for operand, _, _ in _wanted(plan, entry):
            for name in entry.op.uses[operand]:  # type: ignore[union-attr]
                if name != "g":
                    _argument(plan, entry, name, used)
    plan.owners = {value.owner for value in used.values() if value.owner is not None}
    return [value for value in used.values() if value.name[0] == "r"]


def _rule(plan: Plan, entry: Entry, operand: str, rule: Any, arguments: list[str]) -> str:
    """The text of a rule on these arguments: its own text where it reads nothing else."""
    assert entry.op is not None
    name = f"R_{entry.op.name}_{operand}"
    asked = entry.op.uses[operand]
    text = called(rule, name, asked)
    if text.startswith(name):
        plan.space[name] = rule
        return f"{name}({', '.join(arguments)})"
    import ast

    texts = dict(zip(asked, arguments))

    class Renaming(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(texts[node.id], mode="eval").body if node.id in texts else node

    return ast.unparse(Renaming().visit(ast.parse(text, mode="eval")))


def _backward(plan: Plan, key: tuple[int, ...]) -> Callable[..., Any]:
    roots = [plan.differentiable[index] for index in key]
    gradients: dict[Entry | Source, str] = {}
    used: dict[str, Value] = {}
    for k, entry in enumerate(roots):
        gradients[entry] = f"a{k}"
    lines: list[str] = []
    places = {source: place for place, source in enumerate(plan.inputs)}
    owned: list[int] = []
    count = 0
    for entry in _back_from(plan, roots):
        g = gradients[entry]
        op = entry.op
        assert op is not None
        out = plan.values[entry]
        found = []
        for operand, source, rule in _wanted(plan, entry):
            arguments = [g if name == "g" else _argument(plan, entry, name, used) for name in op.uses[operand]]
            text = _rule(plan, entry, operand, rule, arguments)
            value = _operand(plan, source)
            assert value is not None
            like = (value.raw_class, value.shape, value.dtype) == (out.raw_class, out.shape, out.dtype)
            if op.kind == ELEMENTWISE and len(op.operands) == 2 and not like:
                meta = f"M{len(plan.space)}"
                plan.space[meta] = (value.shape, value.dtype)
                text = f"fit({text}, {meta})"
            found.append((source, text))
        for source, text in found:
            count += 1
            if text.strip("()").isidentifier():
                name, bare = text.strip("()"), True
            else:
                name, bare = f"g{count}", False
                lines.append(f"{name} = {text}")
            value = plan.values[source]
            total = "{} + {}" if value.raw_class.__name__ != "float" else "canonical({} + {})"
            if source in places:
                place = places[source]
                if source not in gradients:
                    gradients[source] = f"b{place}"
                    owned.append(place)
                    lines.append(f"b{place} = n{place}.g")
                    lines.append(f"if b{place} is PENDING:")
                    lines.append(f"    b{place}, o{place} = {name}, {not bare}")
                    lines.append("else:")
                    lines.append(f"    b{place}, o{place} = {total.format(f'b{place}', name)}, True")
                else:
                    if place in owned:
                        lines.append(f"o{place} = True")
                        owned.remove(place)
                    lines.append(f"b{place} = {total.format(f'b{place}', name)}")
            elif source in gradients:
                lines.append(f"s{count} = {total.format(gradients[source], name)}")
                gradients[source] = f"s{count}"
            else:
                gradients[source] = name
    reached = [place for place in plan.parents if plan.inputs[place] in gradients]
    start: list[str] = []
    owners = sorted({value.owner for value in used.values() if value.owner is not None})
    numbers = sorted({int(value.name[1:]) for value in used.values() if value.name[0] == "t"})
    if owners or numbers:
        start.append("inputs = node.inputs")
    start += [f"t{place} = inputs[{place}]" for place in (*owners, *numbers)]
    for place in owners:
        start += [f"if t{place}.extra is not None and is_stale(node, t{place}):", "    return False"]
    start += [f"i{place} = t{place}.raw" for place in owners]
    if plan.saved:
        start.append(f"{''.join(f'{value.name}, ' for value in plan.saved)}= node.numbers")
    if reached:
        start.append("parents = node.more")
        start += [f"n{place} = parents[{plan.parents.index(place)}]" for place in reached]
    end = [line for place in reached for line in (f"n{place}.g = b{place}", f"n{place}.own = o{place}")]
    doubt = ["if state.suspicion is not None:", "    return False"]
    names = "".join(f", a{k}" for k in range(len(key)))
    text = f"def backward(node{names}):\n" + "".join(
        f"    {line}\n" for line in (*start, *lines, *doubt, *end, "return True")
    )
    plan.space |= {"PENDING": PENDING, "is_stale": is_stale}
    return _made(text, "backward", plan.space)


# ---- taking apart


def nodes_of(node: PlanNode) -> tuple[list[Node], list[Node]]:
    """The nodes of a plan's operations, oldest first, and those of its results."""
    plan = node.plan
    if not node.inputs:
        return _hollow(node, node.g)
    assert node.more is not None
    parents = dict(zip(plan.parents, node.more))
    saved = {value.name: raw for value, raw in zip(plan.saved, node.numbers)}
    tensors: dict[Entry | Source, Any] = dict(zip(plan.inputs, node.inputs))
    found: dict[Entry, Node | None] = {}
    before = [(one, one.node, one.extra) if isinstance(one, Tensor) else None for one in node.inputs]
    try:
        for place, one in enumerate(node.inputs):
            if isinstance(one, Tensor):
                one.node, one.extra = parents.get(place), None
        for entry in plan.entries:
            state.grad = entry.grad
            result = singly(entry, [tensors.get(one, one.out) for one in entry.sources])
            found[entry] = result.node
            raw = saved.get(plan.values[entry].name)
            if raw is not None:
                result.raw = raw
                if isinstance(result.node, OpNode) and "out" in result.node.kind.fields:
                    result.node.save("out", raw)
            tensors[entry] = result
    finally:
        for held in before:
            if held is not None:
                held[0].node, held[0].extra = held[1:]
    return [one for one in found.values() if one is not None], [found[entry] for entry in plan.differentiable]  # type: ignore[misc]


def _hollow(node: PlanNode, mark: Any) -> tuple[list[Node], list[Node]]:
    plan = node.plan
    assert node.more is not None
    at: dict[Entry | Source, Node] = {plan.inputs[place]: one for place, one in zip(plan.parents, node.more)}  # type: ignore[misc]
    for entry in plan.entries:
        if entry.requires:
            assert entry.op is not None
            ruled = [source for name, source in zip(entry.op.operands, entry.sources) if name in entry.op.rules]
            at[entry] = hollow(entry, [at.get(source) for source in ruled], mark)
    return [at[entry] for entry in plan.entries if entry.requires], [at[entry] for entry in plan.differentiable]
