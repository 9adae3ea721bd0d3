"""`torch.Generator`, the one that programs draw from, and its seed."""

from __future__ import annotations

from gradsh.engine.create import leaf
from gradsh.engine.device import CPU, check_device
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit
from gradsh.ops.registry import constant, function, readable

AT = ("torch", "random")


class Generator:
    """A stream of random numbers; the same seed gives the same numbers, PyTorch's own."""

    __slots__ = ("_fresh", "_stream")
    __module__ = "torch._C"

    def __init__(self, device="cpu"):
        check_device(device, "Generator")
        self._stream = None
        self._fresh = False

    @property
    def stream(self):
        """The backend's generator, made when it is first wanted."""
        if self._stream is None:
            from gradsh.backend.random import DEFAULT_SEED, Generator as Stream, fresh_seed

            self._stream = Stream(fresh_seed() if self._fresh else DEFAULT_SEED)
        return self._stream

    @property
    def device(self):
        return CPU

    def manual_seed(self, seed):
        """Start the stream of a seed."""
        if isinstance(seed, Tensor):
            seed = seed.item()
        if not isinstance(seed, int):
            raise Unfit("seed", "int", seed)
        self.stream.manual_seed(seed)
        return self

    def seed(self):
        """Start a stream that nobody can guess, and tell its seed."""
        return self.stream.seed()

    def initial_seed(self):
        """The seed this stream started from."""
        return self.stream.initial_seed()

    def get_state(self):
        """The state of the stream, as a tensor of bytes."""
        return leaf(self.stream.get_state())

    def set_state(self, new_state):
        """Go on from a state that `get_state` gave."""
        if not isinstance(new_state, Tensor):
            raise fault(TypeError, f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self.stream.set_state(new_state.raw)
        return self

    def clone_state(self):
        """Another generator in the same state."""
        found = Generator()
        found._stream = self.stream.clone()
        return found


readable(Generator, ("device", "manual_seed", "seed", "initial_seed", "get_state", "set_state", "clone_state"))
constant("Generator", Generator, at=AT)
default_generator = Generator()
default_generator._fresh = True
constant("default_generator", default_generator, at=AT)


def stream_of(generator):
    """The backend's generator to draw from: the given one's, or the default one's."""
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise Unfit("generator", "torch.Generator", generator)
    return generator.stream


@function(at=AT, example="manual_seed(0)", python=True)
def manual_seed(seed):
    """Start the default stream of random numbers from a seed."""
    return default_generator.manual_seed(int(seed))


@function(at=AT, python=True)
def seed():
    """Start a default stream that nobody can guess, and tell its seed."""
    return default_generator.seed()


@function(at=AT, python=True)
def initial_seed():
    """The seed the default stream started from."""
    return default_generator.initial_seed()


@function(at=AT, python=True)
def get_rng_state():
    """The state of the default stream, as a tensor of bytes."""
    return default_generator.get_state()


@function(at=AT, python=True)
def set_rng_state(new_state):
    """Go on in the default stream from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


class fork_rng:
    """Inside `with`, drawing does not move the default stream on."""

    __slots__ = ("_state", "enabled")

    def __init__(self, devices=None, enabled=True):
        self.enabled = enabled

    def __enter__(self):
        self._state = default_generator.stream.get_state()

    def __exit__(self, *details):
        if self.enabled:
            default_generator.stream.set_state(self._state)


constant("fork_rng", fork_rng, at=("random",))
readable(fork_rng, ())
