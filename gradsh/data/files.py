"""Files of programs: reading texts and bytes, and writing whole or not at all."""

from __future__ import annotations

import os
import sys
from io import BytesIO, StringIO, TextIOWrapper

from gradsh.engine.state import state
from gradsh.fault import blamed, fault
from gradsh.lang import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

READING = ("read", "readline", "readlines", "close", "closed")
members.allow(TextIOWrapper, (*READING, "name", "encoding"))
members.allow(StringIO, (*READING, "write", "getvalue", "seek", "tell"))
members.allow(BytesIO, ("read", "close", "closed", "getvalue", "seek", "tell"))


def open_text(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: Any = None,
    newline: Any = None,
) -> TextIOWrapper:
    """A text file for reading: `read`, `readline`, `readlines`, iteration, `with`; UTF-8 unless told otherwise.

    `-` is standard input, whose lines can be had as they come: for line in open("-"):
    """
    if mode not in ("r", "rt", "tr"):
        writes = any(letter in str(mode) for letter in "wax+")
        raise fault(
            PermissionError,
            f"open() reads text here, and takes no mode {mode!r}",
            hint="torch.save(value, path), or gradsh FILE > path" if writes else "open(path)",
        )
    if file == "-":
        return standard_input()
    path = readable(file)
    try:
        return open(path, encoding=encoding or "utf-8", errors=errors, newline=newline)
    except (OSError, LookupError, ValueError, TypeError) as error:
        raise blamed(error)  # noqa: B904  (it is the same exception)


def standard_input() -> TextIOWrapper:
    """Standard input as data; an error where something else is read from it."""
    if state.input:
        raise fault(
            ValueError,
            f"standard input holds {state.input}, and so no data",
            hint="gradsh FILE < data, or gradsh -e CODE < data",
        )
    if sys.stdin is None or sys.stdin.closed:
        raise fault(ValueError, f"standard input {'is' if sys.stdin is None else 'has been read, and is'} closed")
    return sys.stdin  # type: ignore[return-value]


class lines_of:
    """The lines of a text file, or of standard input for `-`: with lines_of(path) as lines."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = open_text(path, encoding="utf-8-sig", newline=None if path == "-" else "")

    def __enter__(self) -> Iterator[str]:
        return self._lines()

    def _lines(self) -> Iterator[str]:
        try:
            yield from self.file
        except UnicodeDecodeError as error:
            raise fault(ValueError, f"{self.path} is no text in UTF-8: {error}") from None
        except OSError as error:
            raise blamed(error)  # noqa: B904  (it is the same exception)

    def __exit__(self, *error: object) -> None:
        if self.path != "-":
            self.file.close()


def read_text(path: str, encoding: str = "utf-8") -> str:
    """The text of a file, or of standard input for `-`."""
    if path == "-":
        return read(standard_input())
    with open_text(path, encoding=encoding) as file:
        return read(file)


def read(file: TextIOWrapper) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise blamed(error)  # noqa: B904  (it is the same exception)


def read_bytes(path: str) -> bytes:
    """What a file holds."""
    try:
        with open(readable(path), "rb") as file:
            return file.read()
    except OSError as error:
        raise blamed(error)  # noqa: B904  (it is the same exception)


def readable(path: Any) -> str:
    """A path that a program may read: a regular file's; devices and pipes may have no end."""
    check_files_allowed(path)
    if not isinstance(path, str):
        raise fault(TypeError, f"expected a path, not {type(path).__name__}", hint='open("file.txt")')
    found = os.path.expanduser(path)
    try:
        if os.path.exists(found) and not os.path.isfile(found) and not os.path.isdir(found):
            raise fault(OSError, f"{path} is no regular file")
    except ValueError as error:  # a null character
        raise blamed(error)  # noqa: B904  (it is the same exception)
    return found


def check_files_allowed(path: Any) -> None:
    """An error where programs may not reach files."""
    if not state.files:
        raise fault(PermissionError, f"files are out of reach with --safe: {path}")


def replace_file(path: str, data: str | bytes) -> None:
    """Put new contents where a path points, as a shell redirection would, but at once: a failure leaves the old file."""
    import tempfile

    target = os.path.realpath(os.path.expanduser(path))
    content = data.encode() if isinstance(data, str) else data
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as device:
            device.write(content)
        return
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=f".{os.path.basename(target)}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_mask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
