"""Sums, means and maxima of rows of a table, bag by bag."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float64, promote
from gradsh.engine.alias import tensor_type
from gradsh.engine.op import constant, general
from gradsh.engine.tensor import Tensor, wrap
from gradsh.fault import fault
from gradsh.ops.adaptive_pooling import sized
from gradsh.ops.embedding import check_indices, embedding_renorm_, rows_back, rows_of_table
from gradsh.ops.picking import put_along
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import NAMESPACES, function
from gradsh.ops.samples import Made, Sample, reals
from gradsh.ops.shape import reshaped
from gradsh.ops.structure import to_dtype

# Operands: a table x, the numbers y of rows, the bag z of each (ascending), and weights of the rows in a sum.
# bags: how many; length: how many of the rows count; padding: the number of one that does not, or -1; scale: divide the
# gradient by how often a row is named.


def _kept(xp, y, z, length, padding):
    """Numbers and bags of the rows that count."""
    y, z = y[:length], z[:length]
    if padding < 0:
        return y, z
    keep = y != padding
    return y[keep], z[keep]


@constant(at=())
def shares(xp, x, y, z, *, mode, bags, length, padding):
    """What part of its bag's gradient each row y of the type of x gets, as a column: 1 in a sum, 0 if it does not count."""
    return _shares(xp, x, y, z, mode, bags, length, padding)


def _shares(xp, x, y, z, mode, bags, length, padding):
    found = xp.arange(len(y)) < length
    if padding >= 0:
        found &= y != padding
    found = found.astype(x.dtype)
    if mode == "mean":
        sizes = xp.bincount(_kept(xp, y, z, length, padding)[1], minlength=bags)
        found /= xp.maximum(sizes, 1).astype(x.dtype)[z]
    return found[:, None]


@constant(at=())
def rows_of_maxima(xp, x, y, z, *, bags, length, padding):
    """The numbers of the rows that the maxima of each bag are from."""
    y, z = _kept(xp, y, z, length, padding)
    found = xp.zeros((bags, x.shape[1]), xp.int64)
    for bag, start, end in _spans(xp, z):
        found[bag] = y[start:end][x[y[start:end]].argmax(0)]
    return found


@constant(at=())
def filled_bags(xp, x, y, z, *, bags, length, padding):
    """1 for each bag that is not empty, as a column of the type of x."""
    found = xp.zeros((bags, 1), x.dtype)
    found[_kept(xp, y, z, length, padding)[1]] = 1
    return found


@constant(at=())
def frequencies(xp, x, y):
    """What PyTorch divides the gradient of each row y by, in the type of x, as a column.

    It means how often the row is named, but asks for the row at the place, in the sorted list, of its rank among those named
    (`_embedding_bag_dense_backward_cpu_sum_mean` in EmbeddingBag.cpp).
    """
    _, ranks, counts = xp.unique(y, return_inverse=True, return_counts=True)
    return counts[ranks[xp.argsort(y, kind="stable")][ranks]].astype(x.dtype)[:, None]


def _spans(xp, z):
    """(bag, the places of its first row and after its last) for each that is not empty."""
    bags, starts = xp.unique(z, return_index=True)
    ends = [*starts[1:].tolist(), len(z)]
    return zip(bags.tolist(), starts.tolist(), ends)


def _table_slope(g, x, x_shape, y, z, weights, mode, bags, length, padding, scale):
    if mode == "max":
        g = g * filled_bags(x, y, z, bags=bags, length=length, padding=padding)
        rows = rows_of_maxima(x, y, z, bags=bags, length=length, padding=padding)
        return put_along(g, rows, size=x_shape, axis=0)
    spread = rows_of_table(g, z) * shares(x, y, z, mode=mode, bags=bags, length=length, padding=padding)
    if weights is not None:
        spread = spread * reshaped(weights, size=(-1, 1))
    if scale:
        spread = spread / frequencies(x, y)
    return rows_back(spread, y, size=x_shape, padding=-1, scale=False)


def _weights_slope(g, x, y, z, mode, bags, length, padding):
    spread = rows_of_table(g, z) * shares(x, y, z, mode=mode, bags=bags, length=length, padding=padding)
    return sum_over(spread * rows_of_table(x, y), axes=(1,), keepdim=False)


BAGS = Made(lambda rng: rng.permuted([[0, 0, 0], [2, 2, 2]], axis=1).ravel()[:5])
ROWS = Made(lambda rng: rng.permutation(5) % 4)
SETTINGS = {"bags": 3, "length": 5, "padding": -1, "scale": False}


