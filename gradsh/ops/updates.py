"""Steps of optimisers on raw memory: the operations of the formula, in place, without a tensor for each."""

from __future__ import annotations

from gradsh.backend.shield import shield
from gradsh.engine.alias import record_change
from gradsh.engine.state import settle
from gradsh.engine.tensor import Tensor


def adam_step(param, grad, mean, square, beta1, beta2, step_size, correction, eps):
    """Adam's step, with m and v changed in place too; False, with nothing done, where the memory is not plain.

    m ← m + (1 − β₁)(g − m),  v ← β₂ v + (1 − β₂) g²,  p ← p − step_size m / (√v / correction + eps)
    """
    settle()
    tensors = (param, grad, mean, square)
    if not all(isinstance(one, Tensor) and one.raw.__class__ is not float and one.raw.ndim for one in tensors):
        return False
    p, g, m, v = (one.raw for one in tensors)
    if any(one.dtype is not p.dtype or one.shape != p.shape or not one.flags.c_contiguous for one in (p, g, m, v)):
        return False
    if p.dtype.char not in "df" or (param.requires_grad and param.extra is not None and param.extra.base is not None):
        return False
    from gradsh.backend import arrays as xp

    with shield:
        part = g - m
        part *= 1 - beta1
        m += part
        v *= beta2
        xp.multiply(g, 1 - beta2, part)
        part *= g
        v += part
        xp.sqrt(v, part)
        part /= correction
        part += eps
        step = xp.multiply(m, step_size)
        step /= part
        p -= step
        record_change(param, "sub_")
    return True
