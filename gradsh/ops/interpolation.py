"""Resampling to other sizes: interpolate, and its older names."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float16, float64, uint8
from gradsh.engine.op import linear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, sized
from gradsh.ops.average_pooling import in_singles
from gradsh.ops.calls import invalid_combination
from gradsh.ops.options import whole
from gradsh.ops.padding import picking
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals


class Taps:
    """Which numbers go into each new one along the last dimensions, and with what weights."""

    __slots__ = ("each",)

    def __init__(self, *each):
        self.each = each

    def __repr__(self):
        return f"<taps for {' x '.join(str(len(places)) for places, _ in self.each)}>"


class _Few:
    """Taps for the tests, made when they are first asked for."""

    @property
    def each(self):
        from gradsh.backend import arrays
        from gradsh.backend.resampling import cubic_taps, linear_taps

        kind = arrays.float64
        return linear_taps(3, 5, False, None, kind), cubic_taps(4, 3, True, None, kind)


@linear(
    x=lambda g, x_shape, taps: unsampled(g, taps=taps, size=x_shape[len(x_shape) - len(taps.each) :]),
    sample=Sample(reals(2, 3, 4), taps=_Few()),
    at=(),
    batch="stacked",
)
def sampled(xp, x, *, taps):
    """Weighted sums of the numbers at places along each of the last dimensions."""
    return _sampled(xp, x, taps)


def _sampled(xp, x, taps):
    from gradsh.backend.resampling import resampled

    if x.dtype.char == "B":
        found = xp.clip(xp.rint(resampled(x.astype(xp.float32), taps.each)), 0, 255)
        return found.astype(x.dtype)
    return xp.ascontiguousarray(in_singles(xp, resampled, x, taps.each))


@linear(
    x=lambda g, taps: sampled(g, taps=taps),
    sample=Sample(reals(2, 5, 3), taps=_Few(), size=(3, 4)),
    at=(),
    batch="stacked",
)
def unsampled(xp, x, *, taps, size):
    """The transpose of `sampled`, to a size."""
    from gradsh.backend.resampling import resampled_back

    return in_singles(xp, resampled_back, x, taps.each, size)


def _sampling(name, grad_fn):
    def sampled(xp, x, *, taps):
        """Weighted sums of the numbers at places along each of the last dimensions."""
        return _sampled(xp, x, taps)

    return linear(
        x=lambda g, x_shape, taps: unsampled(g, taps=taps, size=x_shape[len(x_shape) - len(taps.each) :]),
        sample=Sample(reals(2, 3, 4), taps=_Few()),
        at=(),
        batch="stacked",
        name=name,
        grad_fn=grad_fn,
    )(sampled)


NEAREST = {
    (dims, exact): picking(
        f"upsample_nearest{'_exact' * exact}{dims}d", f"UpsampleNearest{'Exact' * exact}{dims}DBackward0"
    )
    for dims in (1, 2, 3)
    for exact in (False, True)
}
SMOOTH = {
    "linear": _sampling("upsample_linear1d", "UpsampleLinear1DBackward0"),
    "bilinear": _sampling("upsample_bilinear2d", "UpsampleBilinear2DBackward0"),
    "trilinear": _sampling("upsample_trilinear3d", "UpsampleTrilinear3DBackward0"),
    "bicubic": _sampling("upsample_bicubic2d", "UpsampleBicubic2DBackward0"),
}
FILTERED = {
    mode: _sampling(f"upsample_{mode}2d_aa", f"Upsample{mode.capitalize()}2DAaBackward0")
    for mode in ("bilinear", "bicubic", "lanczos")
}
DIMENSIONS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "lanczos": 2}
AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


# ---- sizes


def _is_list(value):
    return isinstance(value, list | tuple)


def _sizes(input, size, scale_factor, recompute):
    """(the new size or None, the scales or None), after PyTorch's checks in Python."""
    dims, shape = input.ndim - 2, list(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise fault(ValueError, "only one of size or scale_factor should be defined")
    if size is not None:
        if not _is_list(size):
            return [size] * dims, None
        if len(size) != dims:
            raise fault(
                ValueError,
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
                f"of {shape} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format.",
            )
        if any(whole(one) is None for one in size):
            raise fault(
                TypeError,
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(one) for one in size]}",
            )
        return list(size), None
    if scale_factor is None:
        raise fault(ValueError, "either size or scale_factor should be defined", hint="size=8, or scale_factor=2")
    if not _is_list(scale_factor):
        return None, [scale_factor] * dims
    if len(scale_factor) != dims:
        raise fault(
            ValueError,
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {shape} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            "format and scale_factor in (s1, s2, ...,sK) format.",
        )
    return None, list(scale_factor)


def _check(input, size, dims):
    """The checks of the kernels (`upsample_1d_common_check` and its like)."""
    old = input.shape[2:]
    if min(old) <= 0 or min(size) <= 0:
        names = ("D", "H", "W")[3 - dims :]
        had, gives = (", ".join(f"{name}: {n}" for name, n in zip(names, ns)) for ns in (old, size))
        between = " and output" if dims == 1 else " output"
        raise fault(
            RuntimeError,
            f"Input and output sizes should be greater than 0, but got input ({had}){between} ({gives})",
        )
    if not input.shape[1]:
        raise fault(
            RuntimeError,
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}",
        )


def _resolved(input, size, scales, name):
    """The new size as integers, and the scale of each dimension or None."""
    if scales is None:
        found = [whole(one) for one in size]
        if None in found:
            raise _unfit(name, size, scales)
        return found, [None] * len(found)
    if not all(isinstance(one, int | float) for one in scales):
        raise _unfit(name, size, scales)
    return [int(n * scale) for n, scale in zip(input.shape[2:], scales)], [float(scale) for scale in scales]


