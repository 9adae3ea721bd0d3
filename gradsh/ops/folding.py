"""Windows as columns and back, and channels that change places with positions."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL, FLOATING
from gradsh.engine.op import linear
from gradsh.engine.promote import dimension_fault
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.examples import folded as folded_each, unfolded as unfolded_each
from gradsh.ops.options import integer
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Sample, reals
from gradsh.ops.spatial import lengths

# geometry: (kernel, stride, padding, dilation, places), each for two dimensions.

GEOMETRY = ((2, 2), (1, 1), (0, 0), (1, 1), (2, 3))
UNEVEN = ((2, 1), (2, 1), (1, 0), (1, 1), (2, 4))


@linear(
    x=lambda g, x_shape, geometry: folded(g, size=x_shape[-2:], geometry=geometry),
    sample=[Sample(reals(2, 2, 3, 4), geometry=GEOMETRY), Sample(reals(1, 2, 3, 4), geometry=UNEVEN)],
    at=(),
    name="im2col",
    grad_fn="Im2ColBackward0",
    batch="stacked",
)
def unfolded(xp, x, *, geometry):
    """The windows of images (…, C, H, W) as columns (…, C · elements, places)."""
    from gradsh.backend.windows import padded, windows

    kernel, stride, padding, dilation, places = geometry
    seen = windows(padded(x, padding, padding), kernel, stride, dilation, places)
    *lead, channels = x.shape[:-2]
    return xp.array(seen, order="C").reshape(*lead, channels * kernel[0] * kernel[1], places[0] * places[1])


@linear(
    x=lambda g, geometry: unfolded(g, geometry=geometry),
    sample=[
        Sample(reals(2, 8, 6), size=(3, 4), geometry=GEOMETRY),
        Sample(reals(4, 8), size=(3, 4), geometry=UNEVEN),
    ],
    at=(),
    name="col2im",
    grad_fn="Col2ImBackward0",
    batch="stacked",
)
def folded(xp, x, *, size, geometry):
    """The transpose of `unfolded`: columns added to images at the places of their windows."""
    from gradsh.backend.windows import taps

    kernel, _, _, _, places = geometry
    *lead, rows, _ = x.shape
    channels = rows // (kernel[0] * kernel[1])
    parts = x.reshape(*lead, channels, *kernel, *places)
    out = xp.zeros((*lead, channels, *size), x.dtype)
    for offsets, chosen, elements in taps(size, *geometry):
        out[(..., *elements)] += parts[(..., *offsets, *chosen)]
    return out


def _pair(value, function, argument, position):
    value = value if isinstance(value, list | tuple) else (value, value)
    return lengths(value, function, argument, f" (position {position})")


def _settings(function, first, **values):
    """Settings as pairs, after the checks that folding and unfolding share."""
    found = {
        name: _pair(value, function, name, position) for position, (name, value) in enumerate(values.items(), first)
    }
    for name, value in found.items():
        if len(value) != 2:
            raise fault(RuntimeError, f"It is expected {name} equals to 2, but got size {len(value)}")
    named = {
        "kernel_size": ("kernel size", "kernel"),
        "dilation": ("dilation", "dilation"),
        "stride": ("stride", "stride"),
    }
    for name, (what, mark) in named.items():
        if min(found[name]) <= 0:
            height, width = found[name]
            raise fault(
                RuntimeError,
                f"{what} should be greater than zero, but got {mark}_height: {height} {mark}_width: {width}",
            )
        if name == "dilation" and min(found["padding"]) < 0:
            height, width = found["padding"]
            raise fault(
                RuntimeError, f"padding should be non-negative, but got pad_height: {height} pad_width: {width}"
            )
    return found


def _counts(size, kernel_size, dilation, padding, stride):
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride)
    ]


def _described(kernel_size, dilation, padding, stride=None):
    text = f"kernel_size={tuple(kernel_size)}, dilation={tuple(dilation)}, padding={tuple(padding)}"
    return text if stride is None else f"{text}, stride={tuple(stride)}"


def _geometry(settings, places):
    kernel, stride, padding, dilation = (settings[name] for name in ("kernel_size", "stride", "padding", "dilation"))
    return kernel, stride, padding, dilation, tuple(places)


@function(at=("F",), example="F.unfold(arange(9.0).view(1, 1, 3, 3), 2)")
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images (N, C, H, W) as columns (N, C · elements, places)."""
    input = tensor_argument(input, "im2col")
    found = _settings("im2col", 2, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if input.ndim < 3:
        raise dimension_fault(-2 if input.ndim < 2 else 2, input.ndim)
    sizes = list(input.shape)
    if input.ndim not in (3, 4) or 0 in sizes[input.ndim - 3 :]:
        raise fault(
            RuntimeError,
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {sizes}",
        )
    places = _counts(sizes[-2:], **found)
    if min(places) < 1:
        described = _described(found["kernel_size"], found["dilation"], found["padding"])
        raise fault(
            RuntimeError,
            f"Given input with spatial size {tuple(sizes[-2:])}, {described}, calculated shape of the array of sliding "
            f"blocks as {tuple(places)}, but its components must be at least one.",
        )
    if input.dtype.category not in (BOOL, FLOATING):
        raise unsupported(input, "im2col_out_cpu")
    return unfolded(input, geometry=_geometry(found, places))


@function(at=("F",), example="F.fold(ones(1, 4, 4), (3, 3), 2)")
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The columns of windows (N, C · elements, places) added to images of a size, at their places."""
    input = tensor_argument(input, "col2im")
    size = _pair(output_size, "col2im", "output_size", 2)
    if len(size) != 2:
        raise fault(RuntimeError, f"It is expected output_size equals to 2, but got size {len(size)}")
    found = _settings("col2im", 3, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    sizes = list(input.shape)
    if input.ndim not in (2, 3) or 0 in sizes[input.ndim - 2 :]:
        raise fault(
            RuntimeError,
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {sizes}",
        )
    kernel = found["kernel_size"]
    if sizes[-2] % (kernel[0] * kernel[1]):
        raise fault(
            RuntimeError,
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={sizes[-2]} and kernel_size={tuple(kernel)}.",
        )
    places = _counts(size, **found)
    if sizes[-1] != places[0] * places[1]:
        described = _described(kernel, found["dilation"], found["padding"], found["stride"])
        raise fault(
            RuntimeError,
            f"Given output_size={tuple(size)}, {described}, expected size of input's dimension 2 to match the calculated "
            f"number of sliding blocks {places[0]} * {places[1]} = {places[0] * places[1]}, but got "
            f"input.size(2)={sizes[-1]}.",
        )
    if input.dtype.category not in (BOOL, FLOATING):
        raise unsupported(input, "col2im_out_cpu")
    return folded(input, size=tuple(size), geometry=_geometry(found, places))


# ---- channels and positions


@linear(
    x=lambda g, factor: gathered(g, factor=factor),
    sample=Sample(reals(2, 4, 1, 3), factor=2),
    at=(),
    name="pixel_shuffle",
    batch="stacked",
)
def spread(xp, x, *, factor):
    """Channels laid out as squares of positions: (…, C r², H, W) to (…, C, H r, W r)."""
    *lead, channels, height, width = x.shape
    rank = len(lead)
    parts = x.reshape(*lead, channels // factor**2, factor, factor, height, width)
    order = (*range(rank), rank, rank + 3, rank + 1, rank + 4, rank + 2)
    return xp.array(parts.transpose(order), order="C").reshape(
        *lead, channels // factor**2, height * factor, width * factor
    )


@linear(
    x=lambda g, factor: spread(g, factor=factor),
    sample=Sample(reals(2, 1, 2, 6), factor=2),
    at=(),
    name="pixel_unshuffle",
    batch="stacked",
)
def gathered(xp, x, *, factor):
    """Squares of positions taken as channels: (…, C, H r, W r) to (…, C r², H, W)."""
    *lead, channels, height, width = x.shape
    rank = len(lead)
    parts = x.reshape(*lead, channels, height // factor, factor, width // factor, factor)
    order = (*range(rank), rank, rank + 2, rank + 4, rank + 1, rank + 3)
    return xp.array(parts.transpose(order), order="C").reshape(
        *lead, channels * factor**2, height // factor, width // factor
    )


@function(at=("torch", "F"), python=False, example="pixel_shuffle(arange(4.0).view(4, 1, 1), 2)")
def pixel_shuffle(input, upscale_factor):
    """Channels laid out as squares of positions: (…, C r², H, W) to (…, C, H r, W r)."""
    input, factor = operand(input), integer(upscale_factor, "upscale_factor")
    _check_pixels(input, "pixel_shuffle", "upscale_factor", factor)
    channels = input.shape[-3]
    if channels % factor**2:
        raise fault(
            RuntimeError,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {factor**2}",
        )
    return spread(input, factor=factor)


@function(at=("torch", "F"), python=False, example="pixel_unshuffle(arange(4.0).view(1, 2, 2), 2)")
def pixel_unshuffle(input, downscale_factor):
    """Squares of positions taken as channels: (…, C, H r, W r) to (…, C r², H, W)."""
    input, factor = operand(input), integer(downscale_factor, "downscale_factor")
    _check_pixels(input, "pixel_unshuffle", "downscale_factor", factor)
    for name, dim in (("height", -2), ("width", -1)):
        if input.shape[dim] % factor:
            raise fault(
                RuntimeError,
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})="
                f"{input.shape[dim]} is not divisible by {factor}",
            )
    return gathered(input, factor=factor)


def _check_pixels(input, name, argument, factor):
    if input.ndim < 3:
        raise fault(
            RuntimeError,
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)",
        )
    if factor <= 0:
        raise fault(RuntimeError, f"{name} expects a positive {argument}, but got {factor}")


@linear(
    x=lambda g, x_shape, groups: interleaved(g, groups=x_shape[1] // groups),
    sample=Sample(reals(2, 6, 2), groups=2),
    at=(),
    name="channel_shuffle",
    batch=lambda x, groups: unfolded_each(interleaved(folded_each(x), groups=groups), x.shape[0]),
)
def interleaved(xp, x, *, groups):
    """Channels of groups taken in turn: the first of each group, then the second of each, …"""
    batch, channels, *size = x.shape
    parts = x.reshape(batch, groups, channels // max(groups, 1), *size)
    return xp.array(parts.swapaxes(1, 2), order="C").reshape(x.shape)


@function(
    at=("torch", "F", "torch:native_channel_shuffle", "F:native_channel_shuffle"),
    python=False,
    example="channel_shuffle(arange(4.0).view(1, 4, 1), 2)",
)
def channel_shuffle(input, groups):
    """Channels (dimension 1) of groups taken in turn: the first of each group, then the second of each, …"""
    input, groups = operand(input), integer(groups, "groups")
    if input.ndim <= 2:
        raise fault(
            RuntimeError, f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups <= 0:
        raise fault(RuntimeError, f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    channels = input.shape[1]
    if channels % groups:
        raise fault(
            RuntimeError,
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.",
        )
    return interleaved(input, groups=groups)
