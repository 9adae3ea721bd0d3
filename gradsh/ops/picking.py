"""Numbers picked along a dimension by their places, as gather, sort, max and their like do, and the way back."""

from __future__ import annotations

from gradsh.engine.op import linear
from gradsh.ops.samples import Made, Sample, reals

PLACES = Made(lambda rng: rng.integers(0, 4, (2, 3)))


@linear(
    x=lambda g, y, x_shape, axis: put_along(g, y, size=x_shape, axis=axis),
    sample=Sample(reals(2, 4), PLACES, axis=1),
    at=(),
    grad_fn="GatherBackward0",
)
def take_along(xp, x, y, *, axis):
    """The numbers of x at places y along an axis, each in its own lane of the other dimensions."""
    x, y = xp.asarray(x), xp.asarray(y)
    if not y.size:
        return xp.zeros(y.shape, x.dtype)
    if not x.ndim:
        return xp.broadcast_to(x, y.shape).copy()
    return x[xp.lanes(xp.atleast_1d(y), axis)].reshape(y.shape)


@linear(
    x=lambda g, y, axis: take_along(g, y, axis=axis),
    sample=Sample(reals(2, 3), PLACES, size=(2, 4), axis=1),
    at=(),
    grad_fn="ScatterAddBackward0",
)
def put_along(xp, x, y, *, size, axis):
    """Zeros of a shape to which the numbers of x are added at places y along an axis."""
    return xp.lane_sums(xp.asarray(x), size, xp.atleast_1d(y), axis) if size else xp.sum(x)