def _unfit(name, size, scales):
    def shown(value):
        return f"!list of [{', '.join(type(one).__name__ for one in value)}]!" if value is not None else "!NoneType!"

    overloads = (
        "(Tensor input, tuple of ints output_size, tuple of floats scale_factors)\n"
        f"      didn't match because some of the arguments have invalid types: (Tensor, {shown(size)}, {shown(scales)})",
        "(Tensor input, tuple of ints output_size, float scales = None, *, Tensor out = None)",
    )
    kinds = (Tensor.__new__(Tensor), size, scales)
    return invalid_combination(name, kinds, {}, overloads, False)


# ---- what programs call


@function(at=("F",), example="F.interpolate(tensor([[[1.0, 3.0]]]), scale_factor=2, mode='linear')")
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resampled to a size, or by a factor: by the nearest number, linearly, by cubics, or as means over areas."""
    input = sized(input, "dim")
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise fault(
                ValueError,
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear",
            )
    elif align_corners is None:
        align_corners = False
    dims = input.ndim - 2
    size, scales = _sizes(input, size, scale_factor, recompute_scale_factor)
    if recompute_scale_factor and scales is None:
        raise fault(ValueError, "recompute_scale_factor is not meaningful with an explicit size.")
    if scales is not None and (recompute_scale_factor or mode == "area"):
        size, scales = [int(n * scale) for n, scale in zip(input.shape[2:], scales)], None
    if antialias and not (mode in FILTERED and input.ndim == 4):
        raise fault(
            ValueError,
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input",
        )
    if dims in (1, 2, 3) and mode == "area":
        return AREA[dims](input, size)
    if dims in (1, 2, 3) and mode in ("nearest", "nearest-exact"):
        return _nearest(input, size, scales, mode == "nearest-exact", dims)
    if mode == "lanczos" and dims == 2:
        if align_corners:
            raise fault(ValueError, "Lanczos mode does not support align_corners=True")
        if not antialias:
            raise fault(ValueError, "Lanczos mode requires antialias=True")
    if DIMENSIONS.get(mode) == dims:
        return _smooth(input, size, scales, mode, bool(align_corners), antialias, dims)
    if dims in (1, 2, 3) and mode in ("linear", "bilinear", "trilinear"):
        wanted = DIMENSIONS[mode] + 2
        raise fault(NotImplementedError, f"Got {input.ndim}D input, but {mode} mode needs {wanted}D input")
    raise fault(
        NotImplementedError,
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})",
    )


def _kind(input):
    """The precision that places and weights are computed in."""
    from gradsh.backend import arrays

    return arrays.float64 if input.dtype is float64 else arrays.float32


SMALL = {1: -1, 2: 128, 3: 256}  # sums of lengths up to which PyTorch has other kernels, which know equal lengths


def _few(size, dims):
    return sum(size) <= SMALL[dims]


def _nearest(input, size, scales, exact, dims):
    from gradsh.backend.resampling import nearest_few, nearest_places

    size, scales = _resolved(input, size, scales, f"{'_' * exact}upsample_nearest{'_exact' * exact}{dims}d")
    _check(input, size, dims)
    few = dims == 2 and _few(size, dims)
    if input.dtype.category != FLOATING and input.dtype is not uint8:
        raise unsupported(input, "upsample_nearest2d_channels_last" if few else "compute_indices_weights_nearest")
    kind, each = _kind(input), zip(input.shape[2:], size, scales)
    if few and not exact:
        places = tuple([nearest_few(n, count, scale) for n, count, scale in each])
    else:
        places = tuple([nearest_places(n, count, scale, exact, kind) for n, count, scale in each])
    return NEAREST[dims, exact](input, places=places)


def _smooth(input, size, scales, mode, corners, antialias, dims):
    from gradsh.backend.resampling import cubic_taps, filter_taps, linear_taps, same_taps

    size, scales = _resolved(input, size, scales, f"{'_' * antialias}upsample_{mode}{dims}d{'_aa' * antialias}")
    _check(input, size, dims)
    few = _few(size, dims)
    if input.dtype.category != FLOATING and not (input.dtype is uint8 and dims == 2):
        raise unsupported(
            input,
            "upsample_bilinear2d_channels_last"
            if few and mode == "bilinear"
            else f"compute_indices_weights_{'cubic' if mode == 'bicubic' else 'linear'}",
        )
    if antialias and input.dtype is float16:
        raise unsupported(input, "compute_index_ranges_weights")
    kind, each = _kind(input), list(zip(input.shape[2:], size, scales))
    if antialias:
        taps = [
            same_taps(n, kind) if n == count else filter_taps(mode, n, count, corners, scale, kind)
            for n, count, scale in each
        ]
        return FILTERED[mode](input, taps=Taps(*taps))
    if mode == "bicubic":
        return SMOOTH[mode](input, taps=Taps(*[cubic_taps(n, count, corners, scale, kind) for n, count, scale in each]))
    taps = [
        same_taps(n, kind) if few and n == count else linear_taps(n, count, corners, scale, kind)
        for n, count, scale in each
    ]
    return SMOOTH[mode](input, taps=Taps(*taps))


@function(at=("F",))
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@function(at=("F",))
def upsample_nearest(input, size=None, scale_factor=None):
    """Resampled by the nearest number."""
    return interpolate(input, size, scale_factor, mode="nearest")


@function(at=("F",))
def upsample_bilinear(input, size=None, scale_factor=None):
    """Resampled linearly in two dimensions, corners upon corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
