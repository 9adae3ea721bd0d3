"""`@dataclass` for classes of the language, whose annotated names the compiler leaves in an attribute called `.fields`."""

from __future__ import annotations

from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Field:
    """A default, or what makes one, and whether the field takes part in `__init__`, `repr` and comparison."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

    def __init__(self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool) -> None:
        self.default, self.default_factory, self.init, self.repr, self.compare = (
            default,
            default_factory,
            init,
            repr,
            compare,
        )
        self.name = ""


MISSING = object()


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    **_: Any,
) -> Any:
    """What stands behind an annotated name where a plain default does not say enough: field(default_factory=list)."""
    if default is not MISSING and default_factory is not MISSING:
        raise fault(ValueError, "cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, compare)


def dataclass(
    cls: Any = None,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    frozen: bool = False,
    **_: Any,
) -> Any:
    """Give a class `__init__`, `__repr__` and comparisons made from its annotated names, in order."""

    def decorate(cls: type) -> type:
        fields = _fields(cls)
        own = vars(cls)
        made: dict[str, Any] = {".dataclass": fields}
        if init and "__init__" not in own:
            made["__init__"] = _init(cls, fields, frozen)
        if repr and "__repr__" not in own:
            shown = [one.name for one in fields if one.repr]
            made["__repr__"] = lambda self: (
                f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
            )
        compared = [one.name for one in fields if one.compare]
        if eq and "__eq__" not in own:
            made["__eq__"] = _comparison(compared, lambda a, b: a == b)
            made["__hash__"] = (lambda self: hash(_values(self, compared))) if frozen else None
        if order:
            made |= {
                "__lt__": _comparison(compared, lambda a, b: a < b),
                "__le__": _comparison(compared, lambda a, b: a <= b),
                "__gt__": _comparison(compared, lambda a, b: a > b),
                "__ge__": _comparison(compared, lambda a, b: a >= b),
            }
        if frozen:
            made |= {"__setattr__": _frozen, "__delattr__": _frozen}
        for name, value in made.items():
            setattr(cls, name, value)
        return cls

    return decorate if cls is None else decorate(cls)


def _fields(cls: type) -> tuple[Field, ...]:
    found: dict[str, Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        found |= {one.name: one for one in vars(base).get(".dataclass", ())}
    for name in vars(cls).get(".fields", ()):
        value = vars(cls).get(name, MISSING)
        if isinstance(value, list | dict | set):
            raise fault(
                ValueError, f"mutable default {type(value)} for field {name} is not allowed: use default_factory"
            )
        one = value if isinstance(value, Field) else Field(value, MISSING, True, True, True)
        one.name = name
        found[name] = one
        if isinstance(value, Field):
            if value.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    return tuple(found.values())


def _init(cls: type, fields: tuple[Field, ...], frozen: bool) -> Any:
    """`__init__`, written as source so that Python itself checks calls; the names are identifiers of the program."""
    space: dict[str, Any] = {"__MISSING__": MISSING, "__put__": object.__setattr__}
    parameters, lines = ["self"], []
    optional = False
    for k, one in enumerate(fields):
        space[f"__default_{k}__"], space[f"__factory_{k}__"] = one.default, one.default_factory
        has_default = one.default is not MISSING or one.default_factory is not MISSING
        if not one.init:
            if has_default:
                lines.append(
                    f"__put__(self, {one.name!r}, {f'__factory_{k}__()' if one.default is MISSING else f'__default_{k}__'})"
                )
            continue
        if optional and not has_default:
            raise fault(TypeError, f"non-default argument {one.name!r} follows default argument")
        optional = optional or has_default
        parameters.append(
            one.name + (f"=__default_{k}__" if one.default is not MISSING else "=__MISSING__" if has_default else "")
        )
        value = (
            f"__factory_{k}__() if {one.name} is __MISSING__ else {one.name}"
            if one.default_factory is not MISSING
            else one.name
        )
        lines.append(f"__put__(self, {one.name!r}, {value})" if frozen else f"self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), space)
    made = space["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _values(value: Any, names: list[str]) -> tuple[Any, ...]:
    return tuple(getattr(value, name) for name in names)


def _comparison(names: list[str], compare: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        return compare(_values(self, names), _values(other, names)) if type(other) is type(self) else NotImplemented

    return method


def _frozen(self: Any, name: str, *value: Any) -> None:
    raise fault(AttributeError, f"cannot {'assign to' if value else 'delete'} field {name!r}")


def asdict(value: Any) -> dict[str, Any]:
    """The fields of a dataclass instance by name, those of instances inside as well."""
    return {one.name: _inside(getattr(value, one.name), asdict) for one in _of(value, "asdict")}


def astuple(value: Any) -> tuple[Any, ...]:
    """The fields of a dataclass instance in order."""
    return tuple(_inside(getattr(value, one.name), astuple) for one in _of(value, "astuple"))


def replace(value: Any, **changes: Any) -> Any:
    """A copy of a dataclass instance with some fields changed."""
    before = {one.name: getattr(value, one.name) for one in _of(value, "replace") if one.init}
    return type(value)(**(before | changes))


def _of(value: Any, function: str) -> tuple[Field, ...]:
    found = getattr(type(value), ".dataclass", None)
    if found is None:
        raise fault(TypeError, f"{function}() should be called on dataclass instances")
    return found  # type: ignore[no-any-return]


def _inside(value: Any, function: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_inside(item, function) for item in value)
    if isinstance(value, dict):
        return {key: _inside(item, function) for key, item in value.items()}
    return function(value) if hasattr(type(value), ".dataclass") else value
