"""`torch.autograd.forward_ad`: tensors with tangents, made and taken apart by hand."""

from __future__ import annotations

from collections import namedtuple

from gradsh.engine.forward import split
from gradsh.engine.level import DUAL, JVP, Level
from gradsh.engine.op import linear
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import plain
from gradsh.fault import fault
from gradsh.ops.registry import constant, function, readable
from gradsh.ops.samples import Sample, reals
from gradsh.ops.transforms import dual_of

AT = ("autograd.forward_ad",)
LAST = "Trying to exit a forward AD level that was not the last one that was created. This is not supported."

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))
UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


@linear(
    x=lambda g: g, sample=Sample(reals(2, 3)), at=(), view=True, grad_fn="Identity", name="primal", batch="elementwise"
)
def primal_of(xp, x):
    """Another view of the whole: what a tensor with a tangent is without it."""
    return xp.asarray(x)[...]


def _level():
    """The dual level in force, or None; PyTorch has one at a time."""
    return next((level for level in state.levels if level.kind == DUAL), None)


@function(at=AT, python=True)
def enter_dual_level():
    """Begin a stretch in which tensors can have tangents; gives its number."""
    if any(level.kind in (DUAL, JVP) for level in state.levels):
        raise fault(
            RuntimeError, "Nested forward mode AD is not supported at the moment", hint="torch.func.jvp, which nests"
        )
    Level(DUAL).__enter__()
    return 0


@function(at=AT, python=True)
def exit_dual_level(*, level=None):
    """End it; the tangents are forgotten."""
    found = _level()
    if level is None and found is None:
        raise fault(RuntimeError, "Dual level must be a positive number.")
    if found is None or level not in (None, 0):
        raise fault(RuntimeError, LAST)
    found.__exit__(None, None, None)


class dual_level:
    """The same for what is inside a `with`, or a function that it decorates."""

    __slots__ = ()

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *details):
        exit_dual_level()

    def __call__(self, func):
        def inside(*args, **settings):
            with self:
                return func(*args, **settings)

        inside.__name__ = getattr(func, "__name__", "function")
        return inside


constant("dual_level", dual_level, at=AT)
constant("UnpackedDualTensor", UnpackedDualTensor, at=AT)
readable(dual_level, ())
readable(UnpackedDualTensor, ("primal", "tangent"))


def _floating(value):
    if not isinstance(value, Tensor):
        message = f"'{type(value).__name__}' object has no attribute 'is_floating_point'"
        raise fault(AttributeError, message, hint="torch.tensor(…) makes one")
    return value


@function(at=AT, example="torch.autograd.forward_ad.make_dual(ones(2), ones(2))", python=True)
def make_dual(tensor, tangent, *, level=None):
    """A tensor with a tangent, for ops to push forward."""
    found = _level()
    if found is None or (level is not None and level < 0):
        raise fault(
            RuntimeError,
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
            hint="with torch.autograd.forward_ad.dual_level():",
        )
    tensor, tangent = plain(_floating(tensor)), plain(_floating(tangent))
    if split(tensor, found)[1] is not None:
        raise fault(
            RuntimeError,
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported.",
        )
    return dual_of(tensor, tangent, found)


@function(at=AT, python=True)
def unpack_dual(tensor, *, level=None):
    """(the tensor without its tangent, the tangent or None)."""
    found, tensor = _level(), plain(tensor)
    if found is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    primal, tangent = split(tensor, found)
    return UnpackedDualTensor(primal_of(primal) if primal.requires_grad else primal, tangent)
