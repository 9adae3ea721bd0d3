"""PyTorch's errors for products of tensors that do not fit: each op of the matrix kind has words of its own."""

from __future__ import annotations

from gradsh.engine.alias import C_TYPES, TYPE_NAMES
from gradsh.engine.promote import broadcast_fault, dimension_fault
from gradsh.engine.runtime import dtype_of, shape_of
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault


def _shape(x):
    return tuple(x.shape) if isinstance(x, Tensor) else shape_of(x)


def _dtype(x):
    return (x.dtype if isinstance(x, Tensor) else dtype_of(x)).name


def _long(x):
    return TYPE_NAMES[_dtype(x)]


def truths_fault(name, *operands):
    """For a kernel that is not made for truth values."""
    if any(_dtype(x) == "bool" for x in operands):
        return fault(
            NotImplementedError, f"\"{name}\" not implemented for 'Bool'", hint=".long() makes integers of truths"
        )
    return None


def sizes_fault(x, y):
    """Matrices whose inner sizes differ. A hint's {a} and {b} are the operands as the program writes them."""
    (rows, inner), (other, columns) = x, y
    hint = None
    if inner == columns:
        hint = "the transpose of the right operand would fit: {a} @ {b}.T"
    elif rows == other:
        hint = "the transpose of the left operand would fit: {a}.T @ {b}"
    return fault(
        RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {other}x{columns})", hint=hint
    )


def folded_fault(error, x, y):
    """For a row, or a stack of matrices, times a matrix: PyTorch makes an mm of all rows."""
    return _matrix_fault(_folded(_shape(x)), _shape(y), x, y)


def _folded(shape):
    rows = 1
    for length in shape[:-1]:
        rows *= length
    return rows, shape[-1]


def matrix_fault(error, x, y):
    """For mm."""
    return _matrix_fault(_shape(x), _shape(y), x, y)


def _matrix_fault(a, b, x, y):
    if len(a) != 2:
        return fault(RuntimeError, "self must be a matrix", notes=(f"it has shape {a}",))
    if len(b) != 2:
        return fault(RuntimeError, "mat2 must be a matrix", notes=(f"it has shape {b}",))
    if a[1] != b[0]:
        return sizes_fault(a, b)
    if _dtype(x) != _dtype(y):
        names = f"{C_TYPES[_dtype(x)]} != {C_TYPES[_dtype(y)]}"
        return fault(
            RuntimeError, f"expected m1 and m2 to have the same dtype, but got: {names}", hint=f".to(torch.{_dtype(x)})"
        )
    return truths_fault("addmm_impl_cpu_", x, y)


