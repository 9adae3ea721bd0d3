"""Numbers made to have mean 0 and variance 1, over some dimensions: what all normalisations are made of.

With h the standardised numbers, r the inverse of the deviation and n how many numbers a mean is of, the derivative is the
symmetric matrix J = r (1 - 11ᵀ/n - hhᵀ/n).
"""

from __future__ import annotations

from gradsh.engine.op import general
from gradsh.ops.dimensions import reduced_count
from gradsh.ops.histories import of_batch_norm, of_layer_norm
from gradsh.ops.reduction import mean_over, sum_over
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshaped
from gradsh.ops.structure import to_dtype


def _deviations(xp, x, axes, eps):
    """(numbers less their mean, the inverse of their deviation)"""
    count = x.dtype.type(reduced_count(x.shape, axes))
    off = x - xp.divide(xp.sums(x, axes), count)
    variance = xp.divide(xp.sums(off * off, axes), count)
    return off, xp.divide(1, xp.sqrt(variance + x.dtype.type(eps)))


def _standardised(xp, x, axes, eps):
    """(standardised numbers, the inverse of the deviation)"""
    off, inverse = _deviations(xp, x, axes, eps)
    off *= inverse
    return off, inverse


@general(
    x=lambda g, x, x_shape, out, axes, eps: (
        g * out * out * standard(x, axes=axes, eps=eps) * (-1 / max(reduced_count(x_shape, axes), 1))
    ),
    sample=Sample(reals(2, 3, 2), axes=(0, 2), eps=0.1),
    at=(),
)
def inverse_deviation(xp, x, *, axes, eps):
    """1 / √(variance + eps) over dimensions, which are kept."""
    return _deviations(xp, x, axes, eps)[1]


@general(
    x=lambda g, x, axes, eps: standard_back(g, x, axes=axes, eps=eps),
    sample=[Sample(reals(2, 3, 2), axes=(0, 2), eps=0.1), Sample(reals(2, 3), axes=(1,), eps=0.01)],
    at=(),
)
def standard(xp, x, *, axes, eps):
    """x less its mean, over √(variance + eps)."""
    return _standardised(xp, x, axes, eps)[0]


def _curvature(g, x, y, axes, eps):
    """The derivative of <g, J x> by y: of n r (mean(gx) - mean(g) mean(x) - mean(gh) mean(xh))."""

    def mean(value):
        return mean_over(value, axes=axes, keepdim=True)

    h, r = standard(y, axes=axes, eps=eps), inverse_deviation(y, axes=axes, eps=eps)
    of_x, of_g = mean(x * h), mean(g * h)
    along = mean(x * g) - mean(x) * mean(g) - of_x * of_g
    turned = of_g * standard_back(x, y, axes=axes, eps=eps) + of_x * standard_back(g, y, axes=axes, eps=eps)
    return -(along * r * r * h) - r * turned


@general(
    x=lambda g, y, axes, eps: standard_back(g, y, axes=axes, eps=eps),
    y=_curvature,
    sample=[Sample(reals(2, 3, 2), reals(2, 3, 2), axes=(0, 2), eps=0.1)],
    at=(),
)
def standard_back(xp, x, y, *, axes, eps):
    """The derivative of `standard` at y, times x."""
    count = y.dtype.type(reduced_count(y.shape, axes))
    off, inverse = _standardised(xp, y, axes, eps)
    along = xp.divide(xp.sums(x * off, axes), count)
    off *= -along
    off += x
    off -= xp.divide(xp.sums(x, axes), count)
    off *= inverse
    return off


# ---- with a weight and a bias, seen under other dimensions
#
# view: the dimensions in which x is standardised over `axes`; shape: those of weight and bias there; over: along which
# their gradients are summed.


def _seen(value, size):
    return reshaped(value, size=size)


def _single(value):
    """Halves in single precision."""
    from gradsh.backend.dtypes import float16, float32

    return to_dtype(value, dtype=float32) if _type_of(value) is float16 else value


def _type_of(value):
    from gradsh.engine.runtime import dtype_of
    from gradsh.engine.tensor import Tensor

    return value.dtype if isinstance(value, Tensor) else dtype_of(value)


def _as(value, dtype):
    return value if _type_of(value) is dtype else to_dtype(value, dtype=dtype)


def _input_slope(g, x, x_shape, x_dtype, y, view, axes, shape, eps):
    g, x = _seen(_single(g), view), _seen(_single(x), view)
    if y is not None:
        g = g * _seen(_single(y), shape)
    return _as(_seen(standard_back(g, x, axes=axes, eps=eps), x_shape), x_dtype)


def _weight_slope(g, x, y_shape, y_dtype, view, axes, over, eps):
    h = standard(_seen(_single(x), view), axes=axes, eps=eps)
    return _as(_seen(sum_over(_seen(_single(g), view) * h, axes=over, keepdim=False), y_shape), y_dtype)


def _bias_slope(g, z_shape, z_dtype, view, over):
    return _as(_seen(sum_over(_seen(_single(g), view), axes=over, keepdim=False), z_shape), z_dtype)


def _normalised(xp, x, y=None, z=None, *, view, axes, shape, over, eps):
    """x made to have mean 0 and variance 1, times a weight y, plus a bias z."""
    if x.dtype.char == "e":
        y, z = (one if one is None else one.astype(xp.float32) for one in (y, z))
        found = _normalised(xp, x.astype(xp.float32), y, z, view=view, axes=axes, shape=shape, over=over, eps=eps)
        return found.astype(xp.float16)
    out, _ = _standardised(xp, x.reshape(view), axes, eps)
    if y is not None:
        out *= y.reshape(shape)
    if z is not None:
        out += z.reshape(shape)
    return out.reshape(x.shape)


