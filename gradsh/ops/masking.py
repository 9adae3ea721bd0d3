"""Numbers where a mask holds: filled, selected, replaced; and where numbers are not zero."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.alias import C_TYPES, TYPE_NAMES
from gradsh.engine.create import C_NAMES, NUMBERS, held
from gradsh.engine.inplace import inplace
from gradsh.engine.op import constant, general, linear
from gradsh.engine.promote import common_shape
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.choice import where
from gradsh.ops.examples import aligned, refused
from gradsh.ops.expanding import expanded
from gradsh.ops.index_tensors import index_sums, indexed
from gradsh.ops.registry import function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.shape import reshape, reshaped
from gradsh.ops.slicing import spread_range
from gradsh.ops.splitting import unbind
from gradsh.ops.structure import sum_to_size, to_dtype

MASK = Made(lambda rng: rng.permutation([True, False, True, False, True, False]).reshape(2, 3))
MASKED = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each "
    "batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)


@general(
    x=lambda g, y: marked(g, y, value=0.0),
    sample=Sample(reals(2, 3), MASK, value=2.0),
    at=(),
    name="masked_fill_number",
    grad_fn="MaskedFillBackward0",
    batch="elementwise",
)
def marked(xp, x, y, *, value):
    """A copy with Python's number where a mask holds."""
    out = xp.array(x, order="C")
    xp.copyto(out, value, where=y)
    return out


@linear(
    x=lambda g, y: marked(g, y, value=0.0),
    z=lambda g, y: sum_to_size(where(y, g, 0.0), size=()),
    sample=Sample(reals(2, 3), MASK, reals()),
    at=(),
    grad_fn="MaskedFillBackward1",
    batch=lambda x, y, z: where(y, aligned(z, x.ndim - 1), x),
)
def filled(xp, x, y, z):
    """A copy with the number of a 0-d tensor where a mask holds."""
    out = xp.array(x, order="C")
    xp.copyto(out, z, where=y)
    return out


@linear(
    x=lambda g, y, x_shape: index_sums(g, y, size=x_shape, places=(0,)),
    sample=Sample(reals(2, 3), MASK),
    at=(),
    name="masked_select",
    batch={"x": lambda x, y: indexed(x, y, dim=1), "x y": refused("", MASKED)},
)
def chosen(xp, x, y):
    """The numbers where a mask holds, in a vector."""
    return xp.asarray(x)[y]


@linear(
    x=lambda g, y: marked(g, y, value=0.0),
    z=lambda g, y, z_shape: _headed(chosen(g, y), z_shape),
    sample=Sample(reals(2, 3), MASK, reals(2, 2)),
    at=(),
    name="masked_scatter",
)
def refilled(xp, x, y, z):
    """A copy with the first numbers of another tensor put, in order, where a mask holds."""
    out, count, z = xp.array(x, order="C"), int(xp.count_nonzero(y)), xp.asarray(z)
    if z.size < count:
        raise fault(
            RuntimeError,
            "Number of elements of source < number of ones in mask",
            notes=(f"the mask holds at {count} places, and there are {z.size} numbers",),
        )
    out[y] = z.ravel()[:count]
    return out


def _headed(values, shape):
    """Values as the first numbers of a tensor of zeros."""
    numel = 1
    for length in shape:
        numel *= length
    head = spread_range(values, size=(numel,), dim=0, start=0, end=values.shape[0], step=1)
    return reshaped(head, size=shape)


@constant(at=(), batch=refused("nonzero"))
def nonzero_places(xp, x):
    """The indices of the numbers that are not zero, a row each."""
    return xp.argwhere(x)


# ---- the functions


def _mask(input, mask, name):
    """A mask, and the tensor broadcast with it."""
    if not isinstance(mask, Tensor):
        raise Unfit("mask", "Tensor", mask)
    if mask.dtype is not boolean:
        if name == "masked_select":
            message = "masked_select: expected BoolTensor for mask"
        else:
            kind = C_TYPES[mask.dtype.name] if name == "masked_fill_" else TYPE_NAMES[mask.dtype.name]
            message = f"{name} only supports boolean masks, but got mask with dtype {kind}"
        raise fault(RuntimeError, message, hint=".bool() makes a mask of it")
    if mask.shape != input.shape:
        shape = common_shape([tuple(mask.shape), tuple(input.shape)])
        mask, input = (one if one.shape == shape else expanded(one, size=shape) for one in (mask, input))
    return input, mask


FILL = ("(Tensor input, Tensor mask, Tensor value)", "(Tensor input, Tensor mask, Number value)")


@function(example="tensor([1.0, 2.0]).masked_fill(tensor([True, False]), 0.0)", overloads=FILL)
def masked_fill(input, mask, value):
    """A copy with one number where a mask holds."""
    input, mask = _mask(operand(input), mask, "masked_fill_")
    if isinstance(value, Tensor):
        if value.ndim:
            raise fault(
                RuntimeError,
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                "dimension(s).",
            )
        value = value if value.dtype is input.dtype else to_dtype(value, dtype=input.dtype)
        return filled(input, mask, value)
    if not isinstance(value, NUMBERS):
        raise Unfit("value", "Number", value)
    return marked(input, mask, value=held(value, input.dtype, names=C_NAMES))


@function(at=("Tensor",), example="ones(2).masked_fill_(tensor([True, False]), 0.0)", overloads=FILL)
def masked_fill_(self, mask, value):
    """Write one number where a mask holds."""
    return inplace(masked_fill, self, mask, value, what="masked_fill_", spread=True)


@function(example="masked_select(tensor([1.0, 2.0]), tensor([True, False]))")
def masked_select(input, mask):
    """The numbers where a mask holds, in a vector."""
    return chosen(*_mask(operand(input), mask, "masked_select"))


@function(inplace=True, example="zeros(3).masked_scatter(tensor([True, False, True]), tensor([1.0, 2.0]))")
def masked_scatter(input, mask, source):
    """A copy with the numbers of another tensor put, in order, where a mask holds."""
    input, source = operand(input), operand(source, "source")
    if source.dtype is not input.dtype:
        have, want = TYPE_NAMES[input.dtype.name], TYPE_NAMES[source.dtype.name]
        raise fault(
            RuntimeError, f"masked_scatter: expected self and source to have same dtypes but got{have} and {want}"
        )
    input, mask = _mask(input, mask, "masked_scatter_")
    return refilled(input, mask, source)


@function(example="nonzero(tensor([0.0, 3.0, 4.0]))")
def nonzero(input, *, as_tuple=False):
    """The indices of the numbers that are not zero, a row each; with `as_tuple` a vector for each dimension."""
    input = operand(input)
    if not as_tuple:
        return nonzero_places(input)
    return unbind(nonzero_places(input if input.ndim else reshape(input, (1,))), 1)


@function(example="argwhere(tensor([0.0, 3.0, 4.0]))")
def argwhere(input):
    """The indices of the numbers that are not zero, a row each."""
    return nonzero_places(operand(input))
