"""Forward mode: tensors that carry a tangent, pushed through each op by what its kind says.

    elementwise   the rule, given the tangent in place of the gradient
    linear        the op on the tangents
    bilinear      the op with one operand at a time replaced by its tangent
    general       the transpose of the rule, found by running reverse mode over it

Tangents are tensors and are computed with recorded ops, so that forward mode over reverse mode, and the other way
round, work to any order.
"""

from __future__ import annotations

from gradsh.engine.alias import Alias
from gradsh.engine.inplace import geometry, is_view, old_value
from gradsh.engine.op import BILINEAR, CONSTANT, ELEMENTWISE, LINEAR, OPS, Op
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor, new, wrap
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Dual(Tensor):
    """A tensor and its tangent. Ops see it is no plain Tensor and hand it to `__apply__`."""

    __slots__ = ()

    def __apply__(self, op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        primals = tuple(operand.primal if isinstance(operand, Dual) else operand for operand in operands)
        tangents = tuple(operand.tangent if isinstance(operand, Dual) else None for operand in operands)
        out = op(*primals, **settings)
        if op.kind == CONSTANT:
            return out
        if not (op.outputs or op.many):
            tangent = push(op, primals, tangents, settings, (out,))[0]
            return out if tangent is None else dual(out, tangent)
        pushed = push(op, primals, tangents, settings, tuple(out))
        values = [
            value if tangent is None else dual(value, tangent) for value, tangent in zip(out, pushed, strict=True)
        ]
        return type(out)(*values) if op.outputs else values

    @staticmethod
    def __change__(change: Callable[[Tensor, Tensor], Any], tensor: Tensor, value: Tensor) -> None:
        """An in-place change of a tensor by a value, at least one of which is a Dual: of both of its parts."""
        if not isinstance(tensor, Dual):
            _become_dual(tensor)
            assert isinstance(tensor, Dual)
        is_dual = isinstance(value, Dual)
        change(tensor.primal, value.primal if is_dual else value)
        change(tensor.tangent, value.tangent if is_dual else _zeros_like(value))
        tensor.raw, tensor.node, tensor.extra = tensor.primal.raw, tensor.primal.node, tensor.primal.extra

    def __old__(self) -> Dual:
        """What stands for this tensor in an operation that changes it."""
        return dual(old_value(self.primal, kept=True), old_value(self.tangent, kept=True))


def _become_dual(tensor: Tensor) -> None:
    """Give a plain tensor a tangent of zeros; a view a view of its base's tangent."""
    primal = new(Tensor)
    primal.raw, primal.node, primal.extra, primal.grad = tensor.raw, tensor.node, tensor.extra, None
    if is_view(tensor):
        base: Tensor = tensor.extra.base  # type: ignore[assignment, union-attr]
        if not isinstance(base, Dual):
            _become_dual(base)
        from gradsh.backend import arrays

        part = arrays.strided_view(base.tangent.raw, geometry(base.raw, tensor.raw))
        primal.extra, tangent = Alias.view_of(base.primal), wrap(part)
        tangent.extra = Alias.view_of(base.tangent)
    else:
        tangent = _zeros_like(tensor)
    tensor.__class__ = Dual
    tensor.primal, tensor.tangent = primal, tangent


def dual(primal: Tensor, tangent: Tensor) -> Dual:
    """A tensor with a tangent of the same shape."""
    if primal.shape != tangent.shape:
        raise fault(RuntimeError, f"Expected tangent of shape {list(primal.shape)}, but got {list(tangent.shape)}")
    made = new(Dual)
    made.raw, made.node, made.extra, made.grad = primal.raw, primal.node, primal.extra, None
    made.primal, made.tangent = primal, tangent
    return made


def push(
    op: Op, primals: tuple[Any, ...], tangents: tuple[Any, ...], settings: dict[str, Any], outs: tuple[Any, ...]
) -> list[Tensor | None]:
    """The tangents of an op's outputs, None where an output has no derivative."""
    names = list(op.operands)
    if op.variadic:
        names[-1:] = [op.variadic] * (len(primals) - len(names) + 1)
    live = [k for k, name in enumerate(names) if name in op.rules and tangents[k] is not None]
    if not live:
        return [None] * len(outs)
    if op.kind == LINEAR:
        moved = [
            (tangents[k] if k in live else _zeros_like(value))
            if name in op.rules and isinstance(value, Tensor)
            else value
            for k, (name, value) in enumerate(zip(names, primals, strict=True))
        ]
        found = op(*moved, **settings)
        return list(found) if op.many else [found]
    parts: list[Any] = []
    for k in live:
        if op.kind == BILINEAR:
            parts.append(op(*primals[:k], tangents[k], *primals[k + 1 :], **settings))
        elif op.kind == ELEMENTWISE:
            tangent = tangents[k]
            if tangent.shape != outs[0].shape:
                tangent = OPS["expand_to"](tangent, size=tuple(outs[0].shape))
            if tangent.dtype is not outs[0].dtype:
                tangent = OPS["to_dtype"](tangent, dtype=outs[0].dtype)
            parts.append(op.rules[names[k]](**_bag(op, names, primals, settings, outs, k, tangent)))
        else:
            parts.append(_transposed(op, names, primals, settings, outs, k, tangents[k]))
    if op.kind in (BILINEAR, ELEMENTWISE):
        return [_sum(parts)]
    return [_sum([part[index] for part in parts if part[index] is not None]) for index in range(len(outs))]


def _sum(parts: list[Any]) -> Any:
    total = None
    for part in parts:
        total = part if total is None else OPS["add"](total, part)
    return total


def _bag(
    op: Op, names: list[str], primals: tuple[Any, ...], settings: dict[str, Any], outs: tuple[Any, ...], k: int, g: Any
) -> dict[str, Any]:
    """What a rule asks for, by the names of its parameters."""
    bag: dict[str, Any] = {"g": g, "i": k - len(op.operands) + 1, **settings}
    bag["out"] = outs if op.outputs or op.many else outs[0]
    bag |= dict(zip(op.outputs, outs, strict=False))
    for name in op.operands:
        values = primals[len(op.operands) - 1 :] if name == op.variadic else primals[op.operands.index(name)]
        bag[name] = values
        several = isinstance(values, tuple) and name == op.variadic
        bag[f"{name}_shape"] = tuple(_shape(value) for value in values) if several else _shape(values)
        bag[f"{name}_dtype"] = tuple(value.dtype for value in values) if several else getattr(values, "dtype", None)
    return {name: bag[name] for name in op.uses[names[k]]}


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, Tensor) else ()


