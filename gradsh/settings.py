"""A session's settings: what `:set` shows and changes."""

from __future__ import annotations

from gradsh.backend.dtypes import ALIASES, BY_NAME, FLOATING
from gradsh.engine.state import state, stop_following

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradsh.session import Session


class Setting:
    """One setting: its name, what it is, the values it may have, how it is read and changed."""

    __slots__ = ("change", "help", "name", "read", "values")

    def __init__(
        self,
        name: str,
        help: str,
        values: tuple[str, ...],
        read: Callable[[Session], str],
        change: Callable[[Session, str], None],
    ) -> None:
        self.name, self.help, self.values, self.read, self.change = name, help, values, read, change


def _torch(session: Session, value: str) -> None:
    session.change_dialect("torch" if value == "on" else "shell")


def _dtype(session: Session, value: str) -> None:
    session.default = state.default = (BY_NAME | ALIASES)[value]


def _keep(session: Session, value: str) -> None:
    session.keep = value == "on"


def _seed(session: Session, value: str) -> None:
    try:
        number = int(value)
    except ValueError:
        raise ValueError(f"seed is a whole number, not {value!r}") from None
    from gradsh.library.namespaces import module

    session.seed = number
    torch = module("torch")
    assert torch is not None
    torch.get("manual_seed")(number)


def _cuda(session: Session, value: str) -> None:
    state.cuda_as_cpu = value == "cpu"


def _plans(session: Session, value: str) -> None:
    stop_following()
    state.plans = value


def _precision(session: Session, value: str) -> None:
    if not value.isdigit():
        raise ValueError(f"precision is a number of digits, not {value!r}")
    state.print_options.precision = int(value)


SWITCH = ("on", "off")
SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            "torch",
            "PyTorch's defaults: float32 and Python's own meaning",
            SWITCH,
            lambda s: "on" if s.dialect == "torch" else "off",
            _torch,
        ),
        Setting(
            "dtype",
            "the default float type",
            tuple(t.name for t in BY_NAME.values() if t.category == FLOATING),
            lambda s: s.default.name,
            _dtype,
        ),
        Setting(
            "precision",
            "digits behind the point when tensors are printed",
            (),
            lambda s: str(state.print_options.precision),
            _precision,
        ),
        Setting(
            "cuda",
            "what a program's cuda means: an error, or this machine's processor",
            ("error", "cpu"),
            lambda s: "cpu" if state.cuda_as_cpu else "error",
            _cuda,
        ),
        Setting(
            "plans",
            "compute operations that come again together: where it pays, wherever it can be done, or nowhere",
            ("auto", "always", "off"),
            lambda s: state.plans,
            _plans,
        ),
        Setting("seed", "start the random numbers anew", (), lambda s: "" if s.seed is None else str(s.seed), _seed),
        Setting(
            "keep",
            "keep values and gradients with the graph, for :graph",
            SWITCH,
            lambda s: "on" if s.keep else "off",
            _keep,
        ),
    )
}


class Settings:
    """The settings of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def known(self, name: str) -> str:
        """A setting's name, or a fault with the nearest one."""
        if name in SETTINGS:
            return name
        import difflib

        from gradsh.fault import CommandError, fault

        near = difflib.get_close_matches(name, SETTINGS, 1)
        raise fault(
            CommandError,
            f"there is no setting {name}",
            hint=f"did you mean :set {near[0]}?" if near else ":set lists them",
        )

    def rows(self) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """(name, value, what it is, what it may be) of every setting."""
        return [(s.name, s.read(self.session), s.help, s.values) for s in SETTINGS.values()]

    def change(self, name: str, value: str) -> None:
        """Change a setting; ValueError says what it may be."""
        setting = SETTINGS[self.known(name)]
        if setting.values and value not in setting.values:
            raise ValueError(f"{name} is one of {', '.join(setting.values)}, not {value}")
        setting.change(self.session, value)
