"""The order in which PyTorch visits the elements of a tensor: that of its memory.

It shows wherever elements are not alike, as random numbers are: `torch.empty(2, 3).t().uniform_()`
draws along the rows of what was transposed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Array = NDArray[Any]


def visiting_order(*arrays: Array) -> list[int]:
    """The axes of arrays of one shape, the slowest first.

    By falling stride in the first array where neither axis is spread from one element; of equal
    strides the longer axis is the slower. An insertion sort by exchange, because some pairs have no
    order (`reorder_dimensions` in aten/src/ATen/TensorIterator.cpp).
    """
    order = list(reversed(range(arrays[0].ndim)))  # the fastest first
    for start in range(1, len(order)):
        moving = start
        for place in range(start - 1, -1, -1):
            slower = _is_slower(order[place], order[moving], arrays)
            if slower is False:
                break
            if slower:
                order[place], order[moving] = order[moving], order[place]
                moving = place
    return order[::-1]


def _is_slower(axis: int, other: int, arrays: tuple[Array, ...]) -> bool | None:
    """Whether one axis is slower than another; None where nothing tells."""
    for array in arrays:
        stride, other_stride = array.strides[axis], array.strides[other]
        if 0 in (stride, other_stride):
            continue
        if stride != other_stride:
            return stride > other_stride
        if array.shape[axis] > array.shape[other]:
            return True
    return None


def visited(*arrays: Array) -> list[Array]:
    """Views of arrays of one shape whose C order is the order of visiting them together."""
    order = visiting_order(*arrays)
    return [array.transpose(order) for array in arrays]
