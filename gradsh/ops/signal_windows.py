"""Weights that fade a stretch of a signal in and out: the windows of Hann, Hamming, Bartlett and Blackman."""

from __future__ import annotations

import math

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import C_TYPES
from gradsh.fault import fault
from gradsh.ops.choice import minimum
from gradsh.ops.creation import ones, zeros
from gradsh.ops.options import TAIL, integer
from gradsh.ops.ranges import arange
from gradsh.ops.registry import function
from gradsh.ops.unary import cos


def _overloads(*names):
    """PyTorch's signatures: with one more of the parameters in each."""
    heads = ["int window_length", "int window_length, bool periodic"]
    for name in names:
        heads.append(f"{heads[-1]}, float {name}")
    return tuple(f"({head}, *, {TAIL}" for head in heads)


def _places(name, length, periodic, options):
    """The numbers 0 … steps as a tensor, and steps; or None and the weights where there are not two."""
    length, dtype = integer(length, "window_length"), options.get("dtype")
    if dtype is not None and dtype.category != FLOATING:
        got = (
            f"TensorOptions(dtype={C_TYPES[dtype.name]}, device=cpu, layout=Strided (default), requires_grad=false (default), "
            "pinned_memory=false, memory_format=(nullopt))"
        )
        raise fault(RuntimeError, f"{name} expects floating point dtypes, got: {got}", hint="dtype=torch.float32")
    if length < 0:
        raise fault(RuntimeError, f"{name} requires non-negative window_length, got window_length={length}")
    options = {key: value for key, value in options.items() if key != "requires_grad"}
    if length < 2:
        return None, (ones if length else zeros)(length, **options)
    steps = length if periodic else length - 1
    return arange(0.0, float(steps + 1), **options), steps


def _finished(weights, length, options):
    weights = weights[:length].clone() if weights.shape[0] > length else weights
    return weights.requires_grad_() if options.get("requires_grad") else weights


@function(at=("torch",), example="hamming_window(4)", overloads=_overloads("alpha", "beta"))
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options):
    """alpha - beta cos(2πn / N)."""
    places, steps = _places("hamming_window", window_length, periodic, options)
    weights = steps if places is None else cos(places * (2 * math.pi / steps)) * -beta + alpha
    return _finished(weights, window_length, options)


@function(at=("torch",), example="hann_window(4)", overloads=_overloads())
def hann_window(window_length, periodic=True, **options):
    """sin²(πn / N)."""
    places, steps = _places("hann_window", window_length, periodic, options)
    weights = steps if places is None else cos(places * (2 * math.pi / steps)) * -0.5 + 0.5
    return _finished(weights, window_length, options)


@function(at=("torch",), example="bartlett_window(4)", overloads=_overloads())
def bartlett_window(window_length, periodic=True, **options):
    """A triangle: 1 - |2n / N - 1|."""
    places, steps = _places("bartlett_window", window_length, periodic, options)
    if places is None:
        return _finished(steps, window_length, options)
    rising = places * (2 / steps)
    return _finished(minimum(rising, 2.0 - rising), window_length, options)


@function(at=("torch",), example="blackman_window(4)", overloads=_overloads())
def blackman_window(window_length, periodic=True, **options):
    """0.42 - 0.5 cos(2πn / N) + 0.08 cos(4πn / N)."""
    places, steps = _places("blackman_window", window_length, periodic, options)
    if places is None:
        return _finished(steps, window_length, options)
    places = places * (math.pi / steps)
    weights = cos(places * 4) * 0.08 - cos(places * 2) * 0.5 + 0.42
    return _finished(weights, window_length, options)
