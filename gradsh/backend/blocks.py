"""Functions of many passes over large arrays, worked out a block at a time: what is between the passes stays in the cache."""

from __future__ import annotations

from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLOCK = 1 << 14  # numbers


def in_blocks(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The kernel of an elementwise op of one operand, run on the blocks of a large array in turn."""

    @wraps(kernel)
    def run(xp: Any, x: Any) -> Any:
        if x.__class__ is float or x.size < 2 * BLOCK:
            return kernel(xp, x)
        flat = x.ravel()
        out = xp.empty_like(flat)
        for start in range(0, flat.size, BLOCK):
            part = slice(start, start + BLOCK)
            out[part] = kernel(xp, flat[part])
        return out.reshape(x.shape)

    return run