@general(
    x=_table_slope,
    weights=_weights_slope,
    sample=[
        Sample(reals(4, 2), ROWS, BAGS, None, mode="mean", **SETTINGS),
        Sample(reals(4, 2), ROWS, BAGS, reals(5), mode="sum", bags=3, length=4, padding=1, scale=False),
        Sample(reals(4, 2), ROWS, BAGS, None, mode="max", **SETTINGS),
    ],
    at=(),
    name="embedding_bag",
)
def bags_of_rows(xp, x, y, z, weights=None, *, mode, bags, length, padding, scale):
    """The sum (of rows times weights), the mean or the maximum of the rows of each bag; 0 for an empty one."""
    if mode != "max":
        rows = x.take(y, 0) * _shares(xp, x, y, z, mode, bags, length, padding)
        return xp.row_sums(bags, z, rows if weights is None else rows * weights[:, None])
    y, z = _kept(xp, y, z, length, padding)
    out = xp.zeros((bags, x.shape[1]), x.dtype)
    for bag, start, end in _spans(xp, z):
        out[bag] = x[y[start:end]].max(0)
    return out


MODES = ("sum", "mean", "max")


def _check_offsets(offsets, length, include_last):
    raw = offsets.raw
    if include_last and not raw.size:
        raise fault(RuntimeError, "include_last_offset: number of offset should be at least 1")
    if not raw.size:
        return
    if raw[0] != 0:
        raise fault(
            RuntimeError,
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
            f"{raw[0]}\n[ {tensor_type(offsets)}{{}} ]",
        )
    if raw[-1] > length:
        raise fault(
            RuntimeError,
            f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {raw[-1]}",
        )


def _check_table(weight, weights, padding_idx):
    if weight.dtype.category != FLOATING:
        raise fault(
            RuntimeError,
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
            f"Double; but got {tensor_type(weight)} instead (while checking arguments for embedding_bag)",
        )
    if weights is not None and weights.dtype is not weight.dtype:
        raise fault(
            RuntimeError,
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; "
            f"but type {tensor_type(weight)} does not equal {tensor_type(weights)} (while checking arguments for "
            "embedding_bag)",
        )
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise fault(
            RuntimeError,
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}",
        )


def _check_rows(raw, rows, dtype, mode):
    places = ((raw < 0) | (raw >= rows)).nonzero()[0]
    if places.size:
        place, found = places[0], raw[places[0]]
        message = f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {found}"
        if mode != "max" and dtype is not float64:
            message = f"Index {place} of input takes value {found} which is not in the valid range [0, {rows})"
        raise fault(RuntimeError, message)


def _with_offsets(input, offsets, per_sample_weights):
    """Rows in one dimension with the starts of the bags; two dimensions hold one bag each row."""
    if input.ndim == 2:
        if offsets is not None:
            raise fault(
                ValueError,
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}",
            )
        starts = NAMESPACES["torch"]["arange"](0, input.numel(), input.shape[1], dtype=input.dtype)
        weights = per_sample_weights if per_sample_weights is None else per_sample_weights.reshape(-1)
        return input.reshape(-1), starts, weights, True
    if input.ndim != 1:
        raise fault(ValueError, f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None:
        raise fault(ValueError, "offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise fault(ValueError, "offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights, False


@function(at=("F",), example="F.embedding_bag(tensor([[0, 2], [1, 1]]), rand(4, 2))")
def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or maxima of the rows of a table that each bag of input names.

    Bags are the rows of input, or begin at offsets of a one-dimensional one.
    """
    input, weight = sized(input), sized(weight)
    if isinstance(weight, Tensor) and weight.dtype.category != FLOATING and input.dtype.category == FLOATING:
        input, weight = weight, input  # PyTorch's old order of arguments
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise fault(
            ValueError,
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})",
        )
    if weight.ndim != 2:
        raise fault(ValueError, f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    input, offsets, weights, even = _with_offsets(input, offsets, per_sample_weights)
    include_last = include_last_offset and not even
    if mode not in MODES:
        raise fault(ValueError, "mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise fault(ValueError, "max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise fault(ValueError, "max mode does not support sparse weights")
    if max_norm is not None:
        embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    if weights is not None and mode != "sum":
        raise fault(
            NotImplementedError,
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub.",
        )
    return _found(input, weight, offsets, weights, mode, include_last, padding_idx, scale_grad_by_freq)


def _found(input, weight, offsets, weights, mode, include_last, padding_idx, scale):
    from gradsh.backend import arrays

    common = promote(input.dtype, offsets.dtype)
    input, offsets = (one if one.dtype is common else to_dtype(one, dtype=common) for one in (input, offsets))
    for one in (input, offsets):
        check_indices(one, "embedding_bag")
    length = input.shape[0]
    _check_offsets(offsets, length, include_last)
    _check_table(weight, weights, padding_idx)
    _check_rows(input.raw, weight.shape[0], weight.dtype, mode)
    starts, bags = offsets.raw, offsets.shape[0] - bool(include_last)
    if include_last:
        starts, length = starts[:-1], int(starts[-1])
    if not bags:
        input, weights = input[:0], weights if weights is None else weights[:0]
    places = wrap(arrays.searchsorted(starts, arrays.arange(input.shape[0]), "right") - 1)
    padding = -1 if padding_idx is None else padding_idx % max(weight.shape[0], 1)
    settings = {"mode": mode, "bags": bags, "length": length, "padding": padding, "scale": bool(scale)}
    return bags_of_rows(weight, input, places, weights, **settings)
