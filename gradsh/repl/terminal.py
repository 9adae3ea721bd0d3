"""Input at a terminal, by prompt_toolkit: editing, history, completion, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer as ToolkitCompleter, Completion as ToolkitCompletion
from prompt_toolkit.input import create_input
from prompt_toolkit.layout.processors import HighlightMatchingBracketProcessor, Processor, TabsProcessor
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth, create_output
from prompt_toolkit.styles import Style

from gradsh.repl.completion import Completer
from gradsh.repl.highlighting import parts
from gradsh.repl.keys import bindings
from gradsh.repl.plain import MORE, PROMPT
from gradsh.repl.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from gradsh.repl.history import History
    from gradsh.session import Session

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",  # of text without a colour, prompt_toolkit does not write the space at its end
        "prompt-continuation": "ansibrightblack",
        "keyword": "ansimagenta",
        "number": "ansigreen",
        "string": "ansiyellow",
        "comment": "ansibrightblack",
        "command": "bold ansicyan",
        "library": "ansicyan",
        "wrong": "ansired",
        "matching-bracket": "bold underline",
        "matching-bracket.cursor": "bold underline",
        "matching-bracket.other": "bold underline",
    }
)


class TerminalReader:
    """Reads blocks at a terminal that shows them on `output`."""

    def __init__(self, session: Session, output: TextIO, history: History, *, colour: bool) -> None:
        reach = Reach(session)
        processors: list[Processor] = [TabsProcessor(char1=" ", char2=" ")]
        if colour:
            processors.append(HighlightMatchingBracketProcessor())
        screen = create_output(output)
        if hasattr(screen, "enable_cpr"):
            # The cursor's place need not be known, and an answer that comes late would be a running program's input.
            screen.enable_cpr = False
        self.prompt_session: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            multiline=True,
            prompt_continuation=[("class:prompt-continuation", MORE)],
            history=history,
            lexer=_Highlighter(session, reach) if colour else None,
            completer=_Completer(Completer(session, reach)),
            complete_while_typing=False,
            enable_history_search=True,
            search_ignore_case=True,
            enable_suspend=True,
            enable_open_in_editor=True,
            tempfile_suffix=".grad",
            key_bindings=bindings(session),
            input_processors=processors,
            style=STYLE,
            include_default_pygments_style=False,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            input=create_input(),
            output=screen,
        )

    def read(self) -> str:
        """The next block. EOFError where the user leaves, KeyboardInterrupt where the block is given up."""
        return self.prompt_session.prompt()


class _Completer(ToolkitCompleter):
    """The session's completer as prompt_toolkit asks it; whatever goes wrong in it costs the completions only."""

    def __init__(self, completer: Completer) -> None:
        self.completer = completer

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[ToolkitCompletion]:
        try:
            found = self.completer.complete(document.text_before_cursor)
        except Exception:
            return
        for one in found:
            yield ToolkitCompletion(one.text, -one.length, display_meta=one.remark)


class _Highlighter(Lexer):
    """The parts of the text in their colours, by line."""

    def __init__(self, session: Session, reach: Reach) -> None:
        self.session, self.reach = session, reach

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        try:
            lines = self._lines(document.text)
        except Exception:
            lines = [[("", line)] for line in document.lines]
        return lambda number: lines[number] if number < len(lines) else []

    def _lines(self, text: str) -> list[StyleAndTextTuples]:
        from gradsh.repl.commands.command import COMMANDS

        lines: list[StyleAndTextTuples] = [[]]

        def add(style: str, part: str) -> None:
            first, *others = part.split("\n")
            lines[-1].append((style, first))
            lines.extend([(style, other)] for other in others)

        end = 0
        for start, stop, style in parts(text, self.session.dialect, COMMANDS, self.reach):  # type: ignore[arg-type]
            add("", text[end:start])
            add(f"class:{style}", text[start:stop])
            end = stop
        add("", text[end:])
        return lines
