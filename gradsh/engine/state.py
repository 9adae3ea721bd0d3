"""What is in force while operations run: gradient recording, default type, how much a node keeps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from types import TracebackType
from typing import Any

from gradsh.backend.dtypes import DType, float64
from gradsh.engine.text import PrintOptions


class State:
    """The engine's modes. One instance, `state`; every field may be changed by a context manager here.

    grad: operations on tensors that require a gradient are recorded.
    inference: results are inference tensors, which cannot be saved for a backward pass.
    default: the element type of floats given as Python numbers.
    keep: called with each recorded node, its output and the calling frame, or None; insight uses it.
    lists: Python lists are taken as tensors (the shell's defaults).
    cuda_as_cpu: a program that asks for cuda gets the processor.
    print_options: how tensors are written.
    """

    __slots__ = ("backward_depth", "cuda_as_cpu", "default", "grad", "inference", "keep", "lists", "print_options")

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.default: DType = float64
        self.keep: Callable[[Any, Any, Any], None] | None = None
        self.lists = True
        self.cuda_as_cpu = False
        self.print_options = PrintOptions()
        self.backward_depth = 0


state = State()
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

    def _set(self) -> None:
        state.grad = self.mode

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        state.grad, state.inference = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def under_mode(*args: Any, **settings: Any) -> Any:
            with self:
                return function(*args, **settings)

        under_mode.__name__ = getattr(function, "__name__", "function")
        under_mode.__doc__ = function.__doc__
        return under_mode


class no_grad(GradMode):  # noqa: N801  (PyTorch's name)
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


class enable_grad(no_grad):  # noqa: N801
    """Operations inside are recorded, even within `no_grad`."""

    __slots__ = ()

    def __init__(self) -> None:
        GradMode.__init__(self, True)


class set_grad_enabled(GradMode):  # noqa: N801
    """Switches recording at once, and back at the end where it is used with `with`."""

    __slots__ = ()

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before.append((state.grad, state.inference))
        self._set()

    def __enter__(self) -> None:
        self._set()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.grad, state.inference = self._before.pop()
        return GradMode(self.mode)(function)


class inference_mode(GradMode):  # noqa: N801
    """As `no_grad`, and results are marked so that they cannot enter a graph later."""

    __slots__ = ()

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)

    def _set(self) -> None:
        if not self.mode:
            state.grad, state.inference = False, True
        else:
            state.grad, state.inference = True, False
