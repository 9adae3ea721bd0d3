"""Views that take their tensor's place: `t_`, `squeeze_` and their like."""

from __future__ import annotations

from functools import cache

from gradsh.engine.alias import record_change, version_of
from gradsh.engine.inplace import attach_view, is_view, writable
from gradsh.engine.runtime import shared
from gradsh.engine.tensor import wrap
from gradsh.engine.wrapped import Wrapped
from gradsh.ops.calls import checked
from gradsh.ops.registry import function
from gradsh.ops.shape import squeeze, unsqueeze
from gradsh.ops.transposing import swapaxes, swapdims, t, transpose

# PyTorch's derivatives of these are other overloads, which the names of the nodes tell.
_RENAMED = {
    "TBackward0": "TBackward1",
    "TransposeBackward0": "TransposeBackward1",
    "SqueezeBackward0": "SqueezeBackward3",
    "SqueezeBackward1": "SqueezeBackward4",
    "SqueezeBackward2": "SqueezeBackward5",
    "UnsqueezeBackward0": "UnsqueezeBackward1",
}


@cache
def _renamed(kind):
    """A kind of nodes under the name that PyTorch gives those of the in-place method."""
    return kind.varied(name=_RENAMED.get(kind.name, kind.name))


def _in_place(view):
    """The method that shows its tensor, from now on, as a view function does."""
    name = f"{view.__name__}_"
    fitting = checked(view, name, method=True)

    def method(self, *args, **settings):
        tracked = writable(self, (), name)
        if isinstance(self, Wrapped):
            self.parts = fitting(self, *args, **settings).parts
            return self
        self.raw = shared(self.raw)
        before = wrap(self.raw, self.node if tracked and not is_view(self) else None)
        found = fitting(before, *args, **settings)
        self.raw = found.raw
        record_change(self, name)
        if is_view(self):
            self.extra.seen = version_of(self)
            base = self.extra.base
            attach_view(self, base, base.current_node())
        elif tracked:
            if found.node is not None and found.node is not self.node:
                found.node.kind = _renamed(found.node.kind)
            self.node = found.node
        return self

    method.__name__ = name
    method.__doc__ = f"As `{view.__name__}`, of the tensor itself."
    return function(at=("Tensor",))(method)


for _view in (t, transpose, swapaxes, swapdims, squeeze, unsqueeze):
    _in_place(_view)
