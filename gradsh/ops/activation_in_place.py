"""Activation functions written over their operand: `F.relu_` and its like."""

from __future__ import annotations

from gradsh.ops.registry import NAMESPACES, function


def _in_place(name, at):
    """The function `name_` of an activation that takes `inplace=True`."""

    def change(*args, **settings):
        return NAMESPACES["F"][name](*args, inplace=True, **settings)

    change.__doc__ = f"As `{name}`, written over its operand."
    function(f"{name}_", at=at, python=True)(change)


for _name in ("celu", "rrelu", "selu", "threshold"):
    _in_place(_name, ("torch", "F"))
for _name in ("elu", "hardtanh", "leaky_relu", "relu"):
    _in_place(_name, ("F",))
