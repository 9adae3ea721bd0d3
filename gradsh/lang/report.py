"""Faults as they are shown: one record, drawn as lines of styled text for every format, and as JSON."""

from __future__ import annotations

from gradsh.fault import details_of
from gradsh.lang.advice import CLOSED, filled, truth_advice
from gradsh.lang.excerpt import Mark, excerpt, printable
from gradsh.lang.locate import Call, is_internal, locate, operand_labels, place_of
from gradsh.lang.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gradsh.lang.excerpt import Segments
    from gradsh.lang.locate import Located

# Texts are cut at so many characters, and the way to an error at so many calls.
LONGEST_TEXT = 2000
MOST_CALLS = 5
# What Python calls otherwise.
_CONSTANTS = {
    "true": "True",
    "false": "False",
    "null": "None",
    "nil": "None",
    "NULL": "None",
    "none": "None",
    "undefined": "None",
}


class Context:
    """What a session knows that the language does not; one may be passed that has some of these methods only."""

    def describe(self, value: Any) -> str | None:
        """A few words on a value beside a failing expression (a tensor's shape), or None."""
        return None

    def read(self, value: Any, name: str) -> Any:
        """An attribute of a value, without running the program's code; `locate.MISSING` where there is none."""
        from gradsh.lang.locate import own_attribute

        return own_attribute(value, name)

    def names(self) -> Iterable[str]:
        """Names that could have been meant, besides those in scope."""
        return ()


class Report:
    """A fault or a warning: what it is, where, and what helps.

    `labels` are places with a text each; `trace` are the calls that led there, innermost first.
    """

    __slots__ = ("help", "labels", "message", "notes", "span", "trace", "type", "warning")

    kind = "error"

    def __init__(
        self,
        type: str,
        message: str,
        span: Span | None = None,
        labels: list[tuple[Span, str]] | None = None,
        help: str | None = None,
        notes: Iterable[str] = (),
        trace: Iterable[Call] = (),
        warning: bool = False,
    ) -> None:
        self.type, self.message, self.span, self.help, self.warning = type, message, span, help, warning
        self.labels, self.notes, self.trace = labels or [], list(notes), list(trace)

    @property
    def file(self) -> str | None:
        return None if self.span is None else self.span.source.name

    @property
    def line(self) -> int | None:
        return None if self.span is None else self.span.line

    @property
    def column(self) -> int | None:
        return None if self.span is None else self.span.column

    @property
    def end_line(self) -> int | None:
        return None if self.span is None else self.span.end_line

    @property
    def end_column(self) -> int | None:
        return None if self.span is None else self.span.end_column

    def lines(self, width: int = 80) -> list[Segments]:
        """The report as lines of (text, style); a style is "fault", "warning", "hint", "muted", "code" or ""."""
        style = "warning" if self.warning else "fault"
        head: Segments = []
        if self.span is not None:
            head.append((f"{printable(self.span.source.name)}:{self.span.line}:{self.span.column}: ", ""))
        first, *others = printable(_cut(self.message), newlines=True).split("\n")
        head.append((("warning: " if self.warning else "") + self.type, style))
        if first:
            head.append((f": {first}", ""))
        lines = [head, *([(other, "")] for other in others)]
        if self.span is not None:
            marks = [Mark(span, text) for span, text in self.labels]
            if not any(mark.span.line == self.span.line and mark.span.source is self.span.source for mark in marks):
                marks.insert(0, Mark(self.span, ""))
            lines += excerpt(marks, width, style)
        lines += [[("note", "muted"), (f": {text}", "")] for note in self.notes for text in [printable(_cut(note))]]
        if self.help:
            lines.append([("help", "hint"), (f": {printable(_cut(self.help))}", "")])
        lines += [[(text, "muted")] for text in self.trace_lines()]
        return lines

    def trace_lines(self) -> list[str]:
        """The calls that led there, in words."""
        # A function that calls itself makes the same line over and over.
        lines: list[tuple[str, int]] = []
        for call in self.trace:
            text = self._call(call)
            if lines and lines[-1][0] == text:
                lines[-1] = text, lines[-1][1] + 1
            else:
                lines.append((text, 1))
        shown = [text if times == 1 else f"{text}, {times:,} times" for text, times in lines[:MOST_CALLS]]
        left = sum(times for _, times in lines[MOST_CALLS:])
        return [*shown, f"and {left:,} more calls"] if left else shown

    def _call(self, call: Call) -> str:
        caller = "" if call.caller is None else f" from {_function(call.caller)}"
        if call.span is None:
            return f"in {_function(call.function)}, called{caller}"
        elsewhere = self.span is None or call.span.source is not self.span.source
        file = f"{printable(call.span.source.name)}:" if elsewhere else ""
        return f"in {_function(call.function)}, called{caller} at {file}{call.span.line}:{call.span.column}"

    def plain(self, width: int = 80) -> str:
        """The report as plain text, without a final newline."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self.lines(width))

    def as_json(self) -> dict[str, Any]:
        """The report's fields, ready for `json.dumps`; lines and columns count from 1."""
        return {
            "kind": "warning" if self.warning else "error",
            "type": self.type,
            "message": _cut(self.message),
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "labels": [{**_place(span), "text": _cut(text)} for span, text in self.labels],
            "help": self.help,
            "notes": self.notes,
            "trace": [{"function": call.function, "caller": call.caller, **_place(call.span)} for call in self.trace],
        }


