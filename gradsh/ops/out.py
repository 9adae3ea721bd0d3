"""`out=`: a result written over a tensor that was made before."""

from __future__ import annotations

from gradsh.engine.alias import TYPE_NAMES, record_change
from gradsh.engine.batched import Batched
from gradsh.engine.inplace import overwrite
from gradsh.engine.state import state, stop_following
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault


def taken(out):
    """The element type to make a result in that is to go into `out`; None without one."""
    return out.dtype if isinstance(out, Tensor) else None


def deliver(out, result, function, dtype=None):
    """Write a result over `out`, which takes its shape; `dtype` is the one that was asked for, if any."""
    from gradsh.backend import arrays

    if not isinstance(out, Tensor):
        raise fault(TypeError, f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if isinstance(result, Batched):
        raise fault(
            RuntimeError,
            f"Batching rule not implemented for aten::{function}.out; the fallback path doesn't work on out= or view ops.",
            hint="use the value that the function returns",
        )
    if (out.requires_grad and state.grad) or result.requires_grad:
        raise fault(
            RuntimeError,
            f"{function}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad.",
            hint="use the value that the function returns",
        )
    if dtype is not None and dtype is not out.dtype:
        raise fault(
            RuntimeError,
            f"dtype {TYPE_NAMES[dtype.name]} does not match dtype of out parameter ({TYPE_NAMES[out.dtype.name]})",
        )
    if result.dtype.category > out.dtype.category:
        raise fault(
            RuntimeError,
            f"result type {TYPE_NAMES[result.dtype.name]} can't be cast to the desired output type "
            f"{TYPE_NAMES[out.dtype.name]}",
        )
    raw = arrays.cast(result.raw, out.dtype)
    if out.shape == result.shape:
        overwrite(out, wrap(raw), f"{function}(out=)")
    else:
        stop_following()
        out.raw = raw
        record_change(out, f"{function}(out=)")
    return out
