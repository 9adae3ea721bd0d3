"""Custom operations inside transforms: forward mode by their `jvp`, examples by their `vmap` or by running them on all.

A custom operation takes part in a transform if its context is set up apart from `forward`, as PyTorch asks for.
"""

from __future__ import annotations

from collections import namedtuple

from gradsh.engine.batched import batched, lowered, of_all
from gradsh.engine.forward import Dual, dual, split
from gradsh.engine.function_node import FunctionCtx
from gradsh.engine.level import DUAL, VMAP, Level
from gradsh.engine.op import OPS
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.engine.tree import broadcast, flatten, unflatten
from gradsh.engine.wrapped import Wrapped, innermost, plain
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.engine.function import Function

VmapInfo = namedtuple("VmapInfo", ("batch_size", "randomness"))
MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def applied(function: type[Function], args: tuple[Any, ...]) -> Any:
    """The operation inside transforms, on operands of any levels."""
    from gradsh.engine.function import Function, _has_setup, _run

    args = tuple(plain(value) for value in args)
    if not _has_setup(function) and any(level.kind != DUAL for level in state.levels):
        raise fault(
            RuntimeError,
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {MORE}",
            hint="forward(x) without ctx, and setup_context(ctx, inputs, output)",
        )
    top = innermost(args)
    if top is None:
        return _run(function, args)[0]
    if isinstance(top, Dual):
        return _pushed(function, args, top.level)
    generated, own = getattr(function, "generate_vmap_rule", False), function.vmap is not Function.vmap
    if generated and own:
        raise fault(
            RuntimeError,
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {MORE}",
        )
    if generated:
        return _on_all(function, args, top.level)
    if own:
        return _by_own_rule(function, args, top.level)
    raise fault(
        RuntimeError,
        f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override and implement "
        f"the vmap staticmethod or set generate_vmap_rule=True. {MORE}",
        hint="generate_vmap_rule = True in the class, if its methods are made of torch operations",
    )


def _pushed(function: type[Function], args: tuple[Any, ...], level: Level) -> Any:
    """The result for inputs with tangents: the tangents of the outputs are what `jvp` makes of them."""
    from gradsh.engine.function import _run

    parts = [split(value, level) for value in args]
    primals = tuple(primal for primal, _ in parts)
    if innermost(primals) is None:
        result, ctx = _run(function, primals)
    else:
        result, ctx = applied(function, primals), _context(function, primals)
    moved = function.jvp(ctx, *(tangent for _, tangent in parts))
    if not isinstance(result, tuple):
        return result if moved is None else dual(result, moved, level)
    tangents = moved if isinstance(moved, tuple) else (moved,)
    return tuple(value if tangent is None else dual(value, tangent, level) for value, tangent in zip(result, tangents))


def _context(function: type[Function], args: tuple[Any, ...]) -> FunctionCtx:
    """A context for tensors of other levels, set up by a run of its own."""
    ctx = FunctionCtx()
    ctx.needs_input_grad = tuple(isinstance(value, Tensor) and value.requires_grad for value in args)
    before, state.grad = state.grad, False
    try:
        function.setup_context(ctx, args, function.forward(*args))
    finally:
        state.grad = before
    return ctx


# ---- examples


def _by_own_rule(function: type[Function], args: tuple[Any, ...], level: Level) -> Any:
    """What the operation's own `vmap` gives for the tensors of all examples."""
    inner = [lowered(value, level) if isinstance(value, Tensor) else None for value in args]
    in_dims = tuple(None if one is None else 0 for one in inner)
    result = function.vmap(
        VmapInfo(level.size, level.randomness),
        in_dims,
        *(value if one is None else one for value, one in zip(args, inner)),
    )
    message = (
        f"The {function.__name__} vmap staticmethod should have two returns, an output and out_dims with pytree structure "
        "compatible with the output. "
    )
    if not isinstance(result, tuple):
        raise fault(RuntimeError, f"{message}Got a {type(result)} instead")
    if len(result) != 2:
        raise fault(RuntimeError, f"{message}Got {len(result)} returns instead")
    outs, out_dims = result
    leaves, shape = flatten(outs)
    dims = broadcast(out_dims, shape)
    if dims is None:
        raise fault(
            RuntimeError,
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{flatten(out_dims)[1]} but output has structure {shape}. {MORE}",
        )
    return unflatten(
        [
            value if dim is None or not isinstance(value, Tensor) else batched(_in_front(value, dim), level)
            for value, dim in zip(leaves, dims)
        ],
        shape,
    )


