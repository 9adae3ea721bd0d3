"""`torch.autograd.functional`: Jacobians and Hessians of a function, and their products with vectors.

Jacobians and Hessians take one pass, with all rows (or columns) as examples of a `vmap`.

A function takes tensors and returns a tensor or a tuple of them; results are nested as inputs and outputs are: a plain
tensor stands for itself, a tuple for a tuple. `strict=True` makes independence of an input an error instead of zeros.
"""

from __future__ import annotations

from gradsh.engine.backward import grad, reachable
from gradsh.engine.function_node import FunctionNode
from gradsh.engine.state import enable_grad, set_grad_enabled, state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.creation import ones_like, zeros_like
from gradsh.ops.joining import stack
from gradsh.ops.registry import function
from gradsh.ops.shape import reshape, unsqueezed
from gradsh.ops.transforms import basis, jacfwd, jacrev

AT = ("autograd.functional",)
HERE = "This is not allowed in strict mode"
ONE_NUMBER = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)


def _tuple(values, what, name):
    """(values as a tuple of tensors, whether they were one)."""
    listed = values if isinstance(values, tuple) else (values,)
    for index, value in enumerate(listed):
        if not isinstance(value, Tensor):
            which = f"value at index {index}" if isinstance(values, tuple) else f"given {what}"
            raise fault(
                TypeError,
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(value)}.",
                hint="torch.tensor(…) makes one",
            )
    return listed, isinstance(values, tuple)


def _fresh(inputs, create_graph, require=True):
    """Other handles of the inputs, so that what the function captured by itself is told from its arguments."""
    return tuple(
        value.view_as(value) if create_graph and value.requires_grad else value.detach().requires_grad_(require)
        for value in inputs
    )


def _finished(values, create_graph, tupled):
    """Results without history where none was asked for, alone where the user's value was."""
    values = values if create_graph else tuple(value.detach() for value in values)
    return values if tupled else values[0]


def _vector(v, like, tupled, create_graph, name, missing):
    """The checked vector(s) to multiply with; None where one number needs none."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise fault(RuntimeError, missing, hint="v=torch.ones_like(…)")
        return None
    v = _fresh(_tuple(v, "v", name)[0], create_graph, require=False)
    if len(v) != len(like):
        if tupled:
            raise fault(RuntimeError, f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise fault(RuntimeError, "The given v should contain a single Tensor.")
    for index, (value, other) in enumerate(zip(v, like)):
        if value.shape != other.shape:
            entry = f"Entry {index} in " if tupled else ""
            raise fault(RuntimeError, f"{entry}v has invalid size: should be {other.shape!r} but got {value.shape!r}.")
    return v


def _grad(outputs, inputs, grad_outputs=None, create_graph=False, retain_graph=None, batched=False):
    """As `autograd.grad`, where outputs that have no gradient are left out and inputs that are not used give None."""
    grad_outputs = grad_outputs or (None,) * len(outputs)
    pairs = [(out, seed) for out, seed in zip(outputs, grad_outputs) if out is not None and out.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outs, seeds = zip(*pairs)
    return grad(outs, inputs, seeds, retain_graph, create_graph, allow_unused=True, is_grads_batched=batched)


def _check(values, strict, texts):
    """In strict mode, refuse what does not depend on the inputs; `texts`: for None, and for no gradient."""
    if strict:
        for index, value in enumerate(values):
            if value is None or not value.requires_grad:
                raise fault(RuntimeError, texts[value is not None].format(i=index))


NONE = "The output of the user-provided function is independent of input {i}. " + HERE + "."
OUTPUTS = (
    "",
    "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
)
GRADIENTS = (
    NONE,
    "The gradient with respect to input {i} is independent of the inputs of the user-provided function. " + HERE + ".",
)
JACOBIAN = (
    NONE,
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example).",
)
BACK = (
    NONE,
    "The jacobian of the user-provided function is independent of input {i}. " + HERE + " when create_graph=True.",
)
BACK_TRICK = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    "backward "
    "trick to compute forward mode gradients. " + HERE + ".",
    BACK[1],
)
DOUBLE_BACK = (
    "The jacobian of the user-provided function is independent of input {i}. " + HERE + ".",
    "The hessian of the user-provided function is independent of input {i}. " + HERE + " when create_graph=True.",
)


def _filled(grads, like, strict, create_graph, texts):
    """Gradients with zeros where there was none; in strict mode that is an error."""
    for index, value in enumerate(grads):
        if strict and (value is None or (create_graph and not value.requires_grad)):
            raise fault(RuntimeError, texts[value is not None].format(i=index))
    return tuple(zeros_like(other) if value is None else value for value, other in zip(grads, like))


def _called(func, inputs, name, strict, create_graph):
    """(inputs, whether they are a tuple, outputs, whether these are): the function run on handles of its inputs."""
    inputs, tupled = _tuple(inputs, "inputs", name)
    inputs = _fresh(inputs, create_graph)
    outputs, outputs_tupled = _tuple(func(*inputs), "outputs of the user-provided function", name)
    _check(outputs, strict, OUTPUTS)
    return inputs, tupled, outputs, outputs_tupled


@function(at=AT, example="torch.autograd.functional.vjp(lambda x: x**2, ones(3), ones(3))", python=True)
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(f(x), vᵀJ): the value and the product of a vector with the Jacobian."""
    with enable_grad():
        inputs, tupled, outputs, outputs_tupled = _called(func, inputs, "vjp", strict, create_graph)
        missing = (
            "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
        )
        v = _vector(v, outputs, outputs_tupled, create_graph, "vjp", missing)
    with set_grad_enabled(create_graph or state.grad):
        found = _filled(_grad(outputs, inputs, v, create_graph), inputs, strict, create_graph, BACK)
    return _finished(outputs, create_graph, outputs_tupled), _finished(found, create_graph, tupled)


