"""Numbers of images at positions between their own: grid_sample, and the grids of affine maps."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.op import constant, general, linear
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import sized
from gradsh.ops.calls import checked, operand
from gradsh.ops.histories import of_grid_sampler
from gradsh.ops.pooling_faults import unsupported
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.shape import reshaped
from gradsh.ops.spatial import lengths

MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


# ---- positions, and the numbers around them


@general(
    x=lambda g, x, size, mode, padding, corners: g * slopes(x, size=size, mode=mode, padding=padding, corners=corners),
    sample=[
        Sample(reals(1, 3, 2), size=(3, 4), mode="bilinear", padding=padding, corners=corners)
        for padding, corners in (("zeros", True), ("border", False), ("reflection", True), ("reflection", False))
    ],
    at=(),
)
def positions_of(xp, x, *, size, mode, padding, corners):
    """Where a grid (N, *out, dims) points to, in elements; brought into the image but for cubics."""
    return _positions(xp, x, size, mode, padding, corners)[0]


@constant(at=())
def slopes(xp, x, *, size, mode, padding, corners):
    """The derivatives of positions by the grid."""
    return _positions(xp, x, size, mode, padding, corners)[1]


def _positions(xp, x, size, mode, padding, corners):
    from gradsh.backend.sampling import contained, positions

    found = positions(x, size, corners)
    slope = xp.empty_like(found)
    for place, length in enumerate(size[::-1]):
        own = "zeros" if mode == "bicubic" else padding
        found[..., place], slope[..., place] = contained(found[..., place], length, own, corners)
        slope[..., place] *= (length - 1 if corners else length) / 2
    return found, slope


@constant(at=())
def tap_places(xp, x, *, size, mode, padding, corners):
    """The places of the numbers around positions, in the image's dimensions taken as one."""
    from gradsh.backend.sampling import taps

    return taps(x, size, mode, padding, corners)[0]


@constant(at=())
def taps_inside(xp, x, *, size, mode, padding, corners):
    """1 for each number around a position that is in the image, else 0, in the type of the positions."""
    from gradsh.backend.sampling import taps

    return taps(x, size, mode, padding, corners)[1].astype(x.dtype)


@constant(at=())
def parts_of_way(xp, x):
    """The whole part of positions."""
    return xp.floor(x)


PLACES = Made(lambda rng: rng.integers(0, 6, (2, 3, 4)))


@linear(
    x=lambda g, y, x_shape: spread_taps(g, y, size=x_shape[2:]),
    sample=Sample(reals(2, 2, 2, 3), PLACES),
    at=(),
)
def tap_values(xp, x, y):
    """The numbers of every channel of images (N, C, *size) at places y (N, *out, taps)."""
    from gradsh.backend.sampling import at_taps

    return at_taps(x, y)


@linear(x=lambda g, y: tap_values(g, y), sample=Sample(reals(2, 2, 3, 4), PLACES, size=(2, 3)), at=())
def spread_taps(xp, x, y, *, size):
    """The transpose of `tap_values`, to images of a size."""
    from gradsh.backend.sampling import onto_taps

    return onto_taps(x, y, size)


# ---- weights


def _polynomial(part, rows):
    """Σ rows[k] part^k, for each tap."""
    from gradsh.backend import arrays

    total = power = None
    for values in rows:
        row = arrays.array(values, part.dtype.code) if isinstance(part, Tensor) else arrays.array(values, part.dtype)
        row = wrap(row) if isinstance(part, Tensor) else row
        term = row if power is None else power * row
        total = part * 0 + row if total is None else total + term
        power = part if power is None else power * part
    return total


def _derived(rows):
    """The coefficients of the derivatives."""
    return [[k * value for value in row] for k, row in enumerate(rows)][1:] or [[0.0] * len(rows[0])]


def _sides(found, size, mode, derived=None):
    """The weights of the taps along each dimension of the image; along one of them their derivatives."""
    from gradsh.backend.sampling import POLYNOMIALS

    dims, rows = len(size), POLYNOMIALS[mode]
    part = found - parts_of_way(found)
    sides = []
    for dim in range(dims):
        own = part[..., dims - 1 - dim]
        own = reshaped(own, size=(*own.shape, 1))
        sides.append(_polynomial(own, _derived(rows) if dim == derived else rows))
    return sides


def _weights(found, size, mode, derived=None):
    """The weights of all taps (N, *out, taps), or their derivatives by the position along one dimension."""
    total = None
    for side in _sides(found, size, mode, derived):
        if total is None:
            total = side
            continue
        *lead, count = total.shape
        both = reshaped(total, size=(*lead, count, 1)) * reshaped(side, size=(*lead, 1, side.shape[-1]))
        total = reshaped(both, size=(*lead, count * side.shape[-1]))
    return total


