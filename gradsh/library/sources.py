"""The `.grad` files of the library: which names each defines, and running one when a name is first used."""

from __future__ import annotations

import os
import sys

from gradsh.backend.shield import shield
from gradsh.stored import key_of_files, key_of_text, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from gradsh.lang import Source

_FOLDER = os.path.dirname(os.path.abspath(__file__))

# A module that offers the names of every file in a folder.
PACKAGES = {
    "torch.nn": "torch.nn.modules", "torch.optim": "torch.optim", "torch.nn.utils": "torch.nn.utils",
    "torch.utils.data": "torch.utils.data", "torch.distributions": "torch.distributions",
}  # fmt: skip

# Files in such a folder whose names are their own.
APART = ("torch.nn.utils.parametrize", "torch.nn.utils.parametrizations")

NAME = "library"

_loaded: dict[str, dict[str, Any]] = {}
_found: dict[str, dict[str, str]] = {}


def _index() -> dict[str, dict[str, str]]:
    """Module -> name -> the module whose file defines it; a file's own module comes with every name of it."""
    if not _found:
        _found.update(stored(NAME, lambda: key_of_files(_paths()), make))
    return _found


def _paths() -> list[str]:
    return [
        os.path.join(folder, name)
        for folder, _, names in sorted(os.walk(_FOLDER))
        for name in sorted(names)
        if name.endswith(".grad")
    ]


def make() -> dict[str, dict[str, str]]:
    """Find the names that each file defines at its left margin."""
    import re

    pattern = re.compile(r"^(?:class|def) (\w+)|^(\w+) = ", re.M)
    found: dict[str, dict[str, str]] = {}
    for path in _paths():
        label = "torch." + os.path.relpath(path, _FOLDER)[:-5].replace(os.sep, ".")
        with open(path, encoding="utf-8") as file:
            defined = [first or second for first, second in pattern.findall(file.read())]
        found.setdefault(label, {}).update(dict.fromkeys(defined, label))
        package = label.rpartition(".")[0]
        if package in PACKAGES.values() and label not in APART:
            found.setdefault(package, {}).update(dict.fromkeys(defined, label))
    return found


def _path(label: str) -> str:
    return os.path.join(_FOLDER, *label.split(".")[1:]) + ".grad"


def modules() -> list[str]:
    """The dotted path of every module that is written in the language."""
    return list(_index())


def is_package(path: str) -> bool:
    return path in PACKAGES or any(name.startswith(path + ".") for name in modules())


def names_in(path: str) -> list[str]:
    """The public names that a module takes from `.grad` files."""
    return [name for name in _index().get(PACKAGES.get(path, path), {}) if not name.startswith("_")]


def file_of(name: str, path: str) -> str | None:
    """The file that defines a name of a module."""
    label = _index().get(PACKAGES.get(path, path), {}).get(name)
    return None if label is None else _path(label)


def load(path: str, name: str) -> Any:
    """The value of a name of a module, running the file that defines it; None where there is none."""
    label = _index().get(PACKAGES.get(path, path), {}).get(name)
    return None if label is None else run(label).get(name)


def run(label: str) -> dict[str, Any]:
    """The names of a file's module, after running it once."""
    found = _loaded.get(label)
    if found is None:
        from gradsh.lang import Source
        from gradsh.lang.compiled import compiler_key
        from gradsh.library.scope import outermost

        path = _path(label)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        source = Source.add(path, text, library=label)
        name = f"{label}-{sys.implementation.cache_tag}"
        code, outer = stored(name, lambda: key_of_text(compiler_key(), text), lambda: _compiled(source))
        with shield:  # half a file would be taken for the whole one from then on
            found = _loaded[label] = {"__builtins__": outermost("torch", outer), "__name__": label}
            exec(code, found)
    return found


def _compiled(source: Source) -> tuple[CodeType, tuple[str, ...]]:
    """A file's code, and the names that it reads from the outermost scope."""
    from gradsh.lang import compile_program

    program = compile_program(source, dialect="torch", echo=False)
    return program.code, tuple(name for name in program.free_names if name not in program.assigned)
