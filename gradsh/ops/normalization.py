"""Normalisation over the batch and over instances, with running averages of mean and variance."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float16, float32
from gradsh.engine.batched import Batched
from gradsh.engine.inplace import overwrite
from gradsh.engine.state import no_grad
from gradsh.engine.tensor import wrap
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import sized
from gradsh.ops.calls import Unfit, checked, operand
from gradsh.ops.copying import write
from gradsh.ops.dimensions import axis_of
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.registry import function
from gradsh.ops.shape import reshape
from gradsh.ops.standardising import batch_normalised, normalised_by


def real(value, argument):
    """An argument that must be a number."""
    if isinstance(value, int | float):
        return float(value)
    if getattr(value, "ndim", None) == 0:
        return float(value.item())
    raise Unfit(argument, "float", value)


def tensor_or_none(value, argument):
    return value if value is None else operand(value, argument)


def check_types(input, *parameters):
    """Weights and averages have the input's type, or single precision where it is half."""
    given = [one for one in parameters if one is not None]
    if all(one.dtype is input.dtype for one in given):
        return
    if any(one.dtype is not float32 for one in given):
        raise fault(RuntimeError, "mixed dtype (CPU): expect parameter to have scalar type of Float")
    if input.dtype is not float16:
        hint = f"x.to(torch.{given[0].dtype.name})"
        raise fault(RuntimeError, "mixed dtype (CPU): all inputs must share same datatype.", hint=hint)


def _check_channels(channels, training, **values):
    for name, value in values.items():
        if value is None:
            if name.startswith("running") and not training:
                raise fault(RuntimeError, f"{name} must be defined in evaluation mode", hint="training=True")
        elif value.numel() != channels:
            raise fault(RuntimeError, f"{name} should contain {channels} elements not {value.numel()}")


def _of_nothing(input, weight, bias):
    """What PyTorch makes of an empty input."""
    out = input.clone()
    if weight is not None:
        out = out * weight.select(0, 0)
    return out if bias is None else out + bias.select(0, 0)


def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    if not input.numel():
        return _of_nothing(input, weight, bias)
    if training:
        axis_of(1, input.ndim)
    channels = input.shape[1] if input.ndim > 1 else 0
    _check_channels(channels, training, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if (running_mean is None) != (running_var is None):
        raise fault(ValueError, "running_mean and running_var must either both be None or neither be None")
    for name, value in (("running_mean", running_mean), ("running_var", running_var)):
        if value is not None and value.requires_grad:
            raise fault(
                RuntimeError,
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This input "
                "cannot have requires_grad True.",
                hint=".detach()",
            )
    if input.dtype.category != FLOATING:
        raise unsupported(input, "batch_norm")
    check_types(input, weight, bias, running_mean, running_var)
    shape, over = (1, channels, *(1 for _ in input.shape[2:])), (0, *range(2, input.ndim))
    if not training:
        return normalised_by(input, running_mean, running_var, weight, bias, shape=shape, over=over, eps=eps)
    if running_mean is not None:
        _move_averages(input, running_mean, running_var, over, momentum)
    view = tuple(input.shape)
    return batch_normalised(input, weight, bias, view=view, axes=over, shape=shape, over=over, eps=eps)


def _move_averages(input, running_mean, running_var, axes, momentum):
    """running = (1 - momentum) running + momentum · the batch's; the variance is that of a sample."""
    from gradsh.backend import arrays
    from gradsh.ops.variance import spread_squares, variance_and_mean

    if isinstance(input, Wrapped):
        found = variance_and_mean(input.detach(), axes=axes, correction=1, keepdim=False, whole=False)
        for running, one in ((running_mean, found[1]), (running_var, found[0])):
            _write_average(running, momentum * reshape(one, tuple(running.shape)) + (1 - momentum) * running)
        return
    raw = input.raw.astype(arrays.float32) if input.dtype is float16 else input.raw
    variance, mean = spread_squares(arrays, raw, axes, 1)
    for running in (running_mean, running_var):
        if running.ndim != 1:
            raise fault(RuntimeError, f"TensorAccessor expected 1 dims but tensor has {running.ndim}")
    with no_grad():
        for running, found in ((running_mean, mean), (running_var, variance)):
            moved = momentum * found.reshape(running.raw.shape) + (1 - momentum) * running.raw
            overwrite(running, wrap(moved.astype(running.raw.dtype)), "batch_norm")


def _write_average(running, value):
    if isinstance(value, Batched) and not isinstance(running, Batched):
        raise fault(
            RuntimeError,
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see "
            "the functorch website for resources on how to patch your module to work with vmap",
            hint="track_running_stats=False",
        )
    with no_grad():
        write(running, value.detach(), "batch_norm")


@function("batch_norm", at=("torch",), example="batch_norm(rand(4, 3), None, None, None, None, True, 0.1, 1e-5, False)")
def batch_norm_of(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Each channel (dimension 1) normalised over the batch, or by running averages, which training moves."""
    input, weight, bias = operand(input), tensor_or_none(weight, "weight"), tensor_or_none(bias, "bias")
    averages = tensor_or_none(running_mean, "running_mean"), tensor_or_none(running_var, "running_var")
    return _batch_norm(input, weight, bias, *averages, bool(training), real(momentum, "momentum"), real(eps, "eps"))


batch_norm_called = checked(batch_norm_of, "batch_norm")


def check_count(size):
    """There must be more than one number for each channel."""
    count = size[0]
    for length in size[2:]:
        count *= length
    if count == 1:
        raise fault(ValueError, f"Expected more than 1 value per channel when training, got input size {size}")


@function(at=("F",), example="F.batch_norm(rand(4, 3), zeros(3), ones(3))")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Each channel (dimension 1) normalised over the batch, or by running averages, which training moves."""
    input = sized(input)
    if training:
        check_count(input.shape)
        if eps <= 0.0:
            raise fault(ValueError, f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise fault(ValueError, f"batch_norm eps must be non-negative, but got {eps}")
    return batch_norm_called(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


# ---- instances


@function("instance_norm", at=("torch",))
def instance_norm_of(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Each channel of each element of a batch normalised over the other dimensions, or by running averages."""
    input, weight, bias = operand(input), tensor_or_none(weight, "weight"), tensor_or_none(bias, "bias")
    averages = tensor_or_none(running_mean, "running_mean"), tensor_or_none(running_var, "running_var")
    if not use_input_stats and None in averages:
        raise fault(RuntimeError, "Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels, *size = input.shape
    weights, biases, means, variances = (one if one is None else one.repeat(batch) for one in (weight, bias, *averages))
    seen = input.contiguous().view(1, batch * channels, *size)
    momentum, eps = real(momentum, "momentum"), real(eps, "eps")
    out = _batch_norm(seen, weights, biases, means, variances, use_input_stats, momentum, eps)
    with no_grad():
        for average, many in zip(averages, (means, variances)):
            if average is not None and many is not None:
                overwrite(average, many.view(batch, channels).mean(0), "instance_norm")
    return out.view(input.shape)


instance_norm_called = checked(instance_norm_of, "instance_norm")


@function(at=("F",), example="F.instance_norm(rand(2, 3, 4))")
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """Each channel of each element of a batch normalised over the other dimensions, or by running averages."""
    input = sized(input)
    if use_input_stats:
        count = 1
        for length in input.shape[2:]:
            count *= length
        if count == 1:
            raise fault(ValueError, f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return instance_norm_called(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)
