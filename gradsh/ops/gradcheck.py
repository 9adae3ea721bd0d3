"""`gradcheck` and `gradgradcheck`: derivatives compared with central differences, element by element."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, float64 as double
from gradsh.engine.backward import grad
from gradsh.engine.create import leaf
from gradsh.engine.inplace import is_array
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.comparison import allclose
from gradsh.ops.creation import empty, zeros_like
from gradsh.ops.registry import constant, function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class GradcheckError(RuntimeError):
    """A derivative that is not what central differences give."""

    __module__ = "torch.autograd.gradcheck"


constant("GradcheckError", GradcheckError, at=("autograd.gradcheck",))


@function(
    at=("autograd", "autograd.gradcheck"),
    example="torch.autograd.gradcheck(lambda x: x.sin(), param([1.0, 2.0]))",
    python=True,
)
def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether a function's gradients equal central differences of step eps, within atol + rtol * |difference|.

    Every Jacobian is compared in full, in `fast_mode` too.
    """
    if not (check_forward_ad or check_backward_ad):
        raise fault(AssertionError, "Expected at least one of check_forward_ad or check_backward_ad to be True")
    inputs = _tuple(inputs)
    try:
        _check_inputs(inputs)
        results = _tuple(func(*inputs))
        outputs = [out for out in results if out.requires_grad]
        numerical = [_numerical(func, inputs, index, results, eps) for index in _checked(inputs)]
        if not outputs:
            _expect_zeros(numerical)
            return True
        differentiable = [k for k, out in enumerate(results) if out.requires_grad]
        by_output = [[columns[k] for columns in numerical] for k in differentiable]
        if check_forward_ad:
            for number, (found, wanted) in enumerate(zip(_by_forward_mode(func, inputs, len(results)), numerical)):
                for index, (one, other) in enumerate(zip(found, wanted)):
                    _compare(index, number, one, other, rtol, atol, "computed with forward mode ")
        if check_backward_ad:
            for index, (out, wanted) in enumerate(zip(outputs, by_output)):
                found = _analytical(inputs, out, nondet_tol, check_grad_dtypes)
                for number, (one, other) in enumerate(zip(found, wanted)):
                    _compare(index, number, one, other, rtol, atol)
            _expect_proportional(outputs, inputs)
    except RuntimeError:
        if raise_exception:
            raise
        return False
    return True


