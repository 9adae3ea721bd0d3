"""Every function of the library that is written in Python: where it is found, its help, its example.

Ops enter by their declaration; a function composed of ops enters with `@function`:

    @function(at=("torch", "Tensor"), example="std(tensor([1.0, 3.0]))")
    def std(input, dim=None, *, correction=1, keepdim=False):
        \"\"\"Standard deviation over dim, or over everything.\"\"\"
        return sqrt(var(input, dim, correction=correction, keepdim=keepdim))
"""

from __future__ import annotations

from gradsh.engine.op import OPS, Op
from gradsh.engine.promote import kind_name, numpy_numbers, plain_number
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import checked
from gradsh.ops.index import Lazy, caller, file_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PLACES = (
    "torch", "Tensor", "F", "linalg", "special", "autograd", "autograd.functional", "autograd.function", "autograd.graph",
    "autograd.grad_mode", "autograd.gradcheck", "autograd.forward_ad", "func", "cuda", "backends", "random",
    "testing", "utils.hooks", "version",
)  # fmt: skip
NAMESPACES = {place: Lazy(place) for place in PLACES}


ENTRIES = Lazy("entries")
# Part of the index -> name -> the file that declares it: places, "entries", "operators" and "attributes" of Tensor.
DECLARED: dict[str, dict[str, str]] = {part: {} for part in (*PLACES, "entries", "operators", "attributes")}


class Entry:
    """One function: its name, the callable or op behind it, its places, its one-line help and an example."""

    __slots__ = ("at", "doc", "example", "name", "op", "target")

    def __init__(
        self, name: str, target: Any, at: tuple[str, ...], doc: str, example: str | None, op: Op | None
    ) -> None:
        self.name, self.target, self.at, self.doc, self.example, self.op = name, target, at, doc, example, op


def enter(entry: Entry, file: str) -> None:
    """Put an entry where help finds it."""
    ENTRIES[entry.name] = entry
    DECLARED["entries"][entry.name] = file


def put(place: str, name: str, value: Any, file: str) -> None:
    """Put a value where programs find it; what is put on "Tensor" is its attribute."""
    NAMESPACES[place][name] = value
    DECLARED[place][name] = file
    if place == "Tensor":
        setattr(Tensor, name, value)


