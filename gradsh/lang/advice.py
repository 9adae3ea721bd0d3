"""What to write instead: of Python's names that are closed, and of asking for the truth of many values at once."""

from __future__ import annotations

from gradsh.lang.forms.access import Attribute, Call, Keyword, Subscript
from gradsh.lang.forms.operators import And, Binary, Comparison, Not, Or, Ternary
from gradsh.lang.forms.values import Constant, Name, Number
from gradsh.lang.locate import form_at, forms_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.lang.form import Form
    from gradsh.lang.source import Source, Span

# PyTorch's message, and numpy's.
_AMBIGUOUS = (
    "Boolean value of Tensor with more than one value is ambiguous",
    "The truth value of an array with more than",
)
_SIMPLE = (Name, Number, Constant, Attribute, Call, Subscript)

# Python's names that programs have not, and what does the same.
CLOSED = {
    "eval": "the expression itself", "exec": "the statements themselves", "compile": "a function", "globals": "dir()",
    "locals": "dir()", "vars": "dir(x)", "delattr": "del x.name", "input": 'args, or read_csv("-")', "exit": ":quit",
    "quit": ":quit", "breakpoint": "print(…)", "help": ":help", "complex": "a tensor of two numbers",
    "BaseException": "Exception", "SystemExit": ":quit", "bytearray": "a list of numbers", "bytes": "a list of numbers",
    "memoryview": "a list of numbers", "mro": "type(x)",
}  # fmt: skip


def truth_advice(message: str, span: Span) -> str | None:
    """For the error that says so, the same condition element by element, or as one truth."""
    if not message.startswith(_AMBIGUOUS):
        return None
    source = span.source
    around = forms_around(span)
    tested = around[-1] if around else None
    if isinstance(tested, Comparison) and len(tested.parts) > 3:
        return _pairs(tested, source)
    for form in reversed(around):
        if isinstance(form, And | Or):
            return (" & " if isinstance(form, And) else " | ").join(_operand(part, source) for part in form.operands)
        if isinstance(form, Not):
            return f"~{_operand(form.operand, source)}"
        if isinstance(form, Ternary) and form.test is tested:
            texts = [source.text[part.start : part.end] for part in (form.test, form.value, form.otherwise)]
            return f"torch.where({', '.join(texts)})"
        if form is not tested and not isinstance(form, Comparison):
            break
    return f"{_operand(tested, source)}.all()" if isinstance(tested, (*_SIMPLE, Comparison, Binary)) else None


def filled(hint: str, span: Span | None) -> str | None:
    """A hint with the operands of the failing expression for its {a} and {b}; None where it has others."""
    if "{a}" not in hint:
        return hint
    operands = [] if span is None else _two_operands(span)
    if span is None or len(operands) != 2:
        return None
    left, right = (_operand(form, span.source) for form in operands)
    return hint.replace("{a}", left).replace("{b}", right)


def _two_operands(span: Span) -> list[Form]:
    form = form_at(span)
    if isinstance(form, Binary):
        return [form.left, form.right]
    given = list(form.arguments or ()) if isinstance(form, Call) else []
    if not isinstance(form, Call) or any(isinstance(one, Keyword) for one in given):
        return []
    receiver = form.function.value if isinstance(form.function, Attribute) else None
    return [receiver, *given] if receiver is not None and len(given) == 1 else given


def _pairs(form: Comparison, source: Source) -> str:
    """`a < b < c` as `(a < b) & (b < c)`."""
    parts = form.parts
    found = []
    for k in range(0, len(parts) - 2, 2):
        left, right = (source.text[part.start : part.end] for part in (parts[k], parts[k + 2]))
        found.append(f"({left} {' '.join(parts[k + 1])} {right})")
    return " & ".join(found)


def _operand(form: Form, source: Source) -> str:
    text = source.text[form.start : form.end]
    return text if isinstance(form, _SIMPLE) else f"({text})"
