"""What to write instead where a gradient is nan: the same expression, kept away from where its slope is not finite."""

from __future__ import annotations

from gradsh.lang.forms.access import Attribute, Call, Keyword, Subscript
from gradsh.lang.forms.operators import Binary, Comparison, Power, Unary
from gradsh.lang.locate import form_at, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    from gradsh.engine.undefined import GradientWarning
    from gradsh.lang.form import Form
    from gradsh.lang.source import Span

    Site = tuple[CodeType | None, int]

# A value where an op and its derivatives are finite; 1 for those that are not here.
SAFE = {
    "acos": 0, "asin": 0, "atanh": 0, "erfinv": 0, "logit": 0.5, "acosh": 2, "tan": 0, "exp": 0, "expm1": 0, "softmax": 0,
    "log_softmax": 0, "logsumexp": 0, "sinh": 0, "cosh": 0, "exp2": 0, "number_power": 0, "power_to_number": 1,
}  # fmt: skip
# Ops of two operands whose second is the one to be kept away.
SECOND = {"div", "rdiv", "number_power"}
TINY = "1e-12"


def safer(warning: GradientWarning) -> str | None:
    """The expression to blame for a nan, written so that its gradient is finite; None where it cannot be told."""
    span, op, mask = _span(warning.at), warning.op or "", warning.mask
    place = warning.operand if warning.operand is not None else int(op in SECOND)
    operand = None if span is None else _operand(span, place)
    if span is None or operand is None:
        return None
    inner = _text(span, operand)
    if mask is None:
        return _with(span, operand, f"{inner} + {TINY}")
    kept = _kept(mask, warning.side, inner, str(SAFE.get(op, 1)))
    return None if kept is None else _with(span, operand, kept)


def _span(site: Site) -> Span | None:
    return None if site[0] is None else place_of(site[0], site[1])


def _text(span: Span, form: Form) -> str:
    return " ".join(span.source.text[form.start : form.end].split())


def _with(span: Span, operand: Form, text: str) -> str | None:
    """The expression of a span with another operand."""
    form = form_at(span)
    if form is None:
        return None
    source, start, end = span.source.text, operand.start, operand.end
    inside = isinstance(form, Call) and operand in (form.arguments or ())
    if not inside:
        called = text.endswith(")") and not text.startswith("(")
        grouped = source[start - 1 : start] == "(" and source[end : end + 1] == ")"
        if grouped and called:
            start, end = start - 1, end + 1
        elif not grouped and not called:
            text = f"({text})"
    return " ".join((source[form.start : start] + text + source[end : form.end]).split())


def _operand(span: Span, place: int) -> Form | None:
    """One of the operands of the op at a place, as it is written."""
    form = form_at(span)
    if isinstance(form, Binary | Power):
        return (form.left, form.right)[place]
    if not isinstance(form, Call):
        return None
    given = [one for one in form.arguments or () if not isinstance(one, Keyword)]
    if isinstance(form.function, Attribute) and not _is_module(form.function.value):
        given.insert(0, form.function.value)
    return given[place] if place < len(given) else None


def _is_module(form: Form) -> bool:
    from gradsh.lang.forms.values import Name

    while isinstance(form, Attribute):
        form = form.value
    return isinstance(form, Name) and form.name in ("torch", "F", "nn", "math", "np")


def _kept(mask: Site, side: int, inner: str, safe: str) -> str | None:
    """An operand with a safe value wherever the mask leaves its result out."""
    span = _span(mask)
    form = None if span is None else form_at(span)
    if span is None or form is None:
        return None
    if isinstance(form, Subscript):
        mask_itself = isinstance(form.key, Comparison | Call | Unary | Binary)
        return f"where({_text(span, form.key)}, {inner}, {safe})" if mask_itself else None
    if isinstance(form, Binary):  # a product with a mask
        other = form.right if side == 0 else form.left
        return f"where({_text(span, other)} != 0, {inner}, {safe})"
    if not isinstance(form, Call) or not form.arguments:
        return None
    name = form.function.name if isinstance(form.function, Attribute) else _text(span, form.function)
    method = isinstance(form.function, Attribute) and not _is_module(form.function.value)
    plain = [one for one in form.arguments if not isinstance(one, Keyword)]
    if name == "where" and plain:
        where = "torch.where" if method else _text(span, form.function)
        values = (inner, safe) if side == 0 else (safe, inner)
        return f"{where}({_text(span, plain[0])}, {', '.join(values)})"
    if name.rstrip("_") == "masked_fill" and len(plain) > (0 if method else 1):
        return f"{_grouped(inner)}.masked_fill({_text(span, plain[0 if method else 1])}, {safe})"
    return None


def _grouped(text: str) -> str:
    return text if text.isidentifier() or text.endswith((")", "]")) else f"({text})"
