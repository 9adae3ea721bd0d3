"""`torch.save` and `torch.load`, of what a program computes with; never a pickle, which could run any code."""

from __future__ import annotations

import json
import math
import os
from collections import OrderedDict
from typing import Any

import numpy as np

from gradsh.backend.dtypes import BY_NAME, DType
from gradsh.data import json_values, npz, safetensors, tables
from gradsh.data.files import check_files_allowed, read_bytes, replace_file
from gradsh.engine.create import check_array_type, leaf, raw_of
from gradsh.engine.device import CPU, check_device, device as device_type
from gradsh.engine.tensor import Parameter, Size, Tensor
from gradsh.fault import blamed, fault

DEEPEST = 200
# Special kinds first: a value is written as the first that it is.
DICTS: dict[str, type] = {"OrderedDict": OrderedDict, "dict": dict}
SEQUENCES: dict[str, type] = {"Size": Size, "list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
TEXTS = {".csv": "read_csv", ".tsv": "read_csv", ".json": "read_json", ".jsonl": "read_jsonl", ".txt": "read_text"}
SAFETENSORS_HINT = 'in PyTorch: safetensors.torch.save_file(model.state_dict(), "model.safetensors")'


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: Any = None, **_: Any) -> None:
    """Write tensors, numbers, texts, and lists, tuples and dicts of them to a file.

    The file is what its name ends in: .safetensors (a dict of tensors), .npy (one tensor), .csv (a dict of columns, or
    a tensor), .json, .jsonl (a list); else an npz, which numpy reads too. It is replaced at once, or left as it was.
    """
    data = _packed(obj, os.path.splitext(f)[1] if isinstance(f, str) else "")
    if not isinstance(f, str):
        if not hasattr(f, "write") or not hasattr(f, "getvalue"):
            raise fault(
                AttributeError, f"expected 'f' to be string, path, or a file-like object, not {type(f).__name__}"
            )
        f.write(data)
        return
    check_files_allowed(f)
    try:
        replace_file(f, data)
    except FileNotFoundError:
        raise fault(RuntimeError, f"Parent directory of {f} does not exist.") from None
    except OSError as error:
        raise blamed(error)  # noqa: B904  (it is the same exception)


def _packed(obj: Any, ending: str) -> bytes:
    """The bytes of a file whose name ends so."""
    if ending == ".safetensors":
        return safetensors.packed(_flat(obj))
    if ending == ".npy":
        return npz.packed_array(_raw(obj) if isinstance(obj, Tensor) else np.asarray(raw_of(obj)))
    if ending == ".csv":
        return tables.as_csv(obj).encode()
    if ending == ".json":
        return (json_values.as_json(obj) + "\n").encode()
    if ending == ".jsonl":
        return json_values.as_json_lines(obj).encode()
    writer = _Writer()
    structure = json.dumps(writer.node(obj, "", DEEPEST), ensure_ascii=False, allow_nan=False)
    return npz.packed(writer.arrays, structure)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: Any = None,
    **_: Any,
) -> Any:
    """What `save` wrote; the tensors by name of any npz or safetensors file; the tensor of an npy file. Never a pickle."""
    if map_location is not None and not callable(map_location):
        for place in map_location.values() if isinstance(map_location, dict) else (map_location,):
            check_device(place, "load")
    name = f if isinstance(f, str) else "the file"
    if not isinstance(f, str) and not hasattr(f, "read"):
        raise fault(
            AttributeError, f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file"
        )
    other = TEXTS.get(os.path.splitext(name)[1])
    if other is not None:
        raise fault(
            RuntimeError, f"torch.load reads safetensors, npz and npy, and {name} is a text", hint=f'{other}("{name}")'
        )
    data = read_bytes(f) if isinstance(f, str) else f.read()
    if data[:6] == npz.ARRAY:
        try:
            return _tensor(npz.unpacked_array(data))
        except npz.NotNpz as error:
            raise _unreadable(name, str(error)) from None
    if data[:2] == b"PK":
        try:
            arrays, structure = npz.unpacked(data)
        except npz.NotNpz as error:
            raise _unreadable(name, str(error)) from None
        if structure is None:
            return {key: _tensor(array) for key, array in arrays.items()}
        try:
            return _Reader(arrays).value(json.loads(structure))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _unreadable(name, f"its structure cannot be read: {error}") from None
    if safetensors.is_safetensors(data):
        try:
            return {key: _tensor(array) for key, array in safetensors.unpacked(data).items()}
        except safetensors.NotSafetensors as error:
            raise _unreadable(name, str(error)) from None
    raise _unreadable(name, "a pickle" if data[:1] == b"\x80" else "another kind of file")


