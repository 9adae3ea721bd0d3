"""`torch.func`: gradients, products with Jacobians, Jacobians and Hessians of functions, as functions.

What is returned has a history only where it depends on something outside that requires a gradient; `.grad` is never
touched. Jacobians and Hessians go through the graph once, with all rows as examples of one `vmap`.
"""

from __future__ import annotations

from itertools import pairwise

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.batched import batched, of_all, zeros_like
from gradsh.engine.create import ones_of, zeros_of
from gradsh.engine.forward import dual, split
from gradsh.engine.level import DUAL, GRAD, JVP, VMAP, Level
from gradsh.engine.pulling import handle, make_lasting, pull, reaches_outside, unlinked
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.tree import flatten, mapped, starred, unflatten
from gradsh.engine.wrapped import parts, plain
from gradsh.fault import fault
from gradsh.ops.joining import cat
from gradsh.ops.registry import function
from gradsh.ops.shape import reshape
from gradsh.ops.slicing import part
from gradsh.ops.transposing import movedim
from gradsh.ops.vmapping import check_randomness, named_like, on_examples

AT = ("func",)
VJP, JVP_NAME, GRAD_NAME = "vjp(f, *primals)", "jvp(f, primals, tangents)", "grad_and_value(f)(*args)"


# ---- which arguments


