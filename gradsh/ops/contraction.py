"""Products summed over named dimensions: the op behind einsum, tensordot and inner, with those functions."""

from __future__ import annotations

from gradsh.backend.dtypes import boolean
from gradsh.engine.op import OPS, bilinear
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import alike
from gradsh.ops.dimensions import axes_of, axis_of
from gradsh.ops.product_faults import scalar_types_fault, truths_fault
from gradsh.ops.products import blas_ready
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.shape import reshape
from gradsh.ops.transposing import permuted

EACH = "\0"  # the label of the dimension that examples are along


def _contraction_of(which):
    """The contraction of all examples, whose dimension has a label of its own."""

    def rule(x, y, x_labels, y_labels, out_labels):
        labels = (EACH * (name in which) + label for name, label in (("x", x_labels), ("y", y_labels)))
        x_labels, y_labels = labels
        return contraction(x, y, x_labels=x_labels, y_labels=y_labels, out_labels=EACH + out_labels)

    return rule


@bilinear(
    x=lambda g, y, x_labels, y_labels, out_labels: contraction(
        g, y, x_labels=out_labels, y_labels=y_labels, out_labels=x_labels
    ),
    y=lambda g, x, x_labels, y_labels, out_labels: contraction(
        x, g, x_labels=x_labels, y_labels=out_labels, out_labels=y_labels
    ),
    sample=[
        Sample(reals(2, 3, 4), reals(3, 2, 5), x_labels="bij", y_labels="ibk", out_labels="kbj"),
        Sample(reals(2, 3), reals(3, 2), x_labels="ij", y_labels="ji", out_labels=""),
        Sample(reals(2), reals(3), x_labels="i", y_labels="j", out_labels="ji"),
        Sample(reals(2, 3), reals(2, 3), x_labels="ij", y_labels="ij", out_labels="i"),
    ],
    at=(),
    explain=scalar_types_fault,
    grad_fn="ViewBackward0",
    batch={which: _contraction_of(which) for which in ("x", "y", "x y")},
)
def contraction(xp, x, y, *, x_labels, y_labels, out_labels):
    """Products of x and y summed over the labels that the output lacks; every label of x is in y or in the output, and
    the other way round, so that the derivatives are contractions too."""
    x, y = xp.asarray(x), xp.asarray(y)
    if x.dtype is not y.dtype or x.dtype.char == "?":
        raise TypeError
    sizes = dict(zip(x_labels, x.shape)) | dict(zip(y_labels, y.shape))
    batch = [label for label in x_labels if label in y_labels and label in out_labels]
    summed = [label for label in x_labels if label in y_labels and label not in out_labels]
    left = [label for label in x_labels if label not in y_labels]
    right = [label for label in y_labels if label not in x_labels]

    def arranged(z, labels, *groups):
        z = z.transpose([labels.index(label) for group in groups for label in group])
        return z.reshape([_volume(group, sizes) for group in groups])

    if not summed:
        product = xp.multiply(
            arranged(x, x_labels, batch, left)[:, :, None], arranged(y, y_labels, batch, right)[:, None, :]
        )
    elif batch:
        product = xp.matmul(
            blas_ready(xp, arranged(x, x_labels, batch, left, summed)),
            blas_ready(xp, arranged(y, y_labels, batch, summed, right)),
        )
    else:
        product = arranged(x, x_labels, left, summed).dot(arranged(y, y_labels, summed, right))
    order = [*batch, *left, *right]
    product = product.reshape([sizes[label] for label in order])
    return product.transpose([order.index(label) for label in out_labels])


def _volume(labels, sizes):
    count = 1
    for label in labels:
        count *= sizes[label]
    return count


def product_over(x, y, x_labels, y_labels, out_labels, plain=True):
    """The contraction of two tensors by labels; a plain product, broadcast, where nothing is summed."""
    if x.dtype is not y.dtype or x.dtype is boolean:  # no bmm for these: PyTorch may still multiply number by number
        x, x_labels = _without_ones(x, x_labels, out_labels)
        y, y_labels = _without_ones(y, y_labels, out_labels)
        plain = True
    if plain and all(label in out_labels for label in x_labels + y_labels):
        return OPS["mul"](_spread_out(x, x_labels, out_labels), _spread_out(y, y_labels, out_labels))
    return contraction(x, y, x_labels=x_labels, y_labels=y_labels, out_labels=out_labels)


