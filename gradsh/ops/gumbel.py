"""Samples of classes through which a gradient passes: gumbel_softmax."""

from __future__ import annotations

from gradsh.ops.creation import empty_like, zeros_like
from gradsh.ops.registry import function, tensor_argument


@function(at=("F",), example="F.gumbel_softmax(tensor([1.0, 2.0]))")
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A class drawn at random, each with its softmax's probability, as a softmax; hard: as a 1 among zeros."""
    logits = tensor_argument(logits, "gumbel_softmax", "logits")
    noise = -empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    place = soft.max(dim, keepdim=True)[1]
    return zeros_like(logits).scatter_(dim, place, 1.0) - soft.detach() + soft
