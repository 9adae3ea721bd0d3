"""Which attributes of the library's own types a program may read and set."""

from __future__ import annotations

from gradsh.backend import loading
from gradsh.backend.dtypes import DType
from gradsh.engine.arrival import assign_grad
from gradsh.engine.function_node import FunctionNode
from gradsh.engine.node import Node, OpNode, shown_class
from gradsh.engine.returns import Returned
from gradsh.engine.state import GradMode
from gradsh.engine.tensor import Parameter, Size, Tensor
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import blamed
from gradsh.lang import arithmetic, members
from gradsh.library.namespaces import Namespace
from gradsh.ops import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the engine keeps on a tensor for itself.
INTERNAL = frozenset(("raw", "node", "extra", "parts", "current_node"))


def register() -> None:
    """Tell the language of the engine's and the library's types."""
    from gradsh.ops.registry import NAMESPACES, when_readable

    loading.when_loaded(_admit_numpy)
    names = {name for name in (*NAMESPACES["Tensor"].known(), *members.public(Tensor)) if name not in INTERNAL}
    members.allow(Tensor, names, settable=("data", "requires_grad"))
    members.WRITERS[Tensor] = members.WRITERS[Parameter] = _set_grad
    members.allow(Parameter, names, settable=("data", "requires_grad"))
    members.policy(Namespace, Namespace.get, _refuse)
    members.KEEPING.add(Namespace)
    members.policy(Returned, lambda value, name: getattr(value, name) if name in value.names else _missing(value, name))
    members.policy(Node, _node_attribute)
    members.allow(Size, ("numel", "count", "index"))
    members.allow(DType, ("is_floating_point", "is_complex", "is_signed", "itemsize"))
    members.allow(GradMode, ())
    when_readable(_admit)
    arithmetic.CARET |= {Tensor: rows.caret, Parameter: rows.caret, rows.Row: rows.caret}
    members.SHOWN[rows.Row] = list
    members.SHOWN[Wrapped] = Tensor
    members.SHOWN[OpNode] = shown_class


def _admit(told: tuple[type, tuple[str, ...] | None, tuple[str, ...]]) -> None:
    kind, names, settable = told
    if names is None:
        members.policy(kind, _open_attribute, _set_open_attribute)
    else:
        members.allow(kind, names, settable)


def _refuse(space: Namespace, name: str, value: Any) -> None:
    from gradsh.fault import fault

    raise fault(
        AttributeError,
        f"the library cannot be changed: {space.label}.{name}",
        hint=f"{name} = … makes a name of your own",
    )


def _missing(value: Any, name: str) -> Any:
    message = f"'{members.class_of(value).__name__}' object has no attribute '{name}'"
    raise blamed(AttributeError(message, name=name, obj=value))


NODE = frozenset(
    (
        "name",
        "next_functions",
        "register_hook",
        "register_prehook",
        "requires_grad",
        "metadata",
        "variable",
        "_sequence_nr",
    )
)


def _node_attribute(node: Node, name: str) -> Any:
    if name in NODE:
        return getattr(node, name)
    if name.startswith("_saved_"):
        from gradsh.engine.saved import saved_value

        return saved_value(node, name.removeprefix("_saved_"))
    return _open_attribute(node.ctx, name) if isinstance(node, FunctionNode) else _missing(node, name)


def _open_attribute(value: Any, name: str) -> Any:
    """An attribute of any name but those that the type keeps for itself."""
    return _missing(value, name) if name.startswith("_") and hasattr(type(value), name) else getattr(value, name)


def _set_grad(tensor: Tensor, name: str, value: Any) -> None:
    if name != "grad":
        _missing(tensor, name)
    assign_grad(tensor, None if value is members.DELETED else value)


def _set_open_attribute(value: Any, name: str, new: Any) -> None:
    if hasattr(type(value), name):
        message = f"attribute '{name}' of '{type(value).__name__}' objects is not writable"
        raise blamed(AttributeError(message, name=name, obj=value))
    if new is members.DELETED:
        delattr(value, name)
    else:
        setattr(value, name, new)


def _admit_numpy() -> None:
    from gradsh.library.outside import numpy_random, numpy_types

    numpy_types.register()
    numpy_random.register()
