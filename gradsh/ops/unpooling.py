"""The partial inverse of max pooling, and max pooling over windows at random."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, int64
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import constant, general, linear
from gradsh.engine.tensor import Tensor
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import sized
from gradsh.ops.pooling import PLACES, numbers_at, put_at_like
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.registry import NAMESPACES, function
from gradsh.ops.samples import Made, Sample, distinct, reals
from gradsh.ops.shape import squeezed_at, unsqueezed
from gradsh.ops.spatial import lengths


def _unpooled_raw(xp, x, y, *, size):
    """Zeros of a size with the numbers of x at places y."""
    from gradsh.backend.pooling import onto_places

    return onto_places(x, y, size, once=True)


UNPOOLING = {
    dims: linear(
        x=lambda g, y, size: numbers_at(g, y, dims=len(size), once=False),
        sample=Sample(reals(2, 3), PLACES, size=(4,)),
        at=(),
        batch="stacked",
        name=f"max_unpool{dims}d",
        grad_fn=f"MaxUnpool{dims}DBackward0",
    )(_unpooled_raw)
    for dims in (2, 3)
}


def _for_each(value, dims):
    return tuple(value) if isinstance(value, list | tuple) else (value,) * dims


def _output_size(input, kernel, stride, padding, output_size):
    """The size to unpool to: that of the smallest input that pooling would have brought to this one, or as asked."""
    dims = len(kernel)
    sizes = input.shape
    if len(sizes) < dims:
        raise fault(IndexError, "tuple index out of range")
    inner = sizes[len(sizes) - dims :]
    smallest = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(inner, kernel, stride, padding)]
    if output_size is None:
        found = smallest
    else:
        if len(output_size) == dims + 2:
            output_size = output_size[2:]
        if len(output_size) != dims:
            raise fault(
                ValueError,
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(output_size)}'",
            )
        for dim, (size, middle, step) in enumerate(zip(output_size, smallest, stride)):
            if not middle - step < size < middle + step:
                raise fault(
                    ValueError,
                    f'invalid output_size "{output_size}" (dim {dim} must be between {middle - step} and {middle + step})',
                )
        found = output_size
    for dim, size in enumerate(found):
        if size < 0:
            raise fault(
                ValueError,
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{dim}]={size}",
            )
    return tuple(found)


def _unpooled(input, indices, size, dims, stride=()):
    name = f"max_unpooling{dims}d"
    if indices.dtype is not int64:
        got = TYPE_NAMES[indices.dtype.name]
        raise fault(RuntimeError, f"elements in indices should be type int64 but got: {got}", hint=".long()")
    if dims == 2 and input.ndim not in (3, 4):
        raise fault(
            RuntimeError,
            f"Input to {name} should be a 3d or 4d Tensor, but got a tensor with {input.ndim} dimensions.",
        )
    if dims == 3 and input.ndim not in (4, 5):
        raise fault(
            RuntimeError,
            f"Input to {name} should be a 4d or 5d Tensor, but got a tensor with {input.ndim} dimensions.",
        )
    if input.shape != indices.shape:
        raise fault(
            RuntimeError,
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices tensor "
            f"with shape: {list(indices.shape)}",
        )
    if stride and min(stride) <= 0:
        raise fault(RuntimeError, f"strides should be greater than zero, but got stride: {list(stride)}")
    for dim in range(1, input.ndim):
        if not input.shape[dim]:
            raise fault(
                RuntimeError,
                f"{name}_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got "
                f"{list(input.shape)} with dimension {dim} being empty.",
            )
    if input.dtype.category != FLOATING:
        raise unsupported(input, f"max_unpool{dims}d")
    _check_places(indices, size)
    return UNPOOLING[dims](input, indices, size=size)


def _check_places(indices, size):
    count = 1
    for length in size:
        count *= length
    raw = numbers_of(indices)
    outside = raw[(raw < 0) | (raw >= count)]
    if outside.size:
        volume = "x".join(map(str, size))
        raise fault(RuntimeError, f"Found an invalid max index: {outside[-1]} (output volumes are of size {volume})")


def _of_rank(dims):
    name = f"max_unpool{dims}d"

    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        input = sized(input)
        if not isinstance(indices, Tensor):
            kind = type(indices).__name__
            raise fault(TypeError, f"{name}(): argument 'indices' (position 2) must be Tensor, not {kind}")
        kernel = _for_each(kernel_size, dims)
        step = kernel if stride is None else _for_each(stride, dims)
        size = _output_size(input, kernel, step, _for_each(padding, dims), output_size)
        if dims > 1:
            return _unpooled(input, indices, size, dims, step if dims == 3 else ())
        pair = (unsqueezed(input, dim=-1), unsqueezed(indices, dim=-1))
        return squeezed_at(_unpooled(*pair, (*size, 1), 2), dim=-1)

    unpool.__doc__ = "Zeros with the maxima of a max pooling back at their places."
    ones = ", ".join(["1"] * (dims + 2))
    return function(name, at=("F",), example=f"F.{name}(ones({ones}), zeros({ones}).long(), 2)")(unpool)


max_unpool1d, max_unpool2d, max_unpool3d = (_of_rank(dims) for dims in (1, 2, 3))


# ---- windows at random


@constant(at=())
def places_of_fractions(xp, x, y, *, kernel, counts):
    """Where the maxima of windows are that lie as random numbers y (N, C, dims) say."""
    from gradsh.backend.pooling import fraction_maxima

    return fraction_maxima(x, y, kernel, counts)[1]


def _largest(xp, x, y, *, kernel, counts):
    """The largest number of each of the windows that lie as random numbers y (N, C, dims) say."""
    from gradsh.backend.pooling import fraction_maxima

    return fraction_maxima(x, y, kernel, counts)[0]


FRACTIONS = {
    dims: general(
        x=lambda g, x, y, kernel, counts: put_at_like(
            g, x, places_of_fractions(x, y, kernel=kernel, counts=counts), dims=len(kernel), once=False
        ),
        sample=Sample(
            distinct(1, 2, *(5, 4, 4)[:dims]),
            Made(lambda rng, dims=dims: rng.random((1, 2, dims))),
            kernel=(2,) * dims,
            counts=(2,) * dims,
        ),
        at=(),
        name=f"fractional_max_pool{dims}d",
        grad_fn=f"FractionalMaxPool{dims}DBackward0",
    )(_largest)
    for dims in (2, 3)
}


SIDES = {
    2: ((0, "height"), (1, "width")),
    3: ((0, "time"), (2, "width"), (1, "height")),
}  # in PyTorch's order of checks


def _fractional(name, input, kernel_size, output_size, output_ratio, samples, dims):
    """(maxima, where they are)"""
    input = sized(input)
    if output_size is None:
        if output_ratio is None:
            raise fault(ValueError, f"{name} requires specifying either an output_size or an output_ratio")
        if dims == 2 and len(output_ratio) > 2:
            raise fault(ValueError, f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        ratio = _for_each(output_ratio, dims)
        output_size = [int(n * part) for n, part in zip(input.shape[input.ndim - dims :], ratio)]
    if samples is None:
        batch = 1 if input.ndim == dims + 1 else input.size(0)
        samples = NAMESPACES["torch"]["rand"](batch, input.size(-dims - 1), dims, dtype=input.dtype)
    kernel, counts = lengths(kernel_size, name, "kernel_size"), lengths(output_size, name, "output_size")
    kernel, counts = (value * dims if len(value) == 1 else value for value in (kernel, counts))
    if input.ndim not in (dims + 1, dims + 2):
        raise fault(
            RuntimeError,
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}",
        )
    for place, side in SIDES[dims]:
        n, k = input.shape[input.ndim - dims + place], kernel[place]
        if counts[place] + k - 1 >= n + (dims == 2):
            where = f"{name}()" if dims == 2 else f"{name}_out()"
            raise fault(RuntimeError, f"{where}: pool {side} {k} too large relative to input {side} {n}")
    if input.dtype.category != FLOATING:
        raise unsupported(input, f"{name}_out_frame")
    out = FRACTIONS[dims](input, samples, kernel=kernel, counts=counts)
    return out, places_of_fractions(input, samples, kernel=kernel, counts=counts)


def _fractions_of_rank(dims):
    name = f"fractional_max_pool{dims}d"

    def with_indices(
        input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
    ):
        return _fractional(name, input, kernel_size, output_size, output_ratio, _random_samples, dims)

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = _fractional(name, input, kernel_size, output_size, output_ratio, _random_samples, dims)
        return found if return_indices else found[0]

    with_indices.__doc__ = "Maxima of windows that lie at random (Graham 2014), and where they are."
    pool.__doc__ = "Maxima of windows that lie at random (Graham 2014)."
    size = ", ".join(["6"] * dims)
    function(f"{name}_with_indices", at=("F",))(with_indices)
    return function(name, at=("F",), example=f"F.{name}(rand(1, 1, {size}), 2, 3)")(pool)


fractional_max_pool2d, fractional_max_pool3d = _fractions_of_rank(2), _fractions_of_rank(3)
