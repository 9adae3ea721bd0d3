"""In-place changes as PyTorch makes them: checked, written to the shared memory, and put into the history.

A change through a view gives the base a new history, made of two ops: `strided_part` takes the old part out of the
base, the changing operation works on it, and `strided_put` (PyTorch's CopySlices) puts the new part in its place.
"""

from __future__ import annotations

from gradsh.backend.shield import shield
from gradsh.engine.alias import TYPE_NAMES, record_change, refusal
from gradsh.engine.node import AccumulateGrad, Node, extra_of
from gradsh.engine.op import OPS, Op
from gradsh.engine.promote import record
from gradsh.engine.runtime import canonical, shape_of
from gradsh.engine.state import head, settle, state
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.wrapped import Wrapped, innermost, parts
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

Geometry = tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], tuple[int, ...], int]


def inplace(
    op: Op | Callable[..., Any],
    tensor: Tensor,
    *args: Any,
    what: str,
    spread: bool = False,
    **settings: Any,
) -> Tensor:
    """Apply an op to a tensor and write the result over it.

    what: the name of the change (`add_`, `+=`). spread: see `overwrite`.
    """
    if head.next is not None:
        return _settled(op, tensor, args, what, spread, settings)
    operands = [value for value in args if isinstance(value, Tensor)]
    if settings:
        operands += [value for value in settings.values() if isinstance(value, Tensor)]
    tracked = writable(tensor, operands, what) or special(tensor) is not None
    before = old_value(tensor, _saves_first(op)) if tracked else wrap(tensor.raw)
    for operand in operands:
        if operand is not tensor:
            check_overlap(tensor, operand)
    out = op(before, *args, **settings)
    if out is NotImplemented:
        return out  # type: ignore[no-any-return]
    if shape_of(out.raw) != shape_of(tensor.raw):
        raise not_broadcast(tensor, out)
    dtype = tensor.dtype
    if out.dtype is not dtype:
        if out.dtype.category > dtype.category:
            raise fault(
                RuntimeError,
                f"result type {TYPE_NAMES[out.dtype.name]} can't be cast to the desired output type "
                f"{TYPE_NAMES[dtype.name]}",
            )
        out = OPS["to_dtype"](out, dtype=dtype)
    overwrite(tensor, out, what, spread=spread)
    return tensor


def _settled(op: Any, tensor: Tensor, args: Any, what: str, spread: bool, settings: dict[str, Any]) -> Tensor:
    """The same while a tape is followed: a change in place is none of its entries."""
    settle()
    following, head.next = head.next, None
    try:
        return inplace(op, tensor, *args, what=what, spread=spread, **settings)
    finally:
        if head.next is None:
            head.next = following


def old_value(tensor: Tensor, kept: bool) -> Tensor:
    """What stands for a tensor in the operation that changes it: its history, and its numbers (a copy if `kept`)."""
    if special(tensor) is not None:
        return tensor.old()  # type: ignore[no-any-return]
    raw = tensor.raw
    before = wrap(raw.copy() if kept and is_array(raw) else raw)
    if is_view(tensor):
        base: Tensor = tensor.extra.base  # type: ignore[assignment, union-attr]
        attach_view(before, base, base.current_node(), tensor)
    else:
        before.node = tensor.node
    return before


def _saves_first(op: Op | Callable[..., Any]) -> bool:
    """Whether an operation may save its first operand: so may all but the ops whose declarations tell."""
    declared = op if isinstance(op, Op) else getattr(op, "op", None)
    return declared is None or any(declared.operands[0] in uses for uses in declared.uses.values())


def writable(tensor: Tensor, operands: Iterable[Tensor] = (), what: str = "") -> bool:
    """Whether an in-place change is to be recorded, after the checks it must pass; nothing has changed if they fail."""
    if state.levels:
        from gradsh.engine.captures import refuse_captured

        operands = list(operands)
        refuse_captured(tensor, what, operands)
        if isinstance(tensor, Wrapped):
            others = [part for operand in operands for part in parts(operand)]
            return max([writable(part, others) for part in parts(tensor)])  # each is checked
    extra = tensor.extra
    if extra is not None and extra.inference and not state.inference:
        raise fault(
            RuntimeError,
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor "
            "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
        )
    if not state.grad:
        return False
    required = tensor.requires_grad
    if not required:
        for operand in operands:
            if operand.requires_grad:
                break
        else:
            return False
    if extra is not None and extra.base is not None:
        if extra.origin is not None:
            raise refusal(tensor, "is being")
        if required and extra.base.is_leaf:
            node = tensor.node
            sites = () if node is None else (("it is a view, {what}, made here: {}", node.code, node.lasti),)
            raise fault(
                RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                sites=sites,
                hint="with torch.no_grad(): around the change, or change a copy: v = x[:1].clone()",
            )
    if required and (tensor.node is None or isinstance(tensor.node, AccumulateGrad)):
        raise fault(
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            hint="with torch.no_grad(): around the change, if it is an update; else make a new tensor",
        )
    return True


