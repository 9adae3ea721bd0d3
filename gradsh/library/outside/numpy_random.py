"""numpy.random as programs see it: numpy's own streams, old and new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsh.backend import arrays as loaded  # noqa: F401  (numpy is there from now on)
from gradsh.fault import fault
from gradsh.lang import members
from gradsh.library.outside.arguments import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What draws numbers, and where in its arguments the shape stands.
SIZES = {
    "random_sample": 0, "random": 0, "standard_normal": 0, "standard_exponential": 0,
    "standard_cauchy": 0, "exponential": 1, "poisson": 1, "geometric": 1, "rayleigh": 1, "standard_gamma": 1,
    "standard_t": 1, "chisquare": 1, "pareto": 1, "weibull": 1, "power": 1, "logseries": 1, "zipf": 1, "choice": 1,
    "dirichlet": 1, "normal": 2, "uniform": 2, "binomial": 2, "beta": 2, "gamma": 2, "gumbel": 2, "laplace": 2,
    "logistic": 2, "lognormal": 2, "vonmises": 2, "wald": 2, "f": 2, "negative_binomial": 2, "multivariate_normal": 2,
    "multinomial": 2, "randint": 2, "random_integers": 2, "integers": 2, "triangular": 3, "hypergeometric": 3,
}  # fmt: skip
LEGACY = frozenset((*SIZES, "seed", "rand", "randn", "permutation", "shuffle", "get_state", "set_state"))
NEW = frozenset((*SIZES, "permutation", "permuted", "shuffle", "spawn"))


def _dimensions(*shape: Any) -> Iterable[int]:
    return [int(length) for length in shape]


def _sized(place: int) -> Callable[..., Iterable[int] | None]:
    def room(*args: Any, **settings: Any) -> Iterable[int] | None:
        size = settings.get("size", args[place] if len(args) > place else None)
        if size is None:
            return None
        return [int(size)] if isinstance(size, int | np.integer) else [int(length) for length in size]

    return room


def method(source: Any, name: str) -> Any:
    """A method of a source of random numbers, for programs."""
    found = getattr(source, name)
    if name == "shuffle":
        return _shuffle(found)
    if name in ("rand", "randn"):
        return guarded(found, _dimensions)
    return guarded(found, _sized(SIZES[name]) if name in SIZES else None)


def _shuffle(shuffle: Any) -> Any:
    checked = guarded(shuffle)

    def call(x: Any, *args: Any, **settings: Any) -> None:
        # A list is shuffled itself, and what it holds is not looked at.
        (shuffle if type(x) is list else checked)(x, *args, **settings)

    call.__name__ = "shuffle"
    return call


def _reader(kind: str, names: frozenset[str]) -> Any:
    def read(source: Any, name: str) -> Any:
        if name not in names or not hasattr(source, name):
            raise fault(AttributeError, f"'{kind}' object has no attribute '{name}'")
        return method(source, name)

    return read


def register() -> None:
    """Tell the language of the sources that programs make for themselves."""
    members.policy(np.random.RandomState, _reader("numpy.random.mtrand.RandomState", LEGACY))
    members.policy(np.random.Generator, _reader("numpy.random._generator.Generator", NEW))


def names() -> dict[str, Any]:
    """The names of numpy.random, over a stream of the program's own."""
    stream: Any = np.random.RandomState()
    found = {name: method(stream, name) for name in LEGACY if hasattr(stream, name)}
    found |= {"ranf": found["random_sample"], "sample": found["random_sample"]}
    return found | {"RandomState": guarded(np.random.RandomState), "default_rng": guarded(np.random.default_rng)}
