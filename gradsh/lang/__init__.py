"""The language: text to forms to Python code, and faults that point into the text."""

from __future__ import annotations

from gradsh.lang.program import Program, compile_program, parse_program, tokens
from gradsh.lang.source import Source, Span

__all__ = ["Program", "Source", "Span", "compile_program", "parse_program", "tokens"]
