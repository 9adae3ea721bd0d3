"""numpy as programs see it: the names that they use, over numpy's own arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsh.backend import arrays as loaded  # noqa: F401  (numpy is there from now on)
from gradsh.fault import blamed, fault
from gradsh.library.outside.arguments import admitted, check_room, guarded
from gradsh.library.outside.numpy_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FUNCTIONS = """
array asarray ascontiguousarray copy zeros_like ones_like empty_like full_like diag diagflat diagonal tril triu tril_indices
triu_indices vander
reshape ravel transpose permute_dims swapaxes moveaxis rollaxis expand_dims squeeze atleast_1d atleast_2d atleast_3d
broadcast_to broadcast_arrays broadcast_shapes concatenate concat stack vstack hstack dstack column_stack split array_split
hsplit vsplit dsplit append insert delete flip fliplr flipud rot90 roll resize trim_zeros
where choose select take take_along_axis put put_along_axis nonzero flatnonzero argwhere extract searchsorted digitize
unravel_index ravel_multi_index ix_ copyto place fill_diagonal
sort argsort lexsort partition argpartition unique isin intersect1d union1d setdiff1d setxor1d count_nonzero
sum prod mean std var median average percentile quantile max min amax amin argmax argmin ptp cumsum cumprod diff ediff1d
gradient trapezoid nansum nanprod nanmean nanstd nanvar nanmedian nanmax nanmin nanargmax nanargmin any all histogram
histogram2d corrcoef cov bincount interp convolve correlate cross trace
abs absolute fabs negative positive sign sqrt cbrt square power float_power exp exp2 expm1 log log2 log10 log1p reciprocal
sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh asin acos atan atan2 asinh acosh atanh hypot
deg2rad rad2deg degrees radians sinc add subtract multiply divide true_divide floor_divide mod remainder fmod divmod modf
frexp ldexp maximum minimum fmax fmin clip round around rint floor ceil trunc fix heaviside logaddexp logaddexp2 nan_to_num
gcd lcm pow
isnan isinf isfinite isclose allclose array_equal array_equiv isscalar isreal equal not_equal less less_equal greater
greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not invert
left_shift right_shift signbit sign
dot vdot inner matmul tensordot einsum
polyfit polyval polyder polyint roots poly
array2string array_repr array_str format_float_positional format_float_scientific ndim shape size result_type can_cast
promote_types min_scalar_type iscomplexobj isrealobj may_share_memory shares_memory real imag angle conj
"""
TYPES = """
float64 float32 float16 double single half longdouble int64 int32 int16 int8 uint8 uint16 uint32 uint64 intp int_ uint bool
bool_ str_ number integer floating signedinteger unsignedinteger inexact generic
"""
CONSTANTS = "pi e inf nan euler_gamma newaxis"

LINALG = "norm inv pinv solve lstsq det slogdet eig eigh eigvals eigvalsh svd qr cholesky matrix_rank matrix_power cond trace"

TESTING = """
assert_allclose assert_almost_equal assert_array_almost_equal assert_array_equal assert_equal assert_array_less
"""

# What numpy had once or has elsewhere, and what to write instead.
HINTS = {
    "float": "float, or np.float64", "int": "int, or np.int64", "object": "a list", "complex": "float",
    "str": "str", "long": "np.int64", "float_": "np.float64", "Inf": "np.inf", "NaN": "np.nan", "infty": "np.inf",
    "product": "np.prod", "cumproduct": "np.cumprod", "sometrue": "np.any", "alltrue": "np.all", "trapz": "np.trapezoid",
    "in1d": "np.isin", "row_stack": "np.vstack", "load": "torch.load, or read_csv", "loadtxt": "read_csv",
    "genfromtxt": "read_csv", "save": "torch.save", "savez": "torch.save", "savetxt": "print", "fromfile": "read_csv",
    "matrix": "np.array", "mat": "np.array", "fromiter": "np.array([… for … in …])",
}  # fmt: skip


# ---- the shapes of what is to be made


def _shape(shape: Any, *args: Any, **settings: Any) -> Iterable[int]:
    return [int(shape)] if isinstance(shape, int | np.integer) else [int(length) for length in shape]


def _square(N: Any, M: Any = None, *args: Any, **settings: Any) -> Iterable[int]:
    return [int(N), int(N if M is None else M)]


def _steps(start: Any, stop: Any = None, step: Any = 1, *args: Any, **settings: Any) -> Iterable[int] | None:
    low, high = (0, start) if stop is None else (start, stop)
    return None if not step else [max(0, int(np.ceil((high - low) / step)))]


def _count(start: Any, stop: Any, num: Any = 50, *args: Any, **settings: Any) -> Iterable[int]:
    return [int(num)]


def _tiles(A: Any, reps: Any) -> Iterable[int]:
    return [np.size(A), *np.atleast_1d(reps).tolist()]


def _repeats(a: Any, repeats: Any, axis: Any = None) -> Iterable[int]:
    counts = np.asarray(repeats)
    return [np.size(a), int(counts.max(initial=0))]


def _pairs(a: Any, b: Any, *args: Any, **settings: Any) -> Iterable[int]:
    return [np.size(a), np.size(b)]


def _grids(*arrays: Any, **settings: Any) -> Iterable[int]:
    return [len(arrays), *map(np.size, arrays)]


def _indices(dimensions: Any, *args: Any, **settings: Any) -> Iterable[int]:
    return [len(dimensions), *dimensions]


def _padded(array: Any, pad_width: Any, *args: Any, **settings: Any) -> Iterable[int]:
    widths = np.broadcast_to(pad_width, (np.ndim(array), 2)) if not isinstance(pad_width, dict) else np.zeros((1, 2))
    return [length + int(sum(width)) for length, width in zip(np.shape(array), widths)]


ROOM: dict[str, Callable[..., Iterable[int] | None]] = {
    "zeros": _shape, "ones": _shape, "empty": _shape, "full": _shape, "eye": _square, "identity": _square,
    "tri": _square, "arange": _steps, "linspace": _count, "logspace": _count, "geomspace": _count, "tile": _tiles,
    "repeat": _repeats, "outer": _pairs, "kron": _pairs, "meshgrid": _grids, "indices": _indices, "pad": _padded,
}  # fmt: skip


class Grid:
    """`np.mgrid[0:5, 0:3]` and its like: what is between the brackets is looked at first."""

    __slots__ = ("_grid",)

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        lengths: list[int] = []
        for part in parts:
            if isinstance(part, slice):
                lengths += _steps(part.start or 0, part.stop, part.step or 1) or ()
            elif isinstance(part, str):
                raise fault(TypeError, "texts between these brackets are not supported")
            else:
                admitted(part)
        check_room(lengths)
        try:
            return self._grid[key]
        except Exception as error:
            raise blamed(error)  # noqa: B904  (it is the same exception)


def vectorize(pyfunc: Callable[..., Any], otypes: Any = None, **_: Any) -> Callable[..., Any]:
    """A function of numbers as one of arrays, called for each element."""

    def call(*arrays: Any) -> Any:
        spread = np.broadcast_arrays(*[admitted(array) for array in arrays])
        found = [pyfunc(*items) for items in zip(*(array.ravel() for array in spread))]
        made = np.array(admitted(found))
        return made.reshape(spread[0].shape + made.shape[1:])

    return call


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **settings: Any) -> Any:
    """What a function gives for each slice of an array along an axis."""
    return np.apply_along_axis(lambda row: np.asarray(admitted(func1d(row, *args, **settings))), axis, admitted(arr))


PRINTING = "precision threshold edgeitems linewidth suppress nanstr infstr sign floatmode formatter".split()


def set_printoptions(**options: Any) -> None:
    """Say how arrays are printed."""
    unknown = next((name for name in options if name not in PRINTING), None)
    if unknown is not None:
        raise fault(TypeError, f"set_printoptions() got an unexpected keyword argument '{unknown}'")
    np.set_printoptions(**options)


class errstate:
    """Accepted: what is nan or infinite is so silently."""

    def __init__(self, **_: Any) -> None:
        return

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


def names() -> dict[str, Any]:
    """Every name of the module; its submodules are namespaces of their own."""
    found: dict[str, Any] = {name: guarded(getattr(np, name)) for name in FUNCTIONS.split()}
    found |= {name: guarded(getattr(np, name), room) for name, room in ROOM.items()}
    found |= {name: getattr(np, name) for name in (*TYPES.split(), *CONSTANTS.split())}
    found |= {name: Grid(getattr(np, name)) for name in ("mgrid", "ogrid", "r_", "c_")}
    found |= {
        "ndarray": Array, "dtype": guarded(np.dtype), "finfo": guarded(np.finfo), "iinfo": guarded(np.iinfo),
        "vectorize": vectorize, "apply_along_axis": apply_along_axis, "set_printoptions": set_printoptions,
        "errstate": errstate, "seterr": lambda *_, **__: None, "__version__": np.__version__,
    }  # fmt: skip
    return found


def linalg_names() -> dict[str, Any]:
    found: dict[str, Any] = {name: guarded(getattr(np.linalg, name)) for name in LINALG.split()}
    return found | {"LinAlgError": np.linalg.LinAlgError}


def testing_names() -> dict[str, Any]:
    return {name: guarded(getattr(np.testing, name)) for name in TESTING.split()}
