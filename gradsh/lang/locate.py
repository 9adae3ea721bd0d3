"""Where in a program an exception came from: the expression, its operands' values, and the calls that led there."""

from __future__ import annotations

from gradsh.fault import details_of
from gradsh.lang.form import Form, Statement
from gradsh.lang.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType, TracebackType
    from typing import Any

MISSING: Any = object()
# Files of ours that carry out what a program says itself, such as `a ** b`: what fails in them is the program's.
_TRANSPARENT = ("arithmetic.py", "members.py", "formatting.py", "builtins.py")

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Call:
    """One step of the way to an error: the function that was entered, and from where it was called."""

    __slots__ = ("caller", "function", "span")

    def __init__(self, function: str, caller: str | None, span: Span | None) -> None:
        self.function, self.caller, self.span = function, caller, span


class Located:
    """The failing expression, the frame that it runs in, and the calls that led to it, innermost first."""

    __slots__ = ("calls", "frame", "span")

    def __init__(self, span: Span | None, frame: FrameType | None, calls: list[Call]) -> None:
        self.span, self.frame, self.calls = span, frame, calls


def locate(error: BaseException) -> Located:
    """Find the innermost of the user's frames that an exception passed."""
    frames = [found for found in _frames(error.__traceback__) if _is_users(found.tb_frame.f_code)]
    details = details_of(error)
    span = details.span if details is not None and isinstance(details.span, Span) else None
    if not frames:
        return Located(span, None, [])
    places = [_span(entry.tb_frame.f_code, entry.tb_lasti, entry.tb_lineno) for entry in frames]
    names = [entry.tb_frame.f_code.co_name for entry in frames]
    calls: list[Call] = []
    # What is inside a comprehension is not called by anybody.
    steps = [k for k in range(len(frames)) if names[k] not in _COMPREHENSIONS]
    for k in range(len(steps) - 1, 0, -1):
        caller = names[steps[k - 1]]
        calls.append(Call(names[steps[k]], None if caller == "<module>" else caller, places[steps[k] - 1]))
    return Located(span or _narrowed(places[-1]), frames[-1].tb_frame, calls)


def _narrowed(span: Span | None) -> Span | None:
    """The part that is meant where Python blames the whole: what a `for` goes through, what a condition tests."""
    from gradsh.lang.forms.compound import Elif, For, If, While
    from gradsh.lang.forms.operators import Ternary
    from gradsh.lang.forms.simple import Assert

    form = None if span is None else form_at(span)
    if isinstance(form, For):
        form = form.values
    elif isinstance(form, If | Elif | While | Ternary | Assert):
        form = form.test
    else:
        return span
    return None if span is None else span.source.span(form.start, form.end)


def place_of(code: CodeType, instruction: int) -> Span | None:
    """The span of an instruction (an offset in bytes, as in `f_lasti`)."""
    return _span(code, instruction, None)


def is_internal(error: BaseException) -> bool:
    """Whether an exception is gradsh's own failure: raised in our Python code, and not on purpose."""
    if details_of(error) is not None or isinstance(error, RecursionError | MemoryError | KeyboardInterrupt):
        return False
    frames = [*_frames(error.__traceback__)]
    filename = frames[-1].tb_frame.f_code.co_filename if frames else ""
    return _is_ours(filename)


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_users(code: CodeType) -> bool:
    source = Source.of(code.co_filename)
    return source is not None and not source.library


def _is_ours(filename: str) -> bool:
    """Whether a file is part of this package, or source that the engine generated, and does work of its own."""
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    folder, name = os.path.split(filename)
    if folder == here and name in _TRANSPARENT:
        return False
    return filename.startswith((os.path.dirname(here) + os.sep, "gradsh op "))


def _span(code: CodeType, instruction: int, line: int | None) -> Span | None:
    source = Source.of(code.co_filename)
    if source is None:
        return None
    positions = list(code.co_positions())
    number = instruction // 2
    if 0 <= number < len(positions):
        first, last, column, end_column = positions[number]
        if first is not None and last is not None and column is not None and end_column is not None:
            return Span(source, first, column + 1, last, end_column + 1)
        line = line or first
    return None if line is None else _statement(source, line)


