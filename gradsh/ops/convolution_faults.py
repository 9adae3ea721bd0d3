"""The errors of convolutions, in PyTorch's words and order (aten/src/ATen/native/Convolution.cpp and the kernels)."""

from __future__ import annotations

from gradsh.backend.dtypes import BOOL
from gradsh.engine.alias import C_TYPES, TYPE_NAMES
from gradsh.fault import fault

NAMES = ("depth", "height", "width")


def dimensions(weight, groups):
    """Over how many dimensions kernels go."""
    if weight.ndim < 3:
        raise fault(RuntimeError, "weight should have at least three dimensions")
    if groups <= 0:
        raise fault(RuntimeError, "non-positive groups is not supported")
    return weight.ndim - 2


def for_each(value, argument, dims):
    """A number for each dimension."""
    if len(value) == 1 < dims:
        return value * dims
    if len(value) != dims:
        raise fault(
            RuntimeError,
            f"expected {argument} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {argument}={list(value)}",
        )
    return value


def check_settings(stride, padding, dilation, output_padding):
    if min(padding) < 0:
        raise fault(RuntimeError, "negative padding is not supported")
    if min(output_padding) < 0:
        raise fault(RuntimeError, "negative output_padding is not supported")
    if min(stride) <= 0:
        raise fault(RuntimeError, "non-positive stride is not supported")
    if min(dilation) < 0:
        raise fault(RuntimeError, "dilation should be greater than zero")


def check_shapes(input, weight, bias, padding, dilation, groups, transposed):
    """`check_shape_forward`, and what the kernels check of the kernels' size."""
    dims, kernels, sizes = weight.ndim, list(weight.shape), list(input.shape)
    if input.ndim != dims:
        raise fault(
            RuntimeError,
            f"Expected {dims}-dimensional input for {dims}-dimensional weight {kernels}, but got {input.ndim}-dimensional "
            f"input of size {sizes} instead",
        )
    if kernels[0] < groups or kernels[0] % groups:
        wanted, got = (f"at least {groups}", f"{kernels}")
        if kernels[0] >= groups:
            wanted, got = (f"divisible by {groups}", f"[{kernels}]")
        raise fault(
            RuntimeError,
            f"Given groups={groups}, expected weight to be {wanted} at dimension 0, but got weight of size {got} instead",
        )
    channels, count = (kernels[0], kernels[1] * groups) if transposed else (kernels[1] * groups, kernels[0])
    given = "transposed=1" if transposed else f"groups={groups}"
    if sizes[1] != channels:
        raise fault(
            RuntimeError,
            f"Given {given}, weight of size {kernels}, expected input{sizes} to have {channels} channels, but got "
            f"{sizes[1]} channels instead",
        )
    if bias is not None and list(bias.shape) != [count]:
        given = f"{given}, " if transposed else ""
        raise fault(
            RuntimeError,
            f"Given {given}weight of size {kernels}, expected bias to be 1-dimensional with {count} elements, but got bias "
            f"of size {list(bias.shape)} instead",
        )
    if not transposed:
        _check_room(sizes[2:], kernels[2:], padding, dilation)
    if input.numel() == 0 and 0 not in sizes[:2]:
        message = f"Only zero batch or zero channel inputs are supported, but got input shape: {sizes}"
        raise fault(RuntimeError, message)
    _check_kernel(kernels, transposed)
    if 0 in dilation:
        values = _of_two(dilation, 1)
        named = ", ".join(f"dilation_{name}: {d}" for name, d in zip(NAMES[3 - len(values) :], values))
        got = named if transposed else str(list(values))
        raise fault(RuntimeError, f"dilation should be greater than zero, but got {got}")


def _check_room(size, kernel, padding, dilation):
    whole = [n + 2 * p for n, p in zip(size, padding)]
    span = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    if any(n < k for n, k in zip(whole, span)):
        raise fault(
            RuntimeError,
            f"Calculated padded input size per channel: ({_by(whole)}). Kernel size: ({_by(span)}). Kernel size can't be "
            "greater than actual input size",
        )


