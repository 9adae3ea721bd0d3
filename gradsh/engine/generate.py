"""Source code made per op: its call on tensors, and the class of its nodes with their two backward passes.

As dataclasses do, an op's declaration is turned into straight Python text, compiled once at the op's first use and
registered with `linecache`, so that it can be read and debugged. The generated code treats the usual operands and
hands everything else to `general_call`.
"""

from __future__ import annotations

import sys

from gradsh.backend import scalars
from gradsh.engine import runtime
from gradsh.engine.node import Kind
from gradsh.engine.op import CONSTANT, ELEMENTWISE, REQUIRED
from gradsh.engine.promote import operator_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradsh.engine.op import Op


class _Probe:
    """Stands for `xp`: tells whether a kernel is one call of it with the operands in order."""

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, ...]]:
        return lambda *args: (name, *args)


def direct_name(op: Op) -> str | None:
    """The function of `xp` that the kernel is, where it is nothing else."""
    if op.settings or op.variadic or op.outputs or op.many:
        return None
    try:
        found = op.kernel(_Probe(), *op.operands)
    except Exception:
        return None
    if not isinstance(found, tuple):
        return None
    alone = op.kernel.__code__.co_names == found[:1]  # the kernel asks for nothing else: no check, say
    return found[0] if alone and list(found[1:]) == op.operands else None


def _compile(text: str, label: str, names: dict[str, Any], direct: str | None = None) -> dict[str, Any]:
    filename = f"gradsh op {label}"
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = dict(names)
    runtime.bind_arrays(space, direct, [which for which in ("scalars", "singles", "arrays") if f"K_{which}(" in text])
    exec(compile(text, filename, "exec"), space)
    return space


PLACES = ("s0", "s1", "s2", "s3")


def places(op: Op) -> dict[str, str | int]:
    """Saved value -> the field of the op's nodes that has it, or its index in `rest`."""
    names = saved_names(op)
    return {name: PLACES[k] if k < len(PLACES) else k - len(PLACES) for k, name in enumerate(names)}


def _field(place: str | int) -> str:
    return f"rest[{place}]" if isinstance(place, int) else place


def slots(count: int) -> list[str]:
    """The node's fields for that many operands with a rule: p, q, then places in `more`."""
    return ["p", "q", *(f"more{k}" for k in range(count - 2))][:count]


def _signature(op: Op) -> tuple[str, str, str]:
    """(parameters of the call, operands as a tuple, settings as a dict) in source text."""
    parts, operands = [], []
    defaults = False
    for operand in op.operands:
        public = op.public[operand]
        if operand == op.variadic:
            parts.append(f"*{public}")
            operands.append(f"*{public}")
        else:
            defaults = defaults or operand in op.optional
            parts.append(f"{public}=None" if operand in op.optional else public)
            operands.append(public)
    for name, default in op.settings.items():
        if default is REQUIRED and not defaults and not op.variadic:
            parts.append(name)
        else:
            defaults = True
            parts.append(f"{name}=_default_{name}")
    settings = "{" + ", ".join(f"{name!r}: {name}" for name in op.settings) + "}"
    return ", ".join(parts), "(" + "".join(f"{name}, " for name in operands) + ")", settings


class Writer:
    """Lines of source text, indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def __call__(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    def block(self, head: str, *lines: str) -> None:
        self(head, *("    " + line for line in lines))

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def generated_call(
    op: Op, *, operator: bool = False, otherwise: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The function that applies an op; for a Python operator, one that leaves strange operands to their own class.

    otherwise: what to call with anything but one tensor.
    """
    made = _generated_call(op, operator, otherwise)
    made.__globals__["me"] = made
    _calls.append(_Call(made, op, operator, otherwise))
    return made  # type: ignore[no-any-return]


