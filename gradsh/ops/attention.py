"""Attention: values weighed by how well their keys fit a query (aten/src/ATen/native/transformers/attention.cpp)."""

from __future__ import annotations

import math

from gradsh.backend.dtypes import BOOL, FLOATING, float16, float32
from gradsh.engine.alias import C_TYPES
from gradsh.engine.op import general
from gradsh.engine.promote import dimension_fault
from gradsh.engine.state import state
from gradsh.engine.tensor import wrap
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.creation import zeros
from gradsh.ops.dropout import plain_dropout
from gradsh.ops.normalization import real
from gradsh.ops.pooling import flag
from gradsh.ops.products import matmul, stacked_product
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.scaling import times
from gradsh.ops.structure import to_dtype


def _sum_of_rows(x):
    return sum_over(x, axes=(len(x.shape) - 1,), keepdim=True)


def _softened(xp, scores):
    """softmax along the last dimension; 0 for a row of nothing but -inf."""
    if not scores.size:
        return scores
    top = scores.max(-1, keepdims=True)
    weights = xp.exp(scores - xp.where(top == -xp.inf, scores.dtype.type(0), top))
    total = weights.sum(-1, keepdims=True)
    return weights / xp.where(total == 0, scores.dtype.type(1), total)


@general(
    x=lambda g, out: out * (g - _sum_of_rows(g * out)),
    sample=Sample(reals(2, 3)),
    at=(),
    grad_fn="SafeSoftmaxBackward0",
    batch="stacked",
)
def safe_softmax(xp, x):
    """softmax along the last dimension; 0 for a row of nothing but -inf."""
    if x.dtype.char == "e":
        return _softened(xp, x.astype(xp.float32)).astype(x.dtype)
    return _softened(xp, x)


# ---- in one op
#
# The weights are computed before it, so that its gradients need not do it again; for gradients of these, `weights_of`
# tells how they depend on queries and keys.


def _weights(xp, x, y, scale, mask=None, causal=False):
    """The raw weights of queries and keys, under a raw mask to be added, and of earlier keys only if causal."""
    scores = xp.matmul(x, xp.ascontiguousarray(y.swapaxes(-2, -1)))
    scores *= x.dtype.type(scale)
    if mask is not None:
        scores += mask
    if causal:
        later = xp.arange(scores.shape[-1]) > xp.arange(scores.shape[-2])[:, None]
        scores[..., later] = -xp.inf
    return _softened(xp, scores)


def _slope(g, weights):
    return weights * (g - _sum_of_rows(g * weights))


@general(
    x=lambda g, y, out, scale: stacked_product(_slope(g, out), y) * scale,
    y=lambda g, x, out, scale: stacked_product(_slope(g, out).mT, x) * scale,
    sample=Sample(reals(1, 2, 3, 2), reals(1, 2, 4, 2), None, scale=0.5),
    at=(),
    batch="stacked",
)
def weights_of(xp, x, y, z=None, *, scale):
    """The weights that queries x give the values of keys y, which are z if they are known."""
    return _weights(xp, x, y, scale) if z is None else z


def _query_slope(g, x, y, v, z, scale):
    weights = weights_of(x, y, z, scale=scale)
    return stacked_product(_slope(stacked_product(g, v.mT), weights), y) * scale


def _key_slope(g, x, y, v, z, scale):
    weights = weights_of(x, y, z, scale=scale)
    return stacked_product(_slope(stacked_product(g, v.mT), weights).mT, x) * scale


@general(
    x=_query_slope,
    y=_key_slope,
    v=lambda g, x, y, z, scale: stacked_product(weights_of(x, y, z, scale=scale).mT, g),
    sample=Sample(reals(1, 2, 3, 2), reals(1, 2, 4, 2), reals(1, 2, 4, 2), None, scale=0.5),
    at=(),
    grad_fn="ScaledDotProductFlashAttentionForCpuBackward0",
    batch="stacked",
)
def attended(xp, x, y, v, z=None, *, scale):
    """The values v weighed by what queries x give to keys y, which is z if it is known."""
    return xp.matmul(_weights(xp, x, y, scale) if z is None else z, v)


def _at_once(query, key, value, mask, scale, causal):
    from gradsh.backend import arrays as xp

    halves = query.dtype is float16
    if halves:
        query, key, value = (to_dtype(one, dtype=float32) for one in (query, key, value))
    raw_mask = None if mask is None else mask.raw.astype(query.raw.dtype)
    weights = _weights(xp, query.raw, key.raw, scale, raw_mask, causal)
    out = attended(query, key, value, wrap(weights), scale=scale)
    return to_dtype(out, dtype=float16) if halves else out


