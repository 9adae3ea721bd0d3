"""In-place changes inside transforms: of what a function has from outside they are refused, as PyTorch refuses them."""

from __future__ import annotations

from gradsh.engine.level import GRAD, JVP
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import parts
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradsh.engine.level import Level

MOST = 100_000  # of the values that a function may reach, so many are looked at
SYMBOLS = {
    "+=": "add_",
    "-=": "sub_",
    "*=": "mul_",
    "/=": "div_",
    "**=": "pow_",
    "//=": "floor_divide_",
    "%=": "remainder_",
}
OF_TENSOR = frozenset(("add_", "sub_", "mul_", "div_", "floor_divide_"))
OF_EITHER = frozenset("pow_ remainder_ fmod_ fill_ masked_fill_ lerp_ eq_ ne_ lt_ le_ gt_ ge_".split())
ASSIGNMENT = "x[…] = …"


def aten_name(what: str, tensor: Tensor, operands: Iterable[Tensor]) -> str:
    """PyTorch's name of an in-place change, with its overload."""
    values = list(operands)
    if what == ASSIGNMENT:
        return "fill_.Tensor" if tensor.ndim and values and not values[0].ndim else "copy_"
    name = SYMBOLS.get(what, what)
    if name in OF_TENSOR:
        return f"{name}.Tensor"
    return f"{name}.{'Tensor' if values else 'Scalar'}" if name in OF_EITHER else name


def refuse_captured(tensor: Tensor, what: str, operands: Iterable[Tensor] = ()) -> None:
    """PyTorch's error for a change of a tensor that the innermost `grad` or `jvp` has from outside."""
    level = next((level for level in reversed(state.levels) if level.kind in (GRAD, JVP)), None)
    if level is None:
        return
    if level.captured is None:
        level.captured = reached(level.function)
    for part in parts(tensor):
        extra = part.extra
        for one in (part, *(() if extra is None else (extra.base, extra.owner))):
            if one is not None and id(one) in level.captured and not _is_inside(one, level):
                raise fault(
                    RuntimeError,
                    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                    f"operation (aten::{aten_name(what, tensor, operands)}) that would mutate a captured Tensor. This is "
                    "not supported; please rewrite the function being transformed to explicitly accept the mutated "
                    "Tensor(s) as inputs.",
                    hint="change a .clone()",
                )


def _is_inside(tensor: Tensor, level: Level) -> bool:
    """Whether a tensor is known to have been made inside a level."""
    return tensor.node is not None and tensor.node.seq > level.start


def reached(function: Any) -> dict[int, Any]:
    """The plain tensors that a function has from outside, by identity: from its closure, its globals, its attributes."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    stack = [function]
    while stack and len(seen) < MOST:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            found |= {id(part): part for part in parts(value)}
        else:
            stack += _held(value)
    return found


def _held(value: Any) -> list[Any]:
    """What a value holds, where it may hold tensors."""
    if isinstance(value, list | tuple | set):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    code = getattr(value, "__code__", None)
    if code is not None:
        return _of_function(value, code)
    inner = getattr(value, "__func__", None)
    if inner is not None:
        return [inner, value.__self__]
    if type(value).__name__ == "partial":
        return [value.func, value.args, value.keywords]
    if isinstance(value, type):
        return []
    own = getattr(value, "__dict__", None)
    return list(own.values()) if isinstance(own, dict) and not hasattr(value, "__path__") else []


def _of_function(function: Any, code: Any) -> list[Any]:
    found = list(getattr(function, "__defaults__", None) or ())
    for cell in getattr(function, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    if code.co_filename[0] == "<" and hasattr(function, "__globals__"):
        space, codes = function.__globals__, [code]
        while codes:
            one = codes.pop()
            found += [space[name] for name in one.co_names if name in space]
            codes += [const for const in one.co_consts if hasattr(const, "co_names")]
    return found