def _normalised_each(x, y=None, z=None, *, view, axes, shape, over, eps):
    """The same for all examples, along the first dimension."""
    size, shape = x.shape[0], (*(1,) * (len(view) - len(shape)), *shape)
    seen = _seen(_single(x), (size, *view))
    out = standard(seen, axes=tuple([axis + 1 for axis in axes]), eps=eps)
    if y is not None:
        out = out * _seen(_single(y), (size, *shape))
    if z is not None:
        out = out + _seen(_single(z), (size, *shape))
    return _as(_seen(out, tuple(x.shape)), x.dtype)


IN_ROWS = {"view": (2, 3, 2), "axes": (1, 2), "shape": (3, 2), "over": (0,), "eps": 0.1}
IN_CHANNELS = {"view": (2, 3, 2), "axes": (0, 2), "shape": (1, 3, 1), "over": (0, 2), "eps": 0.1}
IN_GROUPS = {"view": (2, 2, 2, 3), "axes": (2, 3), "shape": (1, 2, 2, 1), "over": (0, 3), "eps": 0.1}


def _norm(name, grad_fn, history, *samples):
    """The same op under PyTorch's name; history: what its backward puts in the history of all gradients."""

    def weight_slope(g, x, y, y_shape, y_dtype, view, axes, over, eps):
        return history(_weight_slope(g, x, y_shape, y_dtype, view, axes, over, eps), x, y)

    def bias_slope(g, x, y, z_shape, z_dtype, view, over):
        return history(_bias_slope(g, z_shape, z_dtype, view, over), x, y)

    return general(
        x=_input_slope,
        y=weight_slope if history else _weight_slope,
        z=bias_slope if history else _bias_slope,
        sample=list(samples),
        at=(),
        batch=_normalised_each,
        name=name,
        grad_fn=grad_fn,
    )(_normalised)


layer_normalised = _norm(
    "native_layer_norm",
    "NativeLayerNormBackward0",
    of_layer_norm,
    Sample(reals(2, 3, 2), reals(3, 2), reals(3, 2), **IN_ROWS),
    Sample(reals(2, 3, 2), None, reals(3, 2), **IN_ROWS),
)
group_normalised = _norm(
    "native_group_norm", "NativeGroupNormBackward0", None, Sample(reals(2, 4, 3), reals(4), reals(4), **IN_GROUPS)
)
batch_normalised = _norm(
    "native_batch_norm",
    "NativeBatchNormBackward0",
    of_batch_norm,
    Sample(reals(2, 3, 2), reals(3), None, **IN_CHANNELS),
)


# ---- with a mean and a variance that are given


def _given_input_slope(g, x, x_dtype, y, v, shape, eps):
    scale = _seen(_inverse_root(v, eps), shape)
    if y is not None:
        scale = scale * _seen(_single(y), shape)
    return of_batch_norm(_as(_single(g) * scale, x_dtype), x, y)


def _given_weight_slope(g, x, y, y_dtype, m, v, shape, over, eps):
    off = (_single(x) - _seen(_single(m), shape)) * _seen(_inverse_root(v, eps), shape)
    return of_batch_norm(_as(sum_over(_single(g) * off, axes=over, keepdim=False), y_dtype), x, y)


def _given_bias_slope(g, x, y, z_dtype, over):
    return of_batch_norm(_as(sum_over(_single(g), axes=over, keepdim=False), z_dtype), x, y)


def _inverse_root(v, eps):
    from gradsh.ops.unary import rsqrt

    return rsqrt(_single(v) + eps)


@general(
    x=_given_input_slope,
    y=_given_weight_slope,
    z=_given_bias_slope,
    sample=[
        Sample(reals(2, 3, 2), reals(3), reals(3), reals(3), None, shape=(1, 3, 1), over=(0, 2), eps=9.0),
    ],
    at=(),
    grad_fn="NativeBatchNormBackward0",
    batch=lambda x, m, v, y=None, z=None, **settings: _normalised_by_each(x, m, v, y, z, **settings),
)
def normalised_by(xp, x, m, v, y=None, z=None, *, shape, over, eps):
    """x less a mean m, over √(v + eps) of a variance v, times a weight y, plus a bias z."""
    singles = [one.astype(xp.float32) if one is not None and one.dtype.char == "e" else one for one in (x, m, v, y, z)]
    seen, m, v, y, z = singles[0], *(one if one is None else one.reshape(shape) for one in singles[1:])
    scale = xp.divide(1, xp.sqrt(v + v.dtype.type(eps)))
    if y is not None:
        scale = scale * y
    out = (seen - m) * scale
    if z is not None:
        out += z
    return out if out.dtype is x.dtype else out.astype(x.dtype)


def _normalised_by_each(x, m, v, y, z, shape, over, eps):
    """The same for all examples, along the first dimension."""
    m, v, y, z = (one if one is None else _seen(_single(one), (x.shape[0], *shape)) for one in (m, v, y, z))
    scale = _inverse_root(v, eps)
    out = (_single(x) - m) * (scale if y is None else scale * y)
    return _as(out if z is None else out + z, x.dtype)
