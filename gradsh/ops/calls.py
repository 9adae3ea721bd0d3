"""Calls whose arguments do not fit: numpy's names for them, which PyTorch takes too, and PyTorch's TypeErrors.

The usual call costs nothing but a frame; what is here runs when a call has failed. The wording follows
`torch/csrc/utils/python_arg_parser.cpp`.
"""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.op import OPS
from gradsh.engine.promote import kind_name, numpy_numbers, plain_number
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


class Unfit(TypeError):
    """Raised inside a function for an argument of a wrong type; `checked` makes PyTorch's error of it."""

    def __init__(self, argument: str, wanted: str, value: Any) -> None:
        super().__init__(f"argument '{argument}' must be {wanted}, not {kind_name(value)}")
        self.argument, self.wanted, self.value = argument, wanted, value


def operand(value: Any, argument: str = "input") -> Tensor:
    """An argument of a `checked` function as a tensor: lists and numbers where the shell's defaults allow them."""
    if isinstance(value, Tensor):
        return value
    if state.lists and isinstance(value, list | tuple | float | int):
        from gradsh.engine.create import tensor

        return tensor(value)
    raise Unfit(argument, "Tensor", value)


def floats(value: Any, argument: str = "input") -> Tensor:
    """As `operand`, for a function of floats: a list of integers is one of floats then."""
    x = operand(value, argument)
    return x if x is value else _as_floats(x)


def _as_floats(x: Tensor) -> Tensor:
    if x.dtype.category == FLOATING:
        return x
    cast: Tensor = OPS["to_dtype"](x, dtype=state.default)
    return cast


def alike(*pairs: tuple[Any, str]) -> list[Tensor]:
    """(value, argument) pairs as tensors; a list takes the element type beside it, where that is no narrower kind."""
    found = [operand(value, argument) for value, argument in pairs]
    types = [x.dtype for (value, _), x in zip(pairs, found) if x is value] or [x.dtype for x in found]
    widest = max(types, key=lambda one: one.category)
    for place, (value, _) in enumerate(pairs):
        x = found[place]
        if x is not value and x.dtype is not widest and x.dtype.category <= widest.category:
            found[place] = OPS["to_dtype"](x, dtype=widest)
    return found


def alike_floats(*pairs: tuple[Any, str]) -> list[Tensor]:
    """As `alike`, for a function of floats: lists of integers are lists of floats then."""
    return [x if x is value else _as_floats(x) for x, (value, _) in zip(alike(*pairs), pairs)]


def for_number(function: Callable[..., Any], number: float, *rest: Any) -> Any:
    """A composed elementwise function of a bare number, where the shell's defaults allow one: it gives a number."""
    found = function(operand(number), *rest)
    return found if any(isinstance(value, Tensor) for value in rest) else found.item()


def in_type(input: Any, dtype: Any) -> Tensor:
    """The operand of a reduction as a tensor, in the element type asked for."""
    x = operand(input)
    if dtype is None or dtype is x.dtype:
        return x
    if not hasattr(dtype, "category"):
        raise Unfit("dtype", "torch.dtype", dtype)
    cast: Tensor = OPS["to_dtype"](x, dtype=dtype)
    return cast


def of_type(found: Tensor, dtype: Any) -> Tensor:
    """The result of a reduction in the element type asked for: integers are added in int64 whatever that is."""
    if dtype is None or dtype is found.dtype:
        return found
    cast: Tensor = OPS["to_dtype"](found, dtype=dtype)
    return cast


