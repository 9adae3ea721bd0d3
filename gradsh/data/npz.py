"""Arrays by name in one file, as numpy's `npz` holds them, with a text beside them that says what they are parts of."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

STRUCTURE = "structure.json"
ARRAY = b"\x93NUMPY"  # what a file of one array begins with


class NotNpz(ValueError):
    """What is not a file of this kind; the message says why."""


def packed_array(array: Any) -> bytes:
    """The bytes of a file of one array (`npy`)."""
    part = io.BytesIO()
    np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
    return part.getvalue()


def unpacked_array(data: bytes) -> Any:
    """The array of a file of one."""
    try:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError, OverflowError, TypeError) as error:
        raise NotNpz("a pickle" if "Object arrays" in str(error) else str(error)) from None


def packed(arrays: Mapping[str, Any], structure: str | None = None) -> bytes:
    """The bytes of a file. The same arrays give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), packed_array(array))
        if structure is not None:
            archive.writestr(zipfile.ZipInfo(STRUCTURE), structure)
    return made.getvalue()


def unpacked(data: bytes) -> tuple[dict[str, Any], str | None]:
    """The arrays by name, and the structure where there is one."""
    found: dict[str, Any] = {}
    structure: str | None = None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if any(name.endswith("data.pkl") for name in names):
                raise NotNpz("a pickle")
            for name in names:
                if name == STRUCTURE:
                    structure = archive.read(name).decode()
                elif name.endswith(".npy"):
                    found[name[:-4]] = unpacked_array(archive.read(name))
    except (zipfile.BadZipFile, EOFError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, NotNpz):
            raise
        raise NotNpz(str(error)) from None
    return found, structure
