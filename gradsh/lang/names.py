"""Which `__names__` a program may use."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Form

_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
# Methods that a class may define, and that may be called by name.
METHODS = frozenset(
    f"__{name}__"
    for name in (
        "init call repr str len getitem getitems setitem delitem contains iter next enter exit bool hash post_init setstate"
        " eq ne lt le gt ge neg pos abs invert round int float index divmod rdivmod reversed"
        f" {_BINARY} r{_BINARY.replace(' ', ' r')} i{_BINARY.replace(' ', ' i')}"
    ).split()
)
# Methods that a class may define besides, for Python to call: they are read from `super()` at most.
DEFINED = frozenset(("__getattr__", "__format__", "__missing__", "__copy__", "__deepcopy__"))
# What may be read besides.
READABLE = METHODS | {"__name__", "__class__", "__version__", "__doc__"}
# Bare names: `__class__` is no variable.
VARIABLES = METHODS | {"__name__", "__version__", "__doc__"}


def is_dunder(name: str) -> bool:
    """Whether a name is of Python's own kind; `__` and `____` are not."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def is_closed(name: str) -> bool:
    """Whether an attribute's name is one of Python's own that programs have no access to."""
    return is_dunder(name) and name not in READABLE


def refuse_closed(name: str) -> None:
    """An error for a closed name that a program has computed; a subclass of str is taken as what Python takes it for."""
    from gradsh.fault import fault

    text = str.__str__(name)
    if is_closed(text):
        raise fault(AttributeError, f"the attribute {text} is not available")


def check_name(name: str, form: Form, out: Emitter) -> str:
    """A variable's name that starts with `__`: refused with its name if it is closed."""
    if is_dunder(name) and name not in VARIABLES:
        raise out.error(form, f"the name {name} is not available", _hint(name))
    return name


def check_attribute(name: str, form: Form, out: Emitter) -> str:
    """An attribute's name that starts with `__`, likewise."""
    if is_closed(name):
        raise out.error(form, f"the attribute {name} is not available", _hint(name))
    return name


def _hint(name: str) -> str | None:
    return {"__dict__": "dir(x)", "__file__": "args", "__class__": "type(x)"}.get(name)
