"""The checks of poolings, in PyTorch's words and order (aten/src/ATen/native/Pool.h, Pooling.cpp and the kernels)."""

from __future__ import annotations

from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.promote import dimension_fault
from gradsh.fault import fault

SIDES = {2: ("H", "W"), 3: ("T", "H", "W")}
COUNTS = {2: "two", 3: "three"}


def check_range(input, name, low=2, high=3):
    if not low <= input.ndim <= high:
        raise fault(
            RuntimeError,
            f"Expected {low} to {high} dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})",
        )


def check_one(values, name, argument):
    if len(values) != 1:
        raise fault(RuntimeError, f"{name}() argument '{argument}' should contain one int (got {len(values)})")


def for_each(value, name, argument, dims):
    """A number for each of two or three dimensions."""
    if len(value) in (1, dims):
        return value if len(value) == dims else value * dims
    either = "" if name == "avg_pool3d" else "either "
    may = "must be either" if argument == "dilation" else f"must {either}be"
    omitted = "omitted, " if argument == "stride" else ""
    what = f"{omitted}a single int, or a tuple of {COUNTS[dims]} ints"
    raise fault(RuntimeError, f"{name}: {argument} {may} {what}", hint=f"{argument}={value[0] if value else 2}")


def places_of(size, kernel, stride, padding, dilation, ceil_mode):
    """How many windows there are along each dimension (`pooling_output_shape`)."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation):
        if s == 0:
            raise fault(RuntimeError, "stride should not be zero")
        if p < 0:
            raise fault(RuntimeError, f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):  # as C++ divides
            raise fault(
                RuntimeError,
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}",
            )
        count = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1  # the last window has to start inside the array
        found.append(count)
    return tuple(found)


def check_settings(kernel, stride, dilation):
    """Of poolings over two or three dimensions."""
    sides = SIDES[len(kernel)]
    for what, mark, values in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(values) <= 0:
            got = " ".join(f"{mark}{side}: {value}" for side, value in zip(sides, values))
            raise fault(RuntimeError, f"{what} should be greater than zero, but got {got}")


def check_sizes(input, kernel, padding, places, name):
    """`pool2d_shape_check`, `pool3d_shape_check`, after `check_settings`."""
    dims, sizes = len(kernel), list(input.shape)
    if dims == 2:
        if input.ndim not in (3, 4) or 0 in sizes[input.ndim - 3 :]:
            raise fault(
                RuntimeError,
                f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{sizes}",
            )
        if any(k // 2 < p for k, p in zip(kernel, padding)):
            raise fault(
                RuntimeError,
                f"pad should be smaller than or equal to half of kernel size, but got padW = {padding[1]}, padH = "
                f"{padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}",
            )
    else:
        _check_volume(input, kernel, padding, name)
    if min(places) < 1:
        had, gives = (
            "x".join(map(str, (sizes[input.ndim - dims - 1], *ns))) for ns in (sizes[input.ndim - dims :], places)
        )
        raise fault(
            RuntimeError,
            f"Given input size: ({had}). Calculated output size: ({gives}). Output size is too small",
            hint="a smaller kernel_size, or padding",
        )


def _check_volume(input, kernel, padding, name):
    sizes = list(input.shape)
    if 0 in sizes[input.ndim - 4 :]:
        where = "max_pool3d_with_indices_out_cpu_template()" if name == "max_pool3d" else f"{name}()"
        raise fault(
            RuntimeError,
            f"{where}: Expected input's non-batch dimensions to have positive length, but input has a shape of {sizes} and "
            "non-batch dimension 0 has length zero!",
        )
    size = sizes[input.ndim - 3 :]
    if name == "avg_pool3d" and any(n < k for n, k in zip(size, kernel)):
        had = " ".join(f"{side}: {n}" for side, n in zip(SIDES[3], size))
        wanted = " ".join(f"k{side}: {k}" for side, k in zip(SIDES[3], kernel))
        raise fault(RuntimeError, f"input image ({had}) smaller than kernel size ({wanted})")
    if any(k // 2 < p for k, p in zip(kernel, padding)):
        got = " ".join(
            f"{mark}{side}: {values[place]}"
            for mark, values in (("k", kernel), ("pad", padding))
            for side, place in (("T", 0), ("W", 2), ("H", 1))
        )
        raise fault(RuntimeError, f"pad should be smaller than or equal to half of kernel size, but got {got}")


def check_rank(input, dims, name):
    """Of poolings over windows in two or three dimensions."""
    if input.ndim in (dims + 1, dims + 2):
        return
    if name == "avg_pool2d":
        if input.ndim < 3:
            raise dimension_fault(-3, input.ndim)
        sizes = list(input.shape)
        raise fault(
            RuntimeError,
            f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{sizes}",
        )
    raise fault(RuntimeError, f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")


def unsupported(input, kernel):
    return fault(
        NotImplementedError,
        f"\"{kernel}\" not implemented for '{TYPE_NAMES[input.dtype.name]}'",
        hint=".float()",
    )


def check_line(input, kernel, stride, padding, dilation, ceil_mode):
    """`check_max_pool1d`; the number of windows."""
    name = "max_pool1d()"
    if input.ndim not in (2, 3) or 0 in input.shape[input.ndim - 2 :]:
        raise fault(
            RuntimeError,
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}",
        )
    kinds = {
        "kernel_size": (kernel, "an int, list of ints or"),
        "stride": (stride, "None, an int, list of ints, or"),
        "padding": (padding, "an int, list of ints, or"),
        "dilation": (dilation, "an int, list of ints or"),
    }
    for argument, (value, kind) in kinds.items():
        if len(value) != 1:
            got = len(value)
            raise fault(RuntimeError, f"{name} {argument} must be {kind} tuple of ints of size 1 but got size {got}")
    (k,), (s,), (p,), (d,) = kernel, stride, padding, dilation
    for argument, value in (("kernel_size", k), ("stride", s)):
        if value <= 0:
            raise fault(RuntimeError, f"{name} {argument} must be greater than zero, but got {value}")
    if p < 0:
        raise fault(RuntimeError, f"{name} padding must be non-negative, but got {p}")
    if p > k // 2:
        raise fault(
            RuntimeError,
            f"{name} padding should be at most half of kernel size, but got padding={p} and kernel_size={k}",
        )
    if d <= 0:
        raise fault(RuntimeError, f"{name} dilation must be greater than zero, but got {d}")
    (count,) = places_of(input.shape[-1:], kernel, stride, padding, dilation, ceil_mode)
    if count < 1:
        raise fault(RuntimeError, f"{name} Invalid computed output size: {count}")
    return count
