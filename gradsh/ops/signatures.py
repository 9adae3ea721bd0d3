"""Whether the arguments of a call fit PyTorch's signatures, and PyTorch's error where they do not.

`signatures.txt` has, for each place, the signatures as PyTorch's parser of arguments reads them (those of
`native_functions.yaml`, in the parser's order) and, after `def`, those of functions that PyTorch has in Python. It is
read when a call has failed; what fits follows `torch/csrc/utils/python_arg_parser.cpp`.
"""

from __future__ import annotations

from gradsh.backend.dtypes import INTEGER, DType
from gradsh.engine.device import device
from gradsh.engine.promote import kind_name
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import NUMPY_NAMES, Unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The parser's types, and what PyTorch's messages call them.
KINDS = {
    "Tensor": "Tensor", "Scalar": "Number", "int64_t": "int", "SymInt": "int", "double": "float", "bool": "bool",
    "IntArrayRef": "tuple of ints", "SymIntArrayRef": "tuple of ints", "ArrayRef<double>": "tuple of floats",
    "TensorList": "tuple of Tensors", "c10::List<::std::optional<Tensor>>": "tuple of Tensors",
    "ScalarList": "tuple of Scalars", "ScalarType": "torch.dtype", "c10::string_view": "str",
    "Generator": "torch.Generator", "Device": "torch.device", "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
}  # fmt: skip
ELEMENTS = {
    "tuple of ints": "int", "tuple of floats": "float", "tuple of Tensors": "Tensor", "tuple of Scalars": "Number",
}  # fmt: skip
# Functions that take a number where they say Tensor.
NUMBERS_TOO = frozenset("add sub mul div divide multiply subtract true_divide floor_divide copy".split())


class Misfit(Exception):
    """A call that does not fit one signature; the text is PyTorch's message."""


class StrayElement(Misfit):
    """What is no tensor in a list of tensors: PyTorch then tries no other signature."""


class Parameter:
    """One parameter: its name, the kind in the words of messages, and what leaves it out."""

    __slots__ = ("default", "kind", "name", "nothing", "single")

    def __init__(self, text: str) -> None:
        text, _, default = text.partition("=")
        kind, _, self.name = text.rpartition(" ")
        self.default = default or None
        self.nothing = kind.endswith("?") or default == "None"
        kind, _, size = kind.rstrip("?").partition("[")
        self.single = bool(size)
        self.kind = " or ".join(KINDS.get(one, "object") for one in kind.split("|"))


