"""The `.grad` files of the library: which names each defines, and running one when a name is first used."""

from __future__ import annotations

import os
import re
from typing import Any

from gradsh.backend.shield import shield

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_DEFINED = re.compile(r"^(?:class|def) (\w+)|^(\w+) = ", re.M)

# A module that offers the names of every file in a folder.
PACKAGES = {"torch.nn": "torch.nn.modules", "torch.optim": "torch.optim", "torch.nn.utils": "torch.nn.utils"}

_files: dict[str, str] = {}
_index: dict[str, dict[str, str]] = {}
_loaded: dict[str, dict[str, Any]] = {}


def _scan() -> None:
    """Find the files and the names that each defines at its left margin."""
    for folder, _, names in os.walk(_FOLDER):
        for name in sorted(names):
            if not name.endswith(".grad"):
                continue
            path = os.path.join(folder, name)
            label = "torch." + os.path.relpath(path, _FOLDER)[:-5].replace(os.sep, ".")
            _files[label] = path
            with open(path, encoding="utf-8") as file:
                text = file.read()
            defined = [first or second for first, second in _DEFINED.findall(text)]
            _index.setdefault(label, {}).update(dict.fromkeys(defined, label))
            package = label.rpartition(".")[0]
            if package in PACKAGES.values():
                _index.setdefault(package, {}).update(dict.fromkeys(defined, label))


def modules() -> list[str]:
    """The dotted path of every file."""
    if not _files:
        _scan()
    return list(_files)


def is_package(path: str) -> bool:
    return path in PACKAGES or any(name.startswith(path + ".") for name in modules())


def names_in(path: str) -> list[str]:
    """The public names that a module takes from `.grad` files."""
    modules()
    return [name for name in _index.get(PACKAGES.get(path, path), {}) if not name.startswith("_")]


def file_of(name: str, path: str) -> str | None:
    """The file that defines a name of a module."""
    modules()
    label = _index.get(PACKAGES.get(path, path), {}).get(name)
    return None if label is None else _files[label]


def load(path: str, name: str) -> Any:
    """The value of a name of a module, running the file that defines it; None where there is none."""
    modules()
    label = _index.get(PACKAGES.get(path, path), {}).get(name)
    return None if label is None else run(label).get(name)


def run(label: str) -> dict[str, Any]:
    """The names of a file's module, after running it once."""
    found = _loaded.get(label)
    if found is None:
        from gradsh.lang import Source, compile_program
        from gradsh.library.scope import outermost

        with open(_files[label], encoding="utf-8") as file:
            text = file.read()
        source = Source.add(_files[label], text, library=True)
        program = compile_program(source, dialect="torch", echo=False)
        outer = [name for name in program.free_names if name not in program.assigned]
        with shield:  # half a file would be taken for the whole one from then on
            found = _loaded[label] = {"__builtins__": outermost("torch", outer), "__name__": label}
            exec(program.code, found)
    return found
