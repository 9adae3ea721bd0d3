"""Element types: their names, categories, and how two of them promote to one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np

BOOL, INTEGER, FLOATING = 0, 1, 2


class DType:
    """An element type, `torch.float32` say: printed and compared as PyTorch's."""

    __slots__ = ("category", "code", "itemsize", "name")
    __module__ = "torch"
    __qualname__ = "dtype"

    def __init__(self, name: str, category: int, itemsize: int, code: str) -> None:
        self.name, self.category, self.itemsize, self.code = name, category, itemsize, code

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        return False

    @property
    def is_signed(self) -> bool:
        return self.category != BOOL and self.name != "uint8"

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The same type as numpy's."""
        import numpy as np

        return np.dtype(self.code)


DType.__name__ = "dtype"
float64 = DType("float64", FLOATING, 8, "f8")
float32 = DType("float32", FLOATING, 4, "f4")
float16 = DType("float16", FLOATING, 2, "f2")
int64 = DType("int64", INTEGER, 8, "i8")
int32 = DType("int32", INTEGER, 4, "i4")
int16 = DType("int16", INTEGER, 2, "i2")
int8 = DType("int8", INTEGER, 1, "i1")
uint8 = DType("uint8", INTEGER, 1, "u1")
boolean = DType("bool", BOOL, 1, "?")

ALL = (float64, float32, float16, int64, int32, int16, int8, uint8, boolean)
BY_NAME = {dtype.name: dtype for dtype in ALL}
ALIASES = {"double": float64, "float": float32, "half": float16, "long": int64, "int": int32, "short": int16}
BY_CHAR = {
    "d": float64,
    "f": float32,
    "e": float16,
    "l": int64,
    "q": int64,
    "i": int32,
    "h": int16,
    "b": int8,
    "B": uint8,
    "?": boolean,
}


def promote(a: DType, b: DType) -> DType:
    """The smallest type that holds both, by PyTorch's table (`torch.promote_types`)."""
    if a is b:
        return a
    if a.category != b.category:
        return a if a.category > b.category else b
    if {a, b} == {uint8, int8}:
        return int16
    if a.itemsize == b.itemsize:
        return b if a is uint8 else a
    return a if a.itemsize > b.itemsize else b
