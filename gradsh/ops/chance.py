"""Random numbers under `vmap`: refused, the same for all examples, or different for each, as each vmap asks for it."""

from __future__ import annotations

from gradsh.engine.batched import batched, lowered, of_all
from gradsh.engine.create import leaf
from gradsh.engine.level import VMAP, levels
from gradsh.engine.runtime import canonical
from gradsh.engine.tensor import wrap
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault

REFUSED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If "
    "this is necessary for your usage, please file an issue with functorch."
)


def _differing():
    """The vmaps in force under which random numbers differ, outermost first; an error where one forbids them."""
    found = levels(VMAP)
    if any(level.randomness == "error" for level in found):
        raise fault(RuntimeError, REFUSED, hint='vmap(f, randomness="different")')
    return [level for level in found if level.randomness == "different"]


def _for_levels(tensor, within):
    for level in within:
        tensor = batched(tensor, level)
    return tensor


def drawn(shape, draw):
    """A new tensor of a shape; `draw` gives the numbers of all examples that are to differ, in one array."""
    within = _differing()
    made = leaf(canonical(draw((*(level.size for level in within), *shape))[()]))
    return _for_levels(made, within)


def drawn_in_turn(draw):
    """A new tensor, drawn for one example after the other."""
    from gradsh.backend import arrays

    within, count = _differing(), 1
    for level in within:
        count *= level.size
    found = arrays.stack([draw() for _ in range(count)])
    return _for_levels(wrap(found.reshape(*(level.size for level in within), *found.shape[1:])), within)


def drawn_for(tensors, draw):
    """A new tensor drawn by what tensors (or numbers) hold; `draw` takes the arrays of all examples."""
    within = _differing()
    for level in levels(VMAP):
        if level in within:
            tensors = [of_all(one, level) if hasattr(one, "dtype") else one for one in tensors]
        elif any(hasattr(one, "dtype") and lowered(one, level) is not None for one in tensors):
            raise fault(RuntimeError, SAME)
    return _for_levels(wrap(canonical(draw(*map(_in_rows, tensors))[()])), within)


def _in_rows(value):
    """The numbers of all examples; repeated ones lie in memory as if they were not."""
    from gradsh.backend import arrays

    raw = numbers_of(value)
    return arrays.ascontiguousarray(raw) if 0 in getattr(raw, "strides", ()) else raw


def drawn_over(tensor, draw):
    """Numbers to write over a tensor, which must have examples of its own where they are to differ."""
    for level in _differing():
        if lowered(tensor, level) is None:
            raise fault(RuntimeError, UNBATCHED)
    return drawn(tuple(tensor.shape), draw)