def _unreadable(name: str, why: str) -> BaseException:
    if why == "a pickle":
        return fault(
            RuntimeError,
            f"{name} is a pickle, which can run any code when it is read; torch.load reads safetensors, npz and npy",
            hint=SAFETENSORS_HINT,
        )
    return fault(RuntimeError, f"{name} cannot be loaded: {why}", notes=("torch.load reads safetensors, npz and npy",))


def _tensor(array: Any) -> Tensor:
    check_array_type(array)
    return leaf(array)


def _raw(tensor: Tensor) -> Any:
    return np.asarray(tensor.raw)


def _flat(obj: Any) -> dict[str, Any]:
    if not isinstance(obj, dict) or not all(isinstance(k, str) and isinstance(v, Tensor) for k, v in obj.items()):
        raise fault(
            TypeError, "a safetensors file holds one dict of tensors with their names", hint="another ending: model.npz"
        )
    return {key: _raw(value) for key, value in obj.items()}


def _kind(value: Any, kinds: dict[str, type]) -> str:
    return next(name for name, kind in kinds.items() if isinstance(value, kind))


class _Writer:
    """A value as JSON, and the arrays in it by name. What is the same memory is written once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self.names: dict[int, str] = {}

    def node(self, value: Any, path: str, depth: int) -> Any:
        kind = value.__class__
        if value is None or kind is bool or kind is str or kind is int or (kind is float and math.isfinite(value)):
            return value
        if not depth:
            raise fault(RecursionError, f"torch.save writes at most {DEEPEST} levels of lists in lists")
        if isinstance(value, Tensor):
            name = self.entry(value.raw, path)
            return {
                "kind": "tensor",
                "name": name,
                "grad": value.requires_grad,
                "parameter": isinstance(value, Parameter),
            }
        if isinstance(value, np.ndarray | np.generic):
            return {"kind": "array" if isinstance(value, np.ndarray) else "scalar", "name": self.entry(value, path)}
        if isinstance(value, dict):
            items = [
                [
                    self.node(key, f"{path}.key", depth - 1),
                    self.node(item, f"{path}.{key}" if path else str(key), depth - 1),
                ]
                for key, item in value.items()
            ]
            return {"kind": _kind(value, DICTS), "items": items}
        if isinstance(value, list | tuple | set | frozenset):
            items = [self.node(item, f"{path}.{k}" if path else str(k), depth - 1) for k, item in enumerate(value)]
            return {"kind": _kind(value, SEQUENCES), "items": items}
        if kind is float:
            return {"kind": "float", "text": repr(value)}
        if kind is DType:
            return {"kind": "dtype", "text": value.name}
        if isinstance(value, device_type):
            return {"kind": "device"}
        module = hasattr(value, "state_dict")
        raise fault(
            TypeError,
            f"torch.save writes tensors, numbers, texts, and lists, tuples and dicts of them, not {kind.__name__}",
            hint="torch.save(model.state_dict(), path)" if module else None,
        )

    def entry(self, raw: Any, path: str) -> str:
        """The name of an array in the file."""
        name = self.names.get(id(raw))
        if name is None:
            name = path or "value"
            while name in self.arrays:
                name += "+"
            self.names[id(raw)] = name
            self.arrays[name] = np.asarray(raw)
        return name


class _Reader:
    """A value from its JSON and the arrays."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays

    def value(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        kind = node["kind"]
        if kind == "tensor":
            made = _tensor(self.arrays[node["name"]])
            if node["parameter"]:
                return Parameter(made, node["grad"])
            return made.requires_grad_(node["grad"]) if node["grad"] else made
        if kind in ("array", "scalar"):
            array = self.arrays[node["name"]]
            return array if kind == "array" else array[()]
        if kind in DICTS:
            return DICTS[kind]((self.value(key), self.value(item)) for key, item in node["items"])
        if kind in SEQUENCES:
            return SEQUENCES[kind](self.value(item) for item in node["items"])
        if kind == "float":
            return float(node["text"])
        if kind == "dtype":
            return BY_NAME[node["text"]]
        if kind == "device":
            return CPU
        raise ValueError(f"an unknown kind {kind!r}")


class safe_globals:
    """Accepted: nothing that is loaded here can name a function."""

    def __init__(self, safe_globals: Any = None) -> None:
        return

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


def add_safe_globals(safe_globals: Any) -> None:
    """Accepted: nothing that is loaded here can name a function."""
