"""`torch.autograd`: derivatives on request, and operations of a program's own."""

from __future__ import annotations

from gradsh.engine import backward as walking
from gradsh.engine.function import Function, once_differentiable
from gradsh.engine.function_node import FunctionCtx
from gradsh.engine.packing import save_on_cpu, saved_tensors_hooks
from gradsh.ops.registry import constant, function, readable

function("grad", at=("autograd",), example="torch.autograd.grad(y.sum(), x)", python=True)(walking.grad)
function("backward", at=("autograd",), example="torch.autograd.backward([y.sum(), z.sum()])", python=True)(
    walking.backward
)
for _name, _value in (
    ("Function", Function),
    ("FunctionCtx", FunctionCtx),
    ("once_differentiable", once_differentiable),
):
    constant(_name, _value, at=("autograd", "autograd.function"))
readable(Function, ("apply", "backward", "forward", "generate_vmap_rule", "jvp", "setup_context", "vjp", "vmap"))
readable(FunctionCtx, None)
for _mode in (saved_tensors_hooks, save_on_cpu):
    constant(_mode.__name__, _mode, at=("autograd.graph",))
    readable(_mode, ())
