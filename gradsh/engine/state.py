"""What is in force while operations run: gradient recording, default type, how much a node keeps."""

from __future__ import annotations

from itertools import count
from os import environ

from gradsh.backend.dtypes import DType, float64
from gradsh.engine.text import PrintOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any


class State:
    """The engine's modes. One instance, `state`; every field may be changed by a context manager here.

    grad: operations on tensors that require a gradient are recorded.
    inference: results are inference tensors, which cannot be saved for a backward pass.
    inference_seen: it has been so once, so that there may be such tensors.
    watching: new nodes are looked at, for `keep` or for `inference_seen`.
    default: the element type of floats given as Python numbers.
    keep: called with each recorded node, its output and the calling frame, or None; insight uses it.
    ledger: called with each tensor whose gradient was added to, what that was before, and the amount, or None.
    levels: the transforms in force (`level.Level`), outermost first.
    lists: Python lists are taken as tensors (the shell's defaults).
    files: programs may read and write files.
    input: what standard input holds, if it is no data for programs: "the program", "what is typed at the prompt".
    cuda_as_cpu: a program that asks for cuda gets the processor.
    print_options: how tensors are written.
    plans: "auto", "always" or "off": whether operations that come again are put off and computed together (`plans`).
    suspicion: that a gradient may be nan (`undefined.Suspicion`), or None.
    apart: the node of a plan has been taken apart.
    anomaly, check_nan: `detect_anomaly` is on; and with it, a nan that appears in a backward pass is an error.
    """

    __slots__ = (
        "anomaly", "apart", "backward_depth", "check_nan", "cuda_as_cpu", "default", "files", "grad", "inference",
        "_inference_seen", "input", "_keep", "ledger", "levels", "lists", "plans", "print_options", "suspicion", "watching",
    )  # fmt: skip

    def __init__(self) -> None:
        self.grad = True
        self.watching = self.inference = self._inference_seen = False
        self.default: DType = float64
        self._keep: Callable[[Any, Any, Any], None] | None = None
        self.ledger: Callable[[Any, Any, Any], None] | None = None
        self.levels: list[Any] = []
        self.lists = True
        self.apart = False
        self.plans = environ.get("GRADSH_PLANS", "auto")
        self.files = True
        self.input = ""
        self.cuda_as_cpu = False
        self.print_options = PrintOptions()
        self.anomaly = self.check_nan = False
        self.backward_depth = 0
        self.suspicion: Any = None

    @property
    def keep(self) -> Callable[[Any, Any, Any], None] | None:
        return self._keep

    @keep.setter
    def keep(self, keeper: Callable[[Any, Any, Any], None] | None) -> None:
        self._keep = keeper
        self.watching = keeper is not None or self._inference_seen

    @property
    def inference_seen(self) -> bool:
        return self._inference_seen

    @inference_seen.setter
    def inference_seen(self, seen: bool) -> None:
        self._inference_seen = seen
        self.watching = seen or self._keep is not None


state = State()


class Head:
    """Where the tape that is followed is read (`plans.tape`). next: the entry that is expected; None while none is."""

    __slots__ = ("next",)

    def __init__(self) -> None:
        self.next: Any = None


head = Head()


def settle() -> None:
    """Compute what was put off, before memory is changed."""
    if head.next is not None:
        from gradsh.engine.plans.tape import look

        look()


def stop_following() -> None:
    """Compute what was put off; until the next pass nothing is put off."""
    if head.next is not None:
        from gradsh.engine.plans.tape import end

        end()


def _mode_changed() -> None:
    if head.next is not None:
        from gradsh.engine.plans.tape import mode_changed

        mode_changed()


GENERATOR = 0x20  # the flag of a generator function's code (`inspect.CO_GENERATOR`)
tick = count(1).__next__  # the order of creation: nodes and in-place changes share one clock


class GradMode:
    """Switches recording on or off, as a context manager, a decorator or (set_grad_enabled) at once."""

    __slots__ = ("_before", "mode")

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((state.grad, state.inference))
        self._set()
        _mode_changed()

    def _set(self) -> None:
        state.grad = self.mode

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.grad, state.inference = self._before.pop()
        _mode_changed()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        code = getattr(function, "__code__", None)
        generates = code is not None and code.co_flags & GENERATOR
        under_mode = (_generator_under if generates else _under)(self, function)
        under_mode.__name__ = getattr(function, "__name__", "function")
        under_mode.__doc__ = function.__doc__
        return under_mode


def _under(mode: GradMode, function: Callable[..., Any]) -> Callable[..., Any]:
    def under_mode(*args: Any, **settings: Any) -> Any:
        with mode:
            return function(*args, **settings)

    return under_mode


def _generator_under(mode: GradMode, function: Callable[..., Any]) -> Callable[..., Any]:
    """A generator function whose body runs in a mode that its caller does not see."""

    def under_mode(*args: Any, **settings: Any) -> Any:
        running = function(*args, **settings)
        resume, sent = running.send, None
        try:
            while True:
                with mode:
                    value = resume(sent)
                try:
                    resume, sent = running.send, (yield value)
                except GeneratorExit:
                    with mode:
                        running.close()
                    raise
                except BaseException as error:
                    resume, sent = running.throw, error
        except StopIteration as stop:
            return stop.value

    return under_mode


class no_grad(GradMode):
    """Operations inside are not recorded: `with torch.no_grad():` or `@torch.no_grad()`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(False)

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__()  # type: ignore[misc]
        return self(function)


class enable_grad(no_grad):
    """Operations inside are recorded, even within `no_grad`."""

    __slots__ = ()

    def __init__(self) -> None:
        GradMode.__init__(self, True)


class set_grad_enabled(GradMode):
    """Switches recording at once, and back at the end where it is used with `with`."""

    __slots__ = ("_outside",)

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._outside = state.grad
        self._set()
        _mode_changed()

    def __enter__(self) -> None:
        self._set()
        _mode_changed()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.grad = self._outside
        _mode_changed()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.grad = self._outside
        _mode_changed()
        return GradMode(self.mode)(function)


class inference_mode(GradMode):
    """As `no_grad`, and results are marked so that they cannot enter a graph later."""

    __slots__ = ()

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        self = super().__new__(cls)
        if not callable(mode):
            return self
        self.__init__(True)  # type: ignore[misc]
        return self(mode)

    def _set(self) -> None:
        stop_following()
        state.grad, state.inference = self.mode, not self.mode
        state.inference_seen = True


class set_detect_anomaly:
    """Makes a nan that appears in a backward pass an error that names the operation."""

    __module__ = "torch.autograd.anomaly_mode"
    __slots__ = ("_before",)

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        stop_following()
        self._before = state.anomaly, state.check_nan
        state.anomaly, state.check_nan = mode, mode and check_nan

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.anomaly, state.check_nan = self._before


class detect_anomaly(set_detect_anomaly):
    """The same for what is inside a `with`."""

    __module__ = "torch.autograd.anomaly_mode"
    __slots__ = ("_check_nan",)

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        super().__init__(True, self._check_nan)
