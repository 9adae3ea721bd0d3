"""Which attributes a program may read, set and delete: a list for each type, and all of a program's own classes."""

from __future__ import annotations

from types import FunctionType, MethodType

from gradsh.engine.state import settle
from gradsh.fault import fault
from gradsh.lang.names import METHODS, is_closed, is_dunder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Reader = Callable[[Any, str], Any]
    Writer = Callable[[Any, str, Any], None]

# Type -> the names that may be read from its values; those of a program's own classes grow as they are looked up.
ALLOWED: dict[type, set[str]] = {}
# Type -> the names that may be set.
SETTABLE: dict[type, set[str]] = {}
# Types that answer for themselves.
READERS: dict[type, Reader] = {}
WRITERS: dict[type, Writer] = {}
# Types whose field `ready` has by name what was read before.
KEEPING: set[type] = set()
# Methods for which a program gets a safe one.
REPLACED: dict[type, dict[str, Callable[..., Any]]] = {}
# The classes that gradsh code defines, a program's and the library's.
OWN: set[type] = set()

# Types that programs see as another one, or what gives it for a value.
SHOWN: dict[type, type | Callable[[Any], type]] = {}

# What deleting passes in place of a value.
DELETED: Any = object()


def allow(kind: type, names: Iterable[str] | None = None, settable: Iterable[str] = ()) -> None:
    """Let programs read `names` (None: all public ones) of values of `kind` and its subclasses, and set `settable`."""
    chosen = public(kind) if names is None else names
    ALLOWED.setdefault(kind, set()).update(chosen, settable)
    SETTABLE.setdefault(kind, set()).update(settable)


def policy(kind: type, reader: Reader, writer: Writer | None = None) -> None:
    """Let `kind` answer for itself: reader(value, name), writer(value, name, new value or DELETED)."""
    READERS[kind] = reader
    if writer is not None:
        WRITERS[kind] = writer


def replace(kind: type, name: str, method: Callable[..., Any]) -> None:
    """Give programs `method(value, …)` where they ask for a method that is not safe."""
    REPLACED.setdefault(kind, {})[name] = method


