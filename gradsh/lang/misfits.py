"""Calls that do not fit an op's own code: Python's words for it become PyTorch's.

An op's code is called as it is, so that a call costs nothing more; what does not fit it fails in Python's binding of
arguments, which knows neither that a method's tensor is no argument, nor PyTorch's wording
(`torch/csrc/utils/python_arg_parser.cpp`, and `METH_NOARGS` of `torch/csrc/autograd/python_variable_methods.cpp`).
"""

from __future__ import annotations

import os
import re

from gradsh.engine.tensor import Tensor
from gradsh.fault import blamed, details_of, fault
from gradsh.lang.forms.access import Attribute, Call, DoubleStarred, Keyword, Starred
from gradsh.lang.forms.definitions import Lambda
from gradsh.lang.forms.displays import Dict, List, Tuple
from gradsh.lang.forms.operators import Unary
from gradsh.lang.forms.strings import Strings
from gradsh.lang.forms.values import Constant, Name, Number
from gradsh.lang.locate import MISSING, form_at, is_internal, locate, own_attribute, place_of, value_of
from gradsh.lang.source import Source
from gradsh.ops.calls import Unfit
from gradsh.ops.signatures import misfit, overflow, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from gradsh.lang.form import Form

_BINDING = re.compile(
    r"(?:[\w.]+\.<locals>\.)?(\w+)\(\) (?:(takes) (from \d+ to )?(\d+)|(missing)|(got an unexpected) ).*"
)
_LAMBDA = re.compile(r"(?:[\w.]+\.<locals>\.)?<lambda>\(\) (?:takes|missing|got) .*")
_POSITION = re.compile(r"(\w+)(\(\): argument '\w+' \(position )(\d+)(\) must be Tensor, not .*)", re.DOTALL)
# Where an op's own code is called from, besides a program; and where its operands are looked at.
_PLACES = {"F": "F", "functional": "F", "special": "special", "linalg": "linalg"}
PLACES_OF_MODULES = {
    "torch": "torch", "torch.nn.functional": "F", "torch.linalg": "linalg", "torch.special": "special",
}  # fmt: skip
_CALLERS, _OPERANDS = ("registry.py", "inplace.py", "op.py"), "promote.py"


def reworded(error: Exception) -> Exception:
    """The error with PyTorch's message, of PyTorch's type, where a call of the library raised it; else as it is."""
    details = details_of(error)
    if details is not None and details.span is not None:  # done before, or told of by who raised it
        return error
    call, internal = _call(error), is_internal(error)
    text = None if call is None else misfit(*call, python=internal)
    if text is None and call is not None and isinstance(error, Unfit):
        text = unfit(call[0], call[1], error)
    if text is None and call is not None and internal:
        found = overflow(*call)
        if found is not None:
            return found
    if isinstance(error, TypeError) and not isinstance(error, Unfit):
        if text:
            error.args = (text,)
        else:
            _reword(error)
        if text is not None:
            blamed(error)
    elif text:  # PyTorch looks at the types first
        return fault(TypeError, text).with_traceback(error.__traceback__)  # type: ignore[return-value]
    elif text is not None:
        blamed(error)
    if internal and isinstance(error, TypeError) and _of_callback(error):
        blamed(error)
    return error


def _of_callback(error: TypeError) -> bool:
    """Whether our code called a program's function with what it does not take."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    found = _BINDING.fullmatch(str(error)) or _LAMBDA.fullmatch(str(error))
    values = entry.tb_frame.f_locals.values() if entry is not None and found else ()
    codes = [getattr(value, "__code__", None) for value in values]
    return any(code is not None and Source.of(code.co_filename) is not None for code in codes)


def _call(error: Exception) -> tuple[str, str, tuple[Any, ...], dict[str, Any]] | None:
    """The call that failed, in the innermost code that is a program's or the library's own: place, name, arguments."""
    entry, inner = error.__traceback__, None
    while entry is not None:
        if Source.of(entry.tb_frame.f_code.co_filename) is not None:
            inner = entry
        entry = entry.tb_next
    span = None if inner is None else place_of(inner.tb_frame.f_code, inner.tb_lasti)
    form = None if span is None else form_at(span)
    if inner is None or not isinstance(form, Call):
        return None
    frame = inner.tb_frame
    place, name = _called(form.function, frame, inner.tb_next is not None)
    if place is None:
        return None
    callee = None if inner.tb_next is None else inner.tb_next.tb_frame
    args, settings = [], {}
    for position, argument in enumerate(form.arguments or ()):
        by_name = argument.name if isinstance(argument, Keyword) else None
        value = _value(argument.value if isinstance(argument, Keyword) else argument, frame)
        if value is MISSING and callee is not None:
            value = _passed(callee, position + (place == "Tensor") if by_name is None else by_name)
        if value is MISSING:
            return None
        if by_name is None:
            args.append(value)
        else:
            settings[by_name] = value
    return place, name, tuple(args), settings


def _value(form: Form, frame: FrameType) -> Any:
    """The value of names, literals and what is put together from them, or one of its type; else MISSING."""
    if isinstance(form, Name | Attribute):
        return value_of(form, frame, member)
    if isinstance(form, Number):
        return 0 if form.text.isdigit() else 0.0
    if isinstance(form, Constant):
        return {"None": None, "True": True, "False": False}.get(form.text, ...)
    if isinstance(form, Strings):
        return ""
    if isinstance(form, Lambda):
        return _value
    if isinstance(form, Unary):
        return _value(form.operand, frame)
    if isinstance(form, Dict):
        return {}
    if isinstance(form, List | Tuple):
        found = [_value(item, frame) for item in form.items]
        return MISSING if any(one is MISSING for one in found) else found if isinstance(form, List) else tuple(found)
    return MISSING


def _passed(callee: FrameType, which: int | str) -> Any:
    """An argument of a function that was entered, by its position or its name."""
    code, inside = callee.f_code, callee.f_locals
    if isinstance(which, str):
        return inside.get(which, inside.get("settings", {}).get(which, MISSING))
    if which < code.co_argcount:
        return inside.get(code.co_varnames[which], MISSING)
    rest = inside.get("args", ()) if code.co_flags & 4 else ()
    which -= code.co_argcount
    return rest[which] if which < len(rest) else MISSING


def _called(function: Form, frame: FrameType, entered: bool) -> tuple[str | None, str]:
    """The place where a function is found, and its name; None where it is none of the library's."""
    from gradsh.ops.registry import NAMESPACES

    if isinstance(function, Name):
        value = value_of(function, frame, member)
        for place in ("torch", "F", "linalg", "special"):
            if value is not MISSING and NAMESPACES[place].get(function.name) is value:
                return place, function.name
    elif isinstance(function, Attribute):
        owner = value_of(function.value, frame, member)
        label = getattr(owner, "label", None)
        if isinstance(owner, Tensor) or (owner is MISSING and entered and function.name in Tensor.__dict__):
            return "Tensor", function.name
        if isinstance(label, str) and hasattr(owner, "find"):
            return PLACES_OF_MODULES.get(label), function.name
    return None, ""


