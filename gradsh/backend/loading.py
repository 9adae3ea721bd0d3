"""Whether numpy is loaded, and what is to happen when it is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

loaded = False
_waiting: list[Callable[[], None]] = []


def when_loaded(action: Callable[[], None]) -> None:
    """Run an action once numpy is loaded: now, if it is."""
    if loaded:
        action()
    else:
        _waiting.append(action)


def announce() -> None:
    """Called by `arrays` at the end of its import."""
    global loaded
    loaded = True
    for action in _waiting:
        action()
    _waiting.clear()