class _Call:
    """A function that applies an op, and its code with and without the look at a tape."""

    __slots__ = ("codes", "function", "made_of")

    def __init__(self, function: Any, op: Op, operator: bool, otherwise: Any) -> None:
        self.function, self.made_of = function, (op, operator, otherwise)
        self.codes = {_following: function.__code__}

    def switch(self) -> None:
        """Have the code that is wanted now."""
        code = self.codes.get(_following)
        if code is None:
            again = _generated_call(*self.made_of)
            self.function.__globals__.update(again.__globals__, me=self.function)
            code = self.codes[_following] = again.__code__
        self.function.__code__ = code


_calls: list[_Call] = []


def _generated_call(op: Op, operator: bool, otherwise: Callable[..., Any] | None) -> Any:
    parameters, operands, settings = _signature(op)
    write = Writer()
    write(f"def {op.name}({parameters if otherwise is None else '*args, **settings'}):")
    write.depth = 1
    names: dict[str, Any] = dict(runtime.names(), op=op, K=op.kernel, Fitted=None, Plain=None)
    names |= {f"_default_{name}": default for name, default in op.settings.items()}
    if operator:
        names["general_call"] = operator_call
    fallback = f"return general_call(op, {operands}, {settings})"
    if otherwise is not None:
        names["otherwise"], fallback = otherwise, "return otherwise(*args, **settings)"
        write("if settings or len(args) != 1:", f"    {fallback}", f"{op.public[op.operands[0]]}, = args")
    if _following:
        _prologue(op, write, operands, names)
    from gradsh.engine import several

    if several.is_variadic(op) or several.is_views(op):
        (several.variadic if op.variadic else several.views)(op, write, fallback, operands, settings)
        space = _compile(write.text(), op.name, names)
        space["Plain"] = op.node_kind(False)
        return space[op.name]
    if (
        op.kind == CONSTANT
        or op.variadic
        or op.outputs
        or op.many
        or (op.kind == ELEMENTWISE and len(op.operands) > 2)
        or (op.optional and (op.kind == ELEMENTWISE or (op.at and REQUIRED in op.settings.values())))
    ):
        write(fallback)
        space = _compile(write.text(), op.name, names)
        return space[op.name]

    direct = direct_name(op)
    given = "".join(f", {name}={name}" for name in op.settings)
    publics = [op.public[operand] for operand in op.operands]

    def kernel(which: str) -> str:
        raws = [f"{name}_raw" for name in publics]
        if direct in INFIX:
            return f"{raws[0]} {INFIX[direct]} {raws[1]}"
        if which == "singles" and direct is not None and scalars.in_double(direct) is not None:
            return f"ONE * K_scalars({', '.join(raws)})"
        return f"K_{which}({', '.join(raws)})" if direct is not None else f"K({which}, {', '.join(raws)}{given})"

    if op.kind == ELEMENTWISE and len(op.operands) == 2:
        _binary(op, write, kernel, publics, fallback, settings, exact=direct in INFIX or op.result != "same")
    else:
        for operand, name in zip(op.operands, publics, strict=True):
            ruled = operand in op.rules
            write(f"{name}_class = {name}.__class__", f"if {name}_class is Tensor or {name}_class is Parameter:")
            write(f"    {name}_raw = {name}.raw", *([f"    {_node_of(name)}"] if ruled else []))
            if operand in op.optional:
                write(
                    f"elif {name} is None:", f"    {name}_raw = None", *([f"    {name}_node = None"] if ruled else [])
                )
            if op.kind != ELEMENTWISE and operand == op.operands[0] and otherwise is None:
                _write_raw(op, write, publics, f"K(arrays, {', '.join(publics)}{given})")
            write("else:", f"    {fallback}")
        if op.kind == ELEMENTWISE:
            _unary(op, write, kernel, publics[0], fallback, settings)
        else:
            if op.view:
                write.block(
                    f"if {publics[0]}_raw.__class__ is not ndarray:",
                    f"{publics[0]}_raw = {publics[0]}.raw = shared({publics[0]}_raw)",
                )
            write.block("try:", f"raw = {kernel('arrays')}")
            write.block("except Exception as error:", f"raise explained(op, error, {operands}, {settings}) from None")
            write.block("if raw.__class__ is not ndarray and raw.__class__ is not float32:", "raw = canonical(raw)")
    write("out = new(Tensor)", "out.raw = raw", "out.grad = None")
    write("out.extra = None" if not op.view else f"out.extra = view_of({publics[0]})")
    ruled_publics = [op.public[operand] for operand in op.operands if operand in op.rules]
    none = " and ".join(f"{name}_node is None" for name in ruled_publics) or "True"
    write.block(
        f"if {none} or not state.grad:",
        "out.node = None",
        "if state.inference:",
        "    out.extra = inference_alias(out.extra)",
        "return out",
    )
    write("node = new(OpNode)")
    if op.kind == ELEMENTWISE and len(op.operands) == 2:
        metas = [
            f"None if {name}_node is None else SINGLE if {name}_raw.__class__ is float32 else unfit({name}_raw, raw)"
            for name in ruled_publics
        ]
        write.block("if same:", "node.kind = Plain")
        write.block("else:", "node.kind = Fitted", f"node.fits = ({''.join(f'{one}, ' for one in metas)})")
    else:
        write("node.kind = Plain")
    _record(op, write, publics)
    write("return out")
    space = _compile(write.text(), op.name, names, direct)
    space["Plain"] = op.node_kind(False)
    if op.kind == ELEMENTWISE and len(op.operands) == 2:
        space["Fitted"] = op.node_kind(True)
    space[op.name].op = op
    return space[op.name]