def member(value: Any, name: str) -> Any:
    """An attribute that a value itself holds, or a name in a module of the library."""
    find = getattr(type(value), "find", None)
    return own_attribute(value, name) if find is None or not hasattr(value, "label") else value.find(name)


def _reword(error: TypeError) -> None:
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    located = locate(error)
    if frames is None or located.frame is None or located.span is None:
        return
    inner = frames.tb_frame
    file = os.path.basename(inner.f_code.co_filename)
    details = details_of(error)
    if details is not None and details.span is not None:  # done before
        return
    if not (file == _OPERANDS if details is not None else inner is located.frame or file in _CALLERS):
        return
    call = form_at(located.span)
    if isinstance(call, Call) and isinstance(call.function, Attribute):
        text = _reworded(str(error), call, call.function, located.frame)
        if text is not None:
            error.args = (text,)
            details_of(blamed(error)).span = located.span  # type: ignore[union-attr]


def _reworded(text: str, call: Call, function: Attribute, frame: FrameType) -> str | None:
    from gradsh.ops.registry import NAMESPACES

    method = _is_method(function.value, frame)
    name = function.name
    place = "Tensor" if method else _PLACES.get(getattr(function.value, "name", ""), "torch")
    own: Any = (Tensor.__dict__ if method else NAMESPACES[place]).get(name)
    if not _is_ops_code(own):
        return None
    position = _POSITION.fullmatch(text)
    if position:
        return f"{name}{position[2]}{int(position[3]) - method}{position[4]}"
    found = _BINDING.fullmatch(text)
    if not found:
        return None
    if found[2]:
        return _too_many(text, name, method, found)
    if method and name[-1] == "_" and own.__code__.co_flags & 4:  # what it writes over its tensor is another's result
        plain = Tensor.__dict__.get(name[:-1])
        own = plain if hasattr(plain, "__code__") else own
    code = own.__code__
    missing = [] if code.co_flags & 4 else _missing(call, code, len(own.__defaults__ or ()), method)
    if found[5] or missing:
        names = missing or re.findall(r"'(\w+)'", text)
        plural = "s" if len(names) == 1 else ""  # so in PyTorch
        listed = ", ".join(f'"{one}"' for one in names)
        return f"{name}() missing {len(names)} required positional argument{plural}: {listed}"
    if method and code.co_argcount == 1 and not code.co_kwonlyargcount:
        return f"TensorBase.{name}() takes no keyword arguments"
    return None


def _is_ops_code(function: Any) -> bool:
    """Whether a function is an op's own code, or what stands for it until its first call, or writes over its operand."""
    code = getattr(function, "__code__", None)
    return code is not None and (
        code.co_filename.startswith("gradsh op ") or os.path.basename(code.co_filename) == "registry.py"
    )


def _too_many(text: str, name: str, method: bool, found: re.Match[str]) -> str:
    """The error for more arguments than there are places; a method's tensor counts for Python only."""
    given = int(re.findall(r"(\d+) (?:was|were) given", text)[0]) - method
    most = int(found[4]) - method
    if found[3]:
        least = int(re.findall(r"\d+", found[3])[0]) - method
        takes = f"from {least} to {most}"
    elif not most:
        return f"TensorBase.{name}() takes no arguments ({given} given)"
    else:
        takes = str(most)
    plural, were = "" if most == 1 and not found[3] else "s", "was" if given == 1 else "were"
    return f"{name}() takes {takes} positional argument{plural} but {given} {were} given"


def _missing(call: Call, code: CodeType, defaults: int, method: bool) -> list[str]:
    """The parameters without a default that a call leaves out."""
    arguments = call.arguments or ()
    if any(isinstance(one, Starred | DoubleStarred) for one in arguments):
        return []
    keywords = {one.name for one in arguments if isinstance(one, Keyword)}
    given = len(arguments) - len(keywords) + method
    return [one for one in code.co_varnames[given : code.co_argcount - defaults] if one not in keywords]


def _is_method(owner: Form, frame: FrameType) -> bool:
    """Whether what an attribute is looked up on is a value, and not a module."""
    found: Any = value_of(owner, frame, own_attribute)
    if found is not MISSING:
        return isinstance(found, Tensor)
    while isinstance(owner, Attribute):
        owner = owner.value
    return not isinstance(owner, Name)
