"""Where a user's settings and history lie: the XDG folders, and what stands for them on Windows."""

from __future__ import annotations

import os
import sys


def startup_file() -> str | None:
    """The program that runs before a conversation: `~/.config/gradsh/init.grad`."""
    return _path("XDG_CONFIG_HOME", "~/.config", "init.grad")


def history_file() -> str | None:
    """The file of what was entered: `~/.local/state/gradsh/history`."""
    return _path("XDG_STATE_HOME", "~/.local/state", "history")


def _path(variable: str, usual: str, name: str) -> str | None:
    """A file of ours below a base folder; None where there is no home. XDG has relative folders ignored."""
    if sys.platform == "win32":
        variable, usual = "LOCALAPPDATA", "~\\AppData\\Local"
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.expanduser(usual)
    return os.path.join(base, "gradsh", name) if os.path.isabs(base) else None