def public(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_")]


# --------------------------------------------------------------------------------------------------------- reading


def get(value: Any, name: str) -> Any:
    """`value.name`; `name` is no closed one, since it stands in a program."""
    kind = type(value)
    names = ALLOWED.get(kind)
    if names is not None:
        if name in names:
            return getattr(value, name)
        if kind in OWN:
            own = value.__dict__
            if name in own:
                return own[name]
    elif kind in KEEPING and name in value.ready:
        return value.ready[name]
    elif kind in READERS and name[0] != "_":
        return READERS[kind](value, name)
    return _get(value, name)


def _get(value: Any, name: str) -> Any:
    """Everything but the names already known to be allowed."""
    kind = type(value)
    if name == "__class__":
        return class_of(value)
    if kind is super:
        return _get_from_super(value, name)
    if issubclass(kind, type):
        return _get_from_class(value, name)
    owner = _owner(kind.__mro__, name)
    if name == "__setstate__" and owner not in OWN:
        raise _missing(value, f"'{class_of(value).__name__}' object has no attribute '{name}'", name)
    if owner is not None and name in REPLACED.get(owner, ()):
        return MethodType(REPLACED[owner][name], value)
    if owner is not None and _is_open(owner, name):
        ALLOWED.setdefault(kind, set()).add(name)
        return getattr(value, name)
    for base in kind.__mro__:
        if base in READERS:
            return READERS[base](value, name)
    if is_dunder(name) and not is_closed(name):
        return getattr(value, name)
    if owner is None and kind in OWN:
        # Its own attribute, or one that `__getattr__` makes.
        found = getattr(value, name)
        ALLOWED[kind].add(name)
        return found
    if kind is FunctionType and owner is None and is_users(value):
        return getattr(value, name)
    raise _missing(value, f"'{class_of(value).__name__}' object has no attribute '{name}'", name)


def _get_from_class(kind: type, name: str) -> Any:
    owner = _owner(kind.__mro__, name)
    if (name in METHODS and (name != "__setstate__" or owner in OWN)) or name in ("__name__", "__doc__"):
        return getattr(kind, name)
    if owner is not None:
        if name in REPLACED.get(owner, ()):
            return REPLACED[owner][name]
        if _is_open(owner, name):
            return getattr(kind, name)
    raise _missing(kind, f"type object '{kind.__name__}' has no attribute '{name}'", name)


def _get_from_super(value: Any, name: str) -> Any:
    order = value.__self_class__.__mro__
    owner = _owner(order[order.index(value.__thisclass__) + 1 :], name)
    if owner is not None and name in REPLACED.get(owner, ()):
        return MethodType(REPLACED[owner][name], value.__self__)
    known = name in METHODS and (name != "__setstate__" or owner in OWN)
    if known or owner is None or _is_open(owner, name):
        return getattr(value, name)
    raise _missing(value, f"'super' object has no attribute '{name}'", name)


def _missing(value: Any, message: str, name: str) -> AttributeError:
    """Python's error for an attribute that is not there, which also holds the value: the nearest name comes from it."""
    return AttributeError(message, name=name, obj=value)


def _owner(order: tuple[type, ...], name: str) -> type | None:
    """The first class that defines a name."""
    for base in order:
        if name in base.__dict__:
            return base
    return None


def _is_open(owner: type, name: str) -> bool:
    """Whether what `owner` defines may be read: as itself, or as another way of what a base class has open."""
    return owner in OWN or any(name in ALLOWED.get(base, ()) for base in owner.__mro__)


def class_of(value: Any) -> Any:
    """`type(value)`; the class of a class is the `type` that programs have, which makes no classes."""
    kind = type(value)
    if issubclass(kind, type):
        return Type
    shown = kind if kind in OWN else next((SHOWN[base] for base in kind.__mro__ if base in SHOWN), kind)
    return shown if isinstance(shown, type) else shown(value)


# --------------------------------------------------------------------------------------------- setting and deleting


class Member:
    """`a.b` where it is one of several targets, changed or deleted is `Member(a)["b"]`: Python then keeps the order of
    evaluation."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, name: str) -> Any:
        return get(self.value, name)

    def __setitem__(self, name: str, new: Any) -> None:
        put(self.value, name, new)

    def __delitem__(self, name: str) -> None:
        put(self.value, name, DELETED)


def assign(new: Any, value: Any, name: str) -> None:
    """`value.name = new` where this is the only target."""
    put(value, name, new)


def put(value: Any, name: str, new: Any) -> None:
    """`value.name = new`, or `del value.name`."""
    kind = type(value)
    names = SETTABLE.get(kind)
    if names is None or name not in names:
        if kind in WRITERS and kind not in OWN:
            return WRITERS[kind](value, name, new)
        if not _may_put(value, kind, name):
            return _put_otherwise(value, kind, name, new)
    if new is DELETED:
        delattr(value, name)
    else:
        setattr(value, name, _passing_limits(new) if name == "__exit__" else new)
    return None


def _put_otherwise(value: Any, kind: type, name: str, new: Any) -> None:
    for base in kind.__mro__:
        if base in WRITERS:
            return WRITERS[base](value, name, new)
    raise _read_only(value, kind, name)


def _may_put(value: Any, kind: type, name: str) -> bool:
    if is_dunder(name) and name not in METHODS:
        return kind is FunctionType and name in ("__name__", "__doc__") and is_users(value)
    if kind in OWN:
        owner = _owner(kind.__mro__, name)
        return owner is None or owner is object or owner in OWN or _settable_by(owner, name)
    if issubclass(kind, type):
        return value in OWN
    if kind is FunctionType:
        return is_users(value)
    return any(name in SETTABLE.get(base, ()) for base in kind.__mro__)


def is_users(function: FunctionType) -> bool:
    """Whether a program defined a function; only a user's text has such a file name."""
    return function.__code__.co_filename.startswith("<gradsh:")  # Python has some of its own in "<frozen abc>"


def _settable_by(owner: type, name: str) -> bool:
    return name in SETTABLE.get(owner, ()) or (owner not in WRITERS and name in ALLOWED.get(owner, ()))


def _read_only(value: Any, kind: type, name: str) -> BaseException:
    if issubclass(kind, type):
        return fault(TypeError, f"cannot set '{name}' attribute of immutable type '{value.__name__}'")
    if _owner(kind.__mro__, name) is None:
        return _missing(value, f"'{class_of(value).__name__}' object has no attribute '{name}'", name)
    return fault(AttributeError, f"'{class_of(value).__name__}' object attribute '{name}' is read-only")


# ------------------------------------------------------------------------------------------------------- functions


class _TypeOfTypes(type):
    def __call__(cls, *values: Any) -> Any:
        if len(values) != 1:
            raise fault(TypeError, "type() takes 1 argument", hint="class Name(Base):")
        settle()
        return class_of(values[0])

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return cls is kind or issubclass(kind, type)

    def __repr__(cls) -> str:
        return "<class 'type'>"


class Type(metaclass=_TypeOfTypes):
    """The `type` of programs: the class of a value, and the class of classes."""


Type.__name__ = Type.__qualname__ = "type"


def own(made: type) -> None:
    """Let a class that was made for a program count as its own."""
    OWN.add(made)
    ALLOWED[made] = set()


def build_class(body: Any, name: str, *bases: type) -> type:
    """What a class statement calls; its class is a program's own from then on."""
    import builtins

    for base in bases:
        if base is Type or not isinstance(base, type):
            raise fault(TypeError, f"{'type' if base is Type else repr(base)} cannot be a base class")
    made: type = builtins.__build_class__(body, name, *bases)
    own(made)
    if "__getattr__" in made.__dict__:
        made.__getattr__ = _for_open_names(made.__dict__["__getattr__"])  # type: ignore[attr-defined]
    if "__exit__" in made.__dict__:
        made.__exit__ = _passing_limits(made.__dict__["__exit__"])  # type: ignore[attr-defined]
    return made


def _for_open_names(method: Any) -> Any:
    """A class's `__getattr__` that is asked for no closed name: what it says of `__array_interface__`, numpy would trust."""

    def __getattr__(self: Any, name: str) -> Any:
        if is_closed(name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        return method(self, name)

    return __getattr__


def _passing_limits(method: Any) -> Any:
    """A class's `__exit__` that can swallow exceptions only: interrupts and limits go on, and limits stay unseen."""
    if type(method) is not FunctionType:
        return method

    def __exit__(self: Any, kind: Any, value: Any, trace: Any) -> Any:
        if kind is None or issubclass(kind, Exception):
            return method(self, kind, value, trace)
        seen = (kind, value, None) if kind is KeyboardInterrupt else (None, None, None)
        method(self, *seen)
        return None

    return __exit__


def get_attribute(value: Any, name: str, *default: Any) -> Any:
    """getattr(value, name[, default])"""
    if len(default) > 1:
        raise TypeError(f"getattr expected at most 3 arguments, got {len(default) + 2}")
    if not isinstance(name, str):
        raise TypeError("attribute name must be string, not '" + type(name).__name__ + "'")
    name = str.__str__(name)  # a subclass of str could be one name to us, and another to Python
    if is_closed(name):
        raise fault(AttributeError, f"the attribute {name} is not available")
    if not default:
        return get(value, name)
    try:
        return get(value, name)
    except AttributeError:
        return default[0]


def has_attribute(value: Any, name: str) -> bool:
    """hasattr(value, name); a closed name is never there."""
    if not isinstance(name, str):
        raise TypeError("attribute name must be string, not '" + type(name).__name__ + "'")
    name = str.__str__(name)
    if is_closed(name):
        return False
    try:
        get(value, name)
    except AttributeError:
        return False
    return True


def set_attribute(value: Any, name: str, new: Any) -> None:
    """setattr(value, name, new)"""
    if not isinstance(name, str):
        raise TypeError("attribute name must be string, not '" + type(name).__name__ + "'")
    name = str.__str__(name)
    if is_closed(name):
        raise fault(AttributeError, f"the attribute {name} is not available")
    put(value, name, new)


def names_of(value: Any) -> list[str]:
    """What a program can read from a value, sorted: for dir(), completion and the nearest name."""
    kind = type(value)
    order = value.__mro__ if isinstance(value, type) else kind.__mro__
    found: set[str] = set()
    for base in order:
        found.update(base.__dict__ if base in OWN else ALLOWED.get(base, ()), REPLACED.get(base, ()))
    if kind in OWN or (kind is FunctionType and is_users(value)):
        found.update(getattr(value, "__dict__", ()))
    reader = next((base for base in order if base in READERS), None)
    if reader is not None:
        found.update(name for name in dir(value) if has_attribute(value, name))
    return sorted(name for name in found if name in METHODS or not (is_dunder(name) or name.startswith(".")))


def _allow_pythons_own() -> None:
    for kind in (str, bytes, list, tuple, dict, set, frozenset, float, slice, range):
        allow(kind)
    for name in ("format", "format_map", "ljust", "rjust", "center", "zfill"):
        ALLOWED[str].discard(name)
    # to_bytes and from_bytes take a length that nothing guards.
    allow(int, [name for name in public(int) if name not in ("to_bytes", "from_bytes")])
    allow(type(None), ())
    allow(property, ("getter", "setter", "deleter"))
    allow(type(_ for _ in ()), ("send", "close", "throw"))
    views: tuple[object, ...] = ({}.keys(), {}.values(), {}.items())
    for view in views:
        allow(type(view), ("isdisjoint",) if hasattr(view, "isdisjoint") else ())
    allow(BaseException, ("args", "add_note"))
    allow(StopIteration, ("value",))
    allow(OSError, ("errno", "strerror", "filename"))
    allow(KeyError, ())
    allow(SyntaxError, ("msg", "lineno", "offset", "text", "filename"))
    allow(AttributeError, ("name",))
    allow(NameError, ("name",))
    allow(ImportError, ("name", "msg"))


_allow_pythons_own()