def _in_front(tensor: Tensor, dim: int) -> Tensor:
    if not dim:
        return tensor
    dim %= tensor.ndim
    order = (dim, *(k for k in range(tensor.ndim) if k != dim))
    return OPS["permute"](tensor, dims=order)  # type: ignore[no-any-return]


def _on_all(function: type[Function], args: tuple[Any, ...], level: Level) -> Any:
    """The operation run on tensors of one example each, as an operation on the tensors of all examples."""
    from gradsh.engine.function import Function

    size = level.size
    inner = [lowered(value, level) if isinstance(value, Tensor) else None for value in args]
    wide = [one is not None for one in inner]

    class Generated(Function):
        @staticmethod
        def forward(*given: Any) -> Any:
            with Level(VMAP, function, size, level.randomness) as own:
                return _lower(function.forward(*_raise(given, wide, own)), own)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.inner = FunctionCtx()
            ctx.inner.needs_input_grad = ctx.needs_input_grad
            several = isinstance(output, tuple)
            with Level(VMAP, function, size, level.randomness) as own:
                outs = _raise(output if several else (output,), [True] * (len(output) if several else 1), own)
                function.setup_context(ctx.inner, tuple(_raise(inputs, wide, own)), tuple(outs) if several else outs[0])
                kept = [None if one is None else lowered(one, own) for one in ctx.inner._to_save]
            ctx.wide = [one is not None for one in kept]
            ctx.save_for_backward(*(old if one is None else one for one, old in zip(kept, ctx.inner._to_save)))
            if ctx.inner._not_differentiable:
                ctx.mark_non_differentiable(
                    *(
                        plain_of
                        for plain_of, one in zip(output if several else (output,), outs)
                        if any(one is other for other in ctx.inner._not_differentiable)
                    )
                )

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with Level(VMAP, function, size, level.randomness) as own:
                ctx.inner._to_save = tuple(_raise(ctx.saved_tensors, ctx.wide, own))
                own_backward = function.vjp if function.vjp is not Function.vjp else function.backward
                found = own_backward(ctx.inner, *_raise(grads, [True] * len(grads), own))
                results = found if isinstance(found, tuple) else (found,)
                return tuple(
                    one
                    if one is None
                    else _summed(one, own)
                    if isinstance(one, Wrapped) and not has
                    else of_all(one, own)
                    for one, has in zip(results, [*wide, *[True] * len(results)])
                )

    Generated.__name__ = f"{function.__name__}Generated"
    found = Generated.apply(*(value if one is None else one for value, one in zip(args, inner)))
    if isinstance(found, tuple):
        return tuple(batched(one, level) if isinstance(one, Tensor) else one for one in found)
    return batched(found, level)


def _summed(tensor: Tensor, level: Level) -> Tensor:
    return OPS["sum_over"](of_all(tensor, level), axes=(0,), keepdim=False)  # type: ignore[no-any-return]


def _raise(values: Any, wide: list[bool], level: Level) -> list[Any]:
    return [batched(value, level) if has and isinstance(value, Tensor) else value for value, has in zip(values, wide)]


def _lower(values: Any, level: Level) -> Any:
    if isinstance(values, tuple):
        return tuple(_lower(value, level) for value in values)
    return of_all(values, level) if isinstance(values, Tensor) else values
