"""Variance and standard deviation, alone and with the mean, and what is made of them: cov and corrcoef."""

from __future__ import annotations

from math import inf, nan

from gradsh.engine.op import OPS, general
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, floats, operand
from gradsh.ops.choice import where
from gradsh.ops.dimensions import axes_of, kept_shape, reduced_count
from gradsh.ops.reduction import mean_over, repeat_over, total, unreduced
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals


def spread_squares(xp, x, axes, correction, keepdim=False):
    """(variance, mean) of raw numbers over axes, by two passes; the count less `correction` (or 0) divides."""
    x = xp.asarray(x)
    if x.dtype.char == "e":
        return [part.astype(xp.float16) for part in spread_squares(xp, x.astype(xp.float32), axes, correction, keepdim)]
    count = reduced_count(x.shape, axes)
    mean = xp.divide(total(xp, x, axes, True), x.dtype.type(count))
    off = xp.subtract(x, mean)
    squares = xp.add.reduce(xp.multiply(off, off), axes, None, None, keepdim)
    if not xp.isfinite(mean).all():
        mean = _running_mean(xp, x, axes)
    if not keepdim:
        mean = xp.squeeze(mean, axes)
    return xp.divide(squares, x.dtype.type(max(count - correction, 0))), mean


def _running_mean(xp, x, axes):
    """The mean as Welford's algorithm has it, which is nan once an infinity is behind it."""
    kept = tuple([k for k in range(x.ndim) if k not in axes])
    lanes = xp.transpose(x, (*kept, *axes)).reshape(*[x.shape[k] for k in kept], -1)
    behind = xp.logical_or.reduce(xp.isinf(lanes[..., :-1]), -1)
    mean = xp.where(behind, xp.nan, xp.add.reduce(lanes, -1) / x.dtype.type(lanes.shape[-1]))
    return mean.astype(x.dtype).reshape(kept_shape(x.shape, axes))


def _variance_rule(g, x, x_shape, axes, correction, keepdim, whole):
    """`var_backward` in FunctionsManual.cpp."""
    g = unreduced(g, x_shape, axes, keepdim)
    freedom = reduced_count(x_shape, axes) - correction
    off = x - mean_over(x, axes=axes, keepdim=True)
    if freedom <= 0 and whole:
        return where(off == 0, g * nan, g * inf)
    return (2.0 / freedom if freedom else inf) * g * off


def _deviation_rule(g, x, x_shape, out, axes, correction, keepdim, whole):
    """As that of the variance, and 0 where the deviation is 0."""
    g = where(out == 0, 0.0, g / (out * 2))
    return _variance_rule(g, x, x_shape, axes, correction, keepdim, whole)


def _with_mean(own, g, x_shape, axes, keepdim):
    """The gradients of two outputs, added: `own` gives the first one's, the other output is the mean."""
    first, second = g
    found = None if first is None else own(first)
    if second is None:
        return found
    count = max(reduced_count(x_shape, axes), 1)
    means = repeat_over(second / count, size=x_shape, axes=axes, keepdim=keepdim)
    return means if found is None else found + means


def _variance_and_mean_rule(g, x, x_shape, axes, correction, keepdim, whole):
    def own(one):
        return _variance_rule(one, x, x_shape, axes, correction, keepdim, whole)

    return _with_mean(own, g, x_shape, axes, keepdim)


def _deviation_and_mean_rule(g, x, x_shape, std, axes, correction, keepdim, whole):
    def own(one):
        return _deviation_rule(one, x, x_shape, std, axes, correction, keepdim, whole)

    return _with_mean(own, g, x_shape, axes, keepdim)


_SAMPLES = [
    Sample(reals(2, 3, 2), axes=(0, 2), correction=1, keepdim=False, whole=False),
    Sample(reals(2, 3), axes=(1,), correction=0, keepdim=True, whole=False),
]


@general(x=_variance_rule, sample=_SAMPLES, at=(), grad_fn="VarBackward0")
def variance(xp, x, *, axes, correction, keepdim, whole):
    """Variance over dimensions; `whole` where none was named."""
    return spread_squares(xp, x, axes, correction, keepdim)[0]


@general(x=_deviation_rule, sample=_SAMPLES, at=(), grad_fn="StdBackward0")
def deviation(xp, x, *, axes, correction, keepdim, whole):
    """Standard deviation over dimensions."""
    return xp.sqrt(spread_squares(xp, x, axes, correction, keepdim)[0])


@general(x=_variance_and_mean_rule, sample=_SAMPLES, outputs=("var", "mean"), at=(), grad_fn="VarMeanBackward0")
def variance_and_mean(xp, x, *, axes, correction, keepdim, whole):
    """Variance and mean over dimensions."""
    return spread_squares(xp, x, axes, correction, keepdim)


@general(x=_deviation_and_mean_rule, sample=_SAMPLES, outputs=("std", "mean"), at=(), grad_fn="StdMeanBackward0")
def deviation_and_mean(xp, x, *, axes, correction, keepdim, whole):
    """Standard deviation and mean over dimensions."""
    variance, mean = spread_squares(xp, x, axes, correction, keepdim)
    return xp.sqrt(variance), mean


