"""Writing files whole or not at all."""

from __future__ import annotations

import os


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
