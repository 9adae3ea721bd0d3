"""Random numbers: PyTorch's CPU generator, number for number, in whatever order it is asked.

`Generator` is the whole of it: the engine, the continuous distributions, and here the discrete ones.
"""

from __future__ import annotations

import math

from gradsh.backend.continuous import DIGITS, SCALAR_TYPES, ContinuousGenerator, arranged, check_floating, rounded
from gradsh.backend.dtypes import BY_CHAR, BY_NAME
from gradsh.backend.mersenne import DEFAULT_SEED, fresh_seed
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gradsh.backend.continuous import Array, Shape

__all__ = ["DEFAULT_SEED", "Generator", "fresh_seed"]

WIDE_RANGE = 1 << 28  # from this range on, a whole number is made of 64 bits, so that % is nearly fair
LARGE_PERMUTATION = (2**32 - 1) // 20  # from this size on, a permutation is made in another way
LOWEST = -(2**63)


class Generator(ContinuousGenerator):
    """A stream of random numbers, as `torch.Generator`; see `ContinuousGenerator` for shape, type and `out`."""

    __slots__ = ()

    def integers(
        self,
        shape: Shape,
        dtype_name: str = "int64",
        low: int | None = None,
        high: int | None = None,
        *,
        out: Array | None = None,
    ) -> Array:
        """Whole numbers in [low, high): `randint`, `random_`.

        Without `high`, up to the largest number of the type; without both, from 0 to it; for a floating
        type that is the largest up to which it has every whole number (`random_from_to_impl` in
        aten/src/ATen/native/DistributionTemplates.h).
        """
        size = math.prod(shape)
        largest = _largest(dtype_name)
        if low is None:
            long = dtype_name in ("float64", "int64")
            words = (self.long_words(size) if long else self.words(size)) % (largest + 1)
            return arranged(rounded(words.astype("u8").view("i8"), dtype_name), shape, out)
        if low == LOWEST and high is None:
            if size:
                _check_full_range(dtype_name)
            return arranged(rounded(self.long_words(size).view("i8"), dtype_name), shape, out)
        low, last = _whole_range(low, high, dtype_name, largest)
        span = last - low + 1
        words = (self.long_words(size) if span >= WIDE_RANGE else self.words(size).astype("u8")) % span
        return arranged(rounded(words.view("i8") + low, dtype_name), shape, out)

    def bernoulli(
        self, shape: Shape, dtype_name: str, p: float | np.generic | Array, *, out: Array | None = None
    ) -> Array:
        """Ones with probability p, else zeros: `bernoulli`, `bernoulli_`.

        An array p (or numpy's 0-d number) is spread to the shape; if it has singles or halves, so have the
        numbers compared with it.
        """
        import numpy as np

        size = math.prod(shape)
        if isinstance(p, (float, int)):
            if not 0.0 <= p <= 1.0:
                raise fault(RuntimeError, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
            return arranged((self.doubles(size) < p).astype(BY_NAME[dtype_name].code), shape, out)
        from gradsh.backend.memory_order import visited

        p = np.asarray(p)
        check_floating(BY_CHAR[p.dtype.char].name, "bernoulli_tensor_cpu_p_")
        draw = self.doubles if p.dtype.char == "d" else self.singles
        result = np.empty(tuple(shape), BY_NAME[dtype_name].code) if out is None else out
        ones, chances = visited(result, np.broadcast_to(p, result.shape))
        valid = ((chances >= 0.0) & (chances <= 1.0)).reshape(-1)
        if not valid.all():
            draw(int(valid.argmin()))
            message = "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
            raise fault(RuntimeError, message + "improved?  If so, please report an enhancement request to PyTorch.)")
        ones[...] = draw(size).reshape(chances.shape) < chances
        return result

    def dropout_mask(self, shape: Shape, dtype_name: str, p: float, *, out: Array | None = None) -> Array:
        """What `F.dropout` multiplies its input by: 0 with probability p, else 1 / (1 - p).

        Nothing is drawn for p = 1. (`_dropout_impl` in aten/src/ATen/native/Dropout.cpp, which does not
        come here for p = 0 or outside training; `out` has the layout of the input.)
        """
        import numpy as np

        if p == 1.0:
            return arranged(np.zeros(math.prod(shape), BY_NAME[dtype_name].code), shape, out)
        computed = "float64" if dtype_name == "float64" else "float32"
        [scale] = rounded(1.0 / rounded(np.array([1.0 - p]), computed), dtype_name)
        mask = self.bernoulli(shape, dtype_name, 1.0 - p, out=out)
        np.multiply(mask, scale, out=mask)
        return mask

    def geometric(self, shape: Shape, dtype_name: str, p: float, *, out: Array | None = None) -> Array:
        """The number of trials up to the first success of probability p: `geometric_`."""
        import numpy as np

        from gradsh.backend.box_muller import by_library

        if not 0.0 < p < 1.0:
            raise fault(RuntimeError, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        size = math.prod(shape)
        if size and dtype_name == "bool":
            raise fault(NotImplementedError, "\"geometric_cpu\" not implemented for 'Bool'")
        trials = np.ceil(by_library(_log, self.doubles(size)) / math.log1p(-p))
        return arranged(rounded(trials, dtype_name), shape, out)

    def permutation(self, count: int, dtype_name: str = "int64") -> Array:
        """The numbers below `count` in random order: `randperm` (Fisher and Yates)."""
        import numpy as np

        _check_countable(count, dtype_name)
        if count >= LARGE_PERMUTATION:
            return _shuffled_inside_out(self.long_words(count)).astype(BY_NAME[dtype_name].code)
        places = np.arange(max(count - 1, 0))
        others = places + self.words(len(places)) % (count - places)
        values = list(range(count))
        for place, other in enumerate(others.tolist()):
            values[place], values[other] = values[other], values[place]
        return np.array(values, BY_NAME[dtype_name].code)

    def multinomial(self, weights: Array, count: int, replacement: bool = False) -> NDArray[np.int64]:
        """Indices drawn with probabilities in proportion to the weights of a row or of each row.

        (n,) or (rows, n) of a floating type -> (count,) or (rows, count). `multinomial_out` in
        aten/src/ATen/native/Distributions.cpp and native/cpu/MultinomialKernel.cpp.
        """
        import numpy as np

        weights = np.asarray(weights)
        if weights.ndim not in (1, 2):
            raise fault(RuntimeError, "prob_dist must be 1 or 2 dim")
        if weights.dtype.kind != "f":
            name = SCALAR_TYPES[BY_CHAR[weights.dtype.char].name][0]
            raise fault(RuntimeError, f"multinomial only supports floating-point dtypes for input, got: {name}")
        if count <= 0:
            raise fault(RuntimeError, "cannot sample n_sample <= 0 samples")
        if not replacement and count > weights.shape[-1]:
            message = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
            raise fault(RuntimeError, message)
        if weights.shape[-1] > 2**24:
            raise fault(RuntimeError, "number of categories cannot exceed 2^24")
        rows = np.atleast_2d(weights)
        if not len(rows):
            drawn = np.empty((0, count), np.int64)
        elif replacement and count > 1:
            drawn = np.stack([self._with_replacement(row, count) for row in rows])
        else:
            drawn = self._without_replacement(weights, count).reshape(-1, count)
        return drawn.reshape(*weights.shape[:-1], count)

    def _with_replacement(self, weights: Array, count: int) -> NDArray[np.int64]:
        """Uniform numbers looked up in the running sum of one row of weights."""
        import numpy as np

        if not (weights >= 0.0).all():
            raise fault(RuntimeError, "invalid multinomial distribution (encountering probability entry < 0)")
        if not np.isfinite(weights).all():
            message = "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
            raise fault(RuntimeError, message)
        sums: Array = np.cumsum(weights, dtype=np.float64 if weights.dtype.char == "d" else np.float32)
        if not len(sums) or not sums[-1] > 0.0:
            raise fault(RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)")
        sums = sums / sums[-1]
        sums[-1] = 1.0
        return np.searchsorted(sums.astype(np.float64), self.doubles(count))

    def _without_replacement(self, weights: Array, count: int) -> NDArray[np.int64]:
        """The greatest of weight / exponential number: each is first with the probability of its weight."""
        import numpy as np

        if not weights.size:
            message = "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            raise fault(RuntimeError, message)
        if not (weights.min() >= 0.0 and weights.max() < np.inf):
            raise fault(RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0")
        if not weights.any(axis=-1).all():
            raise fault(RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)")
        name = BY_CHAR[weights.dtype.char].name
        draws = self.exponential(weights.shape, name, out=np.empty_like(weights))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = weights / draws
        return np.argsort(-ratios, axis=-1, kind="stable")[..., :count]


def _largest(dtype_name: str) -> int:
    """The largest number of an integer type; for a floating one, the last of those it has without gaps."""
    if dtype_name in DIGITS:
        return 1 << DIGITS[dtype_name]
    dtype = BY_NAME[dtype_name]
    return 1 if dtype_name == "bool" else (1 << 8 * dtype.itemsize - dtype.is_signed) - 1


def _check_full_range(dtype_name: str) -> None:
    kernel = "random_full_64_bits_range_kernel_cpu"
    if dtype_name in ("float16", "bool"):
        raise fault(NotImplementedError, f"\"{kernel}\" not implemented for '{SCALAR_TYPES[dtype_name][0]}'")
    if dtype_name not in ("int64", "float64", "float32"):
        raise fault(RuntimeError, f"{kernel} handles only int64, double, float and bfloat16")


def _whole_range(low: int, high: int | None, dtype_name: str, largest: int) -> tuple[int, int]:
    """The first and the last number to draw, once both bounds have been moved to what the type can hold."""
    floating = dtype_name in DIGITS
    if high is None:
        last = largest
        if floating and (low := _first_held(low, dtype_name)) >= last:
            message = "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
            raise fault(RuntimeError, message + f"but got from={low} > to_inc={last}")
    else:
        if low >= high:
            message = f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
            raise fault(RuntimeError, message)
        if floating:
            low, high = _first_held(low, dtype_name), _end_held(high, dtype_name)
            if low >= high:
                message = "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                raise fault(RuntimeError, message + f"but got from={low} >= to={high}")
        last = high - 1
    if floating:
        limit = 65504 if dtype_name == "float16" else 2**63
        lowest = -limit
    else:
        limit = largest
        lowest = -largest - 1 if BY_NAME[dtype_name].is_signed else 0
    for name, bound in (("from", low), ("to - 1", last)):
        if not lowest <= bound <= limit:
            raise fault(RuntimeError, f"{name} is out of bounds for {SCALAR_TYPES[dtype_name][1]}")
    return low, last


def _first_held(low: int, dtype_name: str) -> int:
    """`low`, or the next number of a floating type if rounding could fall below it (`update_from`)."""
    held = _held(low + 1, dtype_name)
    if held < low:
        return held + (1 << abs(low + 1).bit_length() - DIGITS[dtype_name])
    return low


def _end_held(high: int, dtype_name: str) -> int:
    """`high`, or the number of a floating type before it if rounding could reach it (`update_to`)."""
    held = _held(high - 1, dtype_name)
    if held >= high:
        return held - (1 << abs(high - 1).bit_length() - DIGITS[dtype_name])
    return high


def _held(value: int, dtype_name: str) -> int:
    """A whole number as a floating type holds it; what 64 bits cannot take becomes the lowest, as on x86."""
    import numpy as np

    number = float(rounded(np.array([value]), dtype_name)[0])
    return int(number) if abs(number) < 2.0**63 else LOWEST


def _check_countable(count: int, dtype_name: str) -> None:
    """Refuse a permutation whose numbers the element type cannot hold."""
    if count < 0:
        raise fault(RuntimeError, f"Trying to create tensor with negative dimension {count}: [{count}]")
    if dtype_name in DIGITS:
        limit = (1 << DIGITS[dtype_name]) + 1
        if count > limit:
            shown = str(limit) if dtype_name == "float16" else f"2^{DIGITS[dtype_name]}+1"
            name = SCALAR_TYPES[dtype_name][0]
            raise fault(RuntimeError, f"n cannot be greater than {shown} for {name} type.")
    elif dtype_name == "bool":
        raise fault(NotImplementedError, "\"randperm\" not implemented for 'Bool'")
    elif count - 1 > _largest(dtype_name):
        name = "int" if dtype_name == "int32" else f"{dtype_name}_t"
        raise fault(RuntimeError, f"value cannot be converted to type {name} without overflow")


def _shuffled_inside_out(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A permutation grown from nothing, one 64-bit word for each place."""
    import numpy as np

    values = np.zeros(len(words), np.int64)
    others = words % np.arange(1, len(words) + 1, dtype=np.uint64)
    for place, other in enumerate(others.tolist()):
        values[place] = values[other]
        values[other] = place
    return values


def _log(x: float) -> float:
    return math.log(x) if x else -math.inf
