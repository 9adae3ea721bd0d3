"""Values as JSON: `read_json`, `read_jsonl`, and the text of a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gradsh.data.files import lines_of
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 1000


def read_json(path: str) -> Any:
    """The value in a JSON file: dicts, lists, numbers, texts; "-" is standard input."""
    with lines_of(path) as lines:
        return _value("".join(lines), path, 1)


def read_jsonl(path: str) -> Iterator[Any]:
    """The values of a file with one JSON value a line, each as soon as its line is there; "-" is standard input."""
    with lines_of(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _value(line.rstrip(), path, number)


def _value(text: str, path: str, line: int) -> Any:
    where = "standard input" if path == "-" else path
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        row = line + error.lineno - 1
        raise fault(ValueError, f"{where}:{row}:{error.colno}: this is no JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        why = "its lists are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise fault(ValueError, f"{where}:{line}: {why}") from None


def as_json(value: Any) -> str:
    """The text of a value; tensors are nested lists, and nan and the infinities the texts "nan", "inf", "-inf"."""
    return json.dumps(_plain(value, DEEPEST), ensure_ascii=False, allow_nan=False)


def as_json_lines(value: Any) -> str:
    """One line for each item of a list."""
    items = value.tolist() if isinstance(value, Tensor) else value
    if not isinstance(items, list | tuple):
        raise fault(
            TypeError, f"a .jsonl file holds a list, a line for each item, not {type(value).__name__}", hint=".json"
        )
    return "".join(as_json(item) + "\n" for item in items)


def _plain(value: Any, depth: int) -> Any:
    if not depth:
        raise fault(RecursionError, f"JSON is written of at most {DEEPEST} levels of lists in lists")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if value - value == 0:
            return value
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, Tensor) or hasattr(value, "tolist"):
        return _plain(value.tolist(), depth - 1)
    raise fault(
        TypeError,
        f"JSON holds numbers, texts, and lists and dicts of them, not {type(value).__name__}",
        hint="save(model.state_dict(), path)" if hasattr(value, "state_dict") else None,
    )


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | float):
        return str(key)
    raise fault(TypeError, f"the keys of a JSON object are texts, not {type(key).__name__}")
