"""What keys do at the prompt, where it differs from prompt_toolkit's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_insert_mode, has_completions, has_focus, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from gradsh.lang import needs_more
from gradsh.repl.editing import INDENT, cleaned_paste, indent_after, surplus_indent

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer

    from gradsh.session import Session


@Condition
def _in_indentation() -> bool:
    """Whether there is nothing but spaces before the cursor in its line, and some of them."""
    before = get_app().current_buffer.document.current_line_before_cursor
    return bool(before) and before.isspace()


@Condition
def _at_margin() -> bool:
    """Whether there is nothing but spaces, or nothing, before the cursor in a further line of a block."""
    document = get_app().current_buffer.document
    return document.cursor_position_row > 0 and not document.current_line_before_cursor.strip()


def bindings(session: Session) -> KeyBindings:
    """The bindings of a prompt for this session."""
    keys = KeyBindings()
    typing = has_focus(DEFAULT_BUFFER) & (emacs_insert_mode | vi_insert_mode)
    pasted = indented = ""  # the whole text as one paste made it, and as an indentation left it

    @keys.add("enter", filter=has_focus(DEFAULT_BUFFER))
    def _(event: KeyPressEvent) -> None:
        nonlocal indented
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif _goes_on(session, buffer, pasted):
            typed = not event.app.key_processor.input_queue  # what comes in one piece brings its own indentation
            buffer.insert_text("\n" + (indent_after(buffer.document.text_before_cursor) if typed else ""))
            indented = buffer.text
        else:
            _enter(buffer)

    @keys.add("escape", "enter", filter=has_focus(DEFAULT_BUFFER))
    def _(event: KeyPressEvent) -> None:
        _enter(event.current_buffer)

    @keys.add(Keys.BracketedPaste, filter=typing)
    def _(event: KeyPressEvent) -> None:
        nonlocal pasted
        buffer = event.current_buffer
        alone = not buffer.text.strip()
        buffer.insert_text(cleaned_paste(event.data, buffer.document.current_line_before_cursor))
        pasted = buffer.text if alone else ""

    @keys.add(" ", filter=typing)
    def _(event: KeyPressEvent) -> None:
        """Whoever indents by hand begins at the margin, not behind the indentation that is there."""
        buffer = event.current_buffer
        if buffer.text == indented and not buffer.document.text_after_cursor:
            buffer.delete_before_cursor(len(buffer.document.current_line_before_cursor))
        buffer.insert_text(" ", overwrite=False)

    @keys.add("tab", filter=typing & _at_margin & ~has_completions)
    def _(event: KeyPressEvent) -> None:
        width = len(event.current_buffer.document.current_line_before_cursor)
        event.current_buffer.insert_text(" " * (INDENT - width % INDENT))

    @keys.add("backspace", filter=typing & _in_indentation)
    def _(event: KeyPressEvent) -> None:
        before = event.current_buffer.document.current_line_before_cursor
        spaces = len(before) - len(before.rstrip(" "))
        event.current_buffer.delete_before_cursor(min(spaces, (len(before) - 1) % INDENT + 1) or 1)

    @keys.add(":", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        buffer.insert_text(":")
        document = buffer.document
        surplus = surplus_indent(document.text_before_cursor)
        if surplus:
            start = document.cursor_position - len(document.current_line_before_cursor)
            text = document.text[:start] + document.text[start + surplus :]
            buffer.document = Document(text, document.cursor_position - surplus)

    return keys


def _goes_on(session: Session, buffer: Buffer, pasted: str) -> bool:
    """Whether Enter begins a new line: the text needs more, or the cursor is inside it."""
    document = buffer.document
    if document.line_count > 1 and document.text_after_cursor.strip():
        return True
    text = document.text.rstrip(" \t\n") + "\n" if _is_whole(buffer, pasted) else document.text
    try:
        return needs_more(text, session.dialect)  # type: ignore[arg-type]
    except Exception:  # a text that breaks the parser is entered, and reported
        return False


def _is_whole(buffer: Buffer, pasted: str) -> bool:
    """Whether the text came in one piece, from a paste or the history: then no empty line is needed to end a block."""
    earlier = buffer.history.get_strings()
    recalled = buffer.working_index < len(earlier) and earlier[buffer.working_index] == buffer.text
    return recalled or buffer.text == pasted


def _enter(buffer: Buffer) -> None:
    text = buffer.text.rstrip()
    buffer.document = Document(text, len(text))
    buffer.validate_and_handle()
