"""What the user can cause: an exception of Python's or PyTorch's own type that also carries help."""

from __future__ import annotations

from types import CodeType

Site = tuple[str, CodeType | None, int]


class Details:
    """What only we know about a failure; shown under its first line.

    `span` is the failing place where it is known when the exception is made (else it is read from
    the traceback); `labels` are (span, text) pairs drawn under the source; `hint` is something to
    type; `notes` are facts. `sites` are facts with a place in the program that made a graph: (text, code
    object, instruction offset), where `{}` in the text stands for the place and `{what}` for what is written there.
    """

    __slots__ = ("hint", "labels", "notes", "sites", "span")

    def __init__(
        self,
        hint: str | None = None,
        notes: tuple[str, ...] = (),
        span: object = None,
        labels: tuple[tuple[object, str], ...] = (),
        sites: tuple[Site, ...] = (),
    ) -> None:
        self.hint, self.notes, self.span, self.labels, self.sites = hint, notes, span, labels, sites


class CommandError(Exception):
    """A `:` command that does not exist, or whose arguments it cannot take."""


class Ended(BaseException):
    """The program is over, with an exit status: `:quit`, or a closed pipe. No `except` of a program catches it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LimitReached(BaseException):
    """A limit on time or memory: no `except` of a program catches it."""


def fault(
    kind: type[BaseException],
    message: str,
    *,
    hint: str | None = None,
    notes: tuple[str, ...] = (),
    span: object = None,
    labels: tuple[tuple[object, str], ...] = (),
    sites: tuple[Site, ...] = (),
) -> BaseException:
    """An exception of type `kind` to raise: the message people search for, and the help under it."""
    error = kind(message)
    error.details = Details(hint, notes, span, labels, sites)  # type: ignore[attr-defined]
    return error


def blamed(error: BaseException) -> BaseException:
    """An exception that Python or numpy raised for us, as what the program has caused: it is no failure of ours."""
    if details_of(error) is None:
        error.details = Details()  # type: ignore[attr-defined]
    return error


def details_of(error: BaseException) -> Details | None:
    """The details that `fault` attached, or None where the exception is not one of ours."""
    found = getattr(error, "details", None)
    return found if isinstance(found, Details) else None
