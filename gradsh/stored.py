"""What is computed once and kept: the parser's tables, the index of ops, compiled files of the library and programs.

A value is looked for in the package (a wheel carries those that do not depend on the Python that runs), then in the
user's cache, by a key that names what it was made from; it is made where both lack it. A cache that cannot be written
costs the next start some time and nothing else. `gradsh.ship` writes what a wheel carries.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SHIPPED = os.path.join(HERE, "shipped")


def stored(name: str, key: Callable[[], str], make: Callable[[], Any], most: int | None = None) -> Any:
    """The value of a name for a key: marshal's types only. A shipped one is taken as it is.

    most: bytes that the values of this name may take together; the oldest are dropped.
    """
    found = _read(os.path.join(SHIPPED, f"{name}.bin"))
    if found is not None:
        return found[0]
    path = os.path.join(cache_folder(), f"{name}-{key()}.bin")
    found = _read(path)
    if found is not None:
        return found[0]
    value = make()
    write(path, value)
    if most is not None:
        _trim(f"{name}-", most)
    return value


def key_of_text(*texts: str) -> str:
    """A key that changes with any of the texts."""
    import _imp  # its hash is there without importing anything and takes 20 us

    return _imp.source_hash(0, "\0".join(texts).encode("utf-8", "surrogateescape")).hex()


def key_of_files(paths: Iterable[str], *more: str) -> str:
    """A key that changes when any of the files is written anew; their contents are not read."""
    parts = list(more)
    for path in paths:
        status = os.stat(path)
        parts.append(f"{path}:{status.st_mtime_ns}:{status.st_size}")
    return key_of_text(*parts)


def cache_folder() -> str:
    """Where this user's programs keep what can be made again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "gradsh")


def _read(path: str) -> tuple[Any] | None:
    """The value in a file, in a tuple; None where there is none. Any damage counts as absence."""
    try:
        with open(path, "rb") as file:
            return (marshal.loads(file.read()),)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def write(path: str, value: Any) -> None:
    """Write a value, all or nothing."""
    beside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(beside, "wb") as file:
            file.write(marshal.dumps(value, 4))
        os.replace(beside, path)
    except (OSError, ValueError):  # ValueError: nested too deeply for marshal
        try:
            os.unlink(beside)
        except OSError:
            pass


def _trim(start: str, most: int) -> None:
    """Drop the oldest of the files whose names start so, to half of what they may take together."""
    try:
        with os.scandir(cache_folder()) as entries:
            found = [(entry.stat(), entry.path) for entry in entries if entry.name.startswith(start)]
        total = sum(status.st_size for status, _ in found)
        if total <= most:
            return
        for status, path in sorted(found, key=lambda each: each[0].st_mtime_ns):
            os.unlink(path)
            total -= status.st_size
            if total <= most // 2:
                return
    except OSError:  # another process trims too
        return
