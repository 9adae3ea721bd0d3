"""Values by their names, read without running anything of the user's: for completion and highlighting."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradsh.lang import members
from gradsh.library import namespaces
from gradsh.library.namespaces import Namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradsh.session import Session

MISSING: Any = object()


class Reach:
    """What can be reached by names in a session. The names of the library are gathered once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._library: frozenset[str] | None = None

    @property
    def library(self) -> frozenset[str]:
        """The names that are there without an import, Python's builtins among them."""
        if self._library is None:
            outermost = [name for name in self.session.scope.names if not name.startswith(("_", "."))]
            self._library = frozenset((*namespaces.bare_names(), *outermost))
        return self._library

    def __contains__(self, name: object) -> bool:
        """Whether a name is one of the library's that no variable hides."""
        return name in self.library and name not in self.session.namespace

    def variables(self) -> dict[str, Any]:
        """The user's names and their values."""
        return dict(self.session.variables())

    def value(self, path: Sequence[str]) -> Any:
        """The value of a name and of attributes of it, or MISSING."""
        session = self.session
        found = session.namespace.get(path[0], MISSING)
        if found is MISSING:
            found = session.scope.names.get(path[0], MISSING)
        if found is MISSING and path[0] in self.library:
            found = namespaces.bare(path[0])
        for name in path[1:]:
            if found is MISSING:
                break
            found = attribute(found, name)
        return found


def attribute(value: Any, name: str) -> Any:
    """An attribute that can be read without running the user's code, or MISSING: no property of a user's class."""
    held = own(value).get(name, MISSING)
    if held is not MISSING and type(value) is not Namespace:
        return held
    kind = value if isinstance(value, type) else type(value)
    for base in kind.__mro__:
        if base in members.OWN and name in base.__dict__:
            found = base.__dict__[name]
            return found if isinstance(found, FunctionType) or not hasattr(type(found), "__get__") else MISSING
    if kind in members.OWN and name not in names(value):
        return MISSING
    try:
        return members.get(value, name)
    except Exception:
        return MISSING


def own(value: Any) -> dict[str, Any]:
    """The attributes that a value itself holds."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return held if type(held) is dict else {}


def names(value: Any) -> list[str]:
    """The names of a value's attributes."""
    return list(value.names()) if isinstance(value, Namespace) else members.names_of(value)
