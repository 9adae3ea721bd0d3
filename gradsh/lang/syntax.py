"""What a wrong or unfinished text is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsh.fault import fault

if TYPE_CHECKING:
    from gradsh.lang.lexer import Token
    from gradsh.lang.parser import Unexpected
    from gradsh.lang.source import Source


def syntax_error(source: Source, tokens: list[Token], unexpected: Unexpected) -> BaseException:
    kind, start, end, text = unexpected.token
    return fault(SyntaxError, "invalid syntax", span=source.span(start, max(end, start + 1)))
