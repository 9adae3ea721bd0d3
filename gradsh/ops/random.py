"""Random tensors of a shape, number for number PyTorch's: rand, randn, randint, randperm, and the `_like` forms."""

from __future__ import annotations

from gradsh.backend.dtypes import int64
from gradsh.backend.memory import check_room
from gradsh.engine.create import leaf
from gradsh.engine.runtime import canonical
from gradsh.engine.state import state
from gradsh.fault import fault
from gradsh.ops import chance
from gradsh.ops.calls import operand
from gradsh.ops.generator import stream_of
from gradsh.ops.options import TAIL, fits_none, integer, options, sizes, whole
from gradsh.ops.out import deliver, taken
from gradsh.ops.registry import function

DRAW = f"torch.Generator generator, Tensor out = None, {TAIL}"
PLAIN = f"Tensor out = None, {TAIL}"
SIZED = (f"(tuple of ints size, *, {DRAW}", f"(tuple of ints size, *, {PLAIN}")
RANGED = tuple(
    f"({bounds}, tuple of ints size, *, {rest}"
    for bounds in ("int high", "int low, int high")
    for rest in (DRAW, PLAIN)
)


def made(name, shape, size, draw, out, dtype, layout, device, requires_grad, default=None):
    """A leaf of a shape filled by `draw(shape, name of the type)`."""
    if not shape and size is None:
        raise fits_none()
    dtype = options(name, dtype, layout, device, taken(out) or default)
    shape = sizes(name, shape, size)
    check_room(shape, dtype.itemsize)
    if state.levels:
        drawn = chance.drawn(shape, lambda size: draw(size, dtype.name))
        drawn = drawn.requires_grad_() if requires_grad else drawn
    else:
        drawn = leaf(canonical(draw(shape, dtype.name)[()]), requires_grad)
    return drawn if out is None else deliver(out, drawn, name)


@function(at=("torch",), example="rand(2, 3)", overloads=SIZED)
def rand(
    *shape,
    size=None,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Uniform numbers in [0, 1)."""
    return made("rand", shape, size, stream_of(generator).uniform, out, dtype, layout, device, requires_grad)


@function(at=("torch",), example="randn(2, 3)", overloads=SIZED)
def randn(
    *shape,
    size=None,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Normally distributed numbers of mean 0 and variance 1."""
    return made("randn", shape, size, stream_of(generator).normal, out, dtype, layout, device, requires_grad)


def _bounds(low, high, size):
    """(low, high, size) of randint, whose low may be left out."""
    if size is None and high is not None and whole(high) is None:
        low, high, size = 0, low, high
    if high is None:
        low, high = 0, low
    return low, high, size


@function(at=("torch",), example="randint(0, 10, (5,))", overloads=RANGED)
def randint(
    low=None,
    high=None,
    size=None,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Whole numbers in [low, high), low being 0 where only one bound is given."""
    if size is None and whole(high) is not None and low is not None:
        raise fault(
            TypeError,
            f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(high).__name__}",
            hint=f"randint({low}, ({high},))",
        )
    low, high, size = _bounds(low, high, size)
    if size is None or whole(high) is None or whole(low or 0) is None:
        raise fits_none()
    low, high = whole(low or 0), whole(high)

    def draw(shape, name):
        return stream_of(generator).integers(shape, name, low, high)

    return made("randint", (), size, draw, out, dtype, layout, device, requires_grad, int64)


@function(at=("torch",), example="randperm(5)")
def randperm(
    n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """The numbers from 0 to n - 1 in random order."""
    n = integer(n, "n")
    dtype = options("randperm", dtype, layout, device, taken(out) or int64)
    if n > 0:
        check_room((n,), dtype.itemsize)
    if state.levels:
        drawn = chance.drawn_in_turn(lambda: stream_of(generator).permutation(n, dtype.name))
    else:
        drawn = leaf(stream_of(generator).permutation(n, dtype.name), requires_grad)
    return drawn if out is None else deliver(out, drawn, "randperm")


# ---- like another tensor


def _like(input, name, draw, dtype, layout, device, requires_grad):
    """As `_made`, in another tensor's shape and memory order."""
    input = operand(input)
    dtype = options(name, dtype, layout, device, input.dtype)
    if state.levels:
        return chance.drawn(tuple(input.shape), lambda size: draw(size, dtype.name, None))
    if not input.ndim:
        return leaf(canonical(draw((), dtype.name, None)[()]), requires_grad)
    from gradsh.backend import arrays

    memory = arrays.empty_like(input.raw, dtype.code)
    return leaf(draw(memory.shape, dtype.name, memory), requires_grad)


@function(at=("torch",), example="rand_like(ones(3))")
def rand_like(
    input,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Uniform numbers in [0, 1) in another tensor's shape."""
    stream = stream_of(generator)
    return _like(
        input,
        "rand_like",
        lambda shape, name, out: stream.uniform(shape, name, out=out),
        dtype,
        layout,
        device,
        requires_grad,
    )


@function(at=("torch",), example="randn_like(ones(3))")
def randn_like(
    input,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Normally distributed numbers in another tensor's shape."""
    stream = stream_of(generator)
    return _like(
        input,
        "randn_like",
        lambda shape, name, out: stream.normal(shape, name, out=out),
        dtype,
        layout,
        device,
        requires_grad,
    )


@function(at=("torch",), example="randint_like(ones(3), 10)")
def randint_like(
    input,
    low=None,
    high=None,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Whole numbers in [low, high) in another tensor's shape and type."""
    low, high = (0, low) if high is None else (low or 0, high)
    low, high = integer(low, "low"), integer(high, "high")
    stream = stream_of(generator)

    def draw(shape, name, out):
        return stream.integers(shape, name, low, high, out=out)

    return _like(input, "randint_like", draw, dtype, layout, device, requires_grad)
