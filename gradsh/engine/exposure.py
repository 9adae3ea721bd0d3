"""Memory that a program can write into without an operation: that of numpy arrays which share a tensor's."""

from __future__ import annotations

import sys
from weakref import ref

from gradsh.engine.state import stop_following

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_exposed: dict[int, Any] = {}


def owner_of_memory(raw: Any) -> Any:
    """The array that owns the memory of an array."""
    kind = raw.__class__
    while raw.base.__class__ is kind:
        raw = raw.base
    return raw


def expose(raw: Any) -> None:
    """Note that a program has got an array which shares this memory: no operation that reads it may be put off."""
    stop_following()
    owner = owner_of_memory(raw)
    if id(owner) not in _exposed:
        place = id(owner)
        _exposed[place] = ref(owner, lambda _: _exposed.pop(place, None))
        tapes = sys.modules.get("gradsh.engine.plans.tape")
        if tapes is not None:
            tapes.forget(owner)


def is_exposed(raw: Any) -> bool:
    """Whether a program has an array that shares this memory."""
    return bool(_exposed) and id(owner_of_memory(raw)) in _exposed
