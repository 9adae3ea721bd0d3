"""Modules with attributes that are computed from parameters each time they are read: a class of their own for each."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.lang import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.library.module import Module

MODULE = "torch.nn.utils.parametrize"


def is_parametrized(module: Any) -> bool:
    """Whether a module's class was made here."""
    return type(module).__module__ == MODULE and type(module).__name__.startswith("Parametrized")


def start(module: Module, name: str) -> None:
    """Have `module.name` computed by `module.parametrizations[name]`, and assignments go to its `right_inverse`."""
    kind = type(module)
    if not is_parametrized(module):
        made = type(f"Parametrized{kind.__name__}", (kind,), {"__module__": MODULE})
        members.own(made)
        module.__class__ = made

    def read(self: Any) -> Any:
        return self.parametrizations[name].read((id(self), name))

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, assign))


def end(module: Module, name: str, last: bool) -> None:
    """Make `module.name` an attribute like others; after the last one the module has its own class again."""
    if name not in vars(type(module)):
        raise fault(AttributeError, f"type object '{type(module).__name__}' has no attribute '{name}'")
    delattr(type(module), name)
    if last:
        module.__class__ = type(module).__bases__[0]
