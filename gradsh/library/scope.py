"""The outermost scope of a program: Python's safe builtins, our helpers, and the library's bare names, loaded when read."""

from __future__ import annotations

from gradsh.backend.shield import shield
from gradsh.data import files
from gradsh.fault import fault
from gradsh.lang.names import is_dunder
from gradsh.library import namespaces
from gradsh.ops import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# With the shell's defaults these are PyTorch's where their first argument is a tensor.
ON_TENSORS = ("sum", "max", "min", "abs", "round", "pow", "all", "any")


class Scope:
    """A program's outermost scope. `names` is the plain dict that Python looks up builtins in (it is quick only on plain
    ones); `provide` brings in those of the library that a program reads. `helpers` finds the program's own modules."""

    __slots__ = ("helpers", "names")

    def __init__(self, dialect: str, helpers: Callable[[str], Any] | None = None) -> None:
        self.helpers = helpers
        from gradsh.lang import builtin_names, runtime_names
        from gradsh.library import access

        access.register()
        names = self.names = builtin_names() | runtime_names()
        names["open"] = files.open_text
        names |= {".import": self._imported, ".import_from": self._imported_from, "param": param}
        if dialect == "shell":
            names[".list"] = rows.Row
            for name in ON_TENSORS:
                names[name] = on_tensors(name, names[name])

    def provide(self, names: Iterable[str]) -> None:
        """Bring in the names that are there and not yet loaded."""
        for name in names:
            if name not in self.names:
                found = namespaces.bare(name)
                if found is not None:
                    self.names[name] = found

    def _imported(self, path: str, top: bool = False) -> Any:
        """What `import a.b` binds: a if `top`, else a.b."""
        found = self._module(path)
        return self._module(path.partition(".")[0]) if top else found

    def _imported_from(self, path: str, name: str) -> Any:
        """What `from a import b` binds."""
        space = self._module(path)
        try:
            return space.get(name)
        except AttributeError as error:
            details = getattr(error, "details", None)
            hint = None if details is None else details.hint
            raise fault(ImportError, f"cannot import name '{name}' from '{path}'", hint=hint) from None

    def _module(self, path: str) -> namespaces.Namespace:
        top = path.partition(".")[0]
        if top in IGNORED:
            return namespaces.Namespace(path, {}, lambda name: Ignored())
        found = namespaces.module(path)
        if found is None and self.helpers is not None:
            found = self.helpers(path)
        if found is None:
            from gradsh.library.refused import help_for

            missing = top if namespaces.module(top) is None else path
            notes = (
                f"gradsh has no {missing}: a program reaches the library's own modules, and helper files beside it",
            )
            raise fault(ModuleNotFoundError, f"No module named '{path}'", notes=notes, hint=help_for(path))
        return found


_outermost: dict[str, Scope] = {}


def outermost(dialect: str, names: Iterable[str]) -> dict[str, Any]:
    """The scope of the library's own files, with the names that one of them reads."""
    scope = _outermost.get(dialect)
    if scope is None:
        scope = _outermost[dialect] = Scope(dialect)
        # For our own files only: states of optimisers and schedulers, what hooks put in place of parameters, and steps
        # that Ctrl-C must not divide.
        scope.names |= {"vars": vars, "delattr": delattr, "assign_fields": assign_fields, "undivided": shield}
        scope.names["adam_step"] = _adam_step
    scope.provide(names)
    return scope.names


def _adam_step(*values: Any) -> bool:
    from gradsh.ops.updates import adam_step

    return adam_step(*values)  # type: ignore[no-any-return, no-untyped-call]


def assign_fields(value: Any, fields: dict[str, Any]) -> None:
    """Set attributes by name, as a state that was loaded says: none that Python or numpy would ask for by itself."""
    for name, field in fields.items():
        if name.__class__ is not str or is_dunder(name):
            raise fault(KeyError, f"a state has no field {name!r}")
        setattr(value, name, field)


def on_tensors(name: str, builtin: Any) -> Any:
    """A builtin that is PyTorch's function of that name where it is given a tensor."""

    def either(*args: Any, **settings: Any) -> Any:
        from gradsh.engine.tensor import Tensor

        if args and isinstance(args[0], Tensor):
            space = namespaces.module("torch")
            assert space is not None
            return space.get(name)(*args, **settings)
        return builtin(*args, **settings)

    either.__name__ = name
    either.__doc__ = builtin.__doc__
    return either


def param(value: Any) -> Any:
    """A leaf that requires a gradient: tensor(value, dtype=<the default float>, requires_grad=True)."""
    from gradsh.engine.create import tensor
    from gradsh.engine.state import state

    return tensor(value, dtype=state.default, requires_grad=True)


IGNORED = frozenset(("__future__", "typing", "typing_extensions"))


class Ignored:
    """A name of a module that is accepted and means nothing here: `typing.List`, `annotations`."""

    def __getitem__(self, key: Any) -> Ignored:
        return self

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return args[0] if args else None

    def __or__(self, other: Any) -> Ignored:
        return self

    __ror__ = __or__
