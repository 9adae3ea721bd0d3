"""The command line: arguments to a session, and the session's outcome to an exit status."""

from __future__ import annotations

import os
import sys

from gradsh.data.programs import is_notebook, read_parts
from gradsh.fault import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradsh.session import Session
    from gradsh.view.writers import Writer

    Parts = Callable[[], list[tuple[str, str]]]

SCHEMA = 1  # of what --json prints: docs/json.md; greater where a field means something else, or is gone
PROMPT = "what is typed at the prompt"
OK, FAILED, USAGE, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 130, 141

USES = (
    ("gradsh", "the prompt, when standard input is a terminal"),
    ("gradsh FILE [ARG…]", "run a script; its `args` holds ARG…; FILE.py runs with PyTorch's defaults"),
    ("gradsh -e CODE [-e CODE…]", "run code; standard input stays free for data"),
    ("… | gradsh    or    gradsh -", "run the program on standard input"),
    ("gradsh -i FILE", "run, then stay at the prompt"),
    ("gradsh check FILE…", "parse and check names only"),
)


class Option:
    """One flag: its spellings, the name of its value (None for a switch), its help, and the values it may have."""

    __slots__ = ("choices", "flags", "help", "key", "many", "value")

    def __init__(
        self, flags: str, help: str, value: str | None = None, choices: tuple[str, ...] = (), many: bool = False
    ) -> None:
        self.flags, self.help, self.value, self.choices, self.many = flags.split(), help, value, choices, many
        self.key = self.flags[-1].lstrip("-").replace("-", "_")


OPTIONS = (
    Option("-e --eval", "run CODE; may be given several times", "CODE", many=True),
    Option("-i --interactive", "stay at the prompt afterwards"),
    Option("--json", "one JSON object a line on standard output, for every shown value and answer"),
    Option("--echo", "show the value of expression statements"),
    Option("--no-echo", "do not show the value of expression statements"),
    Option("--torch", "PyTorch's defaults: float32 and Python's own meaning of everything"),
    Option("--dtype", "the default float type", "TYPE", ("float32", "float64", "float16")),
    Option("--seed", "seed of the random numbers", "N"),
    Option("--backend", "the array library", "NAME", ("numpy",)),
    Option("--color", "colour: on a terminal, always or never", "WHEN", ("auto", "always", "never")),
    Option("--width", "width of the page in cells", "N"),
    Option("--keep-going", "go on after an error; the status is still 1"),
    Option("--version", "print the version"),
    Option("-h --help", "print this help"),
)


class UsageError(Exception):
    """Arguments that make no sense; the message says which."""


class Arguments:
    """What the command line asked for: a value for every option, the programs to run, and the script's own arguments."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {option.key: [] if option.many else None for option in OPTIONS}
        self.files: list[str] = []
        self.check = False
        self.rest: list[str] = []

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Read the arguments. Everything behind the script's name is the script's own."""
    found = Arguments()
    by_flag = {flag: option for option in OPTIONS for flag in option.flags}
    items = list(argv)
    if items[:1] == ["check"] and not os.path.exists("check"):
        found.check = True
        del items[0]
    while items:
        item = items.pop(0)
        if item == "--":
            found.files += items[:1] if not found.check else items
            found.rest = items[1:] if not found.check else []
            break
        if item == "-" or not item.startswith("-") or (found.eval and _is_number(item)):
            found.files.append(item)
            if not found.check:
                found.rest = items
                break
            continue
        flag, equals, value = item.partition("=") if item.startswith("--") else (item, "", "")
        option = by_flag.get(flag)
        if option is None and item[:2] in by_flag and not item.startswith("--") and by_flag[item[:2]].value:
            option, equals, value = by_flag[item[:2]], "=", item[2:]
        if option is None:
            raise UsageError(f"there is no option {item}{_nearest(flag, by_flag)}")
        if option.value is None:
            if equals:
                raise UsageError(f"{flag} takes no value")
            found.values[option.key] = True
            continue
        if not equals:
            if not items:
                raise UsageError(f"{flag} needs a value: {flag} {option.value}")
            value = items.pop(0)
        if option.choices and value not in option.choices:
            raise UsageError(f"{flag} is one of {', '.join(option.choices)}, not {value!r}")
        if option.value == "N":
            try:
                found.values[option.key] = int(value)
            except ValueError:
                raise UsageError(f"{flag} needs a whole number, not {value!r}") from None
            if flag == "--width" and found.width < 0:
                raise UsageError(f"--width is a number of cells, not {value}")
        elif option.many:
            found.values[option.key].append(value)
        else:
            found.values[option.key] = value
    return found