def _without_ones(x, labels, out_labels):
    """The same without the dimensions of length 1 to sum."""
    kept = [k for k, label in enumerate(labels) if label in out_labels or x.shape[k] != 1]
    return reshape(x, tuple([x.shape[k] for k in kept])), "".join([labels[k] for k in kept])


def _spread_out(x, labels, out_labels):
    """A view with the dimensions in the output's order and length 1 for those it lacks."""
    order = [labels.index(label) for label in out_labels if label in labels]
    if order != list(range(len(order))):
        x = permuted(x, dims=tuple(order))
    if len(labels) == len(out_labels):
        return x
    lengths = iter(x.shape)
    return reshape(x, tuple([next(lengths) if label in labels else 1 for label in out_labels]))


@function(at=("torch",), python=True, example="tensordot(ones(2, 3), ones(3, 4), dims=1)")
def tensordot(a, b, dims=2, out=None):
    """Sum of products over the last `dims` dimensions of a and the first of b, or over the pairs of two lists."""
    a, b = alike((a, "a"), (b, "b"))
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, int):
        if dims < 0:
            raise fault(RuntimeError, f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise fault(RuntimeError, f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        a_dims, b_dims = list(range(-dims, 0)), list(range(dims))
    else:
        if not isinstance(dims, list | tuple) or len(dims) != 2:
            wanted = "int or tuple[list[int], list[int]] or list[list[int]] containing two lists"
            raise fault(RuntimeError, f"tensordot expects dims to be {wanted}, but got dims={dims}")
        a_dims, b_dims = dims
        for name, one in (("dims_self", a_dims), ("dims_other", b_dims)):
            if not isinstance(one, list | tuple):
                place = 3 if name == "dims_self" else 4
                kind = type(one).__name__
                raise fault(
                    TypeError, f"tensordot(): argument '{name}' (position {place}) must be tuple of ints, not {kind}"
                )
    if len(a_dims) != len(b_dims):
        raise fault(RuntimeError, "both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise fault(RuntimeError, "both inputs should have same dtype")
    if a.dtype is boolean:
        raise truths_fault("dot" if len(a_dims) == a.ndim == b.ndim else "addmm_impl_cpu_", a)
    for one, rank in ((a_dims, a.ndim), (b_dims, b.ndim)):
        if rank:
            axes_of(list(one), rank)
        elif one:
            raise fault(IndexError, f"Dimension specified as {one[0]} but tensor has no dimensions")
    x_labels, y_labels = _letters(a.ndim), _letters(b.ndim, a.ndim)
    for one, other in zip(a_dims, b_dims):
        i, j = axis_of(one, a.ndim), axis_of(other, b.ndim)
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise fault(
                RuntimeError,
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {one} and second has "
                f"size {b.shape[j]} in dim {other}",
            )
        y_labels[j] = x_labels[i]
    out_labels = [label for label in x_labels if label not in y_labels]
    out_labels += [label for label in y_labels if label not in x_labels]
    from gradsh.ops.einsum import summed_products

    return summed_products([a, b], ["".join(x_labels), "".join(y_labels)], "".join(out_labels))


def _letters(count, start=0):
    return [chr(0x100 + start + k) for k in range(count)]


@function(example="inner(tensor([1.0, 2.0]), tensor([3.0, 4.0]))")
def inner(input, other):
    """Sum of products over the last dimensions of both."""
    input, other = alike((input, "input"), (other, "other"))
    if not input.ndim or not other.ndim:
        return OPS["mul"](input, other)
    if input.shape[-1] != other.shape[-1]:
        shapes = f"{list(input.shape)} and {list(other.shape)}"
        raise fault(
            RuntimeError, f"inner() the last dimension must match on both input tensors but got shapes {shapes}"
        )
    if input.dtype is not other.dtype:
        raise fault(RuntimeError, "both inputs should have same dtype")
    if input.dtype is boolean:
        raise truths_fault("dot" if input.ndim == 1 == other.ndim else "addmm_impl_cpu_", input)
    left, right = _letters(input.ndim - 1, 1), _letters(other.ndim - 1, input.ndim + 1)
    x_labels, y_labels = "".join([*left, "k"]), "".join([*right, "k"])
    return product_over(input, other, x_labels, y_labels, "".join(left + right))
