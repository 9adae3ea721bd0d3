"""Convolutions and transposed convolutions over one, two and three dimensions (aten/src/ATen/native/Convolution.cpp)."""

from __future__ import annotations

from gradsh.engine.op import OPS, bilinear, general
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.convolution_faults import (
    check_bias,
    check_output,
    check_same,
    check_settings,
    check_shapes,
    check_time_first,
    check_types,
    dimensions,
    for_each,
)
from gradsh.ops.examples import folded, moved, shaped, unfolded
from gradsh.ops.histories import of_convolution
from gradsh.ops.options import fits_none, integer
from gradsh.ops.padding import padded_with
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.spatial import batched, lengths, unbatched

# x holds images (N, C, *size), y kernels: (O, C / groups, *kernel) of a convolution of C to O channels.


def _geometry(kernel, stride, padding, dilation, groups):
    from gradsh.backend.convolving import Geometry

    return Geometry(kernel, stride, padding, dilation, groups)


def _computed(xp, compute, x, *rest):
    """A convolution of raw arrays; halves are computed in single precision."""
    if x.dtype.char != "e":
        return compute(x, *rest)
    singles = [one.astype(xp.float32) if one.__class__ is xp.ndarray else one for one in (x, *rest)]
    return compute(*singles).astype(xp.float16)


# Under vmap examples without kernels of their own are more images; with kernels of their own, more groups of channels.


def _side(x):
    """All examples' channels side by side: (N, examples * C, *size)."""
    size, count, channels, *lengths = x.shape
    return shaped(moved(x, 0, 1), (count, size * channels, *lengths))