def _transposed(
    op: Op,
    names: list[str],
    primals: tuple[Any, ...],
    settings: dict[str, Any],
    outs: tuple[Any, ...],
    k: int,
    tangent: Tensor,
) -> list[Tensor | None]:
    """The rule is linear in g: its transpose on the tangent is the derivative of <rule(g), tangent> by g."""
    from gradsh.engine.backward import grad

    several = op.outputs or op.many
    differentiable = op.differentiable if op.outputs else (True,) * len(outs)
    before = state.grad
    state.grad = True
    try:
        seeds = [
            _zeros_like(out).requires_grad_() if keep else None for out, keep in zip(outs, differentiable, strict=True)
        ]
        wanted = [seed for seed in seeds if seed is not None]
        g: Any = wanted[0] if len(wanted) == 1 and not op.many else dict(enumerate(seeds)) if op.many else tuple(wanted)
        pulled = op.rules[names[k]](**_bag(op, names, primals, settings, outs, k, g))
        if pulled is None or pulled.node is None:
            return [None if seed is None else _zeros_like(seed) for seed in seeds]
        found = iter(grad([pulled], wanted, [tangent], create_graph=True, allow_unused=True, materialize_grads=True))
    finally:
        state.grad = before
    result = [None if seed is None else next(found) for seed in seeds]
    return result if several else result[:1]


def _zeros_like(value: Tensor) -> Tensor:
    from gradsh.backend import arrays

    if value.raw.__class__ is float:
        return wrap(0.0)
    return wrap(arrays.zeros_like(value.raw) if value.ndim else arrays.canonical(arrays.zeros((), value.raw.dtype)[()]))


def jvp(function: Callable[..., Any], primals: Sequence[Tensor], tangents: Sequence[Tensor]) -> tuple[Any, Any]:
    """The value of a function and the derivative along the tangents, in one forward run."""
    found = function(*(dual(primal, tangent) for primal, tangent in zip(primals, tangents, strict=True)))
    return _split(found)


def _split(found: Any) -> tuple[Any, Any]:
    if isinstance(found, tuple | list):
        pairs = [_split(item) for item in found]
        return tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
    if isinstance(found, Dual):
        return found.primal, found.tangent
    return found, _zeros_like(found)
