"""Every function of the library that is written in Python: where it is found, its help, its example.

Ops enter by their declaration; a function composed of ops enters with `@function`:

    @function(at=("torch", "Tensor"), example="std(tensor([1.0, 3.0]))")
    def std(input, dim=None, *, correction=1, keepdim=False):
        \"\"\"Standard deviation over dim, or over everything.\"\"\"
        return sqrt(var(input, dim, correction=correction, keepdim=keepdim))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsh.engine.op import OPS, Op
from gradsh.engine.tensor import Tensor
from gradsh.ops.calls import checked

PLACES = (
    "torch", "Tensor", "F", "linalg", "special", "autograd", "autograd.functional", "autograd.function", "autograd.graph",
    "autograd.grad_mode", "autograd.gradcheck", "cuda", "backends", "random", "testing", "utils.hooks", "version",
)  # fmt: skip
NAMESPACES: dict[str, dict[str, Any]] = {place: {} for place in PLACES}


class Entry:
    """One function: its name, the callable or op behind it, its places, its one-line help and an example."""

    __slots__ = ("at", "doc", "example", "name", "op", "target")

    def __init__(self, name: str, target: Any, at: tuple[str, ...], doc: str, example: str | None, op: Op | None) -> None:
        self.name, self.target, self.at, self.doc, self.example, self.op = name, target, at, doc, example, op


ENTRIES: dict[str, Entry] = {}


def function(
    name: str | None = None,
    *,
    at: tuple[str, ...] = ("torch", "Tensor"),
    example: str | None = None,
    inplace: bool = False,
    overloads: tuple[str, ...] = (),
    python: bool | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function composed of ops. Its name is the Python name without a trailing `_of` or underscore mark.

    overloads: PyTorch's signatures as its TypeErrors list them, where it has more than one.
    python: PyTorch's own is written in Python, so a call that does not fit it raises Python's error; None: so are F's.
    """

    def register(target: Callable[..., Any]) -> Callable[..., Any]:
        label = name or target.__name__
        target.__name__ = target.__qualname__ = label
        add(Entry(label, target, at, (target.__doc__ or "").strip(), example, None), inplace, overloads, python)
        return target

    return register


def add(entry: Entry, inplace: bool = False, overloads: tuple[str, ...] = (), python: bool | None = None) -> None:
    """Put a function where it is found."""
    ENTRIES[entry.name] = entry
    for place in entry.at:
        space, _, name = place.partition(":")
        name = name or entry.name
        target = entry.target
        if not python and (python is False or space in ("torch", "Tensor", "linalg", "special")):
            target = checked(target, entry.name, method=space == "Tensor", overloads=overloads)
        NAMESPACES[space][name] = target
        if space == "Tensor":
            setattr(Tensor, name, target)
            if inplace:
                add_inplace(name, entry.target)


def constant(name: str, value: Any, at: tuple[str, ...] = ("torch",)) -> None:
    """Put a value that is no function (a type, a number, an element type) where it is found."""
    for place in at:
        NAMESPACES[place][name] = value


READABLE: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def readable(kind: type, names: tuple[str, ...], settable: tuple[str, ...] = ()) -> None:
    """Tell the language which attributes of a type's values a program may read, and which it may set."""
    READABLE[kind] = names, settable


OPEN: list[type] = []


def open_to_programs(kind: type) -> None:
    """Tell the language that a program may read and set attributes of any name on a type's values."""
    OPEN.append(kind)


def attribute(reader: Callable[[Any], Any], writer: Callable[[Any, Any], None] | None = None) -> property:
    """Register an attribute of Tensor that is computed when it is read, and assigned to where there is a writer."""
    name = reader.__name__
    found = property(reader, writer, doc=reader.__doc__)
    ENTRIES.setdefault(name, Entry(name, reader, ("Tensor",), (reader.__doc__ or "").strip(), None, None))
    NAMESPACES["Tensor"][name] = found
    setattr(Tensor, name, found)
    return found


