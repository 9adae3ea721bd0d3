"""The largest number of every window, and of where it was: max pooling and its partial inverse."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL, FLOATING
from gradsh.engine.op import constant, general, linear
from gradsh.ops.arithmetic import vanishing
from gradsh.ops.calls import Unfit, checked, operand
from gradsh.ops.pooling_faults import (
    check_line,
    check_range,
    check_rank,
    check_settings,
    check_sizes,
    for_each,
    places_of,
    unsupported,
)
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, distinct, reals
from gradsh.ops.shape import squeezed_at, unsqueezed
from gradsh.ops.spatial import lengths

# geometry: (kernel, stride, padding, dilation, places), as gradsh.backend.pooling has it.

LINES = ((2,), (2,), (0,), (1,), (2,))
OVERLAPPING = ((2, 3), (1, 2), (1, 1), (2, 1), (4, 2))
PLACES = Made(lambda rng: rng.permuted([[0, 1, 2, 3]] * 2, axis=1)[:, :3])
BOX_PLACES = Made(lambda rng: rng.integers(0, 4, (2, 1, 3)))


# ---- numbers at places of the last dimensions, taken as one


@linear(
    x=lambda g, y, x_shape, dims, once: put_at(g, y, size=x_shape[len(x_shape) - dims :], once=once),
    sample=[Sample(reals(2, 4), PLACES, dims=1, once=False), Sample(reals(2, 2, 2), BOX_PLACES, dims=2, once=False)],
    at=(),
    batch="stacked",
)
def numbers_at(xp, x, y, *, dims, once):
    """The numbers of x at places y; once: no place is named twice."""
    from gradsh.backend.pooling import at_places

    return at_places(x, y, dims)


@linear(
    x=lambda g, y, size, once: numbers_at(g, y, dims=len(size), once=once),
    sample=Sample(reals(2, 3), PLACES, size=(4,), once=False),
    at=(),
    batch="stacked",
)
def put_at(xp, x, y, *, size, once):
    """Zeros of a size to which the numbers of x are added at places y."""
    from gradsh.backend.pooling import onto_places

    return onto_places(x, y, size, once)


@linear(
    x=lambda g, z, dims, once: numbers_at(g, z, dims=dims, once=once),
    y=vanishing,
    sample=Sample(reals(2, 3), reals(2, 4), PLACES, dims=1, once=False),
    at=(),
    batch="stacked",
)
def put_at_like(xp, x, y, z, *, dims, once):
    """Zeros in the shape of y to which the numbers of x are added at places z."""
    from gradsh.backend.pooling import onto_places

    return onto_places(x, z, y.shape[y.ndim - dims :], once)


# ---- max pooling


@constant(at=(), batch="stacked")
def places_of_maxima(xp, x, y=None, *, geometry):
    """Where the maxima (y, if they are known) of the windows of x are: the first of equals, the last nan."""
    from gradsh.backend.pooling import maxima, maxima_places

    return maxima_places(x, maxima(x, geometry) if y is None else y, geometry)


@general(
    x=lambda g, y, z, geometry: numbers_at(
        g, places_of_maxima(y, z, geometry=geometry), dims=len(geometry[0]), once=False
    ),
    y=vanishing,
    sample=Sample(reals(2, 1, 2), distinct(2, 1, 5), None, geometry=LINES),
    at=(),
    grad_fn="MaxPool2DWithIndicesBackwardBackward0",
)
def maxima_given_back(xp, x, y, z=None, *, geometry):
    """Zeros in the shape of y, to which the numbers of x are added at the places of the maxima of its windows.

    z: the maxima, where they are known.
    """
    from gradsh.backend.pooling import maxima, maxima_back

    return maxima_back(x, y, maxima(y, geometry) if z is None else z, geometry)


def _op_of(dims):
    def max_pooled(xp, x, *, geometry):
        """The largest number of each window."""
        from gradsh.backend.pooling import maxima

        return maxima(x, geometry)

    return general(
        x=lambda g, x, out, geometry: maxima_given_back(g, x, out, geometry=geometry),
        sample=[
            Sample(distinct(2, 1, 5), geometry=LINES),
            Sample(distinct(1, 2, 5, 4), geometry=OVERLAPPING),
        ],
        at=(),
        batch="stacked",
        name=f"max_pool{dims}d_with_indices",
        grad_fn=f"MaxPool{dims}DWithIndicesBackward0",
    )(max_pooled)


OVER = {dims: _op_of(dims) for dims in (2, 3)}


def flag(value, argument):
    if not isinstance(value, bool):
        raise Unfit(argument, "bool", value)
    return value


def window_settings(name, kernel_size, stride, padding, dilation=1):
    """The settings of a pooling over windows as tuples, in PyTorch's order; the stride is the kernel's size unless given."""
    kernel = lengths(kernel_size, name, "kernel_size", " (position 2)")
    stride = () if stride is None else lengths(stride, name, "stride", " (position 3)")
    padding, dilation = (
        lengths(padding, name, "padding", " (position 4)"),
        lengths(dilation, name, "dilation", " (position 5)"),
    )
    return kernel, stride or kernel, padding, dilation


def _pooled(input, settings, ceil_mode, with_places, dims):
    """(maxima, where they are or None)"""
    name = f"max_pool{dims}d"
    arguments = ("kernel_size", "stride", "padding", "dilation")
    kernel, stride, padding, dilation = (for_each(v, name, a, dims) for a, v in zip(arguments, settings))
    check_rank(input, dims, name)
    size = input.shape[input.ndim - dims :]
    places = places_of(size, kernel, stride, padding, dilation, ceil_mode)
    check_settings(kernel, stride, dilation)
    check_sizes(input, kernel, padding, places, name)
    if input.dtype.category == BOOL:
        raise unsupported(input, name)
    geometry = (kernel, stride, padding, dilation, places)
    out = OVER[dims](input, geometry=geometry)
    return out, places_of_maxima(input, out, geometry=geometry) if with_places else None


def _pooled_line(input, settings, ceil_mode, with_places):
    if with_places:
        check_range(input, "max_pool1d")
    kernel, stride, padding, dilation = settings
    if not with_places:
        check_line(input, kernel, stride, padding, dilation, ceil_mode)
        if input.dtype.category != FLOATING:
            raise unsupported(input, "max_pool1d_impl")
    settings = (1, *kernel), (1, *stride), (0, *padding), (1, *dilation)
    out, places = _pooled(unsqueezed(input, dim=-2), settings, ceil_mode, with_places, 2)
    return squeezed_at(out, dim=-2), places if places is None else squeezed_at(places, dim=-2)


def _of_rank(dims):
    name = f"max_pool{dims}d"

    def pool(input, settings, ceil_mode, with_places):
        input, ceil_mode = operand(input), flag(ceil_mode, "ceil_mode")
        if dims == 1:
            return _pooled_line(input, settings, ceil_mode, with_places)
        return _pooled(input, settings, ceil_mode, with_places, dims)

    def plain(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return pool(input, window_settings(name, kernel_size, stride, padding, dilation), ceil_mode, False)[0]

    def with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return pool(input, window_settings(name, kernel_size, stride, padding, dilation), ceil_mode, True)

    with_indices.__doc__ = "The largest number of each window, and where in the last dimensions, taken as one, it is."
    plain.__doc__ = "The largest number of each window."
    plain_checked, with_checked = checked(plain, name), checked(with_indices, f"{name}_with_indices")

    def pooled(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        call = with_checked if return_indices else plain_checked
        return call(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pooled_with(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return with_checked(input, kernel_size, stride, padding, dilation, ceil_mode)

    pooled.__doc__ = "The largest number of each window, and where it is if return_indices is true."
    pooled_with.__doc__ = with_indices.__doc__
    size = ", ".join(["4"] * dims)
    function(name, at=("torch",), example=f"{name}(rand(1, 1, {size}), 2)")(plain)
    function(f"{name}_with_indices", at=("torch",) if dims == 1 else ())(with_indices)
    function(f"{name}_with_indices", at=("F",))(pooled_with)
    return function(name, at=("F",), example=f"F.{name}(rand(1, 1, {size}), 2)")(pooled)


max_pool1d, max_pool2d, max_pool3d = (_of_rank(dims) for dims in (1, 2, 3))