@function(
    at=("autograd", "autograd.gradcheck"),
    example="torch.autograd.gradgradcheck(lambda x: x.sin(), param([1.0, 2.0]))",
    python=True,
)
def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """Whether the gradients of a function's gradients equal central differences; weights of the outputs are drawn."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise fault(AssertionError, "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    inputs = _tuple(inputs)
    if grad_outputs is None:
        outputs = [out for out in _tuple(func(*inputs)) if out.requires_grad]
        grad_outputs = tuple(
            empty(tuple(out.shape), dtype=out.dtype).uniform_(-1.0, 1.0).requires_grad_() for out in outputs
        )
    grad_outputs = _tuple(grad_outputs)
    count = len(grad_outputs)
    places = _checked(inputs)

    def gradient(*values):
        given, weights = values[:-count], values[-count:]
        outputs = [out for out in _tuple(func(*given)) if out.requires_grad]
        found = grad(outputs, [given[k] for k in places], weights, create_graph=True, allow_unused=True)
        return tuple(value for value in found if value is not None)

    return gradcheck(
        gradient,
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _tuple(values):
    return values if isinstance(values, tuple) else tuple(values) if isinstance(values, list) else (values,)


def _checked(inputs):
    """The places of the inputs that are to be checked: tensors that require a gradient."""
    return [index for index, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad]


def _check_inputs(inputs):
    places = _checked(inputs)
    if not places:
        raise fault(
            ValueError,
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True.",
            hint="x.requires_grad_()",
        )
    for index in places:
        if inputs[index].dtype is not double:
            from warnings import warn

            warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if any(step == 0 and length > 1 for step, length in zip(inputs[index].stride(), inputs[index].shape)):
            raise fault(
                RuntimeError,
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck.",
                hint=".contiguous()",
            )


# ---- the two Jacobians: a matrix of (elements of the input, elements of the output) for each output


def _numerical(func, inputs, index, results, eps):
    """Central differences with respect to one input, for each output."""
    from gradsh.backend import arrays

    jacobians = [arrays.empty((inputs[index].numel(), out.numel()), out.dtype.code) for out in results]

    def values(delta, place):
        with _Moved(inputs[index], place, delta):
            found = _tuple(func(*inputs))
            return found, [arrays.array(out.raw) for out in found]

    for row, place in enumerate(arrays.ndindex(*inputs[index].shape)):
        below, low = values(-eps, place)
        above, high = values(eps, place)
        for matrix, before, after, a, b in zip(jacobians, below, above, low, high):
            for what, one, other in (("shape", before.shape, after.shape), ("dtype", before.dtype, after.dtype)):
                if one != other:
                    raise fault(
                        AssertionError,
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index "
                        f"{place} by {eps}, but got: {what}s {one} and {other}.",
                    )
            if before.dtype.category == FLOATING:
                matrix[row] = ((b - a) / (2 * eps)).reshape(-1)
            else:
                matrix[row] = 0
    return [leaf(matrix) for matrix in jacobians]


class _Moved:
    """One element of a tensor moved by a step inside `with`, behind the back of its version."""

    __slots__ = ("before", "place", "step", "tensor")

    def __init__(self, tensor, place, step):
        self.tensor, self.place, self.step = tensor, place, step

    def __enter__(self):
        raw = self.tensor.raw
        if is_array(raw):
            self.before = raw[self.place]
            raw[self.place] = self.before + self.step
        else:
            self.before = raw
            self.tensor.raw = type(raw)(raw + self.step)

    def __exit__(self, *details):
        if is_array(self.tensor.raw):
            self.tensor.raw[self.place] = self.before
        else:
            self.tensor.raw = self.before


def _analytical(inputs, out, tolerance, check_types):
    """The Jacobian of one output by reverse mode, for each input; computed twice, to see that it is the same."""
    targets = [inputs[index] for index in _checked(inputs)]
    first, sizes_fit, types_fit = _by_rows(out, targets)
    second, _, _ = _by_rows(out, targets)
    if check_types and not types_fit:
        raise fault(GradcheckError, "Gradient has dtype mismatch")
    if not sizes_fit:
        raise fault(GradcheckError, "Analytical gradient has incorrect size")
    if any((a.raw - b.raw).size and abs(a.raw - b.raw).max() > tolerance for a, b in zip(first, second)):
        raise fault(
            GradcheckError,
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
            "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
            f"nondeterminism was {tolerance}.",
        )
    return first


def _by_rows(out, targets):
    from gradsh.backend import arrays

    jacobians = [arrays.zeros((target.numel(), out.numel()), target.dtype.code) for target in targets]
    sizes_fit = types_fit = True
    for column in range(out.numel()):
        seed = zeros_like(out).contiguous()
        seed.view(-1)[column] = 1.0
        found = grad(out, targets, seed, retain_graph=True, allow_unused=True)
        for matrix, target, value in zip(jacobians, targets, found):
            if value is None:
                continue
            sizes_fit = sizes_fit and value.shape == target.shape
            types_fit = types_fit and value.dtype is target.dtype
            matrix[:, column] = arrays.asarray(value.raw).reshape(-1)
    return [leaf(matrix) for matrix in jacobians], sizes_fit, types_fit


def _by_forward_mode(func, inputs, count):
    """The Jacobians by forward mode: for each checked input, and each output, one matrix."""
    from gradsh.backend import arrays
    from gradsh.engine.forward import dual, split
    from gradsh.engine.level import JVP, Level

    places = _checked(inputs)
    plain = [value.detach().requires_grad_() if index in places else value for index, value in enumerate(inputs)]
    found = []
    for index in places:
        columns: list[list[Any]] = [[] for _ in range(count)]
        for place in range(inputs[index].numel()):
            tangent = zeros_like(plain[index]).contiguous()
            tangent.view(-1)[place] = 1.0
            with Level(JVP, func) as level:
                outs = _tuple(func(*plain[:index], dual(plain[index], tangent, level), *plain[index + 1 :]))
                for column, out in zip(columns, outs):
                    moved = split(out, level)[1]
                    column.append(arrays.array((zeros_like(out) if moved is None else moved).raw).reshape(-1))
        found.append([leaf(arrays.array(column)) for column in columns])
    return found


# ---- the verdict


def _compare(index, number, analytical, numerical, rtol, atol, how=""):
    if not allclose(analytical.double(), numerical.double(), rtol, atol):
        raise fault(
            GradcheckError,
            f"Jacobian {how}mismatch for output {index} with respect to input {number},\nnumerical:{numerical}\n"
            f"analytical:{analytical}\n",
            hint="check the operations of the function one by one",
        )


def _expect_zeros(numerical):
    if any(matrix.raw.any() for columns in numerical for matrix in columns):
        raise fault(GradcheckError, "Numerical gradient for function expected to be zero")


def _expect_proportional(outputs, inputs):
    """Gradients must be multiplied by those of the outputs: zeros in, zeros out."""
    from gradsh.backend import arrays

    seeds = [zeros_like(out) for out in outputs]
    targets = [inputs[index] for index in _checked(inputs)]
    for value in grad(outputs, targets, seeds, retain_graph=True, allow_unused=True):
        if value is not None and arrays.asarray(value.raw).any():
            raise fault(GradcheckError, "backward not multiplied by grad_output")
