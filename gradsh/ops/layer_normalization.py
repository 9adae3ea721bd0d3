"""Normalisation of each element of a batch: over layers, over groups of channels, by size, by neighbouring channels."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float16, float32
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import sized
from gradsh.ops.average_pooling import avg_pool2d, avg_pool3d
from gradsh.ops.calls import Unfit, checked, operand
from gradsh.ops.normalization import check_count, check_types, real, tensor_or_none
from gradsh.ops.options import integer
from gradsh.ops.padding import pad
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.registry import function
from gradsh.ops.scaling import increased
from gradsh.ops.spatial import lengths
from gradsh.ops.standardising import group_normalised, layer_normalised
from gradsh.ops.structure import to_dtype


def _shape(normalized_shape, name):
    if not isinstance(normalized_shape, list | tuple):
        raise Unfit("normalized_shape", "tuple of ints", normalized_shape)
    return lengths(normalized_shape, name, "normalized_shape", " (position 2)")


def _check_layer(input, shape, weight, bias, comma):
    """`_check_layer_norm_inputs`."""
    if not shape:
        raise fault(
            RuntimeError,
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []",
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and tuple(value.shape) != shape:
            raise fault(
                RuntimeError,
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(value.shape)} and "
                f"normalized_shape = {list(shape)}",
            )
    if len(shape) > input.ndim or tuple(input.shape[input.ndim - len(shape) :]) != shape:
        wanted = "*" + comma + ", ".join(map(str, shape))
        raise fault(
            RuntimeError,
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of "
            f"size{list(input.shape)}",
        )


@function("layer_norm", at=("torch",), example="layer_norm(tensor([[1.0, 2.0, 6.0]]), (3,))")
def layer_norm_of(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """Normalised over the last dimensions, which are normalized_shape."""
    input, weight, bias = operand(input), tensor_or_none(weight, "weight"), tensor_or_none(bias, "bias")
    shape, eps = _shape(normalized_shape, "layer_norm"), real(eps, "eps")
    _check_layer(input, shape, weight, bias, ", ")
    if input.dtype.category != FLOATING:
        raise unsupported(input, "LayerNormKernelImpl")
    check_types(input, weight, bias)
    lead = input.ndim - len(shape)
    axes, over = tuple(range(lead, input.ndim)), tuple(range(lead))
    return layer_normalised(input, weight, bias, view=tuple(input.shape), axes=axes, shape=shape, over=over, eps=eps)


layer_norm_called = checked(layer_norm_of, "layer_norm")


@function(at=("F",), example="F.layer_norm(tensor([[1.0, 2.0, 6.0]]), (3,))")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalised over the last dimensions, which are normalized_shape."""
    return layer_norm_called(input, normalized_shape, weight, bias, eps, True)


# ---- groups of channels


@function("group_norm", at=("torch",), example="group_norm(rand(2, 4, 3), 2)")
def group_norm_of(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """Normalised over groups of channels (dimension 1) and all dimensions behind them."""
    input, groups = operand(input), integer(num_groups, "num_groups")
    weight, bias, eps = tensor_or_none(weight, "weight"), tensor_or_none(bias, "bias"), real(eps, "eps")
    batch, channels, *size = input.shape
    if groups <= 0:
        raise fault(RuntimeError, f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise fault(
            RuntimeError,
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={groups}",
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and tuple(value.shape) != (channels,):
            shown = [0] if weight is None else list(weight.shape)  # PyTorch shows the weight's shape for both
            raise fault(
                RuntimeError,
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{shown} and input of shape {list(input.shape)}",
            )
    if input.dtype.category != FLOATING:
        raise unsupported(input, "GroupNormKernelImpl")
    check_types(input, weight, bias)
    view = (batch, groups, channels // groups, *size)
    inner = tuple(range(3, len(view)))
    shape = (1, groups, channels // groups, *(1 for _ in size))
    return group_normalised(
        input.contiguous(), weight, bias, view=view, axes=(2, *inner), shape=shape, over=(0, *inner), eps=eps
    )


group_norm_called = checked(group_norm_of, "group_norm")


@function(at=("F",), example="F.group_norm(rand(2, 4, 3), 2)")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalised over groups of channels (dimension 1) and all dimensions behind them."""
    input = sized(input)
    if input.ndim < 2:
        raise fault(RuntimeError, f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if num_groups == 0:
        raise fault(ZeroDivisionError, "integer division or modulo by zero")
    check_count([input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]])
    return group_norm_called(input, num_groups, weight, bias, eps, True)


# ---- by size


@function("rms_norm", at=("torch",), example="rms_norm(tensor([[3.0, 4.0]]), (2,))")
def rms_norm_of(input, normalized_shape, weight=None, eps=None):
    """Divided by the root of the mean square over the last dimensions, which are normalized_shape."""
    input, weight, shape = operand(input), tensor_or_none(weight, "weight"), _shape(normalized_shape, "rms_norm")
    eps = eps if eps is None else real(eps, "eps")
    _check_layer(input, shape, weight, None, "")
    if input.dtype.category != FLOATING:
        raise unsupported(input, "rms_norm")
    if eps is None:
        from gradsh.backend import arrays

        eps = float(arrays.finfo(input.dtype.code).eps)
    x = to_dtype(input, dtype=float32) if input.dtype is float16 else input
    squares = x.pow(2).mean(tuple(range(input.ndim - len(shape), input.ndim)), keepdim=True)
    out = x * increased(squares, term=eps).rsqrt()
    if weight is not None:
        out = out * weight
    return (out if out.dtype is input.dtype else to_dtype(out, dtype=input.dtype)).contiguous()


rms_norm_called = checked(rms_norm_of, "rms_norm")


@function(at=("F",), example="F.rms_norm(tensor([[3.0, 4.0]]), (2,))")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divided by the root of the mean square over the last dimensions, which are normalized_shape."""
    return rms_norm_called(input, normalized_shape, weight, eps)


@function(at=("F",), example="F.local_response_norm(rand(1, 4, 3), 2)")
def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Divided by (k + alpha · the mean square over `size` neighbouring channels)^beta."""
    input = sized(input)
    if input.ndim < 3:
        raise fault(
            ValueError,
            f"Expected 3D or higher dimensionality                          input (got {input.ndim} dimensions)",
        )
    if not input.numel():
        return input
    squares, around = input * input, (size // 2, (size - 1) // 2)
    if input.ndim == 3:
        squares = avg_pool2d(pad(squares.unsqueeze(1), (0, 0, *around)), (size, 1), stride=1).squeeze(1)
    else:
        batch, channels, first = input.shape[:3]
        squares = pad(squares.view(batch, 1, channels, first, -1), (0, 0, 0, 0, *around))
        squares = avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(input.shape)
    return input / squares.mul(alpha).add(k).pow(beta)
