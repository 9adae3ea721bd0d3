"""Where C++'s selection algorithms leave equal numbers: which of them `median`, `kthvalue` and `topk` point to.

PyTorch takes whichever of several equal numbers its algorithm ends at, and the gradient goes there. These are the
same algorithms on a list of places, used only where numbers are equal: libstdc++'s nth_element, partial_sort and sort
(bits/stl_algo.h, bits/stl_heap.h), and PyTorch's own quick select (ATen/native/Sorting.cpp).

`before(a, b)` tells whether the number at place a comes before the one at b.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Before = Callable[[int, int], bool]


def nth_element(places: list[int], start: int, nth: int, end: int, before: Before) -> None:
    """Put the right place at position nth of places[start:end], the others before or behind it (introselect)."""
    depth = 2 * ((end - start).bit_length() - 1)
    while end - start > 3:
        if not depth:
            _heap_select(places, start, nth + 1, end, before)
            _swap(places, start, nth)
            return
        depth -= 1
        cut = _partition(places, start, end, before)
        if cut <= nth:
            start = cut
        else:
            end = cut
    _insertion_sort(places, start, end, before)


def partial_sort(places: list[int], start: int, middle: int, end: int, before: Before) -> None:
    """Put the first of places[start:end] in order at its beginning, up to `middle`."""
    _heap_select(places, start, middle, end, before)
    while middle - start > 1:
        middle -= 1
        _pop_heap(places, start, middle, middle, before)


def sort(places: list[int], start: int, end: int, before: Before) -> None:
    """Sort places[start:end] (introsort; equal numbers keep their order only in short lists)."""
    if start == end:
        return
    pending = [(start, end, 2 * ((end - start).bit_length() - 1))]
    while pending:
        low, high, depth = pending.pop()
        while high - low > 16:
            if not depth:
                partial_sort(places, low, high, high, before)
                break
            depth -= 1
            cut = _partition(places, low, high, before)
            pending.append((cut, high, depth))
            high = cut
    _insertion_sort(places, start, end, before)


def quick_select(places: list[int], k: int, before: Before) -> None:
    """Put the right place at position k: PyTorch's `quick_select_template`."""
    low, high = 0, len(places) - 1
    while high > low:
        if high == low + 1:
            if before(places[high], places[low]):
                _swap(places, low, high)
            return
        _swap(places, (low + high) >> 1, low + 1)
        for one, other in ((low + 1, high), (low, high), (low + 1, low)):
            if before(places[other], places[one]):
                _swap(places, one, other)
        i, j, pivot = low + 1, high, places[low]
        while True:
            i += 1
            while before(places[i], pivot):
                i += 1
            j -= 1
            while before(pivot, places[j]):
                j -= 1
            if j < i:
                break
            _swap(places, i, j)
        _swap(places, low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1


def _swap(places: list[int], i: int, j: int) -> None:
    places[i], places[j] = places[j], places[i]


def _partition(places: list[int], start: int, end: int, before: Before) -> int:
    """Partition around the median of three."""
    a, b, c = start + 1, start + (end - start) // 2, end - 1
    x, y, z = places[a], places[b], places[c]
    if before(x, y):
        chosen = b if before(y, z) else c if before(x, z) else a
    else:
        chosen = a if before(x, z) else c if before(y, z) else b
    _swap(places, start, chosen)
    pivot, first, last = places[start], start + 1, end
    while True:
        while before(places[first], pivot):
            first += 1
        last -= 1
        while before(pivot, places[last]):
            last -= 1
        if first >= last:
            return first
        _swap(places, first, last)
        first += 1


def _insertion_sort(places: list[int], start: int, end: int, before: Before) -> None:
    for i in range(start + 1, end):
        place, j = places[i], i
        while j > start and before(place, places[j - 1]):
            places[j] = places[j - 1]
            j -= 1
        places[j] = place


def _heap_select(places: list[int], start: int, middle: int, end: int, before: Before) -> None:
    count = middle - start
    for parent in range((count - 2) // 2, -1, -1):
        _adjust_heap(places, start, parent, count, places[start + parent], before)
    for i in range(middle, end):
        if before(places[i], places[start]):
            _pop_heap(places, start, middle, i, before)


def _pop_heap(places: list[int], start: int, end: int, result: int, before: Before) -> None:
    place = places[result]
    places[result] = places[start]
    _adjust_heap(places, start, 0, end - start, place, before)


def _adjust_heap(places: list[int], start: int, hole: int, count: int, place: int, before: Before) -> None:
    top, child = hole, hole
    while child < (count - 1) // 2:
        child = 2 * (child + 1)
        if before(places[start + child], places[start + child - 1]):
            child -= 1
        places[start + hole] = places[start + child]
        hole = child
    if count % 2 == 0 and child == (count - 2) // 2:
        child = 2 * (child + 1)
        places[start + hole] = places[start + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and before(places[start + parent], place):
        places[start + hole] = places[start + parent]
        hole = parent
        parent = (hole - 1) // 2
    places[start + hole] = place
