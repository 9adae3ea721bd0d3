"""What was entered, kept in a file from one conversation to the next, an entry for each block."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory

from gradsh.backend.shield import shield
from gradsh.repl.folders import history_file

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 4 << 20  # bytes of the file; beyond, the older half is given up


class History(FileHistory):
    """The history file, written after every input. Where it cannot be used, only later conversations are the poorer.

    trouble: why the file cannot be used, until it was told.
    """

    def __init__(self) -> None:
        self.path = history_file()
        self.trouble = "" if self.path else "note: no history is kept: there is no home folder"
        super().__init__(self.path or os.devnull)

    def load_history_strings(self) -> Iterable[str]:
        if self.path is None:
            return []
        try:
            if os.path.exists(self.path) and os.path.getsize(self.path) > LARGEST:
                self._halve(self.path)
            return list(super().load_history_strings())
        except OSError as error:
            self._give_up(error)
            return []

    def store_string(self, string: str) -> None:
        if self.path is None:
            return
        try:
            with shield:
                if not os.path.exists(self.path):
                    os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
                    os.close(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
                super().store_string(string.encode("utf-8", "backslashreplace").decode())
        except OSError as error:
            self._give_up(error)

    def _halve(self, path: str) -> None:
        from gradsh.data.files import replace_file

        with open(path, "rb") as file:
            file.seek(-LARGEST // 2, os.SEEK_END)
            text = file.read().decode("utf-8", "replace")
        replace_file(path, text[text.find("\n# ") :])

    def _give_up(self, error: OSError) -> None:
        from gradsh.lang.excerpt import printable

        self.trouble = f"note: no history is kept: {printable(str(self.path))}: {error.strerror or error}"
        self.path = None

    def told(self) -> str:
        """What there is to say of the file, once."""
        trouble, self.trouble = self.trouble, ""
        return trouble