def _is_number(item: str) -> bool:
    try:
        float(item)
    except ValueError:
        return False
    return True


def _nearest(flag: str, known: dict[str, Option]) -> str:
    import difflib

    near = difflib.get_close_matches(flag, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def help_text() -> str:
    """What `--help` prints."""
    lines = ["gradsh: autograd at the command line", ""]
    width = max(len(use) for use, _ in USES) + 2
    lines += [f"  {use:{width}}{what}" for use, what in USES] + [""]
    rows = [(", ".join(option.flags) + (f" {option.value}" if option.value else ""), option) for option in OPTIONS]
    width = max(len(row) for row, _ in rows) + 2
    for row, option in rows:
        choices = f" ({', '.join(option.choices)})" if option.choices else ""
        lines.append(f"  {row:{width}}{option.help}{choices}")
    lines += [
        "",
        "Exit status: 0 done, 1 the program failed, 2 wrong usage or syntax, 130 interrupted, 141 closed pipe.",
        "At the prompt, :help lists the commands.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is returned."""
    if argv is None:
        _limit_memory()
    try:
        status = _main(sys.argv[1:] if argv is None else argv)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return status
    except BrokenPipeError:
        _silence()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            raise
        _say(f"gradsh: {error.strerror}")
        _silence()
        return FAILED


def _limit_memory() -> None:
    """Let an allocation that this machine has no memory for be a MemoryError, rather than the end of some process."""
    try:
        import resource

        from gradsh.backend.memory import machine_memory

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = min(size for size in (soft, hard, machine_memory()) if size != resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (ImportError, AttributeError, OSError, ValueError):  # a system without such limits
        return


def _silence() -> None:
    """Let nothing more be written at exit to streams that cannot take it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue


def _say(text: str) -> None:
    if sys.stderr is not None:
        try:
            print(text, file=sys.stderr)
        except OSError:
            return


def _main(argv: Sequence[str]) -> int:
    try:
        options = parse_arguments(argv)
    except UsageError as error:
        _say(f"gradsh: {error}\nhelp: gradsh --help lists the options")
        return USAGE
    if options.help:
        print(help_text())
        return OK
    if options.version:
        from gradsh import __version__

        print(
            f'{{"kind": "version", "version": "{__version__}", "schema": {SCHEMA}}}'
            if options.json
            else f"gradsh {__version__}"
        )
        return OK
    if sys.stdout is None:
        _say("gradsh: standard output is closed")
        return FAILED
    _prepare_streams()
    if options.check:
        return _check(options)
    programs = _evaluated(options)
    programs += [(name, lambda name=name: read_parts(name)) for name in options.files[:1] if not options.eval]  # type: ignore[misc]
    rest = options.files + options.rest if options.eval else options.rest
    interactive = options.interactive
    if not programs:
        if sys.stdin is not None and sys.stdin.isatty():
            interactive = True
        else:
            programs = [("-", lambda: read_parts("-"))]
    _claim_input("the program" if any(name == "-" for name, _ in programs) else PROMPT if interactive else "")
    session = _session(options, rest, programs)
    _collect_garbage_seldom()
    status = OK
    try:
        for name, parts in programs:
            status = max(status, _run(session, name, parts, options))
            if status != OK and not options.keep_going:
                break
        if interactive:
            from gradsh.repl import converse

            return converse(session, options)
    except Ended as ended:
        return max(status, ended.status)
    return status


def _evaluated(options: Arguments) -> list[tuple[str, Parts]]:
    """The programs that `-e` gave: UTF-8, whatever the locale has made of the command's bytes."""
    texts = [
        os.fsencode(code).decode("utf-8", "surrogateescape") if not code.isascii() else code for code in options.eval
    ]
    return [("<eval>", lambda text=text: [("<eval>", text)]) for text in texts]  # type: ignore[misc]


def _claim_input(holds: str) -> None:
    """Say what standard input holds, if no data for programs."""
    from gradsh.engine.state import state

    state.input = holds


def _prepare_streams() -> None:
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream is sys.stdin:
            reconfigure(encoding="utf-8", errors="surrogateescape")
        else:
            reconfigure(errors="backslashreplace")


def _session(options: Arguments, rest: list[str], programs: list[tuple[str, Any]]) -> Session:
    from gradsh.session import Session

    torch = options.torch or any(name.endswith((".py", ".ipynb")) for name, _ in programs)
    return Session(
        dialect="torch" if torch else "shell",
        dtype=options.dtype,
        seed=options.seed,
        args=rest,
        folder=next((os.path.dirname(name) or "." for name, _ in programs if name not in ("<eval>", "-")), None),
        keep=bool(options.eval) or options.interactive is True or not programs,
        writer=_writer(options),
    )


def _writer(options: Arguments) -> Writer:
    from gradsh.view import writers

    results, reports = sys.stdout, sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
    width = options.width or writers.page_width(results)
    both = sys.stdin is not None and not sys.stdin.isatty() and not results.isatty()
    kind = writers.Writer
    if options.json:
        kind = writers.JsonWriter
    elif writers.colour_wanted(results, options.color or "auto"):
        kind = writers.TerminalWriter
    writer = kind(results, reports, width, prompt=both or results.isatty())
    if isinstance(writer, writers.TerminalWriter):
        writer.plain_reports = not writers.colour_wanted(reports, options.color or "auto")
    return writer


def _run(session: Session, name: str, parts: Parts, options: Arguments) -> int:
    echo: bool | str = bool(options.echo or (not options.no_echo and name in ("<eval>", "-")))
    if is_notebook(name) and not options.echo and not options.no_echo:
        echo = "last"
    texts = _read(name, parts)
    status = USAGE if texts is None else OK
    for label, text in texts or ():
        status = max(status, session.run_and_report(text, label, echo=echo, keep_going=bool(options.keep_going)))
        if status != OK and not options.keep_going:
            break
    return status


def _read(name: str, parts: Parts) -> list[tuple[str, str]] | None:
    """The texts of a program, or None after saying why there are none."""
    try:
        return parts()
    except (OSError, ValueError) as error:
        _say(f"gradsh: {name}: {getattr(error, 'strerror', None) or error}")
        return None


def _check(options: Arguments) -> int:
    from gradsh.session import Session

    programs = _evaluated(options) + [(name, lambda name=name: read_parts(name)) for name in options.files]
    if not programs:
        _say("gradsh: check needs a file: gradsh check FILE…")
        return USAGE
    status, writer = OK, _writer(options)
    for name, parts in programs:
        torch = options.torch or name.endswith((".py", ".ipynb"))
        session = Session(dialect="torch" if torch else "shell", writer=writer)
        texts = _read(name, parts)
        known = {"_"} if is_notebook(name) else set()
        found = [session.check_and_report(text, label, known) for label, text in texts or ()]
        status = max(status, *found, USAGE if texts is None else OK)
    return status


def _collect_garbage_seldom() -> None:
    """A graph has no reference cycles, so the cyclic collector finds nothing in it and half of its time is waste."""
    import gc

    gc.freeze()
    gc.set_threshold(200_000, 20, 50)
