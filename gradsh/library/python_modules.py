"""Python's own modules as a program sees them: closed tables of the names people use."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.lang import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def table(path: str) -> dict[str, Any] | None:
    """The names of a module, or None where there is no such module."""
    make = TABLES.get(path)
    return None if make is None else make()


def picked(module: Any, names: str) -> dict[str, Any]:
    """The named members of a Python module."""
    return {name: getattr(module, name) for name in names.split()}


def _io() -> dict[str, Any]:
    import io

    from gradsh.data.files import open_text

    return {"open": open_text, "StringIO": io.StringIO, "BytesIO": io.BytesIO}


def _string() -> dict[str, Any]:
    import string

    return picked(
        string,
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable whitespace capwords",
    )


def _unicodedata() -> dict[str, Any]:
    import unicodedata

    return picked(unicodedata, "normalize category name lookup combining")


def _re() -> dict[str, Any]:
    import re

    members.allow(re.Pattern, "match search fullmatch findall finditer split sub subn pattern flags groups".split())
    members.allow(re.Match, "group groups groupdict start end span string lastgroup lastindex pos endpos re".split())
    return picked(
        re,
        "compile match search fullmatch findall finditer split sub subn escape I IGNORECASE M MULTILINE S DOTALL X VERBOSE "
        "error",
    )


def _json() -> dict[str, Any]:
    import json

    return picked(json, "dumps loads")


def _statistics() -> dict[str, Any]:
    import statistics

    return picked(statistics, "mean median mode stdev pstdev variance pvariance")


def _heapq() -> dict[str, Any]:
    import heapq

    return picked(heapq, "heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge")


def _bisect() -> dict[str, Any]:
    import bisect

    return picked(bisect, "bisect bisect_left bisect_right insort insort_left insort_right")


def _contextlib() -> dict[str, Any]:
    import contextlib

    return picked(contextlib, "contextmanager suppress nullcontext")


def _math() -> dict[str, Any]:
    import math

    names = {name: value for name, value in vars(math).items() if not name.startswith("_")}
    return names | {name: bounded(names[name]) for name in ("factorial", "comb", "perm")}


def bounded(function: Callable[..., int]) -> Callable[..., int]:
    """A function of integers, refused where its answer would be longer than a million bits."""

    def guarded(*numbers: int) -> int:
        if numbers and max(numbers) > 60_000:
            raise fault(OverflowError, f"{function.__name__}() result too large: integers have at most a million bits")
        return function(*numbers)

    guarded.__name__ = function.__name__
    return guarded


def _time() -> dict[str, Any]:
    import time

    return picked(time, "time perf_counter perf_counter_ns time_ns monotonic process_time sleep strftime ctime")


def _random() -> dict[str, Any]:
    import random

    names = (
        "seed random uniform randint randrange choice choices shuffle sample gauss normalvariate expovariate "
        "betavariate triangular getstate setstate"
    )
    members.allow(random.Random, names.split())
    return {**picked(random.Random(), names), "Random": random.Random}


def _collections() -> dict[str, Any]:
    import collections

    for kind in (collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque):
        members.allow(kind)
    return picked(collections, "OrderedDict defaultdict Counter deque") | {"namedtuple": namedtuple}


def namedtuple(typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None) -> type:
    """A class of tuples whose items have names."""
    import collections

    made = collections.namedtuple(typename, field_names, rename=rename, defaults=defaults)  # type: ignore[misc, arg-type]
    members.allow(made, (*made._fields, "_asdict", "_replace", "_fields", "count", "index"))
    return made


def _abc() -> dict[str, Any]:
    import abc

    return picked(abc, "ABC abstractmethod")


def _itertools() -> dict[str, Any]:
    import itertools

    members.allow(itertools.chain, ("from_iterable",))
    return picked(
        itertools,
        "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby islice "
        "pairwise permutations product repeat starmap takewhile tee zip_longest",
    )


def _functools() -> dict[str, Any]:
    import functools

    return {**picked(functools, "partial reduce lru_cache cache cmp_to_key"), "wraps": wraps}


def wraps(wrapped: Any) -> Callable[[Any], Any]:
    """A decorator that gives a function the name and text of the one that it wraps."""
    from types import FunctionType

    def decorate(wrapper: Any) -> Any:
        for name in ("__name__", "__doc__"):
            if type(wrapper) is FunctionType and members.is_users(wrapper) and members.has_attribute(wrapped, name):
                members.set_attribute(wrapper, name, members.get_attribute(wrapped, name))
        return wrapper

    return decorate


def _copy() -> dict[str, Any]:
    import copy

    return picked(copy, "copy deepcopy")


def _operator() -> dict[str, Any]:
    import operator

    return picked(
        operator,
        "add sub mul truediv floordiv mod neg pos abs eq ne lt le gt ge and_ or_ xor not_ itemgetter contains matmul",
    )


def _dataclasses() -> dict[str, Any]:
    from gradsh.library import dataclass

    return {name: getattr(dataclass, name) for name in ("dataclass", "field", "asdict", "astuple", "replace")}


TABLES: dict[str, Callable[[], dict[str, Any]]] = {
    "math": _math, "time": _time, "random": _random, "collections": _collections, "itertools": _itertools,
    "abc": _abc, "io": _io, "string": _string, "unicodedata": _unicodedata, "re": _re, "json": _json, "statistics": _statistics,
    "heapq": _heapq, "bisect": _bisect, "contextlib": _contextlib,
    "functools": _functools, "copy": _copy, "operator": _operator, "dataclasses": _dataclasses,
}  # fmt: skip
