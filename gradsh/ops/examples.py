"""What the `batch=` of declarations is made of: how ops that go over everything, or over rows, are applied to all
examples of a `vmap`, which are along the first dimension of their operands."""

from __future__ import annotations

from gradsh.engine.op import OPS
from gradsh.fault import fault


def aligned(x, rank):
    """All examples, with dimensions of length 1 behind theirs, so that each has at least this rank; numbers as they are."""
    missing = rank + 1 - getattr(x, "ndim", rank + 1)
    if missing <= 0:
        return x
    size, *lengths = x.shape
    return shaped(x, (size, *(1,) * missing, *lengths))


def spread(x, size):
    """The same tensor for every example."""
    return OPS["expand"](x, size=(size, *x.shape))


def rest(x):
    """The dimensions of one example."""
    return tuple(range(1, x.ndim))


def over_rest(name, **settings):
    """The rule of an op over everything that another one does over dimensions."""
    return lambda x: OPS[name](x, axes=rest(x), keepdim=False, **settings)


def over_flat(name, **settings):
    """The rule of an op over everything that another one does along one dimension; its first output."""

    def rule(x):
        found = OPS[name](flat(x), axis=1, keepdim=False, **settings)
        return found[0] if OPS[name].outputs else found

    return rule


def shaped(x, size):
    return OPS["unsafe_view"](x, size=tuple(size))


def flat(x):
    """Each example as a vector."""
    count = 1
    for length in x.shape[1:]:
        count *= length
    return shaped(x, (x.shape[0], count))


def folded(x):
    """The examples' first dimension taken together with that of the examples."""
    size, rows, *others = x.shape
    return shaped(x, (size * rows, *others))


def unfolded(x, size):
    """What `folded` put together taken apart."""
    rows, *others = x.shape
    return shaped(x, (size, rows // size, *others))


def moved(x, source, place):
    """A dimension moved to another place."""
    order = [dim for dim in range(x.ndim) if dim != source]
    order.insert(place, source)
    return x if source == place else OPS["permute"](x, dims=tuple(order))


def reduced_each(name):
    """The rule of a loss: its terms, reduced for each example. Operands are broadcast behind the examples' dimension."""

    def rule(*operands, reduction, **settings):
        rank = operands[0].ndim - 1
        aligned_ones = [one if one is None else aligned(one, rank) for one in operands]
        return reduced(OPS[name](*aligned_ones, reduction="none", **settings), reduction)

    return rule


def with_classes(rule):
    """The rule of a loss of x and target classes, for any choice of these two that have examples; the weight has none."""

    return {
        "x": lambda x, target, weight=None, **settings: rule(x, spread(target, x.shape[0]), weight, **settings),
        "target": lambda x, target, weight=None, **settings: rule(
            spread(x, target.shape[0]), target, weight, **settings
        ),
        "x target": rule,
    }


def reduced(terms, reduction):
    """Terms reduced for each example."""
    if reduction == "none":
        return terms
    return OPS[f"{reduction}_over"](terms, axes=rest(terms), keepdim=False)


DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. Please "
    "file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
)


def refused(name, message=DYNAMIC):
    """The rule of an op whose result has another shape for each example: PyTorch's refusal."""

    def rule(*operands, **settings):
        raise fault(RuntimeError, message.format(name), hint="torch.where(condition, a, b) keeps the shape")

    return rule
