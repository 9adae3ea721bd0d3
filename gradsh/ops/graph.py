"""A tensor's part in the graph: hooks, `retain_grad`, and what tells whether it records."""

from __future__ import annotations

from gradsh.engine.arrival import RemovableHandle, hook_leaf, hook_tensor, retain_grad, retains_grad
from gradsh.engine.node import Node
from gradsh.engine.state import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
    state,
)
from gradsh.ops.registry import attribute, constant, function, readable

for _mode in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    constant(_mode.__name__, _mode, at=("torch", "autograd", "autograd.grad_mode"))
for _watch in (detect_anomaly, set_detect_anomaly):
    constant(_watch.__name__, _watch, at=("autograd",))
    readable(_watch, ())
constant("Node", Node, at=("autograd.graph",))
constant("RemovableHandle", RemovableHandle, at=("utils.hooks",))
readable(RemovableHandle, ("remove", "id"))


@function(at=("Tensor",), example="param([1.0, 2.0]).register_hook(lambda g: print(g))")
def register_hook(self, hook):
    """Have a function called with the tensor's gradient when it arrives; what it returns replaces the gradient."""
    return hook_tensor(self, hook)


@function(at=("Tensor",))
def register_post_accumulate_grad_hook(self, hook):
    """Have a function called with this leaf each time its `.grad` has been added to."""
    return hook_leaf(self, hook)


function("retain_grad", at=("Tensor",))(retain_grad)
attribute(retains_grad)


@attribute
def _base(self):
    """The tensor this one is a view of, or None."""
    return None if self.extra is None else self.extra.base


@function(at=("Tensor",))
def _is_view(self):
    """Whether the tensor is a view of another."""
    return self.extra is not None and self.extra.base is not None


@function(at=("torch", "Tensor"))
def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return input.extra is not None and input.extra.inference


@function(at=("torch",))
def is_grad_enabled():
    """Whether operations are recorded now."""
    return state.grad


@function(at=("torch",))
def is_inference_mode_enabled():
    """Whether results are inference tensors now."""
    return state.inference


@function(at=("torch",))
def is_anomaly_enabled():
    """Whether a nan in a backward pass is an error now."""
    return state.anomaly
