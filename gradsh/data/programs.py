"""The text of programs: files, standard input, notebooks."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Cells that begin so are for another program than Python.
FOREIGN = (
    "bash", "sh", "script", "html", "HTML", "javascript", "js", "latex", "markdown", "svg", "SVG", "writefile", "file",
    "perl", "ruby", "python2", "system", "sx", "cmd", "R", "cython",
)  # fmt: skip


def read_program(name: str) -> str:
    """The text of a program: a file, or standard input for `-`; UTF-8 whatever the locale."""
    return "\n".join(text for _, text in read_parts(name))


def read_parts(name: str) -> list[tuple[str, str]]:
    """(label, text) of each part of a program: of a file the whole; of a notebook each cell, `FILE.ipynb[2]` say."""
    if name == "-":
        data = b"" if sys.stdin is None else sys.stdin.buffer.read()
        return [("<stdin>", data.decode("utf-8-sig"))]
    with open(name, "rb") as file:
        data = file.read()
    if is_notebook(name):
        return [(f"{name}[{number}]", text) for number, text in enumerate(cells(data), 1)]
    return [(name, data.decode("utf-8-sig"))]


def is_notebook(name: str) -> bool:
    return name.endswith(".ipynb")


def cells(data: bytes) -> list[str]:
    """The texts of the code cells of a Jupyter notebook, as they are numbered when all are run; ValueError if it is none."""
    import json

    try:
        book: Any = json.loads(data)
        found = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        code = [cell.get("source", cell.get("input", "")) for cell in found if cell["cell_type"] == "code"]
        return [_python_only(text if isinstance(text, str) else "".join(text)) for text in code]
    except (AttributeError, KeyError, TypeError, json.JSONDecodeError):
        raise ValueError("this is no notebook") from None


def _python_only(text: str) -> str:
    """A cell, with what is for another program marked as a magic, which the language leaves out with a note."""
    import re

    first = text.lstrip().split(None, 1)
    if first and first[0].startswith("%%") and first[0][2:] in FOREIGN:
        return text.lstrip().split("\n", 1)[0]
    return re.sub(r"^(?=[ \t]*(?:\?\??[\w.]+|[\w.]+\?\??)[ \t]*$)", "%", text, flags=re.MULTILINE)
