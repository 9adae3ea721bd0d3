"""Source code made for the calls of ops with any number of operands (`cat`) or of views as outputs (`unbind`)."""

from __future__ import annotations

from gradsh.engine.generate import fill_node
from gradsh.engine.op import CONSTANT, ELEMENTWISE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.engine.generate import Writer
    from gradsh.engine.op import Op


def is_variadic(op: Op) -> bool:
    """Whether an op takes any number of tensors, alike, and nothing else."""
    plain = op.kind not in (CONSTANT, ELEMENTWISE) and not op.outputs and not op.many
    return plain and op.variadic in op.rules and len(op.operands) == 1


def is_views(op: Op) -> bool:
    """Whether an op gives several views of its one operand."""
    return op.many and op.view and len(op.operands) == 1 and not op.optional


def _given(op: Op) -> str:
    return "".join(f", {name}={name}" for name in op.settings)


def variadic(op: Op, write: Writer, fallback: str, operands: str, settings: str) -> None:
    """The body of the call of an op with any number of operands; `fallback` treats what is no plain tensor."""
    assert op.variadic is not None
    public = op.public[op.variadic]
    kernel = f"K(arrays, *{{}}{_given(op)})".format
    write("raws = []", "nodes = []", "live = False")
    write(f"for operand in {public}:")
    write("    kind = operand.__class__")
    write("    if kind is Tensor or kind is Parameter:")
    write("        raws.append(operand.raw)")
    write("        parent = operand.node if operand.extra is None else operand.current_node() if state.grad else None")
    write("        nodes.append(parent)", "        live = live or parent is not None")
    if not op.at:
        write("    elif kind is ndarray or kind is float or kind is float32:")
        write(f"        return canonical({kernel(public)})")
    write("    else:", f"        {fallback}")
    write("if not raws:", f"    {fallback}")
    write("try:", f"    raw = {kernel('raws')}")
    write("except Exception as error:", f"    raise explained(op, error, {operands}, {settings}) from None")
    write("out = new(Tensor)", "out.raw = canonical(raw)", "out.grad = out.node = out.extra = None")
    write("if not live or not state.grad:")
    write("    if state.inference:", "        out.extra = inference_alias(None)")
    write("    return out")
    write(
        "node = new(OpNode)",
        "node.kind = Plain",
        "out.node = node",
        "node.p = node.q = None",
        "node.more = tuple(nodes)",
    )
    fill_node(op, write)
    write("if state.watching:", "    watch(node, out, frame)")
    write("return out")


def views(op: Op, write: Writer, fallback: str, operands: str, settings: str) -> None:
    """The body of the call of an op that gives several views."""
    operand = op.operands[0]
    x = op.public[operand]
    write(f"if {x}.__class__ is not Tensor and {x}.__class__ is not Parameter:", f"    {fallback}")
    write(f"{x}_raw = {x}.raw = shared({x}.raw)")
    write(f"{x}_node = {x}.node if {x}.extra is None else {x}.current_node() if state.grad else None")
    write("try:", f"    found = K(arrays, {x}_raw{_given(op)})")
    write("except Exception as error:", f"    raise explained(op, error, {operands}, {settings}) from None")
    write("recording, outs, index = state.grad, [], 0", "node = None")
    write(f"if recording and {x}_node is not None:")
    write.depth += 1
    write("node = new(OpNode)", "node.kind = Plain", f"node.p = {x}_node", "node.q = node.more = None")
    fill_node(op, write)
    write.depth -= 1
    write("for raw in found:")
    write(
        "    out = new(Tensor)",
        "    out.raw = raw",
        "    out.grad = out.node = None",
        f"    out.extra = extra = view_of({x})",
    )
    write("    if recording:", "        extra.origin = SEVERAL")
    write("    if node is not None:", "        out.node = Output(tick(), node, index)", "        index += 1")
    write("        if state.watching:", "            watch(node, out, frame)")
    write("    outs.append(out)")
    write("return outs")