def _chosen(args, argnums):
    """The arguments to differentiate by: alone where argnums is a number, else a tuple."""
    if not isinstance(argnums, int | tuple):
        raise fault(RuntimeError, f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        return args[_number(argnums, len(args))]
    numbers = tuple(_number(one, len(args)) for one in argnums)
    if not numbers:
        raise fault(RuntimeError, "argnums must be non-empty")
    if len({*numbers}) < len(numbers):
        raise fault(RuntimeError, f"argnums elements must be unique, got {numbers}")
    return tuple(args[one] for one in numbers)


def _number(argnum, count):
    if not isinstance(argnum, int):
        raise fault(RuntimeError, f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise fault(RuntimeError, f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def _replaced(args, argnums, new):
    """The arguments with the chosen ones replaced."""
    if isinstance(argnums, int):
        argnums, new = (argnums,), (new,)
    found = list(args)
    for argnum, value in zip(argnums, new):
        found[argnum] = value
    return tuple(found)


# ---- reverse mode


class Pullback:
    """A function run once, to be differentiated in reverse mode by some of its arguments.

    ins: what is differentiated by, and its nesting. outs: what came out. start: the clock when it began.
    """

    __slots__ = ("aux", "ins", "kept", "level", "outs", "recording", "shape")

    def __init__(self, func, args, argnums, settings, kept):
        """argnums: which arguments, None for all; kept: the pullback is used after the function has returned."""
        self.kept = kept
        before = self.recording = state.grad
        self.level = Level(GRAD, func)
        with self.level:
            state.grad = True
            try:
                chosen = args if argnums is None else _chosen(args, argnums)
                leaves, self.shape = flatten(chosen)
                self.ins = [_differentiable(leaf, before, kept) for leaf in leaves]
                new = unflatten(self.ins, self.shape)
                self.outs = func(*(new if argnums is None else _replaced(args, argnums, new)), **settings)
            finally:
                state.grad = before

    def with_aux(self, name):
        """Take the second of the two results apart as auxiliary."""
        if not (isinstance(self.outs, tuple) and len(self.outs) == 2):
            message = f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
            raise fault(RuntimeError, message)
        self.outs, self.aux = self.outs[0], self.result(self.outs[1])

    def reaches_outside(self, tensors):
        """Whether tensors depend on anything outside the function that requires a gradient."""
        return reaches_outside(tensors, self.level.start)

    def result(self, tree):
        """What the function gave, as it is outside: with a history only where something outside requires a gradient."""
        leaves, shape = flatten(tree)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise fault(RuntimeError, f"Expected tensors, got unsupported type {type(leaf)}")
        if self.recording and self.reaches_outside(leaves):
            if self.kept:
                make_lasting(leaves, self.level.start)
            return tree
        return unflatten([unlinked(leaf, self.level.start) for leaf in leaves], shape)

    def pull(self, outs, cotangents, create, keep=True):
        """The gradients of the inputs, nested as they are; zeros for those that had no part."""
        found = pull(outs, self.ins, cotangents, create, keep)
        filled = [zeros_like(one) if value is None else value for value, one in zip(found, self.ins)]
        return filled if create else [unlinked(value, self.level.start) for value in filled]


def _differentiable(leaf, record, kept):
    if not isinstance(leaf, Tensor):
        raise fault(
            ValueError,
            f"Thing passed to transform API must be Tensor, got {type(leaf)}",
            hint="torch.tensor(…) makes one",
        )
    if leaf.dtype.category != FLOATING:
        raise fault(RuntimeError, "only Tensors of floating point dtype can require gradients", hint=".float()")
    return handle(leaf, record, kept)


def _gradient(func, argnums, has_aux, args, settings):
    """(gradients, value, auxiliary results or None)."""
    ran = Pullback(func, args, argnums, settings, kept=False)
    if has_aux:
        ran.with_aux(GRAD_NAME)
    out = ran.outs
    if not isinstance(out, Tensor):
        raise fault(RuntimeError, f"{GRAD_NAME}: Expected f(*args) to return a Tensor, got {type(out)}")
    if out.ndim:
        raise fault(
            RuntimeError,
            f"{GRAD_NAME}: Expected f(*args) to return a scalar Tensor, got tensor with {out.ndim} dims. Maybe you wanted "
            "to use the vjp or jacrev APIs instead?",
            hint=".sum() or .mean() makes one number of it",
        )
    create = ran.recording and ran.reaches_outside([out])
    found = ran.pull([out], [ones_of((), out.dtype)], create, keep=create)
    return unflatten(found, ran.shape), ran.result(out), ran.aux if has_aux else None


@function("grad", at=AT, example="torch.func.grad(lambda x: (x**2).sum())(ones(3))", python=True)
def gradient_of(func, argnums=0, has_aux=False):
    """The gradient of a function that returns one number, by some of its arguments, as a function."""

    def gradient(*args, **settings):
        found, _, aux = _gradient(func, argnums, has_aux, args, settings)
        return (found, aux) if has_aux else found

    return named_like(func, gradient)


@function(at=AT, example="torch.func.grad_and_value(lambda x: (x**2).sum())(ones(3))", python=True)
def grad_and_value(func, argnums=0, has_aux=False):
    """As `grad`; the function gives the gradient and the value."""

    def both(*args, **settings):
        found, value, aux = _gradient(func, argnums, has_aux, args, settings)
        return found, (value, aux) if has_aux else value

    return named_like(func, both)


@function("vjp", at=AT, example="torch.func.vjp(lambda x: x**2, ones(3))[1](ones(3))", python=True)
def vjp_of(func, *primals, has_aux=False):
    """(f(x), vᵀJ as a function of v): the value, and what multiplies vectors with the Jacobian."""
    ran, values, shape = _pullback(func, primals, None, has_aux)
    outs = unflatten([ran.result(value) for value in values], shape)

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        given, nesting = flatten(cotangents)
        if nesting != shape:
            raise fault(
                RuntimeError,
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {starred(nesting)}, primal output: {starred(shape)}",
            )
        seeds = [_seed(index, value, out) for index, (value, out) in enumerate(zip(given, values))]
        create = state.grad if create_graph is None else create_graph
        return unflatten(_pulled(ran, values, seeds, create, retain_graph), ran.shape)

    wrapper.__qualname__ = (
        "_vjp_with_argnums.<locals>.wrapper"  # as Python's errors of a call that does not fit call it
    )
    return (outs, wrapper, ran.aux) if has_aux else (outs, wrapper)


def _pullback(func, primals, argnums, has_aux):
    """(the function run to be pulled back, its results, their nesting)."""
    ran = Pullback(func, primals, argnums, {}, kept=True)
    if has_aux:
        ran.with_aux(VJP)
    values, shape = flatten(ran.outs)
    _check_outs(values, VJP)
    for value in values:
        if value.dtype.category != FLOATING:
            raise fault(
                RuntimeError,
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"torch.{value.dtype.name}",
            )
    return ran, values, shape


def _check_outs(values, name):
    if not values or values == [None]:
        message = f"{name}: Expected f to be a function that has non-empty output (got output = {values})"
        raise fault(RuntimeError, message)
    for value in values:
        if not isinstance(value, Tensor):
            message = f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(value)}"
            raise fault(RuntimeError, message)


def _seed(index, given, out):
    if not isinstance(given, Tensor):
        kind = type(given).__name__
        raise fault(TypeError, f"gradients can be either Tensors or None, but got {kind}")
    if given.shape != out.shape:
        raise fault(
            RuntimeError,
            f"Mismatch in shape: grad_output[{index}] has a shape of {given.shape!r} and output[{index}] has a shape of "
            f"{out.shape!r}.",
        )
    return given if given.dtype is out.dtype else given.to(out.dtype)


def _has_history(tensor):
    return any(part.current_node() is not None for part in parts(tensor))


def _pulled(ran, values, seeds, create, keep=True):
    """A pass from some of the results, recorded where a derivative of its own may be asked for."""
    create = create and (ran.reaches_outside(values) or any(map(_has_history, seeds)))
    return ran.pull(values, seeds, create, keep)


# ---- forward mode


@function("jvp", at=AT, example="torch.func.jvp(lambda x: x**2, (ones(3),), (ones(3),))", python=True)
def jvp_of(func, primals, tangents, *, strict=False, has_aux=False):
    """(f(x), Jv): the value and the product of the Jacobian with a vector, in one forward run."""
    outs, moved, aux = _pushed(func, primals, tangents, None, strict, has_aux)
    return (outs, moved, aux) if has_aux else (outs, moved)


def _pushed(func, primals, tangents, argnums, strict, has_aux):
    if not isinstance(primals, tuple):
        message = f"{JVP_NAME}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        raise fault(RuntimeError, message, hint="(x,) for one argument")
    chosen = primals if argnums is None else _chosen(primals, argnums)
    leaves, shape = flatten(chosen if isinstance(chosen, tuple) else (chosen,))
    given, nesting = flatten(tangents)
    if shape != nesting:
        raise fault(
            RuntimeError,
            f"{JVP_NAME}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {shape} and tangents with structure "
            f"{nesting}",
        )
    for name, values in (("primals", leaves), ("tangents", given)):
        if not values:
            raise fault(RuntimeError, f"{JVP_NAME}: Expected {name} to contain at least one Tensor.")
        for value in values:
            if not isinstance(value, Tensor):
                raise fault(RuntimeError, f"{JVP_NAME}: Expected {name} to only contain Tensors, got {type(value)}")
    if any(level.kind == DUAL for level in state.levels):
        raise fault(RuntimeError, "Nested forward mode AD is not supported at the moment")
    with Level(JVP, func) as level:
        duals = unflatten([dual_of(value, tangent, level) for value, tangent in zip(leaves, given)], shape)
        if argnums is not None:
            duals = _replaced(primals, argnums if isinstance(argnums, tuple) else (argnums,), duals)
        found, aux = func(*duals), None
        if has_aux:
            if not (isinstance(found, tuple) and len(found) == 2):
                message = f"{JVP_NAME}: output of function f should be a tuple: (output, aux) if has_aux is True"
                raise fault(RuntimeError, message)
            found, aux = found
            aux = mapped(lambda value: _without_tangent(value, level), aux)
        values, shape = flatten(found)
        _check_outs(values, JVP_NAME)
        pairs = [split(plain(value), level) for value in values]
    if strict and any(tangent is None for _, tangent in pairs):
        raise fault(
            RuntimeError,
            f"{JVP_NAME[:-1]}, strict=True): The output of f is independent of the inputs. This is not allowed with "
            "strict=True.",
        )
    moved = [zeros_like(value) if tangent is None else tangent for value, tangent in pairs]
    return unflatten([value for value, _ in pairs], shape), unflatten(moved, shape), aux


def dual_of(primal, tangent, level):
    """A tensor with a tangent, after PyTorch's checks."""
    for name, value in (("primal", primal), ("tangent", tangent)):
        if value.dtype.category != FLOATING:
            kind = f"torch.{value.dtype.name}"
            raise fault(ValueError, f"Expected {name} to be floating point or complex, but got: {kind}")
    return dual(primal, tangent if tangent.dtype is primal.dtype else tangent.to(primal.dtype), level)


def _without_tangent(value, level):
    if not isinstance(value, Tensor):
        raise fault(RuntimeError, f"Expected tensors, got unsupported type {type(value)}")
    return split(value, level)[0]


@function(at=AT, example="torch.func.linearize(lambda x: x**2, ones(3))[1](ones(3))", python=True)
def linearize(func, *primals):
    """(f(x), Jv as a function of v): the value, and what multiplies the Jacobian with vectors.

    The Jacobian's products are found from its transpose, which is linear: by reverse mode over reverse mode, so that
    the function itself is run once.
    """
    leaves, shape = flatten(primals)
    ran, values, out_shape = _pullback(func, primals, None, has_aux=False)
    outs = unflatten([ran.result(value) for value in values], out_shape)
    zeros = [zeros_of(tuple(value.shape), value.dtype) for value in values]
    transposed = Pullback(lambda *seeds: _pulled(ran, values, seeds, True), tuple(zeros), None, {}, kept=True)

    def pushed(*tangents):
        given, nesting = flatten(tangents)
        if nesting != shape:
            message = f"Expected the tangents {nesting} to have the same argspec as the primals {shape}"
            raise fault(RuntimeError, message)
        for place, (tangent, leaf) in enumerate(zip(given, leaves)):
            for what, have, want in (
                ("shape", repr(tangent.shape), repr(leaf.shape)),
                ("dtype", f"torch.{tangent.dtype.name}", f"torch.{leaf.dtype.name}"),
            ):
                if have != want:
                    raise fault(
                        RuntimeError,
                        f"tangent:{place} with {what} {have} in flattened pytree doesn't match the {what} {want} of the "
                        "corresponding primal.",
                    )
        create = state.grad and (ran.reaches_outside(values) or any(map(_has_history, given)))
        found = pull(transposed.outs, transposed.ins, given, create)
        moved = [zeros_like(value) if one is None else one for one, value in zip(found, values)]
        return unflatten(moved if create else [unlinked(one, ran.level.start) for one in moved], out_shape)

    return outs, pushed


# ---- Jacobians and Hessians


def basis(tensors, start=0, count=None):
    """The unit vectors of some tensors' numbers, or `count` of them, as examples in a first dimension of each tensor."""
    from gradsh.backend import arrays

    total = sum(tensor.numel() for tensor in tensors)
    count, before, found = total if count is None else count, 0, []
    for tensor in tensors:
        rows = arrays.eye(count, tensor.numel(), start - before, dtype=tensor.dtype.code)
        found.append(reshape(wrap(rows), (count, *tensor.shape)))
        before += tensor.numel()
    return found


@function(at=AT, example="torch.func.jacrev(lambda x: x**2)(ones(3))", python=True)
def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """The Jacobian of a function by some of its arguments, as a function: all of its rows in one pass backward."""
    if not (chunk_size is None or chunk_size > 0):
        raise fault(ValueError, "jacrev: `chunk_size` should be greater than 0.")

    def jacobian(*args):
        ran, values, out_shape = _pullback(func, args, argnums, has_aux)
        columns = rows_of(ran, values, chunk_size)
        nested = [
            unflatten([reshape(rows, (*out.shape, *one.shape)) for rows, one in zip(row, ran.ins)], ran.shape)
            for row, out in zip(columns, values)
        ]
        found = unflatten(nested, out_shape)
        return (found, ran.aux) if has_aux else found

    return named_like(func, jacobian)


def rows_of(ran, values, chunk_size=None):
    """The derivatives of a pullback's results: for each of them a list, by input, of the rows of the Jacobian."""
    counts = [value.numel() for value in values]
    total = sum(counts)
    if total == 1:  # no examples are needed, and no vmap restricts what the function may do
        seeds = [ones_of(tuple(value.shape), value.dtype) for value in values if value.numel()]
        found = _pulled(ran, [value for value in values if value.numel()], seeds, state.grad)
        found = [reshape(one, (1, *one.shape)) for one in found]
    else:
        found = [
            cat(parts, 0) if len(parts) > 1 else parts[0] for parts in zip(*_chunks(ran, values, total, chunk_size))
        ]
    starts = [sum(counts[:k]) for k in range(len(counts) + 1)]
    return [
        [part(one, 0, start, end) if total > end - start else one for one in found] for start, end in pairwise(starts)
    ]


def _chunks(ran, values, total, size):
    for start in range(0, max(total, 1), size or max(total, 1)):
        count = min(size or total, total - start)
        with Level(VMAP, None, count) as level:
            seeds = [batched(one, level) for one in basis(values, start, count)]
            yield [of_all(one, level) for one in _pulled(ran, values, seeds, state.grad)]


@function(at=AT, example="torch.func.jacfwd(lambda x: x**2)(ones(3))", python=True)
def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """The Jacobian of a function by some of its arguments, as a function: all of its columns in one run forward."""
    check_randomness(randomness)

    def jacobian(*args):
        leaves, shape = flatten(_chosen(args, argnums))

        def push(*tangents):
            nested = unflatten(list(tangents), shape)
            given = nested if isinstance(argnums, tuple) else (nested,)
            _, moved, aux = _pushed(func, args, given, argnums, False, has_aux)
            return (moved, aux) if has_aux else moved

        units, inner = flatten(tuple(basis(leaves)))
        total = sum(one.numel() for one in leaves)
        found = on_examples(push, total, [0] * len(units), units, inner, 0, randomness, {})
        aux = None
        if has_aux:
            found, aux = found[0], mapped(lambda value: value[0], found[1])
        outs, out_shape = flatten(found)
        nested = []
        for out in outs:
            columns, start, row = movedim(out, 0, -1), 0, []
            for one in leaves:
                piece = part(columns, columns.ndim - 1, start, start + one.numel())
                row.append(reshape(piece, (*columns.shape[:-1], *one.shape)))
                start += one.numel()
            nested.append(unflatten(row, shape))
        made = unflatten(nested, out_shape)
        return (made, aux) if has_aux else made

    return named_like(func, jacobian)


@function("hessian", at=AT, example="torch.func.hessian(lambda x: (x**3).sum())(ones(3))", python=True)
def hessian_of(func, argnums=0):
    """The Hessian of a function by some of its arguments, as a function: the Jacobian of its Jacobian."""
    return jacrev(jacrev(func, argnums), argnums)