def report_of(error: BaseException, context: Any = None) -> Report:
    """The report of an exception that a program raised, or that was found before it ran."""
    located = locate(error)
    if is_internal(error):
        return _internal(error, located)
    details = details_of(error)
    labels = [(span, text) for span, text in (details.labels if details else ()) if isinstance(span, Span)]
    if not labels:
        describe = getattr(context, "describe", None)
        if describe is not None:
            labels = operand_labels(located, describe, getattr(context, "read", None))
    help = None if located.span is None else _advice(_text(error), located.span)
    if help is None and details is not None:
        help = None if details.hint is None else filled(details.hint, located.span)
    notes = list(details.notes) if details is not None else []
    for text, code, instruction in details.sites if details is not None else ():
        place = None if code is None else place_of(code, instruction)
        if place is not None or "{}" not in text:
            where = "" if place is None else f"{place.line}:{place.column}"
            what = "" if place is None else " ".join(place.text.split())
            notes.append(text.replace("{}", where).replace("{what}", what))
    if isinstance(error, NameError) and error.name in CLOSED:
        notes.append(f"gradsh has no {error.name}")
    notes += _cause(error)
    return Report(
        _type_name(error),
        _text(error),
        located.span,
        labels,
        help or _nearest(error, located, context),
        notes,
        located.calls,
    )


def _type_name(error: BaseException) -> str:
    from gradsh.lang.syntax import Incomplete

    kind = type(error)
    if isinstance(error, Incomplete):
        return next(base for base in kind.__mro__ if base.__module__ == "builtins").__name__
    return kind.__name__


def _text(error: BaseException) -> str:
    try:
        return str(error.msg if isinstance(error, SyntaxError) and error.msg else error)
    except Exception:
        # A program's own exception, whose __str__ fails.
        return "(its message cannot be made)"


def _internal(error: BaseException, located: Located) -> Report:
    import os

    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    where = (
        ""
        if traceback is None
        else f" ({os.path.basename(traceback.tb_frame.f_code.co_filename)}:{traceback.tb_lineno})"
    )
    return Report(
        "InternalError",
        f"{_type_name(error)}: {_text(error)}{where}",
        located.span,
        notes=(
            "this is a fault of gradsh itself, not of the program; please report it with the program that caused it",
        ),
        trace=located.calls,
    )


def _cause(error: BaseException) -> list[str]:
    """The exception that another was raised from, or while handling."""
    cause = error.__cause__
    what = "caused by"
    if cause is None and not error.__suppress_context__:
        cause, what = error.__context__, "while handling"
    if cause is None or not locate(cause).frame:
        return []
    span = locate(cause).span
    where = "" if span is None else f" at {span.line}:{span.column}"
    message = _text(cause)
    return [f"{what} {_type_name(cause)}{': ' + message if message else ''}{where}"]


def _advice(message: str, span: Span) -> str | None:
    return truth_advice(message, span)


def _nearest(error: BaseException, located: Located, context: Any) -> str | None:
    """The nearest name in scope, or member, for one that does not exist."""
    if isinstance(error, UnboundLocalError) or not isinstance(error, NameError | AttributeError):
        return None
    wanted = error.name
    if not isinstance(wanted, str) or not wanted:
        return None
    candidates: set[str] = set()
    if isinstance(error, AttributeError):
        from gradsh.lang.members import names_of

        if error.obj is None:
            return None
        candidates.update(names_of(error.obj))
    else:
        frame = located.frame
        for scope in () if frame is None else (frame.f_locals, frame.f_globals, frame.f_builtins):
            candidates.update(scope)
        candidates.update(getattr(context, "names", tuple)())
        if wanted in CLOSED:
            return CLOSED[wanted]
        if wanted in _CONSTANTS:
            return f"did you mean {_CONSTANTS[wanted]}?"
    found = nearest(wanted, candidates)
    return f"did you mean {found}?" if found else None


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The name most like another, if any is like it."""
    import difflib

    usual = [candidate for candidate in candidates if not candidate.startswith((".", "__")) and candidate != name]
    found = difflib.get_close_matches(name, usual, 1)
    return found[0] if found else None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def _function(name: str) -> str:
    return "a lambda" if name == "<lambda>" else printable(name)


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
