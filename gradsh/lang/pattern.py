"""Regular expressions of the path that every run takes: compiled once, stored, and made without importing `re`."""

from __future__ import annotations

import sys

from gradsh.stored import key_of_text, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

_made: dict[str, re.Pattern[str]] = {}


def compiled(text: str) -> re.Pattern[str]:
    """The pattern of a regular expression.

    What `re` compiles a text to is a list of numbers for this very Python, which `_sre` turns into the pattern in
    microseconds; compiling takes milliseconds. Where Python keeps these parts elsewhere, `re` does it all.
    """
    found = _made.get(text)
    if found is None:
        try:
            import _sre  # type: ignore[import-not-found]

            name = f"pattern-{sys.implementation.cache_tag}-{_sre.MAGIC}"
            found = _sre.compile(text, *stored(name, lambda: key_of_text(text), lambda: _parts(text)))
        except Exception:
            import re

            found = re.compile(text)
        _made[text] = found
    return found


def _parts(text: str) -> tuple[Any, ...]:
    """What `re.compile` hands to `_sre.compile`."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    tree = _parser.parse(text, 0)
    state = tree.state
    names = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    return (
        int(state.flags),
        [int(code) for code in _compiler._code(tree, 0)],
        state.groups - 1,
        dict(state.groupdict),
        tuple(names),
    )
