"""What insight keeps with each node while it is wanted: the output, the call path, the iteration, the gradient that came.

Nothing here runs unless a keeper is put into `state.keep`.
"""

from __future__ import annotations

from gradsh.engine.node import AccumulateGrad, Node, extra_of
from gradsh.engine.site import user_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from gradsh.engine.tensor import Tensor


class Path:
    """A place in the program and the places that called it: one object for each path that was taken.

    count: how many nodes were made at this very path so far; in a loop, the iteration.
    """

    __slots__ = ("caller", "children", "code", "count", "lasti")

    def __init__(self, code: CodeType | None = None, lasti: int = -1, caller: Path | None = None) -> None:
        self.code, self.lasti, self.caller = code, lasti, caller
        self.children: dict[tuple[int, int], Path] = {}
        self.count = 0

    def below(self, code: CodeType, lasti: int) -> Path:
        """The path that goes on at a place called from here."""
        key = (id(code), lasti)
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = Path(code, lasti, self)
        return found

    def places(self) -> list[tuple[CodeType, int]]:
        """The places from the innermost outward."""
        found: list[tuple[CodeType, int]] = []
        path: Path | None = self
        while path is not None and path.code is not None:
            found.append((path.code, path.lasti))
            path = path.caller
        return found


class Kept:
    """What is kept with a node.

    raw: the output's data. path, turn: where it was made, and the how-many-eth node of that path it is.
    g: the gradient that came to it in the last backward pass, raw, or None.
    """

    __slots__ = ("g", "path", "raw", "turn")

    def __init__(self, raw: Any, path: Path | None, turn: int) -> None:
        self.raw, self.path, self.turn = raw, path, turn
        self.g: Any = None


class Keeper:
    """Put into `state.keep`: keeps values, paths and gradients of every node made from then on."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root = Path()

    def __call__(self, node: Node, out: Tensor, frame: FrameType | None) -> None:
        frames: list[FrameType] = []
        while frame is not None:
            frames.append(frame)
            if frame.f_code.co_name == "<module>":
                break
            frame = user_frame(frame.f_back)
        path = self.root
        for one in reversed(frames):
            path = path.below(one.f_code, one.f_lasti)
        kept = Kept(out.raw, path, path.count)
        path.count += 1
        extra_of(node).kept = kept
        if out.node is not None and out.node is not node:
            extra_of(out.node).kept = kept
        for parent in (node.p, node.q, *(node.more or ())):
            if parent.__class__ is AccumulateGrad and parent.kept is None:
                leaf = parent.variable
                extra_of(parent).kept = None if leaf is None else Kept(leaf.raw, None, 0)
