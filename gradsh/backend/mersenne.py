"""The Mersenne Twister behind all random numbers, and its state in PyTorch's form.

Matsumoto and Nishimura 1998, seeded by `init_genrand`. CPython has the same twister, so the words
are drawn from there: it is as fast as numpy's and spares the import of `numpy.random`.
"""

from __future__ import annotations

from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _random import Random
    from typing import Any, Self

    import numpy as np
    from numpy.typing import NDArray

DEFAULT_SEED = 67280421310721  # of `torch.Generator()`; the one that programs draw from has a `fresh_seed()`
STATE_WORDS = 624
STATE_LAYOUT = f"<QiiQ{STATE_WORDS}Q3di4xf?3x"  # CPUGeneratorImplState in aten/src/ATen/CPUGeneratorImpl.cpp
DRAW = 4096  # words taken from the twister at a time


def fresh_seed() -> int:
    """A seed nobody can guess, from the operating system."""
    from os import urandom

    return int.from_bytes(urandom(8), "little")


class Engine:
    """A stream of 32-bit words that can be seeded, copied, saved and restored.

    The twister is set up at the first draw. `spare` is the second normal number of a pair, kept for
    the next one asked for; it belongs to the state.
    """

    __slots__ = ("_seed", "_twister", "spare")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Self:
        """Start the stream of this seed: an integer of 64 bits, signed or unsigned."""
        if not -(2**63) <= seed < 2**64:
            raise fault(ValueError, "Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._twister: Random | None = None
        self.spare: float | None = None
        return self

    def seed(self) -> int:
        """Start a stream nobody can guess, and tell its seed."""
        return self.manual_seed(fresh_seed())._seed

    def initial_seed(self) -> int:
        """The seed this stream started from, without a sign."""
        return self._seed

    def clone(self) -> Self:
        """Another generator in the same state."""
        return type(self)().set_state(self.get_state())

    def get_state(self) -> NDArray[np.uint8]:
        """The state as the 5056 bytes of `torch.get_rng_state`."""
        import struct

        import numpy as np

        if self._twister is None:
            words, position = _initial_words(self._seed), 0
        else:
            *words, position = self._twister.getstate()
        left = STATE_WORDS + 1 - position if position else 1
        normal = (0.0, self.spare or 0.0, 0.0, self.spare is not None)
        packed = struct.pack(STATE_LAYOUT, self._seed, left, 1, position, *words, *normal, 0.0, False)
        return np.frombuffer(packed, np.uint8).copy()

    def set_state(self, state: NDArray[Any]) -> Self:
        """Go on from a state that `get_state` or PyTorch gave."""
        import struct

        size = struct.calcsize(STATE_LAYOUT)
        if state.dtype.char != "B":
            raise fault(TypeError, "RNG state must be a torch.ByteTensor")
        if state.size != size:
            message = f"Expected a CPUGeneratorImplState of size {size} but found the input RNG state size to be "
            raise fault(RuntimeError, message + str(state.size))
        seed, left, seeded, position, *rest = struct.unpack(STATE_LAYOUT, state.tobytes())
        if not seeded or not 0 < left <= STATE_WORDS or position > STATE_WORDS:
            raise fault(RuntimeError, "Invalid mt19937 state")
        self.manual_seed(seed)
        words = [word & 0xFFFFFFFF for word in rest[:STATE_WORDS]]
        if position or words != _initial_words(seed):
            self._twister = _twister(words, position or STATE_WORDS)
        _, spare, _, spared, _, _ = rest[STATE_WORDS:]
        self.spare = spare if spared else None
        return self

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words of 32 bits."""
        import numpy as np

        if not count:
            return np.empty(0, "<u4")
        if self._twister is None:
            self._twister = _twister(_initial_words(self._seed), STATE_WORDS)
        draw = self._twister.getrandbits
        sizes = [DRAW] * (count // DRAW) + [count % DRAW]
        return np.frombuffer(b"".join([draw(32 * size).to_bytes(4 * size, "little") for size in sizes]), "<u4")

    def long_words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words of 64 bits, each of two of 32 bits, the high one first."""
        import numpy as np

        pairs = self.words(2 * count).view(np.uint64)
        return pairs << np.uint64(32) | pairs >> np.uint64(32)

    def doubles(self, count: int) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1) of 53 bits: the low ones of a long word."""
        import numpy as np

        return np.multiply((self.long_words(count) & 0x1FFFFFFFFFFFFF).view(np.int64), 2.0**-53)

    def singles(self, count: int) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1) of 24 bits, the low ones of a word: singles held in doubles."""
        import numpy as np

        return np.multiply((self.words(count) & 0xFFFFFF).view(np.int32), 2.0**-24)


def _initial_words(seed: int) -> list[int]:
    """`init_genrand`: the state that a seed gives, of which only the low 32 bits count."""
    word = seed & 0xFFFFFFFF
    words = [word]
    for index in range(1, STATE_WORDS):
        word = (1812433253 * (word ^ word >> 30) + index) & 0xFFFFFFFF
        words.append(word)
    return words


def _twister(words: list[int], position: int) -> Random:
    from _random import Random

    twister = Random()
    twister.setstate((*words, position))
    return twister
