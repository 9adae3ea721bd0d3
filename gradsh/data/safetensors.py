"""The safetensors format: a header in JSON that says where each tensor's bytes lie, then the bytes.

https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U8": "|u1",
    "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in TYPES.items()}
LONGEST_HEADER = 100_000_000


class NotSafetensors(ValueError):
    """What is not a file of this kind; the message says why."""


def packed(arrays: Mapping[str, Any]) -> bytes:
    """The bytes of a file."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for name, value in arrays.items():
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        part = array.astype(TYPES[NAMES[array.dtype]], copy=False).tobytes()
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + len(part)],
        }
        parts.append(part)
        end += len(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def unpacked(data: bytes) -> dict[str, Any]:
    """The arrays by name; bfloat16 as float32, which has its every number."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LONGEST_HEADER, len(data) - 8):
        raise NotSafetensors("its header is longer than the file")
    try:
        header = json.loads(data[8 : 8 + length])
        return {name: _array(one, data[8 + length :]) for name, one in header.items() if name != "__metadata__"}
    except (UnicodeDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, NotSafetensors):
            raise
        raise NotSafetensors(f"its header does not say where the tensors are: {error}") from None


def _array(one: Any, memory: bytes) -> Any:
    start, stop = one["data_offsets"]
    if not 0 <= start <= stop <= len(memory):
        raise NotSafetensors("a tensor lies outside the file")
    if one["dtype"] == "BF16":
        halves = np.frombuffer(memory[start:stop], "<u2").astype("<u4") << 16
        return halves.view("<f4").reshape(one["shape"])
    if one["dtype"] not in TYPES:
        raise NotSafetensors(f"there are no tensors of type {one['dtype']}")
    return np.frombuffer(memory[start:stop], TYPES[one["dtype"]]).reshape(one["shape"]).copy()


def is_safetensors(data: bytes) -> bool:
    """Whether bytes look like a file of this kind."""
    length = int.from_bytes(data[:8], "little")
    return data[8:9] == b"{" and 2 <= length <= len(data) - 8
