"""Dropout: elements or whole channels zero at random, the rest scaled up (aten/src/ATen/native/Dropout.cpp)."""

from __future__ import annotations

import math

from gradsh.engine.create import leaf
from gradsh.engine.inplace import inplace
from gradsh.engine.runtime import canonical
from gradsh.engine.state import state
from gradsh.engine.tensor import number_raw
from gradsh.fault import fault
from gradsh.ops import chance
from gradsh.ops.arithmetic import add, mul
from gradsh.ops.calls import operand
from gradsh.ops.generator import default_generator
from gradsh.ops.registry import function

ALPHA = 1.7580993408473766  # SELU's scale times its alpha: what it saturates at


def _dropped(name, input, p, training, in_place, *, kind=ValueError, channels=False, alpha=False):
    """The input times a random mask (and, for alpha dropout, moved to keep mean and variance)."""
    input = operand(input)
    if not 0.0 <= p <= 1.0:
        raise fault(kind, f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0 or not input.numel():
        return input
    if p == 1.0:
        mask, shift = leaf(number_raw(0, input.dtype)), None
    else:
        mask, shift = _mask(input, p, channels, alpha)
    if not in_place:
        out = mul(input, mask)
        return out if shift is None else add(out, shift)
    inplace(mul, input, mask, what=f"{name}_")
    return input if shift is None else inplace(add, input, shift, what=f"{name}_")


def _mask(input, p, channels, alpha):
    """What to multiply by, and what to add or None."""
    from gradsh.backend import arrays

    if state.levels:
        return _mask_of_each(input, p, channels, alpha)
    raw = arrays.asarray(input.raw)
    if channels:
        if raw.ndim < 2:
            raise fault(RuntimeError, "Feature dropout requires at least 2 dimensions in the input")
        memory = arrays.empty((*raw.shape[:2], *(1 for _ in raw.shape[2:])), raw.dtype)
    else:
        memory = arrays.empty_like(raw)
    stream, name = default_generator.stream, input.dtype.name
    if not alpha:
        return leaf(canonical(stream.dropout_mask(memory.shape, name, p, out=memory)[()])), None
    kept = stream.bernoulli(memory.shape, name, 1.0 - p, out=memory)
    a = 1.0 / math.sqrt((ALPHA * ALPHA * p + 1.0) * (1.0 - p))
    shift = (kept - 1.0) * (ALPHA * a) + ALPHA * a * p
    kept *= a
    return leaf(canonical(kept[()])), leaf(canonical(shift.astype(kept.dtype)[()]))


def _mask_of_each(input, p, channels, alpha):
    """The same under vmap: one mask for all examples, or one for each."""
    shape = tuple(input.shape)
    if channels:
        shape = (*shape[:2], *(1 for _ in shape[2:]))
    stream, name = default_generator.stream, input.dtype.name
    if not alpha:
        return chance.drawn(shape, lambda size: stream.dropout_mask(size, name, p)), None
    kept = chance.drawn(shape, lambda size: stream.bernoulli(size, name, 1.0 - p))
    a = 1.0 / math.sqrt((ALPHA * ALPHA * p + 1.0) * (1.0 - p))
    return kept * a, (kept - 1.0) * (ALPHA * a) + ALPHA * a * p


@function("dropout", at=("torch",), example="torch.dropout(ones(4), 0.5, True)")
def plain_dropout(input, p, train):
    """Zero with probability p, else scaled by 1 / (1 - p); the input itself where not training."""
    return _dropped("dropout", input, p, train, False, kind=RuntimeError)


@function(at=("torch",))
def dropout_(input, p, train):
    """Dropout in the tensor's place."""
    return _dropped("dropout", input, p, train, True, kind=RuntimeError)


@function("feature_dropout", at=("torch",))
def plain_feature_dropout(input, p, train):
    """Whole channels zero with probability p, the others scaled by 1 / (1 - p)."""
    return _dropped("feature_dropout", input, p, train, False, kind=RuntimeError, channels=True)


@function("alpha_dropout", at=("torch",))
def plain_alpha_dropout(input, p, train):
    """Dropout to the value that SELU saturates at, keeping mean and variance."""
    return _dropped("alpha_dropout", input, p, train, False, kind=RuntimeError, alpha=True)


@function("dropout", at=("F",), example="F.dropout(ones(4), 0.5)", python=False)
def dropout(input, p=0.5, training=True, inplace=False):
    """Zero with probability p, else scaled by 1 / (1 - p); the input itself where not training."""
    return _dropped("dropout", input, p, training, inplace)


@function("alpha_dropout", at=("F",), example="F.alpha_dropout(ones(4), 0.5, training=True)", python=False)
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout to the value that SELU saturates at, keeping mean and variance."""
    return _dropped("alpha_dropout", input, p, training, inplace, alpha=True)


@function(at=("F",), example="F.feature_alpha_dropout(ones(2, 3, 4), 0.5, training=True)", python=False)
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels."""
    return _dropped("feature_alpha_dropout", input, p, training, inplace, channels=True, alpha=True)


def _of_channels(name, input, p, training, in_place, *, batched, unbatched):
    """Dropout of whole channels of an input that may come without a batch dimension."""
    input = operand(input)
    if not 0.0 <= p <= 1.0:
        raise fault(ValueError, f"dropout probability has to be between 0 and 1, but got {p}")
    lead = input.ndim != batched and unbatched
    if not lead:
        return _dropped(name, input, p, training, in_place, channels=True)
    if in_place:
        _dropped(name, input.unsqueeze(0), p, training, True, channels=True)
        return input
    return _dropped(name, input.unsqueeze(0), p, training, False, channels=True).squeeze(0)


@function(at=("F",), example="F.dropout1d(ones(2, 3, 4), 0.5)", python=False)
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, L) or (C, L) zero with probability p, the others scaled by 1 / (1 - p)."""
    if operand(input).ndim not in (2, 3):
        raise fault(
            RuntimeError,
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs).",
        )
    return _of_channels("dropout1d", input, p, training, inplace, batched=3, unbatched=True)


@function(at=("F",), example="F.dropout2d(ones(2, 3, 4, 4), 0.5)", python=False)
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, H, W) zero with probability p, the others scaled by 1 / (1 - p)."""
    return _of_channels("dropout2d", input, p, training, inplace, batched=4, unbatched=False)


@function(at=("F",), example="F.dropout3d(ones(2, 3, 4, 4, 4), 0.5)", python=False)
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) zero with probability p, the others scaled by 1 / (1 - p)."""
    return _of_channels("dropout3d", input, p, training, inplace, batched=5, unbatched=True)
