"""Functions of linear algebra that PyTorch has removed, and those whose results are complex."""

from __future__ import annotations

from gradsh.fault import fault
from gradsh.ops.calls import floats
from gradsh.ops.matrix_faults import check_square
from gradsh.ops.registry import function

GONE = "This function was deprecated since version 1.9 and is now removed."

# What PyTorch says to use instead (torch/_linalg_utils.py), and that in short.
REMOVED = {
    "solve": (
        " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed and "
        "does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be used with "
        "`torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
        "X = torch.linalg.solve(A, B)",
        "linalg.solve(A, B)",
    ),
    "lstsq": (
        " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments and does "
        "not return the QR decomposition in the returned tuple (although it returns other information about the problem).\n\n"
        "To get the QR decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in `torch.lstsq` stored the "
        "residuals of the solution in the last m - n columns of the returned value whenever m > n. In torch.linalg.lstsq, "
        "the residuals are in the field 'residuals' of the returned named tuple.\n\nThe unpacking of the solution, as in\n"
        "X, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\nX = torch.linalg.lstsq(A, B).solution",
        "linalg.lstsq(A, B).solution",
    ),
    "symeig": (
        " The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower "
        "triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
        "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) should "
        "be replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')",
        "linalg.eigh(A)",
    ),
    "eig": (
        " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex "
        "tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n\nand\n\n"
        "L, V = torch.eig(A, eigenvectors=True) should be replaced with:\nL_complex, V_complex = torch.linalg.eig(A)",
        "linalg.eigh(A), for a symmetric matrix",
    ),
    "matrix_rank": (
        "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
        "`torch.linalg.matrix_rank()` to 'hermitian'.",
        "linalg.matrix_rank(A)",
    ),
}


def _removed(name, message, instead):
    def gone(*given, **settings):
        raise fault(RuntimeError, GONE + message, hint=instead)

    gone.__doc__ = f"Removed from PyTorch; instead: {instead}."
    at = ("torch",) if name == "matrix_rank" else ("torch", "Tensor")
    function(f"removed_{name}", at=tuple([f"{place}:{name}" for place in at]), python=True)(gone)


for _name, (_message, _instead) in REMOVED.items():
    _removed(_name, _message, _instead)


def _complex(input, name):
    input = floats(input)
    check_square(input, f"linalg.{name}")
    raise fault(
        NotImplementedError,
        f"linalg.{name}: the result is complex, and complex numbers are not supported",
        hint=f"linalg.{'eigh' if name == 'eig' else 'eigvalsh'}(A), for a symmetric matrix",
    )


@function("linalg_eig", at=("linalg:eig",))
def linalg_eig(input):
    """Eigenvalues and eigenvectors of any square matrix: refused, as they are complex."""
    return _complex(input, "eig")


@function("linalg_eigvals", at=("linalg:eigvals",))
def linalg_eigvals(input):
    """Eigenvalues of any square matrix: refused, as they are complex."""
    return _complex(input, "eigvals")
