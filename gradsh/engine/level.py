"""The transforms in force: a level for each `vmap`, `grad` or `jvp` that a program is inside of, outermost first."""

from __future__ import annotations

from gradsh.engine.state import state, stop_following, tick
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

REQUIRE = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a "
    "function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
    "transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)
VMAP, GRAD, JVP, DUAL = "vmap", "grad", "jvp", "dual"


class Level:
    """One transform in force, while `with` lasts.

    kind: VMAP, GRAD (reverse mode), JVP (forward mode), or DUAL (a `forward_ad.dual_level`).
    number: how deep it lies, from 1. alive: whether it is still in force.
    start: the clock when it began: what the graph holds that is older came from outside.
    size, randomness: of a vmap, how many examples there are, and how these draw random numbers.
    function: what is transformed. captured: the tensors that it has from outside, by identity, once they were asked for.
    """

    __slots__ = ("alive", "captured", "function", "kind", "number", "randomness", "size", "start")

    def __init__(self, kind: str, function: Any = None, size: int = 0, randomness: str = "error") -> None:
        self.kind, self.function, self.size, self.randomness = kind, function, size, randomness
        self.captured: dict[int, Any] | None = None
        self.number = self.start = 0
        self.alive = False

    def __enter__(self) -> Level:
        stop_following()
        state.levels.append(self)
        self.number, self.start, self.alive = len(state.levels), tick(), True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.alive = False
        state.levels.remove(self)


def levels(kind: str) -> list[Level]:
    """The levels of a kind, outermost first."""
    return [level for level in state.levels if level.kind == kind]


def refuse_inside(message: str) -> None:
    """PyTorch's refusal of what would reach out of a transform of `torch.func`."""
    if any(level.kind != DUAL for level in state.levels):
        raise fault(RuntimeError, message, hint="torch.func.grad, vjp or jacrev of a function")
