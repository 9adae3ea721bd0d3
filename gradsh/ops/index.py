"""Which file declares what, so that a file is imported when one of its names is first used.

The index is made by importing every file once, and stored.
"""

from __future__ import annotations

import os
import sys

from gradsh.stored import key_of_files, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "ops"
HERE = os.path.dirname(os.path.abspath(__file__))


class Lazy(dict[str, "Any"]):
    """Names and their values; a name that is known and not yet there imports the file that declares it."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part

    def __missing__(self, name: str) -> Any:
        file = index()[self.part].get(name)
        if file is None:
            raise KeyError(name)
        load(file)
        return dict.__getitem__(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or the default where there is no such name."""
        try:
            return self[name]
        except KeyError:
            return default

    def known(self) -> Iterator[str]:
        """Every name, whether its file is imported or not."""
        yield from {**index()[self.part], **self}


_index: dict[str, dict[str, str]] = {}
_making = False


def index() -> dict[str, dict[str, str]]:
    """Part ("ops", "entries", "operators", "attributes", or a place such as "torch") -> name -> file."""
    if not _index and not _making:
        _index.update(stored(NAME, lambda: key_of_files(_paths()), make))
    return _index if not _making else EMPTY


class _Empty(dict[str, dict[str, str]]):
    def __missing__(self, part: str) -> dict[str, str]:
        return {}


EMPTY = _Empty()


def _paths() -> list[str]:
    return [os.path.join(HERE, name) for name in sorted(os.listdir(HERE)) if name.endswith(".py")]


def files() -> list[str]:
    """The names of the modules of ops."""
    return [os.path.basename(path)[:-3] for path in _paths() if not path.endswith("__init__.py")]


def load(file: str) -> None:
    """Import a module of ops and register what it declares."""
    __import__(f"gradsh.ops.{file}")
    from gradsh.ops import registry

    registry.add_ops()


def is_loaded(file: str) -> bool:
    return f"gradsh.ops.{file}" in sys.modules


def load_all() -> None:
    """Import every module of ops."""
    for file in files():
        load(file)


def make() -> dict[str, dict[str, str]]:
    """The index, by importing everything."""
    global _making
    _making = True
    try:
        load_all()
    finally:
        _making = False
    from gradsh.ops import registry

    return registry.declared()


def file_of(module: str | dict[str, Any]) -> str:
    """The name of the module of ops that a function's globals, or a dotted name, belong to."""
    name = module if isinstance(module, str) else str(module["__name__"])
    return name.rpartition(".")[2]


def caller() -> str:
    """The module of ops that calls the registry."""
    frame = sys._getframe(2)
    while frame.f_globals["__name__"] in ("gradsh.ops.registry", "gradsh.ops.index") and frame.f_back is not None:
        frame = frame.f_back
    return file_of(frame.f_globals)