def _fits_at_once(query, key, value, mask):
    """Whether PyTorch takes its fused kernel (`sdp_utils_cpp.cpp`), apart from dropout."""
    if not query.ndim == key.ndim == value.ndim == 4 or state.levels:
        return False
    if query.shape[:2] != key.shape[:2] or key.shape[:3] != value.shape[:3]:
        return False
    if not query.shape[3] == key.shape[3] == value.shape[3]:
        return False
    if mask is not None:
        if mask.requires_grad or mask.ndim not in (2, 4):
            return False
        whole = (*query.shape[:3], key.shape[2])[4 - mask.ndim :]
        if any(have not in (1, want) for have, want in zip(mask.shape, whole)):
            return False
    return all(one.shape[-1] == 1 or one.raw.strides[-1] == one.raw.itemsize for one in (query, key, value))


# ---- what programs call


def _check(query, key, value, mask):
    """`validate_sdpa_input`."""
    if not query.dtype is key.dtype is value.dtype:
        have, other, third = (C_TYPES[one.dtype.name] for one in (query, key, value))
        raise fault(
            RuntimeError,
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {have} key.dtype: {other} and "
            f"value.dtype: {third} instead.",
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise fault(
            RuntimeError,
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: "
            f"{key.ndim} and value.dim: {value.ndim} instead.",
        )
    if mask is not None and mask.dtype.category != BOOL and mask.dtype not in (float32, query.dtype):
        raise fault(
            RuntimeError,
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{C_TYPES[mask.dtype.name]} and  query.dtype: {C_TYPES[query.dtype.name]} instead.",
        )


def _added(mask, dtype):
    """A mask as numbers to be added to scores: -inf where a truth value is false."""
    if mask is None or mask.dtype.category != BOOL:
        return mask
    return zeros(mask.shape, dtype=dtype).masked_fill(mask.logical_not(), -math.inf)


def _repeated(query, key, value):
    """Keys and values for each head of the queries, where several heads share one of these."""
    heads = query.shape[-3]
    if heads % key.shape[-3] or heads % value.shape[-3]:
        raise fault(RuntimeError, "Number of heads in key and value must divide the number of heads in ")
    return (one.repeat_interleave(heads // one.shape[-3], -3) for one in (key, value))


def _of_nothing(query, key, value):
    """The answer where there is no query, or no key."""
    shape = (*query.shape[:-1], value.shape[-1])
    return zeros(shape, dtype=query.dtype) + times(query.sum() + key.sum() + value.sum(), 0.0)


def _step_by_step(query, key, value, mask, dropout_p, is_causal, scale):
    """`_scaled_dot_product_attention_math`."""
    halves = query.dtype is float16
    if is_causal:
        if mask is not None:
            raise fault(
                RuntimeError,
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True",
            )
        from gradsh.backend import arrays as xp

        mask = _added(wrap(xp.tri(query.shape[-2], key.shape[-2], dtype=bool)), query.dtype)
    if halves:
        query, key, value = (to_dtype(one, dtype=float32) for one in (query, key, value))
    root = math.sqrt(abs(scale))
    scores = matmul(times(query, -root if scale < 0 else root), times(key.transpose(-2, -1), root))
    if mask is not None:
        scores = scores.add_(mask)
    weights = safe_softmax(scores)
    if dropout_p > 0.0:
        weights = plain_dropout(weights, dropout_p, True)
    out = matmul(weights, value)
    return to_dtype(out, dtype=float16) if halves else out


@function(
    at=("F",),
    python=False,
    example="F.scaled_dot_product_attention(rand(1, 1, 2, 3), rand(1, 1, 4, 3), rand(1, 1, 4, 3))",
)
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    """softmax(query keyᵀ · scale + mask) value, over the last two dimensions (Vaswani et al. 2017); scale is 1/√width."""
    query, key, value = operand(query, "query"), operand(key, "key"), operand(value, "value")
    mask = attn_mask if attn_mask is None else operand(attn_mask, "attn_mask")
    dropout_p, is_causal = real(dropout_p, "dropout_p"), flag(is_causal, "is_causal")
    _check(query, key, value, mask)
    if not (query.numel() and key.numel() and value.numel()):
        return _of_nothing(query, key, value)
    mask = _added(mask, query.dtype)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    if query.ndim == key.ndim == value.ndim == 4 and mask is not None and mask.ndim < 2:
        raise dimension_fault(-2, mask.ndim)
    if enable_gqa:
        key, value = _repeated(query, key, value)
    if dropout_p <= 0.0 and query.dtype.category == FLOATING and _fits_at_once(query, key, value, mask):
        if dropout_p < 0.0:
            raise fault(
                RuntimeError, "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0"
            )
        return _at_once(query, key, value, mask, float(scale), is_causal)
    return _step_by_step(query, key, value, mask, dropout_p, is_causal, float(scale))
