"""What every syntax form is: a tuple of its place in the text and its fields."""

from __future__ import annotations

from _ast import Del
from _collections import _tuplegetter  # type: ignore[import-not-found]  # as in collections.namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr_context
    from typing import Any, ClassVar, TypeVar

    from gradsh.lang.emitter import Emitter

if TYPE_CHECKING:
    _Part = TypeVar("_Part")
    Rest = tuple[_Part, ...]
    _Tuple = tuple[Any, ...]
else:
    _Tuple = tuple

# Rule or alias of the grammar -> the class of its form.
FORMS: dict[str, type[Form]] = {}


class Form(_Tuple):
    """A piece of a program: `start` and `end` are offsets into its text, then come the fields that a class annotates.

    A class is called like its rule in the grammar, its fields stand in the order of the rule's parts, those at the end
    may be absent (None), and a last field annotated `Rest[…]` takes all parts left over. A class that no rule makes
    says `rule=""`.
    """

    __slots__ = ()

    fields: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "expression"
    rest: ClassVar[bool] = False
    start: int
    end: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field that only some forms have: code that asks has looked at the type."""

    def __init_subclass__(cls, rule: str | None = None) -> None:
        annotated: dict[str, str] = vars(cls).get("__annotations__", {})
        own = {name: kind for name, kind in annotated.items() if not kind.startswith("ClassVar")}
        for number, name in enumerate(own, 2 + len(cls.fields)):
            setattr(cls, name, _tuplegetter(number, None))
            cls.rest = own[name].startswith("Rest[")
        cls.fields += tuple(own)
        if rule != "":
            FORMS[rule or _snake(cls.__name__)] = cls

    def emit(self, out: Emitter) -> Any:
        """The Python syntax tree of this form, a list of them for some statements, with the places of the text."""
        raise NotImplementedError(type(self).__name__)

    def target(self, out: Emitter, context: expr_context) -> Any:
        """The tree of this form where it is assigned to or deleted, by `context`."""
        raise out.error(self, f"cannot {'delete' if type(context) is Del else 'assign to'} {self.described()}")

    def described(self) -> str:
        """What Python's messages call it."""
        return self.kind

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self.fields, self[2:]))})"


Form.start = _tuplegetter(0, None)
Form.end = _tuplegetter(1, None)


class Statement(Form, rule=""):
    """A form that stands by itself."""

    __slots__ = ()

    # One with blocks ends, when it is typed, at an empty line.
    has_block: ClassVar[bool] = False

    def is_text(self) -> bool:
        """Whether this is only a string."""
        return False


def emitted(form: Form | None, out: Emitter) -> Any:
    """The tree of a part that may be absent."""
    return None if form is None else form.emit(out)


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)[1:]
