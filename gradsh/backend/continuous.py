"""Random numbers of continuous distributions, drawn in the order and with the rounding of PyTorch's CPU kernels.

How uniform numbers become others: aten/src/ATen/core/TransformationHelper.h and
DistributionsHelper.h; the kernels: aten/src/ATen/native/cpu/DistributionTemplates.h; the checks:
aten/src/ATen/native/DistributionTemplates.h. All but `uniform`, and blocks of normal numbers, are
computed in double precision whatever the element type.
"""

from __future__ import annotations

import math

from gradsh.backend.dtypes import BY_NAME
from gradsh.backend.mersenne import Engine
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Shape = Sequence[int]

BLOCK = 16  # from this size on, normal numbers are made in blocks
DIGITS = {"float64": 53, "float32": 24, "float16": 11}
SCALAR_TYPES = {
    "float64": ("Double", "double"),
    "float32": ("Float", "float"),
    "float16": ("Half", "c10::Half"),
    "int64": ("Long", "long int"),
    "int32": ("Int", "int"),
    "int16": ("Short", "short int"),
    "int8": ("Char", "signed char"),
    "uint8": ("Byte", "unsigned char"),
    "bool": ("Bool", "bool"),
}  # what messages call an element type: PyTorch's name and C++'s


class ContinuousGenerator(Engine):
    """An engine that draws from continuous distributions.

    Every method makes an array of a shape and element type. Given `out`, it fills that array instead,
    in the order of its memory, as PyTorch does for a method that ends in an underscore.
    """

    __slots__ = ()

    def uniform(
        self, shape: Shape, dtype_name: str, low: float = 0.0, high: float = 1.0, *, out: Array | None = None
    ) -> Array:
        """Numbers in [low, high): `rand`, `uniform_`."""
        import numpy as np

        from gradsh.backend.fused import fused_multiply_add, fused_multiply_add_single

        check_floating(dtype_name, "check_uniform_bounds")
        kind = np.dtype(BY_NAME[dtype_name].code).type
        _check_range(low, high, float(np.finfo(kind).max), *SCALAR_TYPES[dtype_name])
        size = math.prod(shape)
        if dtype_name == "float64":
            values = fused_multiply_add(self.doubles(size), high - low, low)
        else:
            first, last = np.float32(low), np.float32(high)
            values = fused_multiply_add_single(self.singles(size), float(last - first), float(first))
        numbers = rounded(values, dtype_name)
        numbers[numbers == kind(high)] = kind(low)
        return arranged(numbers, shape, out)

    def normal(
        self, shape: Shape, dtype_name: str, mean: float = 0.0, std: float = 1.0, *, out: Array | None = None
    ) -> Array:
        """Normally distributed numbers: `randn`, `normal_`."""
        if not std >= 0.0:
            raise fault(RuntimeError, f"normal expects std >= 0.0, but found std {std:g}")
        size = math.prod(shape)
        if size:
            check_floating(dtype_name, "normal_kernel_cpu")
        if size >= BLOCK and (out is None or out.flags.c_contiguous):
            numbers = self._normal_in_blocks(size, dtype_name, mean, std)
        else:
            numbers = rounded(self._normal_one_by_one(size, mean, std), dtype_name)
        return arranged(numbers, shape, out)

    def log_normal(
        self, shape: Shape, dtype_name: str, mean: float = 1.0, std: float = 2.0, *, out: Array | None = None
    ) -> Array:
        """Numbers whose logarithm is normally distributed: `log_normal_`."""
        from gradsh.backend.box_muller import by_library

        if not std > 0.0:
            raise fault(RuntimeError, f"log_normal_ expects std > 0.0, but found std={std:g}")
        size = math.prod(shape)
        if size:
            check_floating(dtype_name, "log_normal_cpu")
        values = by_library(_exp, self._normal_one_by_one(size, mean, std))
        return arranged(rounded(values, dtype_name), shape, out)

    def exponential(self, shape: Shape, dtype_name: str, rate: float = 1.0, *, out: Array | None = None) -> Array:
        """Exponentially distributed numbers of mean 1 / rate: `exponential_`."""
        from gradsh.backend.box_muller import by_library

        if not rate > 0.0:
            raise fault(RuntimeError, f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
        size = math.prod(shape)
        if size:
            _check_continuous("Exponential", dtype_name, SCALAR_TYPES[dtype_name][0])
        values = -1.0 / rate * by_library(math.log1p, -self.doubles(size))
        return arranged(rounded(values, dtype_name), shape, out)

    def cauchy(
        self, shape: Shape, dtype_name: str, median: float = 0.0, sigma: float = 1.0, *, out: Array | None = None
    ) -> Array:
        """Cauchy distributed numbers: `cauchy_`."""
        from gradsh.backend.box_muller import by_library
        from gradsh.backend.fused import fused_multiply_add

        if not sigma > 0.0:
            raise fault(RuntimeError, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        _check_continuous("Cauchy", dtype_name, SCALAR_TYPES[dtype_name][1])
        tangents = by_library(math.tan, math.pi * (self.doubles(math.prod(shape)) - 0.5))
        return arranged(rounded(fused_multiply_add(tangents, sigma, median), dtype_name), shape, out)

    def truncated_normal(
        self,
        shape: Shape,
        dtype_name: str,
        mean: float = 0.0,
        std: float = 1.0,
        low: float = -2.0,
        high: float = 2.0,
        *,
        out: Array | None = None,
    ) -> Array:
        """Normally distributed numbers in [low, high], drawn again until they are: `nn.init.trunc_normal_`.

        Where less than three tenths of the distribution lie inside, uniform numbers are accepted in
        proportion to the density instead (torch/nn/init.py).
        """
        import numpy as np

        kind = np.dtype(BY_NAME[dtype_name].code).type
        numbers = np.empty(tuple(shape), kind) if out is None else out
        inside = _normal_below((high - mean) / std) - _normal_below((low - mean) / std)
        if inside > 0.3:
            self.normal(shape, dtype_name, mean, std, out=numbers)
            while (outside := (numbers < kind(low)) | (numbers > kind(high))).any():
                again = self.normal(shape, dtype_name, mean, std, out=np.empty_like(numbers))
                np.copyto(numbers, again, where=outside)
            return numbers
        mode = max(low, min(mean, high))
        log_peak = kind(-0.5 * ((mode - mean) / std) ** 2)
        pending = np.ones_like(numbers, np.bool_)
        while pending.any():
            candidates = self.uniform(shape, dtype_name, low, high, out=np.empty_like(numbers))
            np.copyto(numbers, candidates, where=pending)
            log_density = kind(-0.5) * np.square((candidates - kind(mean)) / kind(std)) - log_peak
            chance = self.uniform(shape, dtype_name, out=np.empty_like(numbers))
            with np.errstate(divide="ignore"):
                log_chance = np.log(chance, dtype=np.float64).astype(kind)
            pending &= log_chance > log_density
        return numbers

    def _normal_one_by_one(self, size: int, mean: float, std: float) -> NDArray[np.float64]:
        """Doubles in pairs, of which the second is spared for the next call where it is not asked for."""
        import numpy as np

        from gradsh.backend.box_muller import double_pairs
        from gradsh.backend.fused import fused_multiply_add

        spared = [] if self.spare is None or not size else [self.spare]
        pairs = double_pairs(self.doubles((size - len(spared) + 1) // 2 * 2))
        values = np.concatenate([spared, pairs])
        if size:
            self.spare = float(values[size]) if size < len(values) else None
        return fused_multiply_add(values[:size], std, mean)

    def _normal_in_blocks(self, size: int, dtype_name: str, mean: float, std: float) -> Array:
        """Whole blocks; what is left over takes a block of fresh numbers, ending at the end.

        Singles and doubles are drawn for every element before the first block is transformed, so the
        engine also passes over the uniform numbers of the rest; halves are drawn block by block.
        """
        import numpy as np

        from gradsh.backend.box_muller import double_blocks, single_blocks
        from gradsh.backend.fused import fused_multiply_add, fused_multiply_add_single

        draw = self.doubles if dtype_name == "float64" else self.singles
        rest = size % BLOCK
        uniforms = draw(size - rest if dtype_name == "float16" else size)[: size - rest]
        if rest:
            uniforms = np.concatenate([uniforms, draw(BLOCK)])
        if dtype_name == "float64":
            values = fused_multiply_add(double_blocks(uniforms), std, mean)
        else:
            scale, shift = rounded(np.array([std, mean]), "float32").tolist()
            with np.errstate(over="ignore", invalid="ignore"):
                values = fused_multiply_add_single(single_blocks(uniforms), scale, shift)
        if rest:
            values = np.concatenate([values[: size - BLOCK], values[-BLOCK:]])
        return rounded(values, dtype_name)


def check_floating(dtype_name: str, kernel: str) -> None:
    """Refuse an element type that a kernel of PyTorch is not made for."""
    if dtype_name not in DIGITS:
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for '{SCALAR_TYPES[dtype_name][0]}'")


def _check_continuous(distribution: str, dtype_name: str, type_name: str) -> None:
    if dtype_name not in DIGITS:
        message = f"{distribution} distribution is a continuous probability distribution. "
        raise fault(RuntimeError, message + f"dtype must be a floating point but you specified {type_name}")


def _check_range(low: float, high: float, largest: float, scalar_type: str, type_name: str) -> None:
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= largest:
            raise fault(RuntimeError, f"{name} is out of bounds for {type_name}")
    if low > high:
        message = f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        raise fault(RuntimeError, message)
    if high - low > largest:
        message = f"uniform_ expects to-from <= std::numeric_limits<{scalar_type}>::max(), but found to={high:g} "
        raise fault(RuntimeError, message + f"and from={low:g} which result in to-from to exceed the limit")


def arranged(values: Array, shape: Shape, out: Array | None) -> Array:
    """The values in a new array of this shape, or in `out` in the order of its memory."""
    if out is None:
        return values.reshape(shape)
    from gradsh.backend.memory_order import visited

    [view] = visited(out)
    view[...] = values.reshape(view.shape)
    return out


def rounded(values: Array, dtype_name: str) -> Array:
    """The values as another element type; halves by way of singles, as C++ converts them."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        if dtype_name == "float16":
            values = values.astype(np.float32)
        return values.astype(BY_NAME[dtype_name].code)


def _normal_below(x: float) -> float:
    """The part of the standard normal distribution that lies below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