def _channelled(values):
    """With a dimension of length 1 for the channels."""
    batch, *rest = values.shape
    return reshaped(values, size=(batch, 1, *rest))


def _settled(size, mode, padding, corners):
    return {"size": size, "mode": mode, "padding": padding, "corners": corners}


def _around(grid, settings):
    """(positions, the places of their taps, which of these are in the image)"""
    found = positions_of(grid, **settings)
    return found, tap_places(found, **settings), taps_inside(found, **settings)


def _shares(found, inside, settings):
    """What each tap contributes; at the nearest number all of it, whatever the position."""
    mode = settings["mode"]
    return inside if mode == "nearest" else _weights(found, settings["size"], mode) * inside


def _sampled(x, grid, mode, padding, corners):
    settings = _settled(tuple(x.shape[2:]), mode, padding, corners)
    found, places, inside = _around(grid, settings)
    values = tap_values(x, places) * _channelled(_shares(found, inside, settings))
    return sum_over(values, axes=(len(values.shape) - 1,), keepdim=False)


def _image_slope(g, x, x_shape, y, mode, padding, corners):
    settings = _settled(tuple(x_shape[2:]), mode, padding, corners)
    found, places, inside = _around(y, settings)
    weights = _channelled(_shares(found, inside, settings))
    spread = spread_taps(reshaped(g, size=(*g.shape, 1)) * weights, places, size=settings["size"])
    return of_grid_sampler(spread, x, y)


def _grid_slope(g, x, y, mode, padding, corners):
    size = tuple(x.shape[2:])
    settings = _settled(size, mode, padding, corners)
    slope = slopes(y, **settings)
    if mode == "nearest":
        return of_grid_sampler(slope * 0, x, y)
    found, places, inside = _around(y, settings)
    values = sum_over(tap_values(x, places) * reshaped(g, size=(*g.shape, 1)), axes=(1,), keepdim=False) * inside
    columns = []
    for dim in reversed(range(len(size))):
        along = sum_over(values * _weights(found, size, mode, dim), axes=(len(values.shape) - 1,), keepdim=False)
        columns.append(reshaped(along, size=(*along.shape, 1)))
    return of_grid_sampler(beside(*columns) * slope, x, y)


def beside(*columns):
    """Columns side by side."""
    from gradsh.ops.joining import joined

    return joined(*columns, dim=len(columns[0].shape) - 1, starts=tuple(range(len(columns) + 1)))


def _op_of(dims):
    def grid_sampled(xp, x, y, *, mode, padding, corners):
        """The numbers of images (N, C, *size) at the positions that a grid (N, *out, dims) of -1 … 1 names."""
        return _sampled(x, y, mode, padding, corners)

    shapes = {2: ((1, 2, 3, 4), (1, 2, 2, 2)), 3: ((1, 1, 2, 3, 2), (1, 2, 1, 1, 3))}[dims]
    return general(
        x=_image_slope,
        y=_grid_slope,
        sample=[
            Sample(reals(*shapes[0]), reals(*shapes[1]), mode=mode, padding=padding, corners=corners)
            for mode, padding, corners in (
                ("bilinear", "zeros", False),
                ("bilinear", "reflection", True),
                ("nearest", "border", True),
            )
        ]
        + [Sample(reals(*shapes[0]), reals(*shapes[1]), mode="bicubic", padding="border", corners=False)] * (dims == 2),
        at=(),
        name=f"grid_sampler_{dims}d",
        grad_fn=f"GridSampler{dims}DBackward0",
    )(grid_sampled)


SAMPLED = {2: _op_of(2), 3: _op_of(3)}


# ---- what programs call


def _check(input, grid):
    """`check_grid_sampler_common` and its like for two and three dimensions."""
    name, sizes, grids = "grid_sampler()", list(input.shape), list(grid.shape)
    if sizes[0] != grids[0]:
        raise fault(
            RuntimeError,
            f"{name}: expected grid and input to have same batch size, but got input with sizes {sizes} and grid with "
            f"sizes {grids}",
        )
    if grids[-1] != input.ndim - 2:
        raise fault(
            RuntimeError,
            f"{name}: expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes {grids}",
        )
    for dim, length in enumerate(sizes[2:], 2):
        if not length:
            raise fault(
                RuntimeError,
                f"{name}: expected input to have non-empty spatial dimensions, but input has sizes {sizes} with dimension "
                f"{dim} being empty",
            )
    rank = 4 if input.ndim == 4 else 5
    if input.ndim != rank or grid.ndim != rank:
        raise fault(
            RuntimeError,
            f"{name}: expected {rank}D input and grid with same number of dimensions, but got input with sizes {sizes} and "
            f"grid with sizes {grids}",
        )