def checked(
    target: Callable[..., Any],
    name: str,
    *,
    method: bool = False,
    overloads: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """A function that takes numpy's names of arguments too, and whose TypeErrors are PyTorch's.

    overloads: PyTorch's signatures as its error lists them, where it has more than one.
    """

    def call(*args: Any, **settings: Any) -> Any:
        try:
            return target(*args, **settings)
        except TypeError as error:
            unfit = error.__class__ is Unfit
            if not unfit and (error.__traceback__ is None or error.__traceback__.tb_next is not None):
                raise
            failed = error
        return _again(target, name, method, overloads, args, settings, failed)

    call.__name__ = name
    call.__doc__ = target.__doc__
    call.__wrapped__ = target  # type: ignore[attr-defined]
    return call


def _again(
    target: Callable[..., Any],
    name: str,
    method: bool,
    overloads: tuple[str, ...],
    args: tuple[Any, ...],
    settings: dict[str, Any],
    error: TypeError,
) -> Any:
    if any(value.__class__ in numpy_numbers for value in (*args, *settings.values())):
        plain = {key: plain_number(value) for key, value in settings.items()}
        again = checked(target, name, method=method, overloads=overloads)
        return again(*(plain_number(value) for value in args), **plain)
    code = target.__code__
    positional = code.co_varnames[: code.co_argcount]
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    renamed = {NUMPY_NAMES.get(key, key) if key not in known else key: value for key, value in settings.items()}
    if len(renamed) == len(settings) and renamed.keys() != settings.keys() and all(key in known for key in renamed):
        return checked(target, name, method=method, overloads=overloads)(*args, **renamed)
    if "out" in settings and "out" not in known:
        out = settings.pop("out")
        return _into(out, checked(target, name, method=method, overloads=overloads)(*args, **settings), name)
    given = args[1:] if method else args
    if overloads and not (isinstance(error, Unfit) and _in_all(error.argument, overloads)):
        raise invalid_combination(name, given, settings, overloads, method)
    if isinstance(error, Unfit):
        place = ""
        if error.argument not in settings and error.argument in positional:
            place = f" (position {positional.index(error.argument) + (0 if method else 1)})"
        stray = kind_name(error.value)
        raise fault(
            TypeError,
            f"{name}(): argument '{error.argument}'{place} must be {error.wanted}, not {stray}",
            hint=_hint(error.wanted, error.value),
        )
    wanted = positional[1:] if method else positional
    required = wanted[: len(wanted) - len(target.__defaults__ or ())]
    by_name = [key for key in known[code.co_argcount :] if key not in (target.__kwdefaults__ or {})]
    missing = [key for key in (*required[len(given) :], *by_name) if key not in settings]
    if missing:
        plural = "s" if len(missing) == 1 else ""  # so in PyTorch
        names = ", ".join(f'"{key}"' for key in missing)
        raise fault(TypeError, f"{name}() missing {len(missing)} required positional argument{plural}: {names}")
    if method and len(known) == 1 and not code.co_flags & 12:  # METH_NOARGS
        takes = f"no arguments ({len(given)} given)" if given else "no keyword arguments"
        raise fault(TypeError, f"TensorBase.{name}() takes {takes}")
    if len(given) > len(wanted) and not code.co_flags & 4:
        span = str(len(wanted)) if len(required) == len(wanted) else f"from {len(required)} to {len(wanted)}"
        plural = "" if len(wanted) == 1 and len(required) == 1 else "s"
        were = "was" if len(given) == 1 else "were"
        raise fault(TypeError, f"{name}() takes {span} positional argument{plural} but {len(given)} {were} given")
    raise fault(TypeError, str(error))


def _into(out: Any, result: Any, name: str) -> Any:
    """A result written over `out=`, or the results over several."""
    from gradsh.ops.out import deliver

    if out is None:
        return result
    if isinstance(result, tuple):
        return type(result)(*(deliver(one, value, name) for one, value in zip(out, result)))
    return deliver(out, result, name)


def _in_all(argument: str, overloads: tuple[str, ...]) -> bool:
    """Whether every signature has the argument, of the same type: then the error is about it alone."""
    found = []
    for text in overloads:
        parts = [part.partition(" = ")[0] for part in text.strip("()").split(", ")]
        found.append([part for part in parts if part.rpartition(" ")[2] == argument])
    return bool(found[0]) and all(one == found[0] for one in found)


def invalid_combination(
    name: str, args: tuple[Any, ...], settings: dict[str, Any], overloads: tuple[str, ...], method: bool
) -> BaseException:
    """PyTorch's error for a call that fits none of several signatures."""
    kinds = [kind_name(value) for value in args]
    keys = [f"{key}={kind_name(value)}" for key, value in reversed(settings.items())]
    got = ", ".join(kinds + keys) + (", " if keys and not kinds else "")
    listed = "".join(f" * {_as_method(text) if method else text}\n" for text in overloads)
    message = f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n{listed}"
    return fault(TypeError, message)


def _as_method(signature: str) -> str:
    for text in ("(Tensor input, ", "(Tensor input"):
        if signature.startswith(text):
            signature = "(" + signature[len(text) :]
            break
    for text in (", Tensor out = None", ", tuple of Tensors out = None"):
        signature = signature.replace(", *" + text, "").replace("*" + text, "").replace(text, "")
    return signature


def _hint(wanted: str, value: Any) -> str | None:
    return "torch.tensor(…) makes one" if wanted == "Tensor" and isinstance(value, (list, tuple, float, int)) else None
