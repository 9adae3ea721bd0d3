"""The text of programs: files, standard input, notebooks."""

from __future__ import annotations

import sys


def read_program(name: str) -> str:
    """The text of a program: a file, or standard input for `-`; UTF-8 whatever the locale."""
    if name == "-":
        if sys.stdin is None:
            return ""
        data = sys.stdin.buffer.read()
    else:
        with open(name, "rb") as file:
            data = file.read()
    if name.endswith(".ipynb"):
        return notebook_text(data)
    return data.decode("utf-8-sig")


def notebook_text(data: bytes) -> str:
    """The code cells of a Jupyter notebook, one after the other."""
    import json

    cells = json.loads(data)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