@function(at=("torch",))
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """`F.grid_sample` with its modes as numbers."""
    input, grid = operand(input), operand(grid, "grid")
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    _check(input, grid)
    dims = input.ndim - 2
    if dims == 3 and mode == "bicubic":
        raise fault(RuntimeError, "grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        have, other = TYPE_NAMES[input.dtype.name], TYPE_NAMES[grid.dtype.name]
        raise fault(RuntimeError, f"expected scalar type {have} but found {other}")
    if input.dtype.category != FLOATING:
        raise unsupported(input, f"grid_sampler_{dims}d_cpu_kernel_impl" if dims == 2 else "grid_sampler3d_cpu")
    return SAMPLED[dims](input, grid, mode=mode, padding=padding, corners=bool(align_corners))


called = checked(grid_sampler, "grid_sampler")


@function(at=("F",), example="F.grid_sample(rand(1, 1, 3, 3), zeros(1, 1, 1, 2))")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The numbers of images (N, C, H, W) or volumes at the positions (x, y) of -1 … 1 that a grid (N, H', W', 2) names."""
    if mode not in MODES:
        raise fault(
            ValueError,
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'",
        )
    if padding_mode not in PADDINGS:
        raise fault(
            ValueError,
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'",
        )
    return called(input, grid, MODES.index(mode), PADDINGS.index(padding_mode), bool(align_corners))


# ---- grids of affine maps


def _corners(xp, size, corners, dtype):
    """The positions of all elements (H W, 3) or (D H W, 4) from -1 to 1, with a 1 behind them."""
    sides = []
    for length in size[::-1]:
        ends = xp.linspace(-1, 1, length, dtype=dtype) if length > 1 else xp.zeros(length, dtype)
        sides.append(ends if corners else ends * dtype.type((length - 1) / max(length, 1)))
    grid = xp.empty((*size, len(size) + 1), dtype)
    for place, side in enumerate(sides):
        grid[..., place] = side.reshape(-1, *(1,) * place)
    grid[..., -1] = 1
    return grid.reshape(-1, len(size) + 1)


@constant(at=())
def base_grid(xp, x, *, size, corners):
    """The positions of all elements for each of the maps x, with a 1 behind them, in their type."""
    grid = _corners(xp, size, corners, x.dtype)
    return xp.ascontiguousarray(xp.broadcast_to(grid, (x.shape[0], *grid.shape)))


@linear(
    x=lambda g, size, corners: reshaped(g, size=(len(g), -1, len(size))).mT @ base_grid(g, size=size, corners=corners),
    sample=[
        Sample(reals(2, 2, 3), size=(2, 3), corners=True),
        Sample(reals(1, 3, 4), size=(2, 1, 2), corners=False),
    ],
    at=(),
    name="affine_grid_generator",
)
def mapped(xp, x, *, size, corners):
    """Where each of the maps x (N, 2, 3) or (N, 3, 4) takes the positions of all elements."""
    grid = xp.matmul(_corners(xp, size, corners, x.dtype), xp.ascontiguousarray(x.swapaxes(1, 2)))
    return grid.reshape(x.shape[0], *size, len(size))


@function(at=("F",), example="F.affine_grid(tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2))")
def affine_grid(theta, size, align_corners=None):
    """Where affine maps theta (N, 2, 3) take the positions of all elements of images of a size (N, C, H, W); volumes alike."""
    theta = sized(theta, "is_floating_point")
    if theta.dtype.category != FLOATING:
        raise fault(ValueError, f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise fault(
            NotImplementedError,
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}.",
        )
    if tuple(theta.shape[1:]) != (dims, dims + 1):
        raise fault(
            ValueError,
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got {theta.shape}.",
        )
    lengths_of = lengths(size, "affine_grid_generator", "size")
    if not (align_corners and min(lengths_of[2:]) == 1) and min(lengths_of) <= 0:
        raise fault(ValueError, f"Expected non-zero, positive output size. Got {size}")
    if theta.shape[0] != lengths_of[0]:
        raise fault(
            RuntimeError,
            f"Expected size for first two dimensions of batch2 tensor to be: [{lengths_of[0]}, {dims + 1}] but got: "
            f"[{theta.shape[0]}, {dims + 1}].",
        )
    return mapped(theta, size=lengths_of[2:], corners=bool(align_corners))


@function(at=("torch",))
def affine_grid_generator(theta, size, align_corners):
    """`F.affine_grid` by its older name."""
    return affine_grid(operand(theta, "theta"), size, align_corners)
