"""Whether an array of a shape can be made on this machine, asked before it is."""

from __future__ import annotations

from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = 1 << 28  # bytes that are always granted, without a look at the machine


def check_room(shape: Sequence[int], itemsize: int) -> int:
    """The number of elements of a shape, or PyTorch's error where a length is negative or they are too many."""
    count = 1
    for length in shape:
        if length < 0:
            message = f"Trying to create tensor with negative dimension {length}: {list(shape)}"
            raise fault(RuntimeError, message, hint="lengths of 0 or more")
        count *= length
    size = count * itemsize
    if size > SMALL:
        if size >= 1 << 63:
            raise fault(RuntimeError, f"Storage size calculation overflowed with sizes={list(shape)}")
        if size > machine_memory():
            raise fault(
                RuntimeError,
                "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
                f"tried to allocate {size} bytes. Error code 12 (Cannot allocate memory)",
                notes=(f"this machine has {machine_memory() / 2**30:.1f} GiB, the tensor needs {size / 2**30:.1f}",),
            )
    return count


def machine_memory() -> int:
    """The bytes of memory this machine has, or more than any where the system does not tell."""
    import os

    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62