_following = False  # whether calls look at the tape that may be followed


def follow_tapes(wanted: bool = True) -> None:
    """Have calls look at the tape first, or no longer."""
    global _following
    if _following != wanted:
        from gradsh.engine.plans import tape

        _following = wanted
        runtime.strayed = tape.strayed
        for call in _calls:
            call.switch()


def _prologue(op: Op, write: Writer, operands: str, names: dict[str, Any]) -> None:
    """The look at the tape: the expected operation on the expected operands is put off."""
    publics = [op.public[operand] for operand in op.operands]
    settings = "(" + "".join(f"{name}, " for name in op.settings) + ")"
    write("expected = head.next", "if expected is not None:")
    if not (op.variadic or op.outputs or op.many or op.kind == CONSTANT or len(publics) > 3):
        tests = ["expected.op is op", *(f"{name} is expected.{place}" for name, place in zip(publics, "xyz"))]
        if op.settings:
            tests.append(f"expected.settings == {settings}")
        write.block(f"    if {' and '.join(tests)}:", "    head.next = expected.after", "    return expected.out")
    write(f"    return strayed(op, me, {operands}, {settings})")


# Functions of a namespace that are operators of its values.
INFIX = {
    "add": "+", "subtract": "-", "multiply": "*",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip


def _node_of(name: str) -> str:
    return f"{name}_node = {name}.node if {name}.extra is None else {name}.current_node() if state.grad else None"


def _write_raw(op: Op, write: Writer, publics: list[str], kernel: str) -> None:
    """The way of a rule's call, where the kernel is all there is to do. A public op cannot tell whose a number is."""
    if op.at:
        arrays = [
            f"({name}.__class__ is ndarray or {name} is None)"
            if operand in op.optional
            else f"{name}.__class__ is ndarray"
            for operand, name in zip(op.operands, publics, strict=True)
        ]
        write(f"elif {' and '.join(arrays)} and getframe(1).f_code.co_filename[0] != '<':")
    else:
        first = f"{publics[0]}_class"
        write(f"elif {first} is ndarray or {first} is float or {first} is float32:")
    write(f"    raw = {kernel}", "    return raw if raw.__class__ is ndarray else canonical(raw)")


def _accepted(op: Op) -> str:
    """The type characters of arrays that an elementwise kernel takes as they are; empty for all."""
    refused = op.refuses[1] if op.refuses is not None else ""
    if op.floating or "integer" in refused:
        return "dfe"
    if "floating" in refused:
        return "lqihbB" if "bool" in refused else "lqihbB?"
    return "dfelqihbB" if refused or op.check is not None else ""


def _again(op: Op, publics: list[str]) -> str:
    raws = ", ".join(f"{name}_raw" for name in publics)
    return f"raw = again(op, ({raws},), {{{', '.join(f'{name!r}: {name}' for name in op.settings)}}})"


def _unary(op: Op, write: Writer, kernel: Callable[[str], str], x: str, fallback: str, settings: str) -> None:
    """The choice of a namespace by the operand's type.

    A kernel on scalars that raises is run again on numpy's, which have IEEE's answers, and PyTorch's errors.
    """
    accepted = _accepted(op)
    scalar, single = ("scalar_result", "single_result") if op.result == "same" else ("canonical", "canonical")
    again = _again(op, [x])
    write(f"kind = {x}_raw.__class__", "if kind is ndarray:")
    if accepted:
        write(f"    if {x}_raw.dtype.char not in {accepted!r}:", f"        {fallback}")
    write("    try:", f"        raw = {kernel('arrays')}", "    except Exception as error:")
    write(f"        raise explained(op, error, ({x},), {settings}) from None")
    write("    if raw.__class__ is not ndarray and raw.__class__ is not float32:", "        raw = canonical(raw)")
    write("elif kind is float:", "    try:", f"        raw = {kernel('scalars')}", "    except Exception:")
    write(f"        {again}", "    if raw.__class__ is not float:", f"        raw = {scalar}(raw)")
    write("else:", "    try:", f"        raw = {kernel('singles')}", "    except Exception:", f"        {again}")
    write("    if raw.__class__ is not float32:", f"        raw = {single}(raw)")


def _binary(
    op: Op,
    write: Writer,
    kernel: Callable[[str], str],
    publics: list[str],
    fallback: str,
    settings: str,
    *,
    exact: bool,
) -> None:
    """The choice of a namespace by the types of two operands: the usual pairs first, and at once.

    exact: the kernel on scalars gives a value of their own class, or one that is brought to its form at the end.
    """
    accepted = _accepted(op)
    again = _again(op, publics)
    ruled = [name for name, operand in zip(publics, op.operands, strict=True) if operand in op.rules]
    x, y = publics

    def on_arrays(same: str | None = "True") -> None:
        write("try:", f"    raw = {kernel('arrays')}", "except Exception as error:")
        write(f"    raise explained(op, error, ({x}, {y}), {settings}) from None")
        if same is None:
            write("if raw.__class__ is ndarray:", "    shape = raw.shape")
            write(f"    same = {x}_raw.shape == shape and {y}_raw.shape == shape")
            write("else:", "    raw = canonical(raw)", "    same = True")
            return
        if same == "True":
            write("if raw.__class__ is not ndarray and raw.__class__ is not float32:", "    raw = canonical(raw)")
        write(f"same = {same}")

    def on_scalars(which: str, kind: str, result: str) -> None:
        write("try:", f"    raw = {kernel(which)}", "except Exception:", f"    {again}")
        if not exact:
            write(f"if raw.__class__ is not {kind}:", f"    raw = {result}(raw)")
        write("same = True")

    def with_number(tensor: str, number: str) -> None:
        """One operand is a Python number."""
        write(f"{number}_raw = {number}", *([f"{number}_node = None"] if number in ruled else []))
        write(f"if kind is ndarray and {tensor}_raw.dtype.char in 'df':")
        indented(on_arrays)
        write("elif kind is float32:")
        indented(on_scalars, "singles", "float32", "single_result")
        write("elif kind is float:")
        indented(on_scalars, "scalars", "float", "scalar_result")
        write("else:", f"    {fallback}")

    def indented(part: Callable[..., None], *arguments: Any) -> None:
        write.depth += 1
        part(*arguments)
        write.depth -= 1

    def is_tensor(name: str) -> str:
        return f"{name}_class is Tensor or {name}_class is Parameter"

    def is_number(name: str) -> str:
        test = f"{name}_class is float or {name}_class is int"
        return test if op.numbers else f"({test}) and state.lists"

    def taken(name: str) -> list[str]:
        return [f"{name}_raw = {name}.raw", *([_node_of(name)] if name in ruled else [])]

    write(f"{x}_class = {x}.__class__", f"{y}_class = {y}.__class__", f"if {is_tensor(x)}:")
    write.depth += 1
    write(*taken(x), f"kind = {x}_raw.__class__", f"if {is_tensor(y)}:")
    write.depth += 1
    write(*taken(y), f"other_kind = {y}_raw.__class__", "if kind is other_kind:")
    write.depth += 1
    write("if kind is ndarray:", f"    dtype = {x}_raw.dtype")
    condition = f"dtype is not {y}_raw.dtype" + (f" or dtype.char not in {accepted!r}" if accepted else "")
    write(f"    if {condition}:", f"        {fallback}")
    indented(on_arrays, None)
    write("elif kind is float32:")
    indented(on_scalars, "singles", "float32", "single_result")
    write("elif kind is float:")
    indented(on_scalars, "scalars", "float", "scalar_result")
    write("else:", f"    {fallback}")
    write.depth -= 1
    write(
        f"elif kind is ndarray and {x}_raw.ndim and {x}_raw.dtype.char in 'df' or "
        f"other_kind is ndarray and {y}_raw.ndim and {y}_raw.dtype.char in 'df':"
    )
    indented(on_arrays, "False")
    # A number and a shared one, which is a 0-d array.
    for scalar_class, char, which, result in (
        ("float", "d", "scalars", "scalar_result"),
        ("float32", "f", "singles", "single_result"),
    ):
        write(f"elif kind is {scalar_class} and other_kind is ndarray and {y}_raw.dtype.char == {char!r}")
        write.lines[-1] += f" or other_kind is {scalar_class} and kind is ndarray and {x}_raw.dtype.char == {char!r}:"
        write(f"    {x}_raw, {y}_raw = {scalar_class}({x}_raw), {scalar_class}({y}_raw)")
        indented(on_scalars, which, scalar_class, result)
    write("else:", f"    {fallback}")
    write.depth -= 1
    write(f"elif {is_number(y)}:")
    indented(with_number, x, y)
    write("else:", f"    {fallback}")
    write.depth -= 1
    write(f"elif ({is_number(x)}) and ({is_tensor(y)}):")
    write.depth += 1
    write(*taken(y), f"kind = {y}_raw.__class__")
    with_number(y, x)
    write.depth -= 1
    write("else:", f"    {fallback}")
    if op.result != "same":
        write("if raw.__class__ is not ndarray:", "    raw = arrays.asarray(raw)")


def _saved(op: Op, operand: str) -> list[str]:
    """The names that the rule of an operand needs saved."""
    return [name for name in op.uses[operand] if name not in ("g", "i")]


def saved_names(op: Op) -> list[str]:
    """The fields of the op's nodes for saved values, in order."""
    names = list(dict.fromkeys(name for operand in op.rules for name in _saved(op, operand)))
    return names + [name for name in op.settings if name not in names]


def _record(op: Op, write: Writer, publics: list[str]) -> None:
    nodes = [f"{op.public[operand]}_node" for operand in op.operands if operand in op.rules]
    nodes += ["None"] * (2 - len(nodes))
    write("out.node = node", f"node.p = {nodes[0]}", f"node.q = {nodes[1]}")
    write(f"node.more = ({''.join(f'{name}, ' for name in nodes[2:])})" if nodes[2:] else "node.more = None")
    fill_node(op, write)
    write.block("if state.watching:", "watch(node, out, frame)")


def fill_node(op: Op, write: Writer) -> None:
    """What every new node gets but its parents: the saved values, its place in the program and in the order of creation."""
    write("node.g = node.extra = None")
    values: dict[str, str] = {}
    for name in saved_names(op):
        if name in op.settings:
            value = name
        elif name == "out":
            value = "raw"
        elif name in op.operands:
            value = op.public[name]
        else:
            operand, suffix = name.rsplit("_", 1)
            reader = f"{suffix}_of"
            if operand == op.variadic:
                value = f"tuple([{reader}(raw) for raw in raws])"
            else:
                raw = f"{op.public[operand]}_raw"
                value = (
                    f"{reader}({raw})" if suffix != "shape" else f"(() if {raw}.__class__ is float else {raw}.shape)"
                )
        users = [op.public[operand] for operand in op.rules if name in op.uses[operand]]
        if name not in op.settings and len(users) < len(op.rules):
            value += f" if {' or '.join(f'{user}_node is not None' for user in users)} else None"
        values[name] = value
    rest = []
    for name, place in places(op).items():
        if isinstance(place, int):
            rest.append(values[name])
        else:
            write(f"node.{place} = {values[name]}")
    if rest:
        write(f"node.rest = [{', '.join(rest)}]")
    write("frame = getframe(1)", "code = frame.f_code")
    write.block(
        "if code.co_filename[0] != '<':", "frame = user_frame(frame)", "code = None if frame is None else frame.f_code"
    )
    write("node.code = code", "node.lasti = -1 if frame is None else frame.f_lasti", "node.seq = tick()")


def generated_node(op: Op, fitted: bool) -> Kind:
    """What the op's nodes have in common: the backward pass on raw values, and the one that records itself."""
    fields = places(op)
    ruled = [operand for operand in op.operands if operand in op.rules]
    names: dict[str, Any] = dict(runtime.names(), op=op)
    names |= {f"rule_{operand}": op.rules[operand] for operand in ruled}
    write = Writer()
    kept = [field for field in fields if field in op.operands or field in op.outputs or field == "out"]
    given_up = " = ".join(f"self.{_field(fields[field])}" for field in kept)
    write("def release(self, mark):", *([f"    {given_up} = None", "    self.g = mark"] if kept else ["    return"]))
    for recorded in (False, True):
        write("def run_recorded(self, g):" if recorded else "def run(self, g, mark):")
        write.depth = 1
        if not ruled:
            write("pass")
        elif op.variadic in op.rules:
            _run_variadic(op, write, recorded)
        else:
            _run_fixed(op, write, ruled, fitted, recorded)
        if not recorded:
            if kept:
                write("if mark is not None:", f"    {given_up} = None")
            write("self.g = mark" if kept else "self.g = None")
        write.depth = 0
    space = _compile(write.text(), f"{op.name} node", names)
    kind = Kind(op, op.grad_fn, fields, tuple(kept), 0 if op.variadic in op.rules else min(2, len(ruled)))
    kind.run, kind.run_recorded, kind.release = space["run"], space["run_recorded"], space["release"]
    return kind


_sources: dict[str, list[bytes]] = {}


def called(rule: Callable[..., Any], name: str, arguments: Sequence[str]) -> str:
    """The text of a call of a rule; the rule's own text where it is a lambda that reads nothing but its arguments."""
    code = rule.__code__
    call = f"{name}({', '.join(arguments)})"
    if code.co_name != "<lambda>" or code.co_names or code.co_freevars or code.co_varnames != tuple(arguments):
        return call
    spans = [span for span in code.co_positions() if span[3]]
    if not spans:
        return call
    line, start, end = spans[0][0], min(span[2] or 0 for span in spans), max(span[3] or 0 for span in spans)
    if line is None or any(span[:2] != (line, line) for span in spans):
        return call
    lines = _sources.get(code.co_filename)
    if lines is None:
        try:
            with open(code.co_filename, "rb") as file:
                lines = file.read().splitlines()
        except OSError:
            lines = []
        _sources[code.co_filename] = lines
    text = lines[line - 1][start:end].decode() if line <= len(lines) else ""
    try:
        again = eval(f"lambda {', '.join(arguments)}: {text}").__code__
    except SyntaxError:
        return call
    return f"({text})" if (again.co_code, again.co_consts) == (code.co_code, code.co_consts) else call


def _unpack(op: Op, write: Writer, field: str, recorded: bool, node: str, meta: str = "None") -> None:
    """Put a saved value into a local variable of the same name, raw or as a tensor."""
    write(f"{field} = self.{_field(places(op)[field])}")
    if field in op.operands and field != op.variadic:
        write(f"if {field}.__class__ is Tensor or {field}.__class__ is Parameter:")
        write(f"    if {field}.extra is not None:", f"        check_saved(self, {field})")
        if recorded:
            write(f"    if {field}.node is not {node}:", f"        {field} = rewrapped({field}, {node}, {meta})")
        else:
            write(f"    {field} = {field}.raw")
    elif field == op.variadic:
        write(f"{field} = unpacked(self, {field}, {recorded})")
    elif field == "out" and recorded:
        write("out = wrapped_out(self, out)")
    elif field in op.outputs and recorded:
        index = op.outputs.index(field)
        write(f"{field} = wrap({field}, {f'output_node(self, {index})' if op.differentiable[index] else 'None'})")


def _needed(op: Op, write: Writer, ruled: list[str], nodes: dict[str, str], fitted: bool, recorded: bool) -> None:
    for field in saved_names(op):
        users = [operand for operand in ruled if field in op.uses[operand]]
        if not users:
            continue
        always = len(users) == len(ruled) or field in op.settings
        if not always:
            write(f"if {' or '.join(f'{nodes[operand]} is not None' for operand in users)}:")
            write.depth += 1
        meta = f"fits[{ruled.index(field)}]" if fitted and field in ruled else "None"
        _unpack(op, write, field, recorded, nodes.get(field, "None"), meta)
        if not always:
            write.depth -= 1


def _run_fixed(op: Op, write: Writer, ruled: list[str], fitted: bool, recorded: bool) -> None:
    places = dict(zip(ruled, slots(len(ruled)), strict=True))
    if fitted:
        write("fits = self.fits")
    nodes = {operand: f"{operand}_node" for operand in ruled}
    for operand in ruled:
        place = places[operand]
        write(f"{nodes[operand]} = self.{place}" if place in "pq" else f"{nodes[operand]} = self.more[{place[4:]}]")
    _needed(op, write, ruled, nodes, fitted, recorded)
    if op.outputs or op.many:
        write("g = gathered(self, g)")
    calls = {operand: called(op.rules[operand], f"rule_{operand}", op.uses[operand]) for operand in ruled}
    if not recorded:
        write("try:")
        write.depth += 1
    for operand in ruled:
        write(
            f"{operand}_g = {calls[operand]} if {nodes[operand]} is not None else None"
            if len(ruled) > 1
            else f"{operand}_g = {calls[operand]}"
        )
    if not recorded:
        write.depth -= 1
        write("except (ArithmeticError, ValueError):")
        for operand in ruled:
            again = f"rule_again(rule_{operand}, {', '.join(op.uses[operand])})"
            write(f"    {operand}_g = {again} if {nodes[operand]} is not None else None")
    for operand in ruled:
        node, value = nodes[operand], f"{operand}_g"
        if len(ruled) > 1:
            write(f"if {node} is not None:")
            write.depth += 1
        if fitted:
            write.block(f"if fits[{ruled.index(operand)}] is not None:")
            write(f"    {value} = {'fit_recorded' if recorded else 'fit'}({value}, fits[{ruled.index(operand)}])")
        if op.kind != ELEMENTWISE:
            write(f"if {value} is not None:")
            write.depth += 1
        write(f"if {node}.g is PENDING:", f"    {node}.g = {value}", f"    {node}.own = {value} is not g")
        write("else:", f"    {'accumulate_recorded' if recorded else 'accumulate'}({node}, {value})")
        if op.kind != ELEMENTWISE:
            write.depth -= 1
        if len(ruled) > 1:
            write.depth -= 1


def _run_variadic(op: Op, write: Writer, recorded: bool) -> None:
    assert op.variadic is not None
    rule = op.variadic
    write("nodes = self.more")
    for field in saved_names(op):
        if field in op.uses[rule]:
            _unpack(op, write, field, recorded, "None")
    uses = ", ".join(op.uses[rule])
    write("for i, node in enumerate(nodes):")
    write("    if node is None:", "        continue")
    write(f"    value = rule_{rule}({uses})")
    write("    if node.g is PENDING:", "        node.g = value", "        node.own = value is not g")
    write("    else:", f"        {'accumulate_recorded' if recorded else 'accumulate'}(node, value)")
