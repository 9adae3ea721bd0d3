"""What each backward run added to a leaf's gradient since it was last cleared.

Nothing here runs unless a ledger is put into `state.ledger`.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # as in collections, which costs a start more
from _weakref import ref

from gradsh.engine.alias import version_of
from gradsh.engine.site import user_site
from gradsh.engine.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    Run = tuple[CodeType | None, int, Any]  # code object, instruction, raw amount or None where it is too large

LATEST = 100  # runs of a leaf that are remembered, older ones are only counted
LARGEST = 4096  # numbers of an amount that is remembered


class Runs:
    """The runs that one gradient is the sum of: how many there were, and the latest of them."""

    __slots__ = ("count", "grad", "latest", "leaf", "version")

    def __init__(self, leaf: ref[Tensor]) -> None:
        self.leaf = leaf
        self.count = 0
        self.latest: deque[Run] = deque(maxlen=LATEST)
        self.grad: ref[Tensor] | None = None
        self.version = 0

    def sum_to(self, grad: Tensor | None) -> bool:
        """Whether a gradient is the sum of these runs: the one they were added to, and not changed in place since."""
        return grad is not None and self.grad is not None and self.grad() is grad and version_of(grad) == self.version


class Ledger:
    """Put into `state.ledger`: called when an amount (raw, or a tensor) was added to a tensor's gradient, `before`.

    A gradient that is taken away, replaced or changed in place begins anew, and leaves are held weakly.
    """

    __slots__ = ("runs",)

    def __init__(self) -> None:
        self.runs: dict[int, Runs] = {}

    def __call__(self, tensor: Tensor, before: Tensor | None, amount: Any) -> None:
        key = id(tensor)
        runs = self.runs.get(key)
        if before is not None and (runs is None or not runs.sum_to(before)):
            self.runs.pop(key, None)  # the sum has a part that no run added
            return
        if before is None or runs is None:
            runs = self.runs[key] = Runs(ref(tensor, lambda leaf: self._forget(key, leaf)))
        assert tensor.grad is not None
        runs.count += 1
        runs.latest.append((*user_site(), _copied(amount)))
        runs.grad, runs.version = ref(tensor.grad), version_of(tensor.grad)

    def _forget(self, key: int, leaf: ref[Tensor]) -> None:
        if key in self.runs and self.runs[key].leaf is leaf:
            del self.runs[key]

    def of(self, tensor: Tensor) -> Runs | None:
        """The runs that a tensor's gradient is the sum of, where that is known."""
        runs = self.runs.get(id(tensor))
        return runs if runs is not None and runs.sum_to(tensor.grad) else None


def _copied(amount: Any) -> Any:
    raw = amount.raw if isinstance(amount, Tensor) else amount
    if raw.__class__ is float:
        return raw
    return raw.copy() if raw.size <= LARGEST else None
