"""A program's own modules: `.grad` and `.py` files beside it, for `import helpers`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gradsh.fault import fault
from gradsh.library.namespaces import Namespace

Run = Callable[[str, str, str], dict[str, Any]]


class Helpers:
    """The modules beside a program. run(path, text, name) runs a file and gives its names."""

    def __init__(self, folder: str, run: Run) -> None:
        self.folder, self.run = os.path.realpath(folder), run
        self.found: dict[str, Namespace] = {}
        self.running: list[str] = []

    def __call__(self, name: str) -> Namespace | None:
        """The module of a name, running its file at the first import; None where there is no such file."""
        if name in self.found:
            return self.found[name]
        path = self._file(name)
        if path is None:
            return None
        if name in self.running:
            cycle = " -> ".join([*self.running[self.running.index(name) :], name])
            raise fault(
                ImportError,
                f"cannot import {name}: its file is still running (a cycle: {cycle})",
                hint="move what both need to a third file",
            )
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        self.running.append(name)
        try:
            names = self.run(path, text, name)
        finally:
            self.running.pop()
        made = self.found[name] = Namespace(
            name, {key: value for key, value in names.items() if not key.startswith("__")}
        )
        return made

    def _file(self, name: str) -> str | None:
        """The regular file of a module inside the folder, links resolved."""
        inner = name.replace(".", os.sep)
        for ending in (".grad", ".py"):
            path = os.path.realpath(os.path.join(self.folder, inner + ending))
            if os.path.isfile(path) and os.path.commonpath([path, self.folder]) == self.folder:
                return path
        return None
