"""What a node keeps for its backward pass, by PyTorch's names: `_saved_self`, `_saved_result`, `_saved_dim`."""

from __future__ import annotations

from gradsh.engine.create import NUMBERS
from gradsh.engine.node import Released
from gradsh.engine.tensor import Tensor, number_raw, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.engine.node import Node
    from gradsh.engine.op import Op


def saved_value(node: Node, name: str) -> Any:
    """A saved value: a tensor, a shape or a setting; AttributeError where nothing of that name is saved."""
    op = node.op
    field = None if op is None else saved_fields(op).get(name)
    if field is None:
        label = f"_saved_{name}"
        raise AttributeError(f"'{node.name()}' object has no attribute '{label}'", name=label, obj=node)
    if isinstance(node.g, Released) and field in node.saves:
        from gradsh.engine.backward import second_time

        raise second_time(node)
    value = node.saved(field)
    if node.extra is not None and node.extra.packed and field in node.extra.packed:
        from gradsh.engine.packing import unpacked_field

        value = unpacked_field(node, field, node.extra.packed[field])  # type: ignore[arg-type]
    if field == "out":
        return wrap(value, node)
    assert op is not None
    if field not in op.operands or value is None or isinstance(value, Tensor | tuple):
        return value
    return wrap(number_raw(value) if isinstance(value, NUMBERS) else value)


def saved_fields(op: Op) -> dict[str, str]:
    """PyTorch's name of each saved value -> the node's field."""
    from gradsh.engine.generate import saved_names

    fields: dict[str, str] = {}
    for field in saved_names(op):
        operand = field.removesuffix("_shape").removesuffix("_dtype")
        if operand in op.operands:
            public = op.public[operand]
            public = "self" if public == "input" else public
            fields[public + {"_shape": "_sym_sizes", "_dtype": "_scalar_type"}.get(field[len(operand) :], "")] = field
        else:
            fields["result" if field == "out" else field] = field
    return fields
