"""Padding of the last dimensions: with a number, or with what is there reflected, repeated or gone around."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL
from gradsh.backend.memory import check_room
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.create import C_NAMES, held
from gradsh.engine.op import general, linear
from gradsh.fault import fault
from gradsh.ops.arithmetic import vanishing
from gradsh.ops.calls import operand
from gradsh.ops.options import number
from gradsh.ops.registry import function, tensor_argument
from gradsh.ops.samples import Sample, reals
from gradsh.ops.spatial import lengths

# PyTorch's order in `pad`: the last dimension first, before and behind.


@general(
    x=lambda g, pad: padded_with(g, pad=tuple([-count for count in pad]), value=0.0),
    sample=[Sample(reals(2, 3), pad=(1, 2), value=0.5), Sample(reals(3, 2, 4), pad=(-1, 1, 2, -1), value=0.0)],
    at=(),
    grad_fn="ConstantPadNdBackward0",
    batch="stacked",
)
def padded_with(xp, x, *, pad, value):
    """Numbers around the last dimensions; what is to be padded by less than nothing is cut off."""
    from gradsh.backend.windows import padded

    before, after = pad[-2::-2], pad[::-2]
    x = xp.asarray(x)
    if min(pad, default=0) < 0:
        lengths = x.shape[x.ndim - len(before) :]
        x = x[(..., *[slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(before, after, lengths)])]
    out = padded(x, tuple([max(count, 0) for count in before]), tuple([max(count, 0) for count in after]), value)
    return out if max(pad, default=0) > 0 else xp.array(out, order="K")


def picking(name, grad_fn, saves=False):
    """An op that takes the numbers at given places along each of the last dimensions.

    saves: PyTorch's backward saves the operand, by which the gradient then has a derivative (of 0).
    """

    def picked(xp, x, *, places):
        """The numbers at places along each of the last dimensions."""
        from gradsh.backend.windows import picked

        return picked(xp.asarray(x), places)

    def back(g, x_shape, places):
        return given_back(g, places=places, size=x_shape[len(x_shape) - len(places) :])

    def back_saving(g, x, places):
        return given_back_like(g, x, places=places)

    return linear(
        x=back_saving if saves else back,
        sample=[Sample(reals(2, 4), places=((1, 0, 1, 3),)), Sample(reals(3, 2), places=((0, 0, 2), (1, 1, 0)))],
        at=(),
        batch="stacked",
        name=name,
        grad_fn=grad_fn,
    )(picked)


def _sums_at(xp, x, places, size):
    from gradsh.backend.windows import picked_sums

    return picked_sums(xp.asarray(x), places, size)


@linear(
    x=lambda g, places: taken(g, places=places),
    sample=[
        Sample(reals(2, 4), places=((1, 0, 1, 3),), size=(5,)),
        Sample(reals(1, 3), places=((0, 0, 2),), size=(4,)),
    ],
    at=(),
    batch="stacked",
)
def given_back(xp, x, *, places, size):
    """Zeros of a size to which numbers are added at places along each of the last dimensions."""
    return _sums_at(xp, x, places, size)


@linear(
    x=lambda g, places: taken(g, places=places),
    y=vanishing,
    sample=Sample(reals(2, 4), reals(2, 5), places=((1, 0, 1, 3),)),
    at=(),
    grad_fn="GivenBackBackward0",
    batch="stacked",
)
def given_back_like(xp, x, y, *, places):
    """As `given_back`, in the shape of y."""
    return _sums_at(xp, x, places, y.shape[y.ndim - len(places) :])


taken = picking("taken", "TakenBackward0")
REFLECTED = [picking(f"reflection_pad{dims}d", f"ReflectionPad{dims}DBackward0", saves=True) for dims in (1, 2, 3)]
REPEATED = [picking(f"replication_pad{dims}d", f"ReplicationPad{dims}DBackward0", saves=True) for dims in (1, 2, 3)]
around = picking("circular_pad", "CopySlices")


# ---- where the numbers come from


def _reflected(length, before, after):
    def source(place):
        if place < before:
            place = 2 * before - place
        elif place >= length + before:
            place = 2 * (length + before - 1) - place
        return place - max(before, 0) + max(-before, 0)

    return tuple([source(place) for place in range(length + before + after)])


def _repeated(length, before, after):
    shift = max(-before, 0) - max(before, 0)
    return tuple([
        min(max(place, before), length + before - 1) + shift for place in range(length + before + after)
    ])  # fmt: skip


def _around(length, before, after):
    kept = range(max(-before, 0), length - max(-after, 0)) or range(length)
    count = len(kept) if before >= 0 and after >= 0 else length + min(before, 0) + min(after, 0)
    return tuple([kept[place % len(kept)] for place in range(-max(before, 0), count + max(after, 0))])


# ---- what programs call


def _not_constant(input, pad):
    dims = len(pad) // 2
    if dims not in (1, 2, 3) or input.ndim not in (dims + 1, dims + 2):
        raise fault(
            NotImplementedError,
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
        )
    return dims


def _check_sizes(input, pad, dims, mode):
    """The checks of reflection and replication (ReflectionPad.cpp, ReplicationPadding.cpp)."""
    sizes, first = list(input.shape), input.ndim - dims
    inner = sizes[1:] if input.ndim == dims + 2 else sizes
    if 0 in inner:
        raise fault(
            RuntimeError,
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {sizes}",
        )
    pairs = [pad[2 * k : 2 * k + 2] for k in reversed(range(dims))]
    if mode == "reflect":
        for k in reversed(range(dims)):
            if max(pairs[k]) >= sizes[first + k]:
                before, after = pairs[k]
                raise fault(
                    RuntimeError,
                    f"Argument #{4 + 2 * (dims - 1 - k)}: Padding size should be less than the corresponding input "
                    f"dimension, but got: padding ({before}, {after}) at dimension {first + k} of input {sizes}",
                    hint="mode='replicate' or 'circular' pads by more",
                )
    found = [n + before + after for n, (before, after) in zip(sizes[first:], pairs)]
    if max(found) < 1:
        names = ("D", "H", "W")[3 - dims :]
        had = ", ".join(f"{name}: {n}" for name, n in zip(names, sizes[first:]))
        gives = " ".join(f"{name}: {n}" for name, n in zip(names, found))
        raise fault(RuntimeError, f"input ({had}) is too small. Calculated output {gives}")
    check_room((*sizes[:first], *found), input.dtype.itemsize)


def _check_around(input, pad, dims):
    for k, length in enumerate(input.shape[input.ndim - dims :]):
        before, after = pad[2 * (dims - 1 - k) : 2 * (dims - k)]
        if max(before, after) > length:
            raise fault(RuntimeError, "Padding value causes wrapping around more than once.")
        if length + before + after < 0:
            raise fault(RuntimeError, "Negative padding value is resulting in an empty dimension")


def _places(source, input, pad, dims):
    sizes = input.shape[input.ndim - dims :]
    return tuple([source(sizes[k], *pad[2 * (dims - 1 - k) : 2 * (dims - k)]) for k in range(dims)])


def _wrong_type(argument, position, wanted, value):
    kind = type(value).__name__
    return fault(TypeError, f"pad(): argument '{argument}' (position {position}) must be {wanted}, not {kind}")


MODES = ("constant", "reflect", "replicate", "circular")


@function(at=("F",), example="F.pad(ones(2, 2), (1, 1), value=5.0)")
def pad(input, pad, mode="constant", value=None):
    """Padding around the last dimensions: `pad` has two lengths for each, beginning with the last."""
    input = tensor_argument(input, "pad")
    if not isinstance(pad, list | tuple):
        raise _wrong_type("pad", 2, "tuple of ints", pad)
    pad = lengths(pad, "pad", "pad", " (position 2)")
    if not isinstance(mode, str):
        raise _wrong_type("mode", 3, "str", mode)
    if value is not None and not isinstance(value, int | float):
        if getattr(value, "ndim", None) != 0:
            raise _wrong_type("value", 4, "float", value)
        value = value.item()
    if mode not in MODES:
        raise fault(NotImplementedError, f"Unrecognised padding mode {mode}", hint=", ".join(map(repr, MODES)))
    if len(pad) % 2:
        raise fault(RuntimeError, "Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise fault(
            RuntimeError,
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}",
        )
    if mode == "constant":
        return constant_padding(input, pad, 0.0 if value is None else value)
    if value:
        raise fault(RuntimeError, f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = _not_constant(input, pad)
    if mode == "circular":
        _check_around(input, pad, dims)
        return around(input, places=_places(_around, input, pad, dims))
    _check_sizes(input, pad, dims, mode)
    if input.dtype.category == BOOL:
        kind = "reflection" if mode == "reflect" else "replication"
        raise fault(NotImplementedError, f"\"{kind}_pad{dims}d\" not implemented for '{TYPE_NAMES[input.dtype.name]}'")
    if mode == "reflect":
        return REFLECTED[dims - 1](input, places=_places(_reflected, input, pad, dims))
    return REPEATED[dims - 1](input, places=_places(_repeated, input, pad, dims))


def constant_padding(input, pad, value):
    """Padding with a number, after the check of what is cut off."""
    for k, length in enumerate(reversed(input.shape[input.ndim - len(pad) // 2 :])):
        before, after = pad[2 * k : 2 * k + 2]
        if length - max(-before, 0) - max(-after, 0) < 0:
            raise fault(RuntimeError, "narrow(): length must be non-negative.")
    if max(pad, default=0) > 0:
        value = held(value, input.dtype, names=C_NAMES)
    return padded_with(input, pad=pad, value=value)


@function(at=("torch",), example="constant_pad_nd(ones(2, 2), (1, 1), 5.0)")
def constant_pad_nd(input, pad, value=0):
    """Padding of the last dimensions with a number."""
    input, pad, value = operand(input), lengths(pad, "constant_pad_nd", "pad"), number(value, "value")
    if len(pad) % 2:
        raise fault(RuntimeError, f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise fault(
            RuntimeError,
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {input.ndim}dimensions.",
        )
    return constant_padding(input, pad, value)
