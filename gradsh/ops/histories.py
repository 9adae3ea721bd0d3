"""Gradients with the history that PyTorch gives them, where its backward is one op with several outputs.

There all gradients come from all operands, also from those that they do not depend on: what is differentiated by such an
operand has no gradient, but it requires one.
"""

from __future__ import annotations

from gradsh.engine.op import general
from gradsh.ops.samples import Sample, reals


def history(name, grad_fn):
    """An op that gives its first operand, with the others in its history."""

    def with_history(xp, x, y=None, z=None):
        """x, in whose history y and z are too; no gradient passes to them."""
        return x

    return general(
        x=lambda g: g,
        y=lambda g: None,
        z=lambda g: None,
        sample=Sample(reals(2, 3), None, None),
        at=(),
        batch=lambda x, y=None, z=None: x,
        name=name,
        grad_fn=grad_fn,
    )(with_history)


of_convolution = history("of_convolution", "ConvolutionBackwardBackward0")
of_batch_norm = history("of_batch_norm", "NativeBatchNormBackwardBackward0")
of_layer_norm = history("of_layer_norm", "NativeLayerNormBackwardBackward0")
of_grid_sampler = history("of_grid_sampler", "GridSampler2DBackwardBackward0")