def add_inplace(name: str, target: Callable[..., Any]) -> None:
    """The in-place method `name_` of a function whose result takes the tensor's place, and the function of that name."""
    label = f"{name}_"

    def changed(self: Tensor, *args: Any, **settings: Any) -> Tensor:
        from gradsh.engine.inplace import inplace

        return inplace(target, self, *args, what=label, **settings)

    changed.__name__ = label
    setattr(Tensor, label, changed)
    NAMESPACES["Tensor"][label] = changed
    if name in INPLACE_FUNCTIONS:
        NAMESPACES["torch"][label] = changed


def add_op(op: Op) -> None:
    """Put an op where its declaration says it is found."""

    def first(*args: Any, **settings: Any) -> Any:
        op.specialise()
        return op.call(*args, **settings)

    first.__name__ = op.name
    ENTRIES[op.name] = Entry(op.name, first, op.at, op.doc, op.example, op)
    for place in op.at:
        space, _, name = place.partition(":")
        name = name or op.name
        NAMESPACES[space][name] = first
        if space == "Tensor":
            setattr(Tensor, name, first)
            op.places.append((Tensor, name))
            if op.inplace:
                add_inplace(name, op)
    op.spaces = [(NAMESPACES[place.partition(":")[0]], place.partition(":")[2] or op.name) for place in op.at]


def add_ops() -> None:
    """Register every op that is declared and not yet registered."""
    for op in OPS.values():
        if op.at and op.name not in ENTRIES:
            add_op(op)


def bind_operator(dunder: str, function: Callable[..., Any]) -> None:
    """Bind one of Python's operators of Tensor to a function of one's own."""
    setattr(Tensor, dunder, function)


def add_operator(dunder: str, op: Op, *, number: Op | None = None, reflected: bool = False, inplace: bool = False) -> None:
    """Bind one of Python's operators of Tensor to an op, specialised at its first use.

    number: the op where the other operand is a Python number, if PyTorch has another node for it.
    """

    def first(self: Tensor, other: Any = None) -> Any:
        from gradsh.engine.generate import generated_call

        call = generated_call(op, operator=True)
        if number is not None:
            call = _by_number(call, generated_call(number, operator=True))
        if reflected:

            def operator(self: Tensor, other: Any) -> Any:
                return call(other, self)

        elif inplace:
            from gradsh.engine.inplace import inplace as change

            def operator(self: Tensor, other: Any) -> Any:
                return change(call, self, other, what=symbol)

        else:
            operator = call
        setattr(Tensor, dunder, operator)
        return operator(self) if len(op.operands) == 1 else operator(self, other)

    symbol = SYMBOLS.get(dunder, dunder)
    first.__name__ = dunder
    setattr(Tensor, dunder, first)


def _by_number(tensors: Callable[..., Any], number: Callable[..., Any]) -> Callable[..., Any]:
    def call(input: Any, other: Any) -> Any:
        kind = other.__class__
        return (number if kind is float or kind is int or kind is bool else tensors)(input, other)

    return call


# In-place methods that PyTorch has as functions too: torch.exp_(x).
INPLACE_FUNCTIONS = frozenset(
    "abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max clamp_min clip cos "
    "cosh deg2rad erf erfc exp exp2 expm1 fix floor frac gcd i0 lcm ldexp log log10 log1p log2 logit nan_to_num neg negative "
    "rad2deg reciprocal relu round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy".split()
)

SYMBOLS = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__ipow__": "**=", "__ifloordiv__": "//=",
    "__imod__": "%=", "__iand__": "&=", "__ior__": "|=", "__ixor__": "^=", "__ilshift__": "<<=", "__irshift__": ">>=",
}  # fmt: skip


def tensor_argument(value: Any, function: str, argument: str = "input", position: int = 1) -> Tensor:
    """An argument of a composed function as a tensor: lists where the shell's defaults allow them, else PyTorch's error."""
    if isinstance(value, Tensor):
        return value
    from gradsh.engine.state import state

    if state.lists and isinstance(value, list | tuple | float | int):
        from gradsh.engine.create import tensor

        return tensor(value)
    from gradsh.fault import fault

    raise fault(
        TypeError,
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}",
        hint="torch.tensor(…) makes one",
    )