def vector_fault(error, x, y):
    """For mv."""
    a, b = _shape(x), _shape(y)
    _length(a, 0)
    if (len(a), len(b)) != (2, 1):
        return fault(RuntimeError, f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    return _vector_sizes(a[:1], a, b) or _vector_types(y, x, y)


def added_vector_fault(error, input, mat, vec, **settings):
    """For addmv."""
    shape, a, b = _shape(input), _shape(mat), _shape(vec)
    if (len(a), len(b)) != (2, 1) or len(shape) > 1:
        return fault(RuntimeError, f"vector + matrix @ vector expected, got {len(shape)}, {len(a)}, {len(b)}")
    return _vector_sizes(shape, a, b) or _vector_types(input, mat, vec)


def _vector_sizes(shape, a, b):
    if a[1] == b[0] and shape in ((), (1,), a[:1]):
        return None
    size = _length(shape, 0)
    return fault(RuntimeError, f"size mismatch, got input ({size}), mat ({a[0]}x{a[1]}), vec ({b[0]})")


def _vector_types(input, mat, vec):
    if len({_dtype(input), _dtype(mat), _dtype(vec)}) > 1:
        got = f"{_long(input)}, {_long(mat)}, and {_long(vec)}"
        return fault(RuntimeError, f"addmv input tensors must have the same dtype, but got {got}")
    return truths_fault("addmv_impl_cpu", mat)


def dot_fault(error, x, y):
    """For dot and vdot."""
    a, b = _shape(x), _shape(y)
    if len(a) != 1 or len(b) != 1:
        return fault(RuntimeError, f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors", hint="a @ b")
    if _dtype(x) != _dtype(y):
        found = f"{_long(x)} and {_long(y)}"
        return fault(RuntimeError, f"dot : expected both vectors to have same dtype, but found {found}")
    if a != b:
        return fault(
            RuntimeError,
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, "
            f"but got {a[0]} and {b[0]} elements respectively",
        )
    return truths_fault("dot", x)


def _batch_ranks(a, b):
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            return fault(RuntimeError, f"{name} must be a 3D tensor", notes=(f"it has shape {shape}",))
    return None


def batch_fault(error, x, y):
    """For bmm."""
    a, b = _shape(x), _shape(y)
    return _batch_ranks(a, b) or _batch_sizes(a, b) or _scalar_types(x, y) or _batch_of_truths("bmm", a, b, x)


def _batch_of_truths(name, a, b, x):
    """PyTorch multiplies the matrices of a batch one by one from a size on."""
    return truths_fault(name if a[-2] * a[-1] * b[-1] < 400 else "addmm_impl_cpu_", x)


def _batch_sizes(a, b):
    wanted, got = [a[0], a[2]], list(b[:2])
    if wanted == got:
        return None
    return fault(
        RuntimeError, f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: {got}."
    )


def _scalar_types(x, y):
    if _dtype(x) == _dtype(y):
        return None
    return fault(RuntimeError, f"expected scalar type {_long(x)} but found {_long(y)}", hint=f".to(torch.{_dtype(x)})")


def stacked_fault(error, x, y):
    """For matmul of stacks: PyTorch makes a bmm of it, or an mm where the left is a matrix that needs a gradient."""
    a, b = _shape(x), _shape(y)
    if len(a) == 2 and a[1] != b[-2] and isinstance(x, Tensor) and x.requires_grad:
        rows = b[-1]
        for length in b[:-2]:
            rows *= length
        return sizes_fault((rows, b[-2]), a)
    lead = broadcast_fault([a[:-2], b[:-2]])
    if lead is not None:
        return lead
    count = 1
    for one, other in zip(((1,) * 9 + a[:-2])[-9:], ((1,) * 9 + b[:-2])[-9:]):
        count *= max(one, other)
    wrong = _batch_sizes((count, *a[-2:]), (count, *b[-2:])) or _scalar_types(x, y)
    return wrong or _batch_of_truths("bmm", a, b, x)


def row_fault(x, y):
    """For a vector times a stack: PyTorch makes a bmm of it, or an mv where the vector needs a gradient."""
    a, b = _shape(x), _shape(y)
    if a[0] == b[-2]:
        return None
    if not x.requires_grad:
        return stacked_fault(None, x.detach().reshape(1, -1), y)
    rows = b[-1]
    for length in b[:-2]:
        rows *= length
    return _vector_sizes((rows,), (rows, b[-2]), a)


def expansion_fault(input, target):
    """What is added to a product, where its shape does not expand to the product's."""
    shape = _shape(input)
    if len(shape) > len(target):
        return fault(
            RuntimeError,
            f"expand(torch.{_long(input)}Tensor{{{list(shape)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})",
        )
    for k in range(1, len(shape) + 1):
        if shape[-k] != target[-k] and shape[-k] != 1:
            return fault(
                RuntimeError,
                f"The expanded size of the tensor ({target[-k]}) must match the existing size ({shape[-k]}) at "
                f"non-singleton dimension {len(target) - k}.  Target sizes: {list(target)}.  Tensor sizes: "
                f"{list(shape)}",
            )
    return None


def _mixed_types(input, mat1, mat2):
    """A product and what is added to it of several element types."""
    for name, one, other in (("self and mat2", input, mat2), ("mat1 and mat2", mat1, mat2)):
        if _dtype(one) != _dtype(other):
            got = f"{_long(one)} and {_long(other)}"
            return fault(
                RuntimeError, f"{name} must have the same dtype, but got {got}", hint=f".to(torch.{_dtype(one)})"
            )
    return None


def added_matrix_fault(error, input, mat1, mat2, **settings):
    """For addmm and linear with a bias."""
    a, b = _shape(mat1), _shape(mat2)
    if not settings:  # a stack of matrices or a row, folded
        a = _folded(a)
    wrong = _mixed_types(input, mat1, mat2)
    if wrong is not None:
        return wrong
    for name, shape in (("mat1", a), ("mat2", b)):
        if len(shape) != 2:
            return fault(RuntimeError, f"{name} must be a matrix, got {len(shape)}-D tensor")
    if a[1] != b[0]:
        return sizes_fault(a, b)
    return expansion_fault(input, (a[0], b[1])) or truths_fault("addmm_impl_cpu_", mat1)


def added_outer_fault(error, input, vec1, vec2, **settings):
    """For addr."""
    a, b = _shape(vec1), _shape(vec2)
    for name, shape in (("vec1", a), ("vec2", b)):
        if len(shape) != 1:
            return fault(RuntimeError, f"addr: Expected 1-D argument {name}, but got {len(shape)}-D")
    return expansion_fault(input, (a[0], b[0]))


def _length(shape, dim):
    """The length along a dimension, which a tensor of too few does not have."""
    if 0 <= dim < len(shape):
        return shape[dim]
    if not shape:
        raise fault(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    raise dimension_fault(dim, len(shape))


def added_batch_fault(error, input, batch1, batch2, **settings):
    """For baddbmm."""
    a, b = _shape(batch1), _shape(batch2)
    target = _length(a, 0), _length(a, 1), _length(b, 2)
    wrong = expansion_fault(input, target)
    if wrong is not None:
        return wrong
    if _dtype(input) != _dtype(batch1):
        kinds = f"input {C_TYPES[_dtype(input)]}, batch1: {C_TYPES[_dtype(batch1)]}, batch2: {C_TYPES[_dtype(batch2)]}"
        return fault(RuntimeError, f"Input dtypes must be the same, got: {kinds}")
    wrong = _batch_ranks(a, b) or _batch_sizes(a, b) or _scalar_types(batch1, batch2)
    return wrong or _batch_of_truths("baddbmm", a, b, batch1)


def summed_batch_fault(error, input, batch1, batch2, **settings):
    """For addbmm."""
    a, b = _shape(batch1), _shape(batch2)
    if any(isinstance(x, Tensor) and x.requires_grad for x in (input, batch1, batch2)):
        _length(a, 0)  # which PyTorch keeps for the way back
    wrong = expansion_fault(input, (_length(a, 1), _length(b, 2))) or _batch_ranks(a, b)
    if wrong is not None:
        return wrong
    if a[0] != b[0]:
        return fault(RuntimeError, f"batch1 and batch2 must have same number of batches, got {a[0]} and {b[0]}")
    if a[2] != b[1]:
        return fault(RuntimeError, f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})")
    return _mixed_types(input, batch1, batch2) or truths_fault("addmm_impl_cpu_", batch1)


def scalar_types_fault(error, x, y, **settings):
    """For contractions, which PyTorch makes a bmm of."""
    return _scalar_types(x, y) or truths_fault("bmm", x)
