"""Code that is pasted with its prompts and answers, as documentation and bug reports show it."""

from __future__ import annotations

import re

# A prompt of Python or IPython, and how the lines that go on look.
_PROMPT = re.compile(r"[ \t]*(?:>>> ?|In \[\d*\]: ?)")
_MORE = re.compile(r"[ \t]*\.\.\.+:? ?")


def without_prompts(text: str) -> tuple[str, dict[int, int]]:
    """The code of a transcript, its answers as blank lines, and the width taken off each line (from 1).

    Text that does not begin with a prompt is left alone.
    """
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if not _PROMPT.match(first):
        return text, {}
    code: list[str] = []
    margins: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        found = _PROMPT.match(line) or (_MORE.match(line) if margins else None)
        if found is None:
            code.append("")
        else:
            margins[number] = found.end()
            code.append(line[found.end() :])
    return "\n".join(code), margins
