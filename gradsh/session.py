"""The session: names, sources, settings, the last value, the records. The command and the prompt are built on it.

from gradsh import Session
s = Session()
s["x"] = numpy_array                      # a tensor that shares nothing
s.run("y = (x ** 2).sum()")               # the records of what was shown
s.eval("y + 1")                           # a value
s["x"].grad.numpy()
"""

from __future__ import annotations

import sys

from gradsh.backend import loading
from gradsh.backend.dtypes import BY_NAME
from gradsh.backend.shield import shield
from gradsh.engine.state import state, stop_following
from gradsh.engine.tensor import Tensor
from gradsh.fault import CommandError, Ended, LimitReached, fault
from gradsh.lang import Source, compile_program
from gradsh.lang.compiled import compiled_program
from gradsh.library.scope import Scope
from gradsh.notices import Hearing, Notices
from gradsh.view.value import PrintRecord, ValueRecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType
    from typing import Any

    from gradsh.backend.dtypes import DType
    from gradsh.lang import Program
    from gradsh.lang.form import Statement
    from gradsh.lang.places import Place, Places
    from gradsh.library.helpers import Helpers
    from gradsh.library.outside.pyplot import Figures
    from gradsh.repl.commands.command import Command
    from gradsh.settings import Settings
    from gradsh.view.record import Record
    from gradsh.view.writers import Writer

USAGE_ERRORS = (SyntaxError, CommandError)
RECURSION = 20_000  # Python frames; a language function takes one or two
DIGITS = 301_030  # of the largest integer that the language makes, in decimal


