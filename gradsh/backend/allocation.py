"""The C library's allocator, told to keep freed memory: fresh pages cost more than most operations on them.

glibc gives large blocks back to the system when they are freed, and the kernel clears them again, page by page, for the
next array. Programs here free and ask for the same sizes in every step.
"""

from __future__ import annotations

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt, malloc.h
KEPT = 1 << 30  # bytes up to which memory is kept


def keep_freed_memory() -> None:
    """Do so where the C library is glibc; numpy has imported ctypes."""
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(MMAP_THRESHOLD, KEPT)
    mallopt(TRIM_THRESHOLD, KEPT)