def _check_kernel(kernels, transposed):
    size = kernels[2:]
    if 0 not in size and not (transposed and not kernels[1]):
        return
    if transposed and (len(size) == 3 or 0 not in size):
        what = (
            "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) tensor expected "
            "for weight"
            if len(size) == 3
            else "non-empty 2D or 4D weight tensor expected"
        )
        raise fault(RuntimeError, f"{what}, but got: {kernels}")
    if len(size) == 3:
        got = f": {_by(size)} (TxHxW)"
    else:
        got = " " + " ".join(f"kernel_{name}: {k}" for name, k in zip(NAMES[1:], _of_two(size, 1)))
    raise fault(RuntimeError, f"kernel size should be greater than zero, but got{got}")


def _of_two(values, other):
    """One dimension as PyTorch computes it: the second of two."""
    return (other, *values) if len(values) == 1 else tuple(values)


def _by(sizes):
    return " x ".join(map(str, sizes))


def check_types(input, weight, transposed):
    if input.dtype is not weight.dtype:
        have, other = TYPE_NAMES[input.dtype.name], TYPE_NAMES[weight.dtype.name]
        raise fault(
            RuntimeError,
            f"expected scalar type {have} but found {other}",
            hint=f"weight.to(torch.{input.dtype.name})",
        )
    if input.dtype.category == BOOL:
        dims = max(weight.ndim - 2, 2)
        kernel = f"slow_conv_transpose{dims}d_out_cpu" if transposed else f"slow_conv{dims}d_cpu"
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for 'Bool'", hint=".float()")


def check_bias(input, bias):
    if bias is not None and bias.dtype is not input.dtype:
        have, other = (C_TYPES[one.dtype.name] for one in (input, bias))
        raise fault(RuntimeError, f"Input type ({have}) and bias type ({other}) should be the same")


def check_output(size, found, stride, dilation, output_padding):
    """Of a transposed convolution from one size to another."""
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        settings = {
            "output_padding": _of_two(output_padding, 0),
            "stride": _of_two(stride, 1),
            "dilation": _of_two(dilation, 1),
        }
        got = " ".join(
            f"{what}_{name}: {n}"
            for what, values in settings.items()
            for name, n in zip(NAMES[3 - len(values) :], values)
        )
        raise fault(RuntimeError, f"output padding must be smaller than either stride or dilation, but got {got}")
    if min(found) < 1:
        raise fault(
            RuntimeError,
            f"Given input size per channel: ({_by(_of_two(size, 1))}). Calculated output size per channel: "
            f"({_by(_of_two(found, 1))}). Output size is too small",
        )


def check_same(input, weight, stride, dilation):
    """The checks of padding='same'."""
    dims = weight.ndim - 2
    if weight.ndim != input.ndim:
        raise fault(
            RuntimeError,
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{list(weight.shape)}, but got "
            f"{input.ndim}-dimensional input of size {list(input.shape)} instead",
        )
    for name, value in (("stride", stride), ("dilation", dilation)):
        if len(value) not in (1, dims):
            raise fault(RuntimeError, f"{name} cannot broadcast to {dims} dimensions")
    if any(step != 1 for step in stride):
        raise fault(
            RuntimeError, "padding='same' is not supported for strided convolutions", hint="padding=(k - 1) // 2"
        )


def check_time_first(input, weight, bias):
    """The checks of conv_tbc (aten/src/ATen/native/ConvolutionTBC.cpp)."""
    if input.ndim != 3:
        raise fault(RuntimeError, "Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise fault(RuntimeError, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise fault(RuntimeError, "Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise fault(RuntimeError, "Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise fault(RuntimeError, "Bias size must equal dim 2 in the weight tensor (output channels).")
