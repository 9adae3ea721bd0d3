"""Applying an op to whatever operands it is given: numbers, lists, mixed element types, optional ones, raw values."""

from __future__ import annotations

from gradsh.backend import loading, scalars
from gradsh.backend.dtypes import FLOATING, DType, boolean as bool_type, float16, promote
from gradsh.engine.alias import SEVERAL, TYPE_NAMES, Alias, inference_alias, refuse_inference
from gradsh.engine.node import Node, OpNode, Output
from gradsh.engine.op import CONSTANT, ELEMENTWISE, REQUIRED
from gradsh.engine.site import getframe, user_frame
from gradsh.engine.state import settle, state, tick
from gradsh.engine.tensor import Tensor, number_raw, scalar_dtype, wrap
from gradsh.engine.wrapped import innermost
from gradsh.fault import details_of, fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.engine.op import Op

NUMBERS = (float, int, bool)
CATEGORIES = ("bool", "integer", "floating")
raw_classes: set[type] = {float, int, bool}  # and numpy's, once it is loaded
numpy_numbers: set[type] = set()


def general_call(op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Apply an op to any operands.

    With no tensor among them the op is run on the values as they are: that is how a rule calls it.
    Python lists are tensors where `state.lists` says so. Errors are PyTorch's.
    """
    for operand in operands:
        if operand.__class__ not in raw_classes:
            break
    else:
        caller = getframe(2).f_code
        if caller.co_filename[0] != "<" and caller.co_name != "first":
            return raw_call(op, operands, settings)
        return _without_tensors(op, operands, settings, by_user=True)
    if state.levels:
        special = innermost(operands)
        if special is not None:
            return special.apply(op, operands, settings)
    _check_settings(op, settings)
    if not any(isinstance(operand, Tensor) for operand in operands):
        if any(isinstance(operand, list | tuple) for operand in operands) and not op.variadic and state.lists:
            operands = tuple(
                _tensor(op, k, operand) if isinstance(operand, list | tuple) else operand
                for k, operand in enumerate(operands)
            )
        else:
            caller = getframe(2).f_code
            by_user = caller.co_filename[0] == "<" or caller.co_name == "first"
            return _without_tensors(op, operands, settings, by_user)
    if op.promote:
        return _promoted(op, operands, settings)
    values = tuple(
        operand if isinstance(operand, Tensor) or operand is None else _tensor(op, k, operand)
        for k, operand in enumerate(operands)
    )
    if op.view and not values[0].ndim:  # type: ignore[union-attr]
        from gradsh.backend import arrays

        values[0].raw = arrays.shared(values[0].raw)  # type: ignore[union-attr]
    return _applied(op, values, tuple(None if value is None else value.raw for value in values), settings, fitted=False)


def _check_settings(op: Op, settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if value is REQUIRED:
            raise fault(TypeError, f"{op.name}() missing 1 required positional argument: '{name}'")


def operator_call(op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """As `general_call`, for Python's operators: an operand that is nothing like a tensor is left to its own class.

    With PyTorch's defaults so is a numpy array: its own operator takes the tensor's numbers, and makes a tensor of its
    result (`__array_wrap__`).
    """
    from gradsh.backend import arrays

    for operand in operands:
        if isinstance(operand, Tensor | float | int | arrays.generic):
            continue
        if isinstance(operand, arrays.ndarray):
            if op.result == "same" and not state.lists:
                return 1 / operands[0] * operand if op.name == "rdiv" else NotImplemented
        elif not (state.lists and isinstance(operand, list | tuple)):
            return NotImplemented
    return general_call(op, tuple([plain_number(operand) for operand in operands]), settings)


def plain_number(value: Any) -> Any:
    """One of numpy's scalars as the Python number that PyTorch takes it for; anything else as it is."""
    kind: type = value.__class__
    if kind not in numpy_numbers:
        return value
    return float(value) if value.dtype.kind == "b" else value.item()


def _tensor(op: Op, position: int, value: Any) -> Tensor:
    """An operand that is not a tensor, as one."""
    if isinstance(value, NUMBERS):
        return wrap(number_raw(value))
    if state.lists and isinstance(value, list | tuple):
        from gradsh.engine.create import tensor

        return tensor(value)
    raise not_a_tensor(op, position, value)


def kind_name(value: Any) -> str:
    """The name of a value's type in PyTorch's messages: those from C come with their module."""
    kind = type(value)
    if kind.__name__ == "Namespace":
        return "module"
    named = kind.__module__ == "numpy" or kind.__name__ in ("dtype", "Size", "device", "layout", "memory_format")
    return f"{kind.__module__}.{kind.__name__}" if named else kind.__name__


def not_a_tensor(op: Op, position: int, value: Any) -> BaseException:
    operand = op.operands[min(position, len(op.operands) - 1)]
    return fault(
        TypeError,
        f"{op.name}(): argument '{op.public[operand]}' (position {position + 1}) must be Tensor, not {kind_name(value)}",
        hint="torch.tensor(…) makes one" if isinstance(value, (list, tuple, *NUMBERS)) else None,
    )


def _without_tensors(op: Op, operands: tuple[Any, ...], settings: dict[str, Any], by_user: bool) -> Any:
    """An op on raw values: inside a rule, or on Python numbers at the shell's prompt."""
    if by_user:
        _check_settings(op, settings)
        bare = state.lists and op.kind == ELEMENTWISE
        for k, operand in enumerate(operands):
            if operand is None and op.operands[min(k, len(op.operands) - 1)] in op.optional:
                continue
            if not (bare and isinstance(operand, NUMBERS)):
                raise not_a_tensor(op, k, operand)
        if op.floating:
            operands = tuple(float(operand) for operand in operands)
    elif op.kind == ELEMENTWISE:
        for k, operand in enumerate(operands):
            if operand.__class__ not in raw_classes and not hasattr(operand, "dtype"):
                raise not_a_tensor(op, k, operand)
    return raw_call(op, operands, settings)


_arrays: Any = None  # the namespace, once it is loaded


def _bind() -> None:
    global _arrays
    from gradsh.backend import arrays

    _arrays = arrays
    raw_classes.update((arrays.ndarray, arrays.float32, arrays.float64, arrays.bool_))
    numpy_numbers.update(arrays.dtype(char).type for char in "?bBhHiIlLqQefd")


loading.when_loaded(_bind)


def raw_call(op: Op, raws: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """The kernel on raw values, in the namespace of their type."""
    elementwise = op.kind == ELEMENTWISE
    if elementwise:
        for raw in raws:
            if raw.__class__ not in NUMBERS:
                break
        else:
            try:
                return op.kernel(scalars, *raws, **settings)
            except Exception:
                return again(op, raws, settings)
    if _arrays is None:
        from gradsh.backend import arrays  # noqa: F401  (binds itself)
    try:
        found = op.kernel(_arrays, *raws, **settings)
    except Exception as error:
        raise explained(op, error, raws, settings) from None
    if op.outputs or op.many:
        return tuple(_arrays.canonical(value) for value in found)
    if found.__class__ is _arrays.ndarray:
        return found if found.ndim or not elementwise else _arrays.canonical(found[()])
    return _arrays.canonical(found)


def again(op: Op, raws: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """A kernel on scalars where Python raised and IEEE arithmetic has an answer: the same on numpy's scalars."""
    from gradsh.backend import arrays

    doubles = tuple(arrays.float64(raw) if raw.__class__ in (float, int) else raw for raw in raws)
    try:
        found = op.kernel(arrays, *doubles, **settings)
    except Exception as error:
        raise explained(op, error, raws, settings) from None
    if op.result != "same":
        return arrays.canonical(found)
    return arrays.float32(found) if any(raw.__class__ is arrays.float32 for raw in raws) else float(found)


def rule_again(rule: Any, *values: Any) -> Any:
    """A rule on scalars where Python raised: the same on numpy's scalars."""
    from gradsh.backend import arrays

    def double(value: Any) -> Any:
        if value.__class__ is float:
            return arrays.float64(value)
        return tuple(map(double, value)) if value.__class__ is tuple else value

    found = rule(*map(double, values))
    return None if found is None else arrays.canonical(found)


# ---- promotion


def common_dtype(operands: tuple[Any, ...], floating: bool) -> DType:
    """The element type PyTorch computes in: tensors with dimensions first, then 0-d ones, then numbers, by category."""
    found: list[DType | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, Tensor):
            rank, dtype = (0 if operand.ndim else 1), operand.dtype
        else:
            rank, dtype = 2, scalar_dtype(operand)
        before = found[rank]
        found[rank] = dtype if before is None else promote(before, dtype)
    result: DType | None = None
    for candidate in found:
        if candidate is not None and (result is None or candidate.category > result.category):
            result = candidate
    assert result is not None
    return state.default if floating and result.category != FLOATING else result


def _promoted(op: Op, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    from gradsh.backend import arrays

    values = []
    for k, operand in enumerate(operands):
        if isinstance(operand, arrays.generic | arrays.ndarray):
            operand = wrap(arrays.canonical(operand)) if operand.ndim else operand.item()
        elif isinstance(operand, NUMBERS):
            if not op.numbers and not state.lists:
                raise not_a_tensor(op, k, operand)
        elif not isinstance(operand, Tensor):
            operand = _tensor(op, k, operand)
        values.append(operand)
    if op.check is not None:
        op.check(*values)
    fixed = [k for k, name in enumerate(op.operands) if name in ("condition", "mask")]
    dtype = common_dtype(tuple(value for k, value in enumerate(values) if k not in fixed), op.floating)
    if op.refuses is not None and CATEGORIES[dtype.category] in op.refuses[1]:
        shapes = [tuple(value.shape) for value in values if isinstance(value, Tensor)]
        raise broadcast_fault(shapes) or _refusal(op, dtype)
    raws = []
    for k, value in enumerate(values):
        if k in fixed:
            raws.append(value.raw)
        elif isinstance(value, Tensor):
            raws.append(arrays.cast(value.raw, dtype))
        elif dtype is float16:  # a scalar, which a rule's operators take for a number
            raws.append(arrays.float16(value))
        else:
            raws.append(number_raw(fitting(value, dtype), dtype))
    return _applied(op, tuple(values), tuple(raws), settings, fitted=True)


def _refusal(op: Op, dtype: DType) -> BaseException:
    assert op.refuses is not None
    hint = ".float() makes floats of them" if dtype.category != FLOATING and "integer" in op.refuses[1] else None
    return fault(NotImplementedError, f"\"{op.refuses[0]}\" not implemented for '{TYPE_NAMES[dtype.name]}'", hint=hint)


def fitting(value: float | int, dtype: DType) -> float | int:
    """A number in an element type: what does not fit into integers of so many bits wraps around."""
    if dtype is bool_type or dtype.category == FLOATING:
        return value
    bits = 8 * dtype.itemsize
    number = int(value) & ((1 << bits) - 1)
    return number - (1 << bits) if dtype.is_signed and number >> (bits - 1) else number


# ---- applying and recording


def _applied(
    op: Op, operands: tuple[Any, ...], raws: tuple[Any, ...], settings: dict[str, Any], *, fitted: bool
) -> Any:
    from gradsh.backend import arrays

    if op.kind == ELEMENTWISE:
        found = raw_call(op, raws, settings)
        if op.result == "same" and (found.__class__ is int or found.__class__ is bool):  # from a kernel's text
            found = float(found)
    else:
        try:
            found = op.kernel(arrays, *raws, **settings)
        except Exception as error:
            raise explained(op, error, operands, settings) from None
    nodes = [
        operand.current_node() if state.grad and isinstance(operand, Tensor) and name in op.rules else None
        for name, operand in zip(_operand_names(op, operands), operands, strict=True)
    ]
    recording = state.grad and op.kind != CONSTANT and any(node is not None for node in nodes)
    several = bool(op.outputs) or op.many
    outs = [wrap(arrays.canonical(value)) for value in found] if several else [wrap(arrays.canonical(found))]
    if op.view:
        for out in outs:
            out.extra = Alias.view_of(operands[0])
            if op.many and state.grad:
                out.extra.origin = SEVERAL
    if state.inference:
        for out in outs:
            out.extra = inference_alias(out.extra)
    if recording:
        record(op, operands, raws, nodes, outs, settings, fitted)
    if op.many:
        return outs
    if op.outputs:
        from gradsh.engine.returns import return_type

        return return_type(op)(*outs)
    return outs[0]


def _operand_names(op: Op, operands: tuple[Any, ...]) -> list[str]:
    if op.variadic is None:
        return op.operands
    fixed = op.operands[:-1]
    return fixed + [op.variadic] * (len(operands) - len(fixed))


def record(
    op: Op,
    operands: tuple[Any, ...],
    raws: tuple[Any, ...],
    nodes: list[Node | None],
    outs: list[Tensor],
    settings: dict[str, Any],
    fitted: bool,
) -> None:
    """Make the node of an op that was applied to operands with these nodes, and give it to the outputs."""
    from gradsh.engine import runtime

    settle()
    node = object.__new__(OpNode)
    node.kind = op.node_kind(fitted)
    node.rest = [None] * len(node.kind.fields)
    if op.variadic in op.rules:
        node.p = node.q = None
        node.more = tuple(nodes)
    else:
        padded = [*(node for name, node in zip(op.operands, nodes, strict=False) if name in op.rules), None, None]
        node.p, node.q = padded[:2]
        node.more = tuple(padded[2:-2]) or None
    node.g = node.extra = None
    wanted = {name for name, parent in zip(_operand_names(op, operands), nodes, strict=True) if parent is not None}
    needed = {name for operand in wanted for name in op.uses[operand]}
    out_raw = tuple(out.raw for out in outs) if op.outputs or op.many else outs[0].raw
    by_name = dict(zip(op.operands, operands, strict=False))
    raw_by_name = dict(zip(op.operands, raws, strict=False))
    if op.variadic:
        start = len(op.operands) - 1
        by_name[op.variadic], raw_by_name[op.variadic] = operands[start:], raws[start:]
    from gradsh.engine.generate import saved_names

    for name in saved_names(op):
        value: Any
        if name in settings:
            value = settings[name]
        elif name not in needed:
            value = None
        elif name == "out":
            value = out_raw
        elif name in op.outputs:
            value = out_raw[op.outputs.index(name)]
        elif name in by_name:
            value = _saved_operand(by_name[name], raw_by_name[name])
        else:
            operand, suffix = name.rsplit("_", 1)
            raw = raw_by_name[operand]
            reader: Any = runtime.shape_of if suffix == "shape" else runtime.dtype_of
            value = tuple(reader(part) for part in raw) if operand == op.variadic else reader(raw)
        node.save(name, value)
    if state.inference_seen:
        refuse_inference(node)
    if fitted:
        ruled = [k for k, name in enumerate(op.operands) if name in op.rules]
        node.fits = tuple(None if nodes[k] is None else runtime.unfit(operands[k].raw, out_raw) for k in ruled)
    frame = user_frame(getframe(1))
    node.code, node.lasti = (None, -1) if frame is None else (frame.f_code, frame.f_lasti)
    node.seq = tick()
    for index, out in enumerate(outs):
        if not (op.outputs or op.many):
            out.node = node
        elif op.many or op.differentiable[index]:
            out.node = Output(tick(), node, index)
    if state.keep is not None:
        for out in outs:
            state.keep(node, out, frame)


def _saved_operand(operand: Any, raw: Any) -> Any:
    """What is saved of an operand: the tensor itself, or where it was cast, a tensor of what was computed with."""
    if isinstance(operand, Tensor):
        if operand.raw is raw or raw.__class__ is float:
            return operand
        return wrap(raw)
    return operand if isinstance(operand, tuple) else raw


# ---- errors


def explained(op: Op, error: Exception, operands: tuple[Any, ...], settings: dict[str, Any]) -> BaseException:
    """The error to raise for what a kernel raised: PyTorch's, where the user can cause it."""
    if details_of(error) is not None:
        return error
    if op.explain is not None:
        own = op.explain(error, *operands, **settings)
        if own is not None:
            return own
    if isinstance(error, TypeError):
        for place, (name, value) in enumerate(settings.items(), len(operands) + 1):
            if isinstance(value, str | list | dict | Tensor):
                kind = kind_name(value)
                return fault(TypeError, f"{op.name}(): argument '{name}' (position {place}) must be Number, not {kind}")
    shapes = [tuple(operand.shape) for operand in operands if isinstance(operand, Tensor) or hasattr(operand, "shape")]
    if op.refuses is not None and isinstance(error, TypeError):
        values = tuple(operand if isinstance(operand, (Tensor, *NUMBERS)) else wrap(operand) for operand in operands)
        return broadcast_fault(shapes) or _refusal(op, common_dtype(values, op.floating))
    if op.kind in (ELEMENTWISE, CONSTANT) and isinstance(error, ValueError) and len(shapes) > 1:
        return broadcast_fault(shapes) or error
    axis = getattr(error, "axis", None)
    if axis is not None and getattr(error, "ndim", None) is not None:
        return dimension_fault(axis, error.ndim)  # type: ignore[attr-defined]
    return error


def broadcast_fault(shapes: list[tuple[int, ...]]) -> BaseException | None:
    """The first pair of shapes that do not broadcast, as PyTorch says it."""
    so_far: tuple[int, ...] = shapes[0]
    for shape in shapes[1:]:
        size = max(len(so_far), len(shape))
        a, b = ((1,) * (size - len(s)) + s for s in (so_far, shape))
        for k in reversed(range(size)):
            if a[k] != b[k] and 1 not in (a[k], b[k]):
                return fault(
                    RuntimeError,
                    f"The size of tensor a ({a[k]}) must match the size of tensor b ({b[k]}) at non-singleton dimension {k}",
                )
        so_far = tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))
    return None


def common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that shapes broadcast to, or PyTorch's error."""
    from gradsh.backend import arrays

    try:
        return arrays.broadcast_shapes(*shapes)  # type: ignore[no-any-return]
    except ValueError as error:
        raise broadcast_fault(shapes) or error from None


def dimension_fault(axis: int, ndim: int) -> BaseException:
    bound = max(ndim, 1)
    return fault(
        IndexError, f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {axis})"
    )
