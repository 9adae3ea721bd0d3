"""Fenced blocks of Markdown pages, and the outputs that they promise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(r"^```(?P<language>[\w-]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, line, and where the text stands in the page."""

    language: str
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Step:
    """One command of a console block and the output that the page shows for it."""

    command: str
    output: str


def blocks(page: str) -> list[Block]:
    return [
        Block(found["language"], found["text"], page.count("\n", 0, found.start()) + 1, *found.span("text"))
        for found in FENCE.finditer(page)
    ]


def programs(page: str) -> Iterator[tuple[Block, Block | None]]:
    """Each gradsh block, with the text block that follows it if there is one; Python blocks only if there is one."""
    every = blocks(page)
    for block, following in zip(every, [*every, None][1:], strict=True):
        shown = following if following is not None and following.language == "text" else None
        if block.language == "gradsh" or (block.language == "python" and shown):
            yield block, shown


def steps(console: str) -> Iterator[Step]:
    """The commands of a console block: lines after `$ `, each with the lines up to the next one."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command}\n{more}"
        yield Step(command, output)
