"""`torch`, `torch.nn`, `math`, …: modules as a program sees them, filled from the registry and from the `.grad` files."""

from __future__ import annotations

from importlib import import_module

from gradsh.engine.op import Op
from gradsh.fault import fault
from gradsh.library import sources
from gradsh.ops.index import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MISSING: Any = object()


class Namespace:
    """A module of the library: its names are read through `get`, and cannot be assigned to."""

    __slots__ = ("hints", "label", "lazy", "more", "ready", "values")

    def __init__(
        self,
        label: str,
        values: dict[str, Any],
        lazy: Callable[[str], Any] | None = None,
        more: tuple[str, ...] = (),
        hints: dict[str, str] | None = None,
    ) -> None:
        self.label, self.values, self.lazy, self.more, self.hints = label, values, lazy, more, hints or {}
        self.ready: dict[str, Any] = {}  # what was asked for before

    def get(self, name: str) -> Any:
        """The value of a name; AttributeError with the nearest name where there is none."""
        found = self.find(name)
        if found is MISSING:
            raise fault(AttributeError, f"module '{self.label}' has no attribute '{name}'", hint=self._nearest(name))
        return found

    def find(self, name: str) -> Any:
        """The value of a name, or MISSING."""
        if name in self.ready:
            return self.ready[name]
        found = self.values.get(name, MISSING)
        if found is MISSING and sources.file_of(name, self.label) is None:  # a function hides the file of its name
            found = module(f"{self.label}.{name}") or MISSING
        if found is MISSING and self.lazy is not None:
            found = self.lazy(name)
            if found is None:
                return MISSING
        op = getattr(found, "op", None)
        if isinstance(op, Op):
            op.specialise()
            found = op.call
        if found is not MISSING:
            self.ready[name] = found
        return found

    def _nearest(self, name: str) -> str | None:
        import difflib

        from gradsh.library.refused import help_for

        found = self.hints.get(name) or (help_for(f"{self.label}.{name}") if self.label.startswith("torch") else None)
        if found is not None:
            return found
        near = difflib.get_close_matches(name, list(self.names()), 1)
        return f"did you mean {self.label}.{near[0]}?" if near else None

    def names(self) -> Iterator[str]:
        """Every name, loaded or not."""
        known = self.values.known() if isinstance(self.values, Lazy) else self.values
        yield from sorted(
            {
                *known,
                *self.ready,
                *self.more,
                *sources.names_in(self.label),
                *(path.rpartition(".")[2] for path in paths() if path.rpartition(".")[0] == self.label),
            }
        )

    def __repr__(self) -> str:
        return f"<module '{self.label}'>"


_modules: dict[str, Namespace | None] = {}

# Which entries of the ops' registry belong to which module.
REGISTERED = {
    "torch": "torch", "torch.nn.functional": "F", "torch.linalg": "linalg", "torch.special": "special",
    "torch.autograd": "autograd", "torch.autograd.functional": "autograd.functional", "torch.cuda": "cuda",
    "torch.func": "func", "torch.random": "random", "torch.backends": "backends", "torch.version": "version",
    "torch.utils.hooks": "utils.hooks", "torch.autograd.gradcheck": "autograd.gradcheck",
    "torch.autograd.graph": "autograd.graph",
    "torch.autograd.grad_mode": "autograd.grad_mode", "torch.autograd.forward_ad": "autograd.forward_ad",
    "torch.testing": "testing",
}  # fmt: skip

# Other people's modules: where their names come from.
OUTSIDE = {
    "numpy": ("numpy_names", "names"), "numpy.linalg": ("numpy_names", "linalg_names"),
    "numpy.testing": ("numpy_names", "testing_names"), "numpy.random": ("numpy_random", "names"),
    "warnings": ("warning", "names"),
}  # fmt: skip

# Other names of the same module.
ALIASES = {
    "functorch": "torch.func",
    "torch.nn.parameter": "torch.nn",
    "torch.nn.modules.module": "torch.nn",
    "torch.autograd.function": "torch.autograd",
    "torch.functional": "torch",
}


def paths() -> list[str]:
    """Every module there is."""
    return [*{**REGISTERED, **PYTHON}, "torch.nn", "torch.optim", "math", *OUTSIDE, *sources.modules()]


def module(path: str) -> Namespace | None:
    """The module of a dotted path, or None."""
    if path not in _modules:
        _modules[path] = _make(ALIASES.get(path, path))
    return _modules[path]


def _make(path: str) -> Namespace | None:
    if path in _modules:
        return _modules[path]
    if path in REGISTERED or path in ("torch.nn", "torch.optim"):
        from gradsh import ops
        from gradsh.ops.registry import NAMESPACES

        assert ops is not None
        values: dict[str, Any] = NAMESPACES.get(REGISTERED.get(path, ""), {})
        if path in PYTHON:
            more = tuple(PYTHON[path])
            return Namespace(path, values, lambda name: _in_python(path, name) or sources.load(path, name), more)
        return Namespace(path, values, lambda name: sources.load(path, name))
    if path in PYTHON:
        return Namespace(path, {}, lambda name: _in_python(path, name), tuple(PYTHON[path]))
    if path in sources.modules() or sources.is_package(path):
        return Namespace(path, {}, lambda name: sources.load(path, name))
    if path in OUTSIDE:
        outside = import_module(f"gradsh.library.outside.{OUTSIDE[path][0]}")
        return Namespace(path, getattr(outside, OUTSIDE[path][1])(), hints=getattr(outside, "HINTS", None))
    if "." in path:
        return None
    from gradsh.library import python_modules

    table = python_modules.table(path)
    return None if table is None else Namespace(path, table)


# Names of the library that are written in Python, and where.
PYTHON = {
    "torch": {"save": "serialization", "load": "serialization"},
    "torch.nn": {
        "Module": "module", "Buffer": "module", "Parameter": "module", "UninitializedParameter": "lazy",
        "UninitializedBuffer": "lazy",
    },
    "torch.serialization": dict.fromkeys(("save", "load", "safe_globals", "add_safe_globals"), "serialization"),
}  # fmt: skip


def _in_python(path: str, name: str) -> Any:
    file = PYTHON[path].get(name)
    return None if file is None else getattr(import_module(f"gradsh.library.{file}"), name)


BARE = ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "math")
SHORT = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "math": "math",
    "init": "torch.nn.init",
    "np": "numpy",
}

# The shell's own functions, and where below `gradsh.data` they are.
SHELL = {"read_text": "files", "read_csv": "tables", "read_json": "json_values", "read_jsonl": "json_values"}


def bare(name: str) -> Any:
    """The value of a bare name in the outermost scope, or None: `sin`, `Linear`, `Adam`, `pi`, `nn`, `read_csv`."""
    if name in SHORT:
        return module(SHORT[name])
    if name in SHELL:
        return getattr(import_module(f"gradsh.data.{SHELL[name]}"), name)
    for path in BARE:
        space = module(path)
        assert space is not None
        found = space.find(name)
        if found is not MISSING:
            return found
    return None


def bare_names() -> list[str]:
    """Every bare name, for completion and for the nearest name."""
    found = {*SHORT, *SHELL}
    for path in BARE:
        space = module(path)
        assert space is not None
        found.update(space.names())
    return sorted(name for name in found if not name.startswith("_"))