def _split(x, size):
    """What `_side` put side by side taken apart."""
    count, channels, *lengths = x.shape
    return moved(shaped(x, (count, size, channels // size, *lengths)), 1, 0)


def _in_a_row(z):
    return shaped(z, (z.shape[0] * z.shape[1],))


def over_channels(g):
    """Sums for each channel."""
    return sum_over(g, axes=(0, *range(2, len(g.shape))), keepdim=False)


PLAIN = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
UNEVEN = {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}


@general(
    x=lambda g, x, x_shape, y, stride, padding, dilation, groups: of_convolution(
        convolved_back(g, y, size=x_shape[2:], stride=stride, padding=padding, dilation=dilation, groups=groups),
        x,
        y,
    ),
    y=lambda g, x, y, y_shape, stride, padding, dilation, groups: of_convolution(
        kernels_back(x, g, kernel=y_shape[2:], stride=stride, padding=padding, dilation=dilation, groups=groups),
        x,
        y,
    ),
    z=lambda g, x, y: of_convolution(over_channels(g), x, y),
    sample=[
        Sample(reals(2, 2, 3, 4), reals(3, 2, 2, 2), reals(3), **PLAIN),
        Sample(reals(1, 4, 4, 5), reals(2, 2, 3, 2), None, **UNEVEN),
        Sample(reals(2, 1, 4), reals(1, 1, 1), reals(1), stride=(2,), padding=(0,), dilation=(1,), groups=1),
    ],
    at=(),
    name="convolution",
    batch={
        "x": lambda x, y, z=None, **settings: unfolded(convolved(folded(x), y, z, **settings), x.shape[0]),
        "x y z": lambda x, y, z=None, *, groups, **settings: _split(
            convolved(_side(x), folded(y), z if z is None else _in_a_row(z), groups=groups * x.shape[0], **settings),
            x.shape[0],
        ),
    },
)
def convolved(xp, x, y, z=None, *, stride, padding, dilation, groups, places=None):
    """Sums of products of kernels with the windows of images (all that fit, or some), and a bias z for each kernel."""
    from gradsh.backend.convolving import convolve

    return _computed(xp, convolve, x, y, z, _geometry(y.shape[2:], stride, padding, dilation, groups), places)


TRANSPOSED_SAMPLES = [
    Sample(reals(2, 3, 2, 3), reals(3, 2, 2, 2), size=(3, 4), **PLAIN),
    Sample(reals(1, 2, 3, 3), reals(2, 2, 3, 2), size=(6, 5), **UNEVEN),
]


@bilinear(
    x=lambda g, x_shape, y, stride, padding, dilation, groups: convolved(
        g, y, None, stride=stride, padding=padding, dilation=dilation, groups=groups, places=x_shape[2:]
    ),
    y=lambda g, x, y_shape, stride, padding, dilation, groups: kernels_back(
        g, x, kernel=y_shape[2:], stride=stride, padding=padding, dilation=dilation, groups=groups
    ),
    sample=TRANSPOSED_SAMPLES,
    at=(),
    grad_fn="ConvolutionBackwardBackward0",
    batch={
        "x": lambda x, y, **settings: unfolded(convolved_back(folded(x), y, **settings), x.shape[0]),
        "x y": lambda x, y, groups, **settings: _split(
            convolved_back(_side(x), folded(y), groups=groups * x.shape[0], **settings), x.shape[0]
        ),
    },
)
def convolved_back(xp, x, y, *, size, stride, padding, dilation, groups):
    """The transpose of a convolution in its images: x at the places is given back to images of a size."""
    from gradsh.backend.convolving import convolve_back

    return _computed(xp, convolve_back, x, y, None, size, _geometry(y.shape[2:], stride, padding, dilation, groups))


@bilinear(
    x=lambda g, x_shape, y, stride, padding, dilation, groups: convolved_back(
        y, g, size=x_shape[2:], stride=stride, padding=padding, dilation=dilation, groups=groups
    ),
    y=lambda g, x, y_shape, stride, padding, dilation, groups: convolved(
        x, g, None, stride=stride, padding=padding, dilation=dilation, groups=groups, places=y_shape[2:]
    ),
    sample=[
        Sample(reals(2, 2, 3, 4), reals(2, 3, 2, 3), kernel=(2, 2), **PLAIN),
        Sample(reals(1, 4, 4, 5), reals(1, 2, 2, 3), kernel=(3, 2), **UNEVEN),
    ],
    at=(),
    grad_fn="ConvolutionBackwardBackward0",
    batch=lambda x, y, groups, **settings: unfolded(
        kernels_back(_side(x), _side(y), groups=groups * x.shape[0], **settings), x.shape[0]
    ),
)
def kernels_back(xp, x, y, *, kernel, stride, padding, dilation, groups):
    """The transpose of a convolution in its kernels: sums over places of y times the windows of images x."""
    from gradsh.backend.convolving import convolve_kernels

    return _computed(xp, convolve_kernels, x, y, _geometry(kernel, stride, padding, dilation, groups))


@general(
    x=lambda g, x, x_shape, y, stride, padding, dilation, groups: of_convolution(
        convolved(g, y, None, stride=stride, padding=padding, dilation=dilation, groups=groups, places=x_shape[2:]),
        x,
        y,
    ),
    y=lambda g, x, y, y_shape, stride, padding, dilation, groups: of_convolution(
        kernels_back(g, x, kernel=y_shape[2:], stride=stride, padding=padding, dilation=dilation, groups=groups),
        x,
        y,
    ),
    z=lambda g, x, y: of_convolution(over_channels(g), x, y),
    sample=[
        Sample(*sample.operands, bias, **sample.settings)
        for sample, bias in zip(TRANSPOSED_SAMPLES, (reals(2), None), strict=True)
    ],
    at=(),
    grad_fn="ConvolutionBackward0",
    batch={
        "x": lambda x, y, z=None, **settings: unfolded(transposed_convolution(folded(x), y, z, **settings), x.shape[0]),
        "x y z": lambda x, y, z=None, *, groups, **settings: _split(
            transposed_convolution(
                _side(x), folded(y), z if z is None else _in_a_row(z), groups=groups * x.shape[0], **settings
            ),
            x.shape[0],
        ),
    },
)
def transposed_convolution(xp, x, y, z=None, *, size, stride, padding, dilation, groups):
    """A transposed convolution to images of a size, and a bias z for each channel."""
    from gradsh.backend.convolving import convolve_back

    return _computed(xp, convolve_back, x, y, z, size, _geometry(y.shape[2:], stride, padding, dilation, groups))


# ---- what programs call


def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """`at::convolution`: any number of dimensions, batched."""
    dims = dimensions(weight, groups)
    named = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    stride, padding, dilation, output_padding = (for_each(value, name, dims) for name, value in named.items())
    check_settings(stride, padding, dilation, output_padding)
    check_shapes(input, weight, bias, padding, dilation, groups, transposed)
    check_types(input, weight, transposed)
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if not transposed:
        return convolved(input, weight, bias, **settings)
    if bias is not None and bias.dtype is not input.dtype:
        if dims == 3:
            check_types(input, bias, transposed)
        bias = OPS["to_dtype"](bias, dtype=input.dtype)  # in two dimensions PyTorch adds it in place
    spread = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in spread])
    check_output(input.shape[2:], size, stride, dilation, output_padding)
    return transposed_convolution(input, weight, bias, size=size, **settings)


def _same(input, weight, bias, stride, dilation, groups):
    """A convolution whose output has the size of its input; what cannot be padded on both sides alike is padded behind."""
    dims = dimensions(weight, groups)
    check_same(input, weight, stride, dilation)
    spread = dilation if len(dilation) == dims else dilation * dims
    totals = [d * (k - 1) for d, k in zip(spread, weight.shape[2:])]
    if any(total % 2 for total in totals):
        behind = [n for total in reversed(totals) for n in (0, total % 2)]
        behind = behind[: 2 * max(place for place, total in enumerate(reversed(totals), 1) if total % 2)]
        input = padded_with(input, pad=tuple(behind), value=0.0)
    return _convolution(
        input, weight, bias, stride, tuple([total // 2 for total in totals]), dilation, False, (0,) * dims, groups
    )


def _lengths(value, name, argument, dims):
    """A list of lengths; one integer stands for as many as the function has dimensions."""
    found = lengths(value, name, argument)
    return found if isinstance(value, list | tuple) else found * dims


SHARED = (
    "(Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, {}, tuple of ints dilation = 1, "
    "int groups = 1)"
)
OVERLOADS = (SHARED.format("tuple of ints padding = 0"), SHARED.format('str padding = "valid"'))


def _of_rank(dims):
    name = f"conv{dims}d"

    def convolution(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        try:
            input, weight = operand(input), operand(weight, "weight")
            bias = bias if bias is None else operand(bias, "bias")
            stride, dilation = _lengths(stride, name, "stride", dims), _lengths(dilation, name, "dilation", dims)
            padding = padding if isinstance(padding, str) else _lengths(padding, name, "padding", dims)
            groups = integer(groups, "groups")
        except Unfit:
            raise fits_none() from None
        check_bias(input, bias)
        x, had_batch = batched(input, dims, name)
        if padding == "same":
            out = _same(x, weight, bias, stride, dilation, groups)
        else:
            if isinstance(padding, str):
                if padding != "valid":
                    raise fault(RuntimeError, f"Invalid padding string: '{padding}'", hint="'same' or 'valid'")
                padding = (0,) * dims
            out = _convolution(x, weight, bias, stride, padding, dilation, False, (0,) * dims, groups)
        return out if had_batch else unbatched(out)

    last = "dimension" if dims == 1 else f"{dims} dimensions"
    convolution.__doc__ = f"Sums of products of the kernels `weight` with the windows of the last {last}."
    return function(name, at=("torch", "F"), python=False, overloads=OVERLOADS, example=_example(name, dims, "3, 2"))(
        convolution
    )


def _transposed_of_rank(dims):
    name = f"conv_transpose{dims}d"

    def convolution(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        input, weight = operand(input), operand(weight, "weight")
        bias = bias if bias is None else operand(bias, "bias")
        settings = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
        sizes = (_lengths(value, name, key, dims) for key, value in settings.items())
        stride, padding, output_padding, dilation = sizes
        groups = integer(groups, "groups")
        x, had_batch = batched(input, dims, name)
        out = _convolution(x, weight, bias, stride, padding, dilation, True, output_padding, groups)
        return out if had_batch else unbatched(out)

    convolution.__doc__ = "The transpose of a convolution: every number of input adds the kernels times itself."
    return function(name, at=("torch", "F"), python=False, example=_example(name, dims, "2, 3"))(convolution)


def _example(name, dims, channels):
    size, kernel = ", ".join(["4"] * dims), ", ".join(["3"] * dims)
    return f"{name}(ones(1, 2, {size}), ones({channels}, {kernel}))"


conv1d, conv2d, conv3d = (_of_rank(dims) for dims in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed_of_rank(dims) for dims in (1, 2, 3))


@function("convolution", at=("torch",), example="convolution(ones(1, 2, 4), ones(3, 2, 3), None, 1, 0, 1, False, 0, 1)")
def any_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution, or the transpose of one, over as many dimensions as the kernels have."""
    input, weight = operand(input), operand(weight, "weight")
    bias = bias if bias is None else operand(bias, "bias")
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    stride, padding, dilation, output_padding = (lengths(v, "convolution", key) for key, v in settings.items())
    return _convolution(input, weight, bias, stride, padding, dilation, bool(transposed), output_padding, groups)


@function(at=("torch", "F"), python=False, example="conv_tbc(ones(5, 1, 2), ones(3, 2, 4), zeros(4))")
def conv_tbc(input, weight, bias, pad=0):
    """A convolution over time of (time, batch, channels), with kernels (time, channels, out channels)."""
    input, weight, bias, pad = operand(input), operand(weight, "weight"), operand(bias, "bias"), integer(pad, "pad")
    check_time_first(input, weight, bias)
    kernels = weight.permute(2, 1, 0)
    settings = {"stride": (1,), "padding": (pad,), "dilation": (1,), "groups": 1}
    return convolved(input.permute(1, 2, 0), kernels, bias, **settings).permute(2, 0, 1)
