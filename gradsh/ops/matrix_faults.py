"""PyTorch's errors for matrices that an operation of linear algebra cannot take, or fails on."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float16
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.promote import broadcast_fault
from gradsh.engine.wrapped import numbers_of
from gradsh.fault import fault
from gradsh.ops.registry import constant


class LinAlgError(RuntimeError):
    """A matrix that is singular, not positive definite, or on which an iteration does not converge."""

    __module__ = "torch._C"


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # as PyTorch's class is named, under a public name
constant("LinAlgError", LinAlgError, at=("linalg",))


def check_square(A, name):
    """Matrices at all, and square ones."""
    if A.ndim < 2:
        raise fault(RuntimeError, f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise fault(
            RuntimeError, f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_dimensions(A, name, argument="A"):
    """Matrices of any shape."""
    if A.ndim < 2:
        raise fault(RuntimeError, f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_numbers(A, name, *, half=True):
    """Floating-point numbers, of at least single precision where `half` is false."""
    if A.dtype.category != FLOATING:
        raise fault(
            RuntimeError,
            f"{name}: Expected a floating point or complex tensor as input. Got {TYPE_NAMES[A.dtype.name]}",
            hint=".float() first, or write the numbers with a point: 1.0",
        )
    if not half and A.dtype is float16:
        raise fault(RuntimeError, f"{name}: Low precision dtypes not supported. Got Half", hint=".float()")


def check_kernel(A, kernel):
    """What PyTorch's kernel of this name is made for: single and double precision."""
    if A.dtype.category != FLOATING or A.dtype is float16:
        raise fault(
            NotImplementedError,
            f"\"{kernel}\" not implemented for '{TYPE_NAMES[A.dtype.name]}'",
            hint=".float() makes floats of them",
        )


def check_system(A, B, name, left=True):
    """A square A and a B that fits it, for A X = B, or for X A = B; batches that broadcast."""
    check_square(A, name)
    check_dimensions(B, name, "B")
    check_fit(A.shape, B.shape, name, left)


def check_fit(A, B, name, left):
    """Shapes of a square matrix and of the other side of an equation."""
    if A[-1] != B[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        shapes = f"({A[-2]}x{A[-1]} and {B[-2]}x{B[-1]})"
        raise fault(RuntimeError, f"{name}: Incompatible shapes of A and B for the equation {equation} {shapes}")
    check_batches(A, B)


def check_batches(A, B):
    """Shapes whose dimensions before the last two broadcast."""
    wrong = broadcast_fault([B[:-2], A[:-2]])
    if wrong is not None:
        raise wrong


def check_same_type(A, B, name, names=("A", "B")):
    """Two tensors of one element type."""
    if A.dtype is not B.dtype:
        one, other = names
        found = f"{one} of type {TYPE_NAMES[A.dtype.name]} and {other} of type {TYPE_NAMES[B.dtype.name]} instead"
        raise fault(
            RuntimeError,
            f"{name}: Expected {one} and {other} to have the same dtype, but found {found}",
            hint=f".to(torch.{A.dtype.name})",
        )


SINGULAR = "The solver failed because the input matrix is singular."
NOT_INVERTIBLE = (
    "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
)
NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order {} "
    "is not positive-definite)."
)


def check_success(info, name, message, kind=LinAlgError, hint=None):
    """Raise what failed first of a batch of matrices.

    info: for each matrix the place at which the algorithm failed, or 0. message: with {} for the place.
    """
    info = numbers_of(info)
    if not info.any():
        return
    batch = ""
    if info.ndim:
        info = info.reshape(-1)
        first = int((info != 0).argmax())
        info, batch = info[first], f"(Batch element {first}): "
    raise fault(kind, f"{name}: {batch}{message.format(int(info))}", hint=hint)