def function(
    name: str | None = None,
    *,
    at: tuple[str, ...] = ("torch", "Tensor"),
    example: str | None = None,
    inplace: bool = False,
    overloads: tuple[str, ...] = (),
    python: bool | None = None,
    alone: Op | None = None,
    several: str | None = None,
    called: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function composed of ops. Its name is the Python name without a trailing `_of` or underscore mark.

    overloads: PyTorch's signatures as its TypeErrors list them, where it has more than one.
    alone: the op that a call with a tensor and nothing else is.
    called: the name that PyTorch's own Python function has, where it is another one.
    several: the list of integers that the method takes as several arguments too, and the function as one only.
    python: PyTorch's own is written in Python, so a call that does not fit it raises Python's error; None: so are F's.
    """
    file = caller()

    def register(target: Callable[..., Any]) -> Callable[..., Any]:
        label = name or target.__name__
        target.__name__ = target.__qualname__ = called or label
        enter(Entry(label, target, at, (target.__doc__ or "").strip(), example, None), file)
        for one in at:
            place, _, other = one.partition(":")
            value = target
            if not python and (python is False or place in ("torch", "Tensor", "linalg", "special")):
                value = checked(
                    target, _parser_name(label, place, other), method=place == "Tensor", overloads=overloads
                )
            if several is not None and place != "Tensor":
                value = _with_list(value, label, several)
            put(place, other or label, value if alone is None else _short(alone, value, place, other or label), file)
            if place == "Tensor" and inplace:
                changed = other or label
                fitting = target if python else checked(target, f"{changed}_", method=True, overloads=overloads)
                add_inplace(changed, fitting, file)
        return target

    return register


def _with_list(function: Callable[..., Any], name: str, argument: str) -> Callable[..., Any]:
    """A function whose list of integers is one argument, but for the shell's defaults."""

    def call(*args: Any, **settings: Any) -> Any:
        if len(args) > 1 and not state.lists and not isinstance(args[1], list | tuple):
            if len(args) > 2:
                raise fault(TypeError, f"{name}() takes 2 positional arguments but {len(args)} were given")
            kind = kind_name(args[1])
            message = f"{name}(): argument '{argument}' (position 2) must be tuple of ints, not {kind}"
            raise fault(TypeError, message, hint=f"({args[1]},)" if kind == "int" else None)
        return function(*args, **settings)

    call.__name__, call.__doc__, call.__wrapped__ = name, function.__doc__, function  # type: ignore[attr-defined]
    return call


def _parser_name(label: str, place: str, alias: str) -> str:
    """The name of a function in PyTorch's TypeErrors: that of the alias, and of `torch.special` with a prefix."""
    name = alias if alias and place in ("torch", "Tensor") else label
    return f"special_{alias or label}" if place == "special" and not name.startswith("special_") else name


def _short(op: Op, otherwise: Callable[..., Any], place: str, name: str) -> Callable[..., Any]:
    """A function whose call with a tensor alone is the op's own code, generated at the first such call."""
    made: list[Callable[..., Any]] = []

    def call(*args: Any, **settings: Any) -> Any:
        if not made:
            from gradsh.engine.generate import generated_call

            made.append(generated_call(op, otherwise=otherwise))
            if place == "Tensor":
                setattr(Tensor, name, made[0])
        return made[0](*args, **settings)

    call.__name__, call.__doc__, call.__wrapped__ = name, otherwise.__doc__, otherwise  # type: ignore[attr-defined]
    return call


def constant(name: str, value: Any, at: tuple[str, ...] = ("torch",)) -> None:
    """Put a value that is no function (a type, a number, an element type) where it is found."""
    file = caller()
    for place in at:
        NAMESPACES[place][name] = value
        DECLARED[place][name] = file


Readable = tuple[type, tuple[str, ...] | None, tuple[str, ...]]
_readable: list[Readable] = []
_listeners: list[Callable[[Readable], None]] = []


def readable(kind: type, names: tuple[str, ...] | None, settable: tuple[str, ...] = ()) -> None:
    """Tell the language which attributes of a type's values a program may read (None: any), and which it may set."""
    _readable.append((kind, names, settable))
    for listener in _listeners:
        listener(_readable[-1])


def when_readable(listener: Callable[[Readable], None]) -> None:
    """Hear of what is told to `readable`, also of what was told before."""
    _listeners.append(listener)
    for told in _readable:
        listener(told)


def attribute(reader: Callable[[Any], Any], writer: Callable[[Any, Any], None] | None = None) -> property:
    """Register an attribute of Tensor that is computed when it is read, and assigned to where there is a writer."""
    name, file = reader.__name__, caller()
    found = property(reader, writer, doc=reader.__doc__)
    if name not in ENTRIES:
        enter(Entry(name, reader, ("Tensor",), (reader.__doc__ or "").strip(), None, None), file)
    put("Tensor", name, found, file)
    DECLARED["attributes"][name] = file
    return found


def add_inplace(name: str, target: Callable[..., Any], file: str) -> None:
    """The in-place method `name_` of a function whose result takes the tensor's place, and the function of that name."""
    label = f"{name}_"

    def changed(self: Tensor, *args: Any, **settings: Any) -> Tensor:
        from gradsh.engine.inplace import inplace

        return inplace(target, self, *args, what=label, **settings)

    changed.__name__ = changed.__qualname__ = label
    put("Tensor", label, changed, file)
    if name in INPLACE_FUNCTIONS:

        def change(input: Tensor, *args: Any, **settings: Any) -> Tensor:
            return changed(tensor_argument(input, label), *args, **settings)

        change.__name__ = change.__qualname__ = label
        put("torch", label, change, file)


def add_op(op: Op) -> None:
    """Put an op where its declaration says it is found."""

    def first(*args: Any, **settings: Any) -> Any:
        op.specialise()
        return op.call(*args, **settings)

    first.__name__ = op.name
    first.op = op  # type: ignore[attr-defined]
    file = file_of(op.module)
    enter(Entry(op.name, first, op.at, op.doc, op.example, op), file)
    for one in op.at:
        place, _, name = one.partition(":")
        name = name or op.name
        put(place, name, first, file)
        op.spaces.append((NAMESPACES[place], name))
        if place == "Tensor":
            op.places.append((Tensor, name))
            if op.inplace:
                add_inplace(name, op, file)


def add_ops() -> None:
    """Register every op that is declared and not yet registered."""
    for op in list(OPS.values()):
        if op.at and not dict.__contains__(ENTRIES, op.name):
            add_op(op)


def declared() -> dict[str, dict[str, str]]:
    """What is declared where, for the index."""
    return {**DECLARED, "ops": {name: file_of(op.module) for name, op in OPS.items()}}


def bind_operator(dunder: str, function: Callable[..., Any]) -> None:
    """Bind one of Python's operators of Tensor to a function of one's own."""
    setattr(Tensor, dunder, function)
    DECLARED["operators"][dunder] = caller()


def add_operator(
    dunder: str, op: Op, *, number: Op | None = None, reflected: bool = False, inplace: bool = False
) -> None:
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
        return operator(self, other) if len(op.operands) > 1 else operator(self)  # type: ignore[call-arg]

    symbol = SYMBOLS.get(dunder, dunder)
    first.__name__ = dunder
    setattr(Tensor, dunder, first)
    DECLARED["operators"][dunder] = caller()


def _by_number(tensors: Callable[..., Any], number: Callable[..., Any]) -> Callable[..., Any]:
    def call(input: Any, other: Any) -> Any:
        kind = other.__class__
        if kind is float or kind is int or kind is bool:
            return number(input, other)
        return number(input, plain_number(other)) if kind in numpy_numbers else tensors(input, other)

    return call


# In-place methods that PyTorch has as functions too: torch.exp_(x).
INPLACE_FUNCTIONS = frozenset(
    (
        "abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max clamp_min "
        "clip cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac gcd i0 lcm ldexp log log10 log1p log2 logit "
        "nan_to_num neg negative rad2deg reciprocal relu round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc "
        "xlogy"
    ).split()
)

SYMBOLS = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__ipow__": "**=", "__ifloordiv__": "//=",
    "__imod__": "%=", "__iand__": "&=", "__ior__": "|=", "__ixor__": "^=", "__ilshift__": "<<=", "__irshift__": ">>=",
}  # fmt: skip


def tensor_argument(value: Any, function: str, argument: str = "input", position: int = 1) -> Tensor:
    """An argument of a composed function as a tensor: lists where the shell's defaults allow them, else PyTorch's error."""
    if isinstance(value, Tensor):
        return value
    if state.lists and isinstance(value, list | tuple | float | int):
        from gradsh.engine.create import tensor

        return tensor(value)
    raise fault(
        TypeError,
        f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}",
        hint="torch.tensor(…) makes one",
    )
