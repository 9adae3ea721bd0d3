"""`python -m gradsh.ship FOLDER` writes what a wheel carries of what is computed once: see `gradsh.stored`."""

from __future__ import annotations

import os
import sys

from gradsh.lang import tables
from gradsh.library import sources
from gradsh.ops import index
from gradsh.stored import write


def ship(folder: str) -> None:
    """Compute everything anew, and store it in a folder."""
    for part in (tables, index, sources):
        write(os.path.join(folder, f"{part.NAME}.bin"), part.make())


if __name__ == "__main__":
    ship(sys.argv[1])