def overwrite(tensor: Tensor, out: Tensor, what: str, *, spread: bool = False, copied: bool = False) -> None:
    """Write a result of the same shape and type over a tensor, record the change, and give it the result's history.

    spread: the tensor may be an expanded one, all of whose elements in a place get the same number.
    copied: the result is a tensor of its own, which lives on apart from the changed one.
    """
    settle()
    found = special(tensor, out)
    if found is not None:
        found.change(
            lambda target, value: overwrite(target, value, what, spread=spread, copied=copied), tensor, out, what
        )
        return
    raw, node = tensor.raw, out.current_node() if state.grad else None
    if is_array(raw) and not spread and not raw.flags.c_contiguous and _repeats(raw):
        raise fault(
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation.",
        )
    with shield:
        if is_array(raw):
            raw[...] = out.raw
        elif is_array(out.raw):
            tensor.raw = canonical(out.raw[()])
        else:
            tensor.raw = out.raw
        record_change(tensor, what)
        if state.grad:
            rebase(tensor, out, node, copied)


def _repeats(raw: Any) -> bool:
    """Whether an array's elements lie on one another, as an expanded tensor's do."""
    return bool(raw.size) and any(step == 0 and length > 1 for step, length in zip(raw.strides, raw.shape, strict=True))


def special(*tensors: Tensor) -> Any:
    """Of the tensors that of the innermost level, which sees to in-place changes itself; None where all are plain."""
    for tensor in tensors:
        if tensor.__class__ is not Tensor:
            return innermost(tensors)
    return None


def is_view(tensor: Tensor) -> bool:
    """Whether a tensor is a differentiable view of another one."""
    return tensor.extra is not None and tensor.extra.base is not None


def is_array(raw: Any) -> bool:
    """Whether a raw value is an array, without numpy's import."""
    return raw.__class__ is not float and hasattr(raw, "__setitem__")


def not_broadcast(tensor: Tensor, value: Tensor) -> BaseException:
    """PyTorch's error for a value that does not broadcast to the shape of what it is written over."""
    have, want = list(tensor.shape), list(value.shape)
    return fault(RuntimeError, f"output with shape {have} doesn't match the broadcast shape {want}")


def check_overlap(tensor: Tensor, operand: Tensor) -> None:
    """Refuse to write over memory that an operand reads in another order, by PyTorch's rule.

    As there, arrays with gaps are never said to overlap (`get_overlap_status` of aten/src/ATen/MemoryOverlap.cpp).
    """
    written, read = tensor.raw, operand.raw
    if not (is_array(written) and is_array(read)) or (written.base is None and read.base is None):
        return
    from gradsh.backend import arrays

    if not arrays.may_share_memory(written, read):  # by their bounds, which is quick
        return
    if not (_dense(written) and _dense(read)):
        return
    start, other = (raw.__array_interface__["data"][0] for raw in (written, read))
    if start == other and written.nbytes == read.nbytes:
        partly = written.strides != read.strides
    else:
        partly = start < other + read.nbytes and other < start + written.nbytes
    if partly:
        raise fault(
            RuntimeError,
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            "memory location. Please clone() the tensor before performing the operation.",
        )


def _dense(raw: Any) -> bool:
    """Whether an array's elements lie without gaps or repetition, in whatever order of its dimensions."""
    if raw.flags.c_contiguous:
        return True
    expected = raw.itemsize
    for step, length in sorted(
        (step, length) for step, length in zip(raw.strides, raw.shape, strict=True) if length != 1
    ):
        if step != expected:
            return False
        expected *= length
    return True


def rebase(tensor: Tensor, out: Tensor, node: Node | None, copied: bool = False) -> None:
    """Give a tensor that was changed in place the history of its new value; a view's change becomes its base's."""
    base = None if tensor.extra is None else tensor.extra.base
    if base is None:
        if node is not None or not (tensor.node is None or isinstance(tensor.node, AccumulateGrad)):
            move_retained(tensor, tensor.node, node)
            tensor.node = node
        return
    old = base.current_node()
    if node is None and old is None:
        return
    place = geometry(base.raw, tensor.raw)
    settings = {"geometry": place, "copied": copied}
    record(OPS["strided_put"], (base, out), (base.raw, out.raw), [old, node], [base], settings, False)
    move_retained(base, old, base.node)
    tensor.node = base.node  # until it is asked for: then its own, since the version has changed


def move_retained(tensor: Tensor, before: Node | None, after: Node | None) -> None:
    """`retain_grad` is about a tensor, whatever node it has: it goes on at the new one."""
    if before is None or after is None or after is before or before.extra is None or before.extra.retain is None:
        return
    if before.extra.retain() is tensor:
        extra_of(after).retain, before.extra.retain = before.extra.retain, None


def geometry(base: Any, view: Any) -> Geometry:
    """Where a view lies in its base: shapes, strides and offset, in elements; None for strides in C order."""
    size = base.itemsize
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // size
    strides = None if base.flags.c_contiguous else tuple([step // size for step in base.strides])
    return base.shape, strides, view.shape, tuple([step // size for step in view.strides]), offset


def attach_view(tensor: Tensor, base: Tensor, node: Node | None, place: Tensor | None = None) -> None:
    """Give a tensor the history of a part of a base of that node: the part that it, or `place`, covers."""
    if node is None:
        tensor.node = None
        return
    part = geometry(base.raw, (tensor if place is None else place).raw)
    record(OPS["strided_part"], (base,), (base.raw,), [node], [tensor], {"geometry": part}, False)