class Signature:
    """One signature: its parameters, how many of them take a place, and whether PyTorch still tells of it."""

    __slots__ = ("hidden", "open", "parameters", "places", "python", "required")

    def __init__(self, text: str) -> None:
        self.python = text.startswith("def ")
        inside, _, mark = text[text.index("(") + 1 :].rpartition(")")
        self.hidden = mark == "|deprecated"
        parts = [part for part in inside.split(", ") if part and part != "..."]
        self.open = "..." in inside
        self.places = parts.index("*") if "*" in parts else len(parts)
        self.parameters = [Parameter(part) for part in parts if part != "*"]
        self.required = sum(one.default is None for one in self.parameters)

    def __str__(self) -> str:
        parts = []
        for one in self.parameters:
            default = "" if one.default is None else f" = {one.default}"
            parts.append(f"{one.kind} {one.name}{default}")
        if self.places < len(parts):
            parts.insert(self.places, "*")
        return "(" + ", ".join(parts) + ")"

    def fit(self, name: str, args: tuple[Any, ...], settings: dict[str, Any]) -> None:
        """Raise Misfit where a call does not fit."""
        if self.open:
            return
        packed = self.places == 1 and self.parameters[0].kind == "tuple of ints" and is_whole((*args, None)[0])
        if len(args) > self.places and not packed:
            raise self._too_many(name, len(args))
        left = {NUMPY_NAMES.get(key, key) if self._find(key) < 0 else key: key for key in settings}
        for place, one in enumerate(self.parameters):
            by_name = place >= len(args)
            if not by_name:
                if place >= self.places:
                    raise self._too_many(name, len(args))
                value = args[place]
            elif one.name in left:
                value = settings[left.pop(one.name)]
            elif one.default is not None:
                continue
            else:
                raise self._missing(name, place)
            if value is None and one.nothing:
                continue
            if packed and not place:
                break
            self._check(name, one, value, place, by_name)
        for key in left.values():
            found = self._find(key)
            if found < 0:
                raise Misfit(f"{name}() got an unexpected keyword argument '{key}'")
            raise Misfit(f"{name}() got multiple values for argument '{key}'")

    def _find(self, key: str) -> int:
        return next((k for k, one in enumerate(self.parameters) if one.name == key), -1)

    def _check(self, name: str, one: Parameter, value: Any, place: int, by_name: bool) -> None:
        stray = stray_element(one.kind, value)
        if stray is None or (stray < 0 and fits(one.kind, value, name)):
            return
        if stray < 0 and one.single and one.kind == "tuple of ints" and is_whole(value):
            return
        if stray >= 0 and one.kind == "tuple of Tensors":
            raise StrayElement(
                f"expected Tensor as element {stray} in argument {place}, but got {kind_name(value[stray])}"
            )
        where = "" if by_name else f" (position {place + 1})"
        was = f"not {kind_name(value)}"
        if stray >= 0 and not by_name:
            was = f"but found element of type {kind_name(value[stray])} at pos {stray}"
        raise Misfit(f"{name}(): argument '{one.name}'{where} must be {one.kind}, {was}")

    def _too_many(self, name: str, given: int) -> Misfit:
        least = sum(one.default is None for one in self.parameters[: self.places])
        span = str(self.places) if least == self.places else f"from {least} to {self.places}"
        plural = "" if self.places == 1 == least else "s"
        return Misfit(
            f"{name}() takes {span} positional argument{plural} but {given} {'was' if given == 1 else 'were'} given"
        )

    def _missing(self, name: str, place: int) -> Misfit:
        names = [one.name for one in self.parameters[place:] if one.default is None]
        listed = ", ".join(f'"{one}"' for one in names)
        plural = "s" if len(names) == 1 else ""  # so in PyTorch
        return Misfit(f"{name}() missing {len(names)} required positional argument{plural}: {listed}")


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, or a tensor of one integer and no gradient."""
    if isinstance(value, Tensor):
        return value.dtype.category == INTEGER and value.ndim == 0 and not value.requires_grad
    return not isinstance(value, bool) and hasattr(value, "__index__")


def is_number(value: Any) -> bool:
    """Whether a value is a number, or a tensor of no dimension and no gradient."""
    if isinstance(value, Tensor):
        return value.ndim == 0 and not value.requires_grad
    return hasattr(value, "__index__") or hasattr(value, "__float__")


def fits(kind: str, value: Any, name: str = "") -> bool:
    """Whether a value is of a kind that is no list."""
    if kind in ELEMENTS:
        return False
    if " or " in kind:
        return any(fits(one, value) or stray_element(one, value) is None for one in kind.split(" or "))
    if kind == "Tensor":
        if state.lists and isinstance(value, (list, tuple, int, float)):
            return True
        return isinstance(value, Tensor) or (name.rstrip("_") in NUMBERS_TOO and is_number(value))
    if kind in ("Number", "float"):
        return is_number(value)
    if kind == "int":
        return is_whole(value)
    if kind == "bool":
        return value.__class__.__name__ in ("bool", "bool_")
    if kind == "str":
        return isinstance(value, str)
    if kind == "torch.dtype":
        return isinstance(value, DType) or value in (bool, int, float)
    if kind == "torch.device":
        return isinstance(value, (device, str)) or is_whole(value)
    if kind in ("object", "torch.layout", "torch.memory_format"):
        return not isinstance(value, (str, int, float, list, tuple, dict, Tensor)) or kind == "object"
    return kind_name(value).rpartition(".")[2] == kind.rpartition(".")[2]


def stray_element(kind: str, value: Any) -> int | None:
    """The first element of a list that is not what it should be; None: all are; -1: there is no list."""
    element = ELEMENTS.get(kind)
    if not element:
        return -1
    if not isinstance(value, (list, tuple)):
        return -1
    looked = value if element == "Tensor" else value[:1]
    return next((k for k, one in enumerate(looked) if not fits(element, one)), None)


_table: dict[str, dict[str, list[Signature]]] = {}


def signatures(place: str, name: str) -> list[Signature]:
    """PyTorch's signatures of a function of "torch", "Tensor", "F", "linalg" or "special"; [] if they are not known."""
    if not _table:
        import os

        with open(os.path.join(os.path.dirname(__file__), "signatures.txt"), encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line.startswith("["):
                    rows = _table.setdefault(line[1:-1], {})
                else:
                    key = line.removeprefix("def ").partition("(")[0]
                    for prefix in ("linalg_", "special_"):
                        key = key.removeprefix(prefix)
                    rows.setdefault(key, []).append(Signature(line))
    return _table.get(place, {}).get(name, [])


def misfit(
    place: str, name: str, args: tuple[Any, ...], settings: dict[str, Any], *, python: bool = True
) -> str | None:
    """PyTorch's message for a call that fits none of its signatures; None where one fits, or where they are not known.

    A method's own tensor is no argument. For a function that is Python in PyTorch the answer is that of the function
    behind it, or "", which is to say that Python's error of the moment is as good; python=False: such functions are as
    if not known.
    """
    known = signatures(place, name)
    label = f"{place}_{name}" if place in ("linalg", "special") else name
    if known and known[0].python:
        return _behind(known[0], name, args, settings) if python else None
    return _misfit(known, label, args, settings) if known else None


def unfit(place: str, name: str, error: Unfit) -> str:
    """PyTorch's message for an argument that a function itself found to be of a wrong type."""
    known = signatures(place, name)
    names = [one.name for one in known[0].parameters[: known[0].places]] if known else []
    where = f" (position {names.index(error.argument) + 1})" if error.argument in names else ""
    return f"{name}(): argument '{error.argument}'{where} must be {error.wanted}, not {kind_name(error.value)}"


def overflow(place: str, name: str, args: tuple[Any, ...], settings: dict[str, Any]) -> Exception | None:
    """PyTorch's error where an argument is an integer of more than 64 bits."""
    for key, value in (*enumerate(args), *settings.items()):
        if value.__class__ is int and not -(2**63) <= value < 2**63:
            kinds = [
                one.kind
                for known in signatures(place, name)
                for k, one in enumerate(known.parameters)
                if key in (k, one.name)
            ]
            if "Tensor" in kinds or "Number" in kinds:
                return fault(OverflowError, "int too big to convert")  # type: ignore[return-value]
            return fault(ValueError, "Overflow when unpacking long long")  # type: ignore[return-value]
    return None


def _behind(known: Signature, name: str, args: tuple[Any, ...], settings: dict[str, Any]) -> str | None:
    """The same for a function that is Python in PyTorch."""
    try:
        known.fit(name, args, settings)
    except Misfit as error:
        behind = signatures("nn", name)
        if len(behind) == 1 and " must be " in str(error):
            given = dict(zip((one.name for one in known.parameters), args)) | settings
            taken = tuple(given[one.name] for one in behind[0].parameters if one.name in given)
            return _misfit(behind, name, taken, {}) or ""
        return ""
    return "" if known.open else None


def _misfit(known: list[Signature], name: str, args: tuple[Any, ...], settings: dict[str, Any]) -> str | None:
    if not known[0].parameters and len(known) == 1:  # METH_NOARGS
        if not args and not settings:
            return None
        takes = f"no arguments ({len(args)} given)" if args else "no keyword arguments"
        return f"TensorBase.{name}() takes {takes}"
    texts = []
    for one in known:
        try:
            one.fit(name, args, settings)
        except StrayElement as error:
            return str(error)
        except Misfit as error:
            texts.append(str(error))
        else:
            return None
    count = len(args) + len(settings)
    plausible = [k for k, one in enumerate(known) if one.required <= count <= len(one.parameters) and not one.hidden]
    if len(known) == 1:
        return texts[0]
    if len(plausible) == 1:
        return texts[plausible[0]]
    from gradsh.ops.calls import invalid_combination

    listed = tuple(str(one) for one in known if not one.hidden)
    return str(invalid_combination(name, args, settings, listed, False))