@function(at=AT, example="torch.autograd.functional.jvp(lambda x: x**2, ones(3), ones(3))", python=True)
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(f(x), Jv): the value and the product of the Jacobian with a vector, by reverse mode twice."""
    with enable_grad():
        checked, tupled = _tuple(inputs, "inputs", "jvp")
        missing = ONE_NUMBER
        v = _vector(v, checked, tupled, create_graph, "jvp", missing)
        inputs, _, outputs, outputs_tupled = _called(func, inputs, "jvp", strict, create_graph)
        seeds = tuple(zeros_like(out, requires_grad=True) for out in outputs)
        grads = _grad(outputs, inputs, seeds, create_graph=True)
        _check(grads, strict, GRADIENTS)
    with set_grad_enabled(create_graph or state.grad):
        found = _filled(_grad(grads, seeds, v, create_graph), outputs, strict, create_graph, BACK_TRICK)
    return _finished(outputs, create_graph, outputs_tupled), _finished(found, create_graph, outputs_tupled)


@function(at=AT, example="torch.autograd.functional.jacobian(lambda x: x**2, ones(3))", python=True)
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian of a function: for each output and input a tensor of both their shapes."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise fault(
            AssertionError,
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more '
            "outputs than "
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".',
        )
    if strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
        return _by_columns(func, inputs)
    with enable_grad():
        inputs, tupled, outputs, outputs_tupled = _called(func, inputs, "jacobian", strict, create_graph)
        if vectorize and strict:
            raise fault(
                RuntimeError,
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`.",
            )
        found = tuple(_rows(index, out, inputs, create_graph, strict, vectorize) for index, out in enumerate(outputs))
    nested = tuple(_finished(row, create_graph, tupled) for row in found)
    return nested if outputs_tupled else nested[0]


def _check_forward(create_graph, strict, vectorize):
    """PyTorch's limits of `strategy="forward-mode"`."""
    for given, name in ((create_graph, "create_graph"), (strict, "strict")):
        if given:
            kind = NotImplementedError if name == "create_graph" else RuntimeError
            raise fault(
                kind,
                f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not supported '
                "together "
                f'(yet). Please either set `{name}=False` or `strategy="reverse-mode"`.',
            )
    if not vectorize:
        raise fault(
            NotImplementedError,
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`.",
        )


def _by_columns(func, inputs):
    """The Jacobian by forward mode, in one run with a tangent for each element of the inputs."""
    inputs, tupled = _tuple(inputs, "inputs", "jacobian")
    several = []

    def listed(*values):
        outputs, outputs_tupled = _tuple(func(*values), "outputs of the user-provided function", "jacobian")
        several.append(outputs_tupled)
        return outputs

    found = jacfwd(listed, argnums=tuple(range(len(inputs))))(*inputs)
    nested = tuple(_finished(row, False, tupled) for row in found)
    return nested if several[-1] else nested[0]


def _rows(index, out, inputs, create_graph, strict, vectorize):
    """The derivatives of one output's elements for each input, in one pass with a cotangent for each element."""
    count = out.numel()
    if count > 1 and not vectorize and _minds_examples(out):
        found = _row_by_row(out, inputs, create_graph)
    elif count == 1:
        seed = ones_like(out)
        found = [_row(value) for value in _grad((out,), inputs, (seed,), create_graph, retain_graph=True)]
    else:
        found = _grad((out,), inputs, basis([out]), create_graph, retain_graph=True, batched=True)
    for number, value in enumerate(found):
        if strict and value is None:
            message = f"Output {index} of the user-provided function is independent of input {number}. {HERE}."
            raise fault(RuntimeError, message)
        if strict and create_graph and not value.requires_grad:
            raise fault(RuntimeError, BACK[1].format(i=index))
    return tuple(
        value.new_zeros((*out.shape, *value.shape)) if rows is None else reshape(rows, (*out.shape, *value.shape))
        for rows, value in zip(found, inputs)
    )


def _minds_examples(out):
    """Whether a program's own code runs in the pass, which may not be ready for many cotangents at once."""
    for node in reachable([out.current_node()]):
        extra = node.extra
        if isinstance(node, FunctionNode) or (extra is not None and (extra.hooks or extra.pre or extra.post)):
            return True
    return False


def _row_by_row(out, inputs, create_graph):
    seeds = basis([out])[0]
    rows = [_grad((out,), inputs, (seed,), create_graph, retain_graph=True) for seed in seeds]
    return [None if None in column else stack(column, 0) for column in zip(*rows)]


def _row(value):
    return value if value is None else unsqueezed(value, dim=0)


def _one_number(func, inputs, name, strict, create_graph):
    """As `_called`, for a function that must return a single number; also its gradient, recorded."""
    inputs, tupled, outputs, outputs_tupled = _called(func, inputs, name, strict, create_graph)
    if outputs_tupled:
        raise fault(RuntimeError, f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise fault(
            RuntimeError, f"The Tensor returned by the function given to {name} should contain a single element"
        )
    gradient = _grad(outputs, inputs, create_graph=True)
    _check(gradient, strict, JACOBIAN)
    return inputs, tupled, outputs, gradient


@function(at=AT, example="torch.autograd.functional.hessian(lambda x: (x**3).sum(), ones(3))", python=True)
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The Hessian of a function that returns one number: for each pair of inputs a tensor of both their shapes."""
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise fault(AssertionError, 'Expected strategy to be either "forward-mode" or "reverse-mode".')
    _, tupled = _tuple(inputs, "inputs", "hessian")

    def single(*values):
        out = func(*values)
        listed, several = _tuple(out, "outputs of the user-provided function", "hessian")
        _check(listed, strict, OUTPUTS)
        if several:
            raise fault(RuntimeError, "The function given to hessian should return a single Tensor")
        if out.numel() != 1:
            raise fault(
                RuntimeError, "The Tensor returned by the function given to hessian should contain a single element"
            )
        return out.squeeze()

    def gradient(*values):
        found = jacobian(single, values, create_graph=True)
        _check(found, strict, JACOBIAN)
        return found

    inputs = inputs if tupled else (inputs,)
    if outer_jacobian_strategy == "forward-mode":
        _check_forward(create_graph, strict, vectorize)
        numbers = tuple(range(len(inputs)))
        found = jacfwd(jacrev(single, numbers), numbers)(*inputs)
    else:
        found = jacobian(gradient, inputs, create_graph, strict, vectorize)
    return found if tupled else found[0][0]


def _second_order(name, func, inputs, v, create_graph, strict):
    """(f(x), vᵀH) of a function that returns one number; the Hessian is symmetric, so this is Hv too."""
    with enable_grad():
        checked, tupled = _tuple(inputs, "inputs", name)
        missing = ONE_NUMBER
        v = _vector(v, checked, tupled, create_graph, name, missing)
        inputs, _, outputs, gradient = _one_number(func, inputs, name, strict, create_graph)
    with set_grad_enabled(create_graph or state.grad):
        found = _filled(_grad(gradient, inputs, v, create_graph), inputs, strict, create_graph, DOUBLE_BACK)
    return _finished(outputs, create_graph, False), _finished(found, create_graph, tupled)


@function(at=AT, example="torch.autograd.functional.vhp(lambda x: (x**3).sum(), ones(3), ones(3))", python=True)
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(f(x), vᵀH): the value and the product of a vector with the Hessian."""
    return _second_order("vhp", func, inputs, v, create_graph, strict)


@function(at=AT, example="torch.autograd.functional.hvp(lambda x: (x**3).sum(), ones(3), ones(3))", python=True)
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(f(x), Hv): the value and the product of the Hessian with a vector."""
    return _second_order("hvp", func, inputs, v, create_graph, strict)
