"""Calls that do not fit an op's own code: Python's words for it become PyTorch's.

An op's code is called as it is, so that a call costs nothing more; what does not fit it fails in Python's binding of
arguments, which knows neither that a method's tensor is no argument, nor PyTorch's wording
(`torch/csrc/utils/python_arg_parser.cpp`, and `METH_NOARGS` of `torch/csrc/autograd/python_variable_methods.cpp`).
"""

from __future__ import annotations

import os
import re

from gradsh.engine.tensor import Tensor
from gradsh.fault import blamed, details_of
from gradsh.lang.forms.access import Attribute, Call, DoubleStarred, Keyword, Starred
from gradsh.lang.forms.values import Name
from gradsh.lang.locate import MISSING, form_at, locate, own_attribute, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from gradsh.lang.form import Form

_BINDING = re.compile(
    r"(?:[\w.]+\.<locals>\.)?(\w+)\(\) (?:(takes) (from \d+ to )?(\d+)|(missing)|(got an unexpected) ).*"
)
_POSITION = re.compile(r"(\w+)(\(\): argument '\w+' \(position )(\d+)(\) must be Tensor, not .*)", re.DOTALL)
# Where an op's own code is called from, besides a program; and where its operands are looked at.
_PLACES = {"F": "F", "functional": "F", "special": "special", "linalg": "linalg"}
_CALLERS, _OPERANDS = ("registry.py", "inplace.py", "op.py"), "promote.py"


def reword(error: TypeError) -> None:
    """Put PyTorch's message into an error that a call of an op raised; any other error stays as it is."""
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