def _statement(source: Source, line: int) -> Span | None:
    """The statement on a line, for a Python that was told to keep no columns."""
    found: Form | None = None
    for form in walk(source.forms):
        around = source.position(form.start)[0] <= line <= source.position(form.end)[0]
        smaller = found is None or form.end - form.start <= found.end - found.start
        if isinstance(form, Statement) and around and smaller:
            found = form
    if found is None:
        return None
    span = source.span(found.start, found.end)
    if span.end_line > span.line:
        span.end_line, span.end_column = span.line, len(source.lines[span.line - 1]) + 1
    return span


def walk(forms: tuple[Any, ...]) -> Iterator[Form]:
    """All forms in a tree, without recursion."""
    waiting: list[Any] = [forms]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Form):
            yield item
        waiting += [part for part in item if isinstance(part, tuple)]


def form_at(span: Span) -> Form | None:
    """The outermost expression, or else the statement, with exactly this span."""
    around = forms_around(span)
    return around[-1] if around and _offsets(span) == (around[-1].start, around[-1].end) else None


def forms_around(span: Span) -> list[Form]:
    """The forms that hold a span, from the outermost in, up to the first expression with exactly that span."""
    start, end = _offsets(span)
    around: list[Form] = []
    waiting: list[Any] = [span.source.forms]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Form):
            if item.start > start or item.end < end:
                continue
            around.append(item)
            if item.start == start and item.end == end and not isinstance(item, Statement):
                break
        waiting += [part for part in item if isinstance(part, tuple)]
    return around


def _offsets(span: Span) -> tuple[int, int]:
    source = span.source
    return source.offset(span.line, span.column - 1), source.offset(span.end_line, span.end_column - 1)


def operand_labels(
    located: Located, describe: Callable[[Any], str | None], read: Callable[[Any, str], Any] | None = None
) -> list[tuple[Span, str]]:
    """What the named operands of the failing expression are: (place, description) each.

    `describe` says what a value is, or None; `read(value, name)` gives an attribute without running the program's code,
    or MISSING.
    """
    span, frame = located.span, located.frame
    form = None if span is None else form_at(span)
    if form is None or frame is None or span is None:
        return []
    labels: list[tuple[Span, str]] = []
    for operand in _operands(form):
        value = value_of(operand, frame, read or own_attribute)
        text = None if value is MISSING else describe(value)
        if text is not None:
            labels.append((span.source.span(operand.start, operand.end), text))
    return labels


def _operands(form: Form) -> Iterator[Form]:
    """What a form computes with."""
    from gradsh.lang.forms.access import Call as CallForm, DoubleStarred, Keyword, Starred, Subscript
    from gradsh.lang.forms.operators import Binary, Comparison, Power, Unary
    from gradsh.lang.forms.simple import Augmented

    if isinstance(form, Binary | Power):
        yield from (form.left, form.right)
    elif isinstance(form, Unary):
        yield form.operand
    elif isinstance(form, Augmented):
        yield from (form.place, form.value)
    elif isinstance(form, Comparison):
        yield from form.parts[::2]
    elif isinstance(form, Subscript):
        yield from (form.value, form.key)
    elif isinstance(form, CallForm):
        for argument in form.arguments or ():
            yield argument.value if isinstance(argument, Keyword | Starred | DoubleStarred) else argument


def value_of(form: Form, frame: FrameType, read: Callable[[Any, str], Any]) -> Any:
    """The value of a name or of a path of attributes in a frame, or MISSING; nothing of the program runs for it."""
    from gradsh.lang.forms.access import Attribute
    from gradsh.lang.forms.values import Name

    path: list[str] = []
    while isinstance(form, Attribute):
        path.append(form.name)
        form = form.value
    if not isinstance(form, Name):
        return MISSING
    value = MISSING
    for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if form.name in scope:
            value = scope[form.name]
            break
    while path and value is not MISSING:
        value = read(value, path.pop())
    return value


def own_attribute(value: Any, name: str) -> Any:
    """An attribute that a value itself holds."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return MISSING
    return held.get(name, MISSING) if type(held) is dict else MISSING