class Session:
    """One conversation with the interpreter.

    dialect: "shell" (float64, `^` is power, arithmetic on lists) or "torch" (float32, Python's own meaning).
    dtype: name of the default float type, over the dialect's. seed: of the random numbers.
    args: what the program finds as `args`. folder: where helper modules are found (`import helpers`), none without one.
    writer: where answers go as they come; without one, prints go to `sys.stdout` and answers are only returned.
    keep: nodes keep their values, places and gradients, which `:graph` shows.
    """

    dialect: str
    default: DType
    seed: int | None
    keep: bool

    def __init__(
        self,
        *,
        dialect: str = "shell",
        dtype: str | None = None,
        seed: int | None = None,
        args: Sequence[str] = (),
        writer: Writer | None = None,
        folder: str | None = None,
        keep: bool = True,
        interactive: bool = False,
    ) -> None:
        if dialect not in ("shell", "torch"):
            raise ValueError(f"dialect is 'shell' or 'torch', not {dialect!r}")
        self.dialect = dialect
        self.default = BY_NAME[dtype or ("float64" if dialect == "shell" else "float32")]
        self.writer, self.keep, self.interactive = writer, keep, interactive
        self.args, self.seed, self.folder = list(args), seed, folder
        self._helpers: Helpers | None = None
        self.records: list[Record] = []
        self.programs: dict[str, Program] = {}
        self._places: dict[str, Places] = {}
        self._settings: Settings | None = None
        self._keeper: Any = None
        self._ledger: Any = None
        self._entered: list[_Entered] = []
        self._direct = False
        self.namespace: dict[str, Any] = {}
        self.notices = Notices(self)
        self._figures: Figures | None = None
        self._open_scope()
        self.reset()

    def _open_scope(self) -> None:
        self.scope = Scope(self.dialect, self._helper)
        self.scope.names |= {"print": self._print, ".show": self._show, ".command": self._command}
        self.namespace["__builtins__"] = self.scope.names

    def reset(self) -> None:
        """Forget every variable and start the random numbers anew."""
        self.namespace.clear()
        self.namespace |= {"__builtins__": self.scope.names, "__name__": "__main__", "args": list(self.args)}
        self._own_underscore = True
        self._last_graph: tuple[Tensor, str] | None = None
        self._ledger = None
        if self.seed is not None:
            from gradsh.library.namespaces import module

            torch = module("torch")
            assert torch is not None
            torch.get("manual_seed")(self.seed)

    # ---- running

    def compile(self, text: str, name: str = "<input>", *, echo: bool | str = True) -> Program:
        """Parse and check a program: SyntaxError and CommandError faults come from here, before anything runs."""
        return self._compiled(Source.add(name, text), echo)

    def _compiled(self, source: Source, echo: bool | str, forms: tuple[Statement, ...] | None = None) -> Program:
        dialect, resolve = self.dialect, self._resolve
        if forms is None:
            program = compiled_program(source, dialect=dialect, echo=echo, signatures=resolve)  # type: ignore[arg-type]
        else:
            program = compile_program(source, dialect=dialect, echo=echo, signatures=resolve, forms=forms)  # type: ignore[arg-type]
        self.programs[source.filename] = program
        if program.warnings or source.skipped:
            self.notices.compiled(program)
        return program

    def run(self, text: str, name: str = "<input>", *, echo: bool | str = True) -> list[Record]:
        """Run a program; the records of what it showed. What fails raises Python's or PyTorch's exception."""
        return self.execute(self.compile(text, name, echo=echo))

    def execute(self, program: Program) -> list[Record]:
        """Run a compiled program in this session."""
        self.scope.provide(program.free_names)
        if "_" in program.assigned:
            self._own_underscore = False
        start = len(self.records)
        with _Entered(self, program):
            try:
                exec(program.code, self.namespace)
            except Exception as error:
                from gradsh.lang.misfits import reworded

                known = reworded(error)
                if known is error:
                    raise
                raise known from None
        found = self.records[start:]
        if not self._entered:
            self.records.clear()
        return found

    def unwind(self) -> None:
        """Put the engine back to how it was before the program that runs, if it was interrupted as it began or ended."""
        while self._entered:
            self._entered[-1].__exit__()

    def eval(self, text: str) -> Any:
        """The value of an expression."""
        before, self.writer = self.writer, None
        try:
            found = self.run(text, "<eval>")
        finally:
            self.writer = before
        shown = [record for record in found if isinstance(record, ValueRecord)]
        return shown[-1].value if shown else None

    def run_and_report(self, text: str, name: str, *, echo: bool | str, keep_going: bool = False) -> int:
        """Run a program for the command: what fails is reported, and the exit status is returned; or raised with `Ended`."""
        from gradsh.lang.locate import is_internal

        status = 0
        try:
            try:
                programs = self._statements(text, name, echo) if keep_going else [self.compile(text, name, echo=echo)]
            except Exception as error:
                self.report(error)
                return self.status_of(error)
            for program in programs:
                try:
                    self.execute(program)
                except BrokenPipeError:  # whoever read the answers has left, and nobody is there to be told
                    raise
                except Exception as error:
                    if isinstance(error, OSError) and error.filename is None and is_internal(error):
                        raise  # answers cannot be written: a full disk
                    self.report(error)
                    status = max(status, self.status_of(error))
                    if not keep_going:
                        return status
        except Ended as ended:
            ended.status = max(ended.status, status)
            raise
        except LimitReached as error:
            self.report(error)
            return 1
        return status

    def _statements(self, text: str, name: str, echo: bool | str) -> list[Program]:
        """The statements of a text as programs of their own, all compiled before any runs."""
        from gradsh.lang import parse_program

        source = Source.add(name, text)
        forms = parse_program(source, self.dialect)  # type: ignore[arg-type]
        found = []
        for k, form in enumerate(forms):
            part = source.again()
            if not k:
                part.skipped = source.skipped
            shown = echo if echo != "last" or k == len(forms) - 1 else False
            found.append(self._compiled(part, shown, (form,)))
        return found

    def check_and_report(self, text: str, name: str, known: set[str] | None = None) -> int:
        """Parse a program and check its names, without running it. known: names from before it, and its own."""
        try:
            program = self.compile(text, name, echo=False)
        except Exception as error:
            self.report(error)
            return self.status_of(error)
        self.scope.provide(program.free_names)
        known = set() if known is None else known
        known |= program.assigned
        status = 0
        for read, span in program.free_names.items():
            if read not in self.scope.names and read not in known and read not in self.namespace:
                self.report(fault(NameError, f"name '{read}' is not defined", span=span, hint=self._nearest(read)))
                status = 1
        return status

    def status_of(self, error: BaseException) -> int:
        """The exit status that an error means: 2 for what was found before anything ran, else 1."""
        return 2 if isinstance(error, USAGE_ERRORS) and not getattr(error, "at_run_time", False) else 1

    def report(self, error: BaseException) -> None:
        """Write an error to the writer."""
        from gradsh.lang.report import report_of

        if self.writer is not None:
            self.writer.report(report_of(error, self))

    def describe(self, value: Any) -> str | None:
        """A few words on a value beside a failing expression: a tensor's shape, and where it was made."""
        if not isinstance(value, Tensor):
            return None
        node = value.current_node()
        place = None if node is None else self.place_of(node.code, node.lasti)
        return str(tuple(value.shape)) + ("" if place is None else f", made at {place.where()}")

    def names(self) -> list[str]:
        """Every name that an unknown one may have been meant to be."""
        from gradsh.library.namespaces import bare_names

        return [name for name in (*self.namespace, *self.scope.names, *bare_names()) if name.isidentifier()]

    def _nearest(self, name: str) -> str | None:
        from gradsh.lang.advice import CLOSED
        from gradsh.lang.report import nearest

        if name in CLOSED:
            return CLOSED[name]
        near = nearest(name, self.names())
        return None if near is None else f"did you mean {near}?"

    def _helper(self, name: str) -> Any:
        """The module of a name that belongs to the session: its pictures, or a file beside the program; or None."""
        if name.partition(".")[0] in ("matplotlib", "mpl_toolkits"):
            return self.figures.module(name)
        if self.folder is None:
            return None
        if self._helpers is None:
            from gradsh.library.helpers import Helpers

            self._helpers = Helpers(self.folder, self._run_helper)
        return self._helpers(name)

    @property
    def figures(self) -> Figures:
        """What programs drew with matplotlib's names."""
        if self._figures is None:
            from gradsh.library.outside.pyplot import Figures

            self._figures = Figures(self.notices.note)
        return self._figures

    def _run_helper(self, path: str, text: str, name: str) -> dict[str, Any]:
        """Run a helper file in names of its own."""
        before, self.dialect = self.dialect, "torch" if path.endswith(".py") else self.dialect
        try:
            program = self.compile(text, path, echo=False)
        finally:
            self.dialect = before
        self.scope.provide(program.free_names)
        names: dict[str, Any] = {"__builtins__": self.scope.names, "__name__": name}
        exec(program.code, names)
        return names

    # ---- what programs call

    def _print(
        self, *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
    ) -> None:
        """Write values, as Python's print does."""
        text = (" " if sep is None else sep).join([value if value.__class__ is str else str(value) for value in values])
        end = "\n" if end is None else end
        if self.writer is None:
            sys.stdout.write(text + end)
            return
        self.writer.print(PrintRecord(text, values, end))

    _print.__qualname__ = "print"  # what its errors name

    def _show(self, value: Any, number: int) -> None:
        if value is None:
            return
        program = self._program()
        record = ValueRecord(value, program.shown[number].name)
        if self._own_underscore:
            self.namespace["_"] = value
        if isinstance(value, Tensor) and value.grad_fn is not None:
            self._last_graph = value, program.shown[number].text
        self._give(record)

    def _command(self, number: int, values: Sequence[Any]) -> None:
        from gradsh.repl.commands.command import resolve

        call = self._program().commands[number]
        command = resolve(call.name)
        self._direct = any(form.start == call.start for form in self._program().forms)
        try:
            found = command(self, call, values)
        except Exception as error:
            details = getattr(error, "details", None)
            if details is not None and details.span is None:
                details.span = call.span
            error.at_run_time = True  # type: ignore[attr-defined]
            raise
        records: Sequence[Record] = [] if found is None else found if isinstance(found, list | tuple) else [found]  # type: ignore[list-item]
        for record in records:
            self._give(record)
        if call.name in ("backward", "graph") and call.first:
            value = values[0]
            if isinstance(value, Tensor):
                self._last_graph = value, call.first[0].text

    def _program(self) -> Program:
        """The program whose code is calling."""
        return self.programs[sys._getframe(2).f_code.co_filename]

    def _give(self, record: Record) -> None:
        self.records.append(record)
        if self.writer is not None:
            self.writer.show(record)
            if self.interactive:
                remark = record.remark()
                if remark:
                    self.writer.note(f"note: {remark}")
            self.records.clear()

    def _resolve(self, name: str) -> Command:
        import gradsh.repl.commands  # noqa: F401  (registers them)
        from gradsh.repl.commands.command import resolve

        return resolve(name)

    # ---- what commands ask

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            from gradsh.settings import Settings

            self._settings = Settings(self)
        return self._settings

    def change_dialect(self, dialect: str) -> None:
        """Switch between the shell's defaults and PyTorch's, for what is entered from now on."""
        self.dialect = dialect
        self.default = state.default = BY_NAME["float64" if dialect == "shell" else "float32"]
        state.lists = dialect == "shell"
        self._open_scope()

    def __getitem__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return self.namespace[name]

    def __setitem__(self, name: str, value: Any) -> None:
        import keyword

        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
            raise KeyError(f"{name!r} is no name")
        if type(value).__module__.partition(".")[0] == "numpy":
            from gradsh.engine.create import tensor

            value = tensor(value)
        self.namespace[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self.namespace and not name.startswith("__")

    def variables(self) -> Iterator[tuple[str, Any]]:
        """The user's names and their values."""
        for name, value in list(self.namespace.items()):
            if (
                name.isidentifier()
                and not name.startswith("__")
                and not (name == "_" and self._own_underscore)
                and not (name == "args" and value == self.args)
            ):
                yield name, value

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor that a variable leads to, with its name: `x`, `net.0.weight`, `params[1]`."""
        for name, value in self.variables():
            if isinstance(value, Tensor):
                yield name, value
        for name, value in self.variables():
            if isinstance(value, list | tuple):
                yield from ((f"{name}[{k}]", item) for k, item in enumerate(value[:1000]) if isinstance(item, Tensor))
            elif isinstance(value, dict):
                yield from (
                    (f"{name}[{key!r}]", item) for key, item in list(value.items())[:1000] if isinstance(item, Tensor)
                )
            elif callable(getattr(value, "named_parameters", None)) and not isinstance(value, type):
                yield from ((f"{name}.{inner}", item) for inner, item in value.named_parameters())

    def name_of(self, tensor: Tensor) -> str | None:
        """The first name that leads to a tensor."""
        return next((name for name, value in self.tensors() if value is tensor), None)

    def node_names(self) -> dict[int, str]:
        """Names of nodes by identity: of the tensors that variables lead to."""
        found: dict[int, str] = {}
        for name, value in self.tensors():
            node = value.current_node()
            if node is not None:
                found.setdefault(id(node), name)
        return found

    def place_of(self, code: CodeType | None, lasti: int) -> Place | None:
        """Where in the program an instruction comes from."""
        program = None if code is None else self.programs.get(code.co_filename)
        if program is None or code is None:
            return None
        places = self._places.get(program.source.filename)
        if places is None:
            from gradsh.lang.places import Places

            places = self._places[program.source.filename] = Places(program)
        return places.at(code, lasti)

    def last_graph(self) -> tuple[Tensor, str]:
        """The value that `:graph` shows when none is named: the last one shown, or run backward from."""
        if self._last_graph is None:
            raise fault(CommandError, ":graph needs a value: none was shown yet", hint=":graph z")
        return self._last_graph

    def runs_of(self, tensor: Tensor) -> tuple[int, list[tuple[str, Tensor | None]]]:
        """How many backward runs a gradient is the sum of, 0 if that is not known, and what the latest of them added.

        They are (place, amount); a large amount is None. At the prompt a place is the text of what ran.
        """
        from gradsh.engine.tensor import wrap

        runs = None if self._ledger is None else self._ledger.of(tensor)
        if runs is None:
            return 0, []
        latest = [(self._where(code, at), None if raw is None else wrap(raw)) for code, at, raw in runs.latest]
        return runs.count, latest

    def _where(self, code: CodeType | None, lasti: int) -> str:
        place = self.place_of(code, lasti)
        if place is None:
            return ""
        return place.text if self.interactive and place.span.source.name == "<input>" else place.where()

    @property
    def answers_directly(self) -> bool:
        """Whether the command that runs was itself entered at the prompt: not in a loop, a function or a file."""
        return self.interactive and self._direct and len(self._entered) == 1

    def write_file(self, path: str, text: str) -> None:
        """Replace a file at once, or leave it as it was."""
        from gradsh.data.files import check_files_allowed, replace_file

        check_files_allowed(path)
        replace_file(path, text)


class _Entered:
    """The engine's state while a session's program runs, and what it was before."""

    RESTORED = ("default", "lists", "keep", "ledger", "grad", "inference", "backward_depth", "suspicion")

    def __init__(self, session: Session, program: Program) -> None:
        self.session, self.program = session, program
        self.hearing = Hearing(session.notices)

    def __enter__(self) -> None:
        session = self.session
        with shield:
            self.before = {name: getattr(state, name) for name in self.RESTORED}
            self.limits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
            stop_following()
            if not session._entered:
                state.default, state.lists = session.default, session.dialect == "shell"
                self.errstate: Any = None
                self.active = True
                self.hearing.start()
                loading.when_loaded(self._hush)
                self._keep()
                sys.setrecursionlimit(max(self.limits[0], RECURSION))
                sys.set_int_max_str_digits(DIGITS)
            session._entered.append(self)

    def _keep(self) -> None:
        """Let the engine keep what `:graph` and `:grad` show."""
        session = self.session
        if session.keep or self._keeping():
            if session._keeper is None:
                from gradsh.engine.keep import Keeper

                session._keeper = Keeper()
            state.keep = session._keeper
        if session.keep or session.interactive:
            if session._ledger is None:
                from gradsh.engine.ledger import Ledger

                session._ledger = Ledger()
            state.ledger = session._ledger

    def _keeping(self) -> bool:
        if not self.program.commands:
            return False
        from gradsh.repl.commands.command import COMMANDS

        return any(call.name in COMMANDS and COMMANDS[call.name].keeps for call in self.program.commands)

    def __exit__(self, *error: object) -> None:
        session = self.session
        with shield:
            session._entered.pop()
            stop_following()
            if not session._entered:
                session.default = state.default
                for name, value in self.before.items():
                    setattr(state, name, value)
                sys.setrecursionlimit(self.limits[0])
                sys.set_int_max_str_digits(self.limits[1])
                self.hearing.stop()
                self.active = False
                if self.errstate is not None:
                    self.errstate.__exit__(None, None, None)

    def _hush(self) -> None:
        """numpy's warnings off until the program ends, but for what tells of a nan; called when numpy is there."""
        from gradsh.backend import arrays
        from gradsh.engine.undefined import noticed

        if self.active:
            self.errstate = arrays.errstate(divide="call", over="call", under="ignore", invalid="call", call=noticed)
            self.errstate.__enter__()