# ---- what programs call

OVERLOADS = (
    "(Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False, *, Tensor out = None)",
    "(Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out = None)",
    "(Tensor input, bool unbiased = True)",
)


def _spread(op, name, input, dim, unbiased, keepdim, correction):
    """The call of one of the four, whose second argument may be `unbiased` instead of `dim`."""
    input = floats(input)
    if isinstance(dim, bool) and unbiased is None:
        dim, unbiased = None, dim
    if unbiased is not None and (correction is not None or not isinstance(unbiased, bool)):
        raise Unfit("unbiased", "bool", unbiased)
    if input.dtype.category != 2:
        raise fault(RuntimeError, f"{name} only support floating point and complex dtypes", hint=".float() first")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    whole = not input.ndim or dim is None
    return op(input, axes=axes_of(dim, input.ndim), correction=correction, keepdim=keepdim, whole=whole)


@function(example="var(tensor([1.0, 2.0, 6.0]))", overloads=OVERLOADS)
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance over dim, or of all; the count less correction (1, or 0 for unbiased=False) divides."""
    return _spread(variance, "std and var", input, dim, unbiased, keepdim, correction)


@function(example="std(tensor([1.0, 2.0, 6.0]))", overloads=OVERLOADS)
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Standard deviation over dim, or of all; the count less correction (1, or 0 for unbiased=False) divides."""
    return _spread(deviation, "std and var", input, dim, unbiased, keepdim, correction)


@function(at=("torch",), example="var_mean(tensor([1.0, 2.0, 6.0]))", overloads=OVERLOADS)
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance and mean over dim, or of all."""
    return tuple(_spread(variance_and_mean, "var_mean", input, dim, unbiased, keepdim, correction))


@function(at=("torch",), example="std_mean(tensor([1.0, 2.0, 6.0]))", overloads=OVERLOADS)
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Standard deviation and mean over dim, or of all."""
    return tuple(_spread(deviation_and_mean, "std_mean", input, dim, unbiased, keepdim, correction))


def _weights(value, name, category, kind, observations):
    """Weights of the observations, checked."""
    from gradsh.engine.alias import TYPE_NAMES

    value = operand(value, name)
    if value.ndim > 1:
        dims = f"{value.ndim} dimensions"
        raise fault(RuntimeError, f"cov(): expected {name} to have one or fewer dimensions but got {name} with {dims}")
    if value.dtype.category != category:
        got = TYPE_NAMES[value.dtype.name]
        raise fault(RuntimeError, f"cov(): expected {name} to have {kind} dtype but got {name} with {got} dtype")
    if value.numel() != observations:
        raise fault(
            RuntimeError,
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{value.numel()} != {observations}",
        )
    if bool((value < 0).any()):
        raise fault(RuntimeError, f"cov(): {name} cannot be negative")
    return value


@function(example="cov(tensor([[1.0, 2.0, 3.0], [1.0, 0.0, 5.0]]))")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """Covariances of variables (rows) over observations (columns), counted fweights times and weighted by aweights."""
    input = operand(input)
    if input.ndim > 2:
        dims = f"{input.ndim} dimensions"
        raise fault(RuntimeError, f"cov(): expected input to have two or fewer dimensions but got an input with {dims}")
    if not input.dtype.category:
        raise fault(RuntimeError, "cov(): bool dtype is not supported for input")
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    count = rows.shape[1]
    weights = None
    if fweights is not None:
        weights = _weights(fweights, "fweights", 1, "integral", count)
    if aweights is not None:
        aweights = _weights(aweights, "aweights", 2, "floating point", count)
        weights = aweights if weights is None else weights * aweights
    sum_of_weights = count if weights is None else weights.sum()
    if weights is not None and not bool(sum_of_weights != 0):
        raise fault(RuntimeError, "cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum(1) / sum_of_weights
    if aweights is not None and correction:
        norm = sum_of_weights - correction * (weights * aweights).sum() / sum_of_weights
    else:
        norm = sum_of_weights - correction
    if norm <= 0:
        norm = 0
    off = rows - mean.unsqueeze(1)
    products = off.mm((off if weights is None else off * weights).t())
    return OPS["div"](products, norm).squeeze()


@function(example="corrcoef(tensor([[1.0, 2.0, 3.0], [1.0, 0.0, 5.0]]))")
def corrcoef(input):
    """Correlation coefficients of variables (rows) over observations (columns)."""
    input = operand(input)
    if input.ndim > 2:
        dims = f"{input.ndim} dimensions"
        raise fault(
            RuntimeError, f"corrcoef(): expected input to have two or fewer dimensions but got an input with {dims}"
        )
    found = cov(input)
    if not found.ndim:
        return found / found
    deviations = found.diagonal().sqrt()
    return (found / deviations.reshape(-1, 1) / deviations.reshape(1, -1)).clamp(-1, 1)
