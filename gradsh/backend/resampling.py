"""Resampling of the last dimensions to other sizes: which numbers go into each new one, and with what weights.

Each dimension has its own (places, weights), both (new length, taps); the dimensions are resampled one after the other.
Formulas: aten/src/ATen/native/UpSample.h and cpu/UpSampleKernel.cpp, computed in single precision for singles and halves.
"""

from __future__ import annotations

import numpy as np

from gradsh.backend.windows import sums_along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Taps = tuple[Any, Any]

SHARPNESS, SMOOTH_SHARPNESS = -0.75, -0.5  # of cubic convolution: of interpolation, and of the filter against aliasing


def step(length: int, count: int, corners: bool, scale: float | None, kind: Any) -> Any:
    """How far apart new numbers lie, counted in old ones (`area_pixel_compute_scale`)."""
    if corners:
        return kind(length - 1) / kind(count - 1) if count > 1 else kind(0)
    return kind(1.0 / scale) if scale is not None and scale > 0 else kind(length) / kind(count)


def nearest_places(length: int, count: int, scale: float | None, exact: bool, kind: Any) -> Any:
    """The nearest number for each new one: by its left end, or exactly by its middle."""
    places, apart = np.arange(count).astype(kind), step(length, count, False, scale, kind)
    found = apart * (places + kind(0.5)) - kind(0.5) + kind(0.5) if exact else apart * places
    return np.minimum(np.floor(found).astype(np.int64), length - 1)


def nearest_few(length: int, count: int, scale: float | None) -> Any:
    """As `nearest_places` by left ends, as PyTorch has it for small images (`nearest_idx`)."""
    if count == length:
        return np.arange(count)
    return np.arange(count) >> 1 if count == 2 * length else nearest_places(length, count, scale, False, np.float32)


def same_taps(length: int, kind: Any) -> Taps:
    """Every number as it is."""
    return np.arange(length)[:, None], np.ones((length, 1), kind)


def linear_taps(length: int, count: int, corners: bool, scale: float | None, kind: Any) -> Taps:
    """The two neighbours of each new number."""
    found = np.maximum(_middles(length, count, corners, scale, kind), kind(0))
    first = np.minimum(found.astype(np.int64), length - 1)
    part = np.clip(found - first.astype(kind), kind(0), kind(1))
    return np.stack([first, np.minimum(first + 1, length - 1)], 1), np.stack([kind(1) - part, part], 1)


def cubic_taps(length: int, count: int, corners: bool, scale: float | None, kind: Any) -> Taps:
    """The four neighbours of each new number (cubic convolution)."""
    found = _middles(length, count, corners, scale, kind)
    first = np.minimum(np.floor(found).astype(np.int64), length - 1)
    part = np.clip(found - first.astype(kind), kind(0), kind(1))
    places = np.clip(first[:, None] + np.arange(-1, 3), 0, length - 1)
    away = np.stack([part + kind(1), part, kind(1) - part, kind(2) - part], 1)
    return places, _cubic(away, kind(SHARPNESS), kind)


def _middles(length: int, count: int, corners: bool, scale: float | None, kind: Any) -> Any:
    """Where among the old numbers the new ones lie."""
    places, apart = np.arange(count).astype(kind), step(length, count, corners, scale, kind)
    return apart * places if corners else apart * (places + kind(0.5)) - kind(0.5)


def _cubic(x: Any, a: Any, kind: Any) -> Any:
    """Cubic convolution at distances up to 2 (Keys 1981)."""
    near = ((a + kind(2)) * x - (a + kind(3))) * x * x + kind(1)
    far = ((a * x - kind(5) * a) * x + kind(8) * a) * x - kind(4) * a
    return np.where(x <= 1, near, np.where(x <= 2, far, kind(0)))


def _triangle(x: Any, kind: Any) -> Any:
    return np.maximum(kind(1) - np.abs(x), kind(0))


def _smooth_cubic(x: Any, kind: Any) -> Any:
    return _cubic(np.abs(x), kind(SMOOTH_SHARPNESS), kind)


def _lanczos(x: Any, kind: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / kind(3)), kind(0))


FILTERS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "bilinear": (2, _triangle),
    "bicubic": (4, _smooth_cubic),
    "lanczos": (6, _lanczos),
}


def filter_taps(mode: str, length: int, count: int, corners: bool, scale: float | None, kind: Any) -> Taps:
    """The numbers under a filter that is as wide as the new numbers lie apart (`antialias=True`)."""
    width, weigh = FILTERS[mode]
    apart = step(length, count, corners, scale, kind)
    support = kind(width * 0.5) * apart if apart >= 1 else kind(width * 0.5)
    narrow = kind(1) / apart if apart >= 1 else kind(1)
    centres = apart * (np.arange(count).astype(kind) + kind(0.5))
    starts = np.maximum((centres - support + kind(0.5)).astype(np.int64), 0)
    ends = np.minimum((centres + support + kind(0.5)).astype(np.int64), length)
    most = max(int((ends - starts).max()), 1)
    places = starts[:, None] + np.arange(most)
    inside = places < ends[:, None]
    weights = weigh((places.astype(kind) - centres[:, None] + kind(0.5)) * narrow, kind) * inside
    weights = weights / weights.sum(1, keepdims=True)
    return np.where(inside, places, starts[:, None]), weights


def resampled(x: Any, taps: tuple[Taps, ...]) -> Any:
    """Weighted sums of the numbers at places along each of the last dimensions."""
    for axis, (places, weights) in enumerate(taps, x.ndim - len(taps)):
        shape = (-1, *(1,) * (x.ndim - axis - 1))
        x = sum(
            (
                x.take(places[:, k], axis) * weights[:, k].astype(x.dtype).reshape(shape)
                for k in range(1, places.shape[1])
            ),
            x.take(places[:, 0], axis) * weights[:, 0].astype(x.dtype).reshape(shape),
        )
    return x


def resampled_back(g: Any, taps: tuple[Taps, ...], size: tuple[int, ...]) -> Any:
    """The transpose of `resampled`: every number times its weights, added to the places it was made of."""
    lead = g.ndim - len(taps)
    for axis, (places, weights) in enumerate(taps, lead):
        shape = (-1, *(1,) * (g.ndim - axis - 1))
        parts = [
            sums_along(g * weights[:, k].astype(g.dtype).reshape(shape), places[:, k], size[axis - lead], axis)
            for k in range(places.shape[1])
        ]
        g = sum(parts[1:], parts[0])
    return g
