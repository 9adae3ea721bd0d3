"""Operators, comparisons, conditions and walrus."""

from __future__ import annotations

import _ast

from gradsh.lang.emitter import LONGEST_CHAIN, STORE
from gradsh.lang.form import Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ast import expr

    from gradsh.lang.emitter import Emitter
    from gradsh.lang.form import Rest

BINARY = {
    "+": _ast.Add(), "-": _ast.Sub(), "*": _ast.Mult(), "/": _ast.Div(), "//": _ast.FloorDiv(), "%": _ast.Mod(),
    "@": _ast.MatMult(), "&": _ast.BitAnd(), "|": _ast.BitOr(), "^": _ast.BitXor(), ">>": _ast.RShift(),
}  # fmt: skip
# Operators that our own helpers carry out: they guard against results that would eat the machine.
GUARDED = {"**": "pow", "<<": "lshift"}
MANY = 1 << 20
_UNARY = {"-": _ast.USub(), "+": _ast.UAdd(), "~": _ast.Invert()}
_COMPARATORS = {
    ("<",): _ast.Lt(), (">",): _ast.Gt(), ("==",): _ast.Eq(), (">=",): _ast.GtE(), ("<=",): _ast.LtE(),
    ("!=",): _ast.NotEq(), ("in",): _ast.In(), ("not", "in"): _ast.NotIn(),
    ("is",): _ast.Is(), ("is", "not"): _ast.IsNot(),
}  # fmt: skip
_AND, _OR, _NOT = _ast.And(), _ast.Or(), _ast.Not()


class LeftDeep(Form, rule=""):
    """A form that begins with an operand, its first field: sums, calls and look-ups nest to the left without end."""

    def emit(self, out: Emitter) -> expr:
        """From the innermost operand outwards; a long chain in steps, so that the tree stays shallow."""
        chain: list[LeftDeep] = []
        form: Form = self
        while isinstance(form, LeftDeep):
            chain.append(form)
            form = form[2]
        node: expr = form.emit(out)
        if len(chain) <= LONGEST_CHAIN or out.comprehensions:
            while chain:
                node = chain.pop().emit_on(node, out)
            return node
        steps: list[expr] = []
        while chain:
            node = chain.pop().emit_on(node, out)
            if len(chain) % LONGEST_CHAIN == 0 and chain:
                done, node = out.step(node, out.at(form))
                steps.append(done)
        return out.in_steps(steps, node, out.at(self))

    def emit_on(self, operand: expr, out: Emitter) -> expr:
        """The tree of this form alone, around the tree of its first operand."""
        raise NotImplementedError


class Binary(LeftDeep):
    left: Form
    operator: str
    right: Form

    def emit_on(self, operand: expr, out: Emitter) -> expr:
        operator = BINARY.get(self.operator)
        right = self.right.emit(out)
        if operator is None:
            return out.helper("." + GUARDED[self.operator], (operand, right), out.at(self))
        if self.operator == "*" and (_may_repeat(operand) or _may_repeat(right)):
            return out.helper(".repeat", (operand, right), out.at(self))
        if self.operator == "%" and not (_is_number(right) and not _may_repeat(operand)):
            return out.helper(".percent", (operand, right), out.at(self))
        return _ast.BinOp(operand, operator, right, **out.at(self))


def _is_number(node: expr) -> bool:
    return isinstance(node, _ast.Constant) and not isinstance(node.value, str)


def _may_repeat(node: expr) -> bool:
    """Whether an operand of `*` is a text or list, or so large a number that it could repeat one beyond all memory."""
    if isinstance(node, _ast.Constant):
        return isinstance(node.value, str) or (type(node.value) is int and node.value > MANY)
    if isinstance(node, _ast.Call):
        return isinstance(node.func, _ast.Name) and node.func.id in (".pow", ".caret", ".lshift", ".list", ".repeat")
    return isinstance(node, _ast.List | _ast.Tuple | _ast.JoinedStr)


class Power(Form):
    """`a ** b`, and with shell defaults `a ^ b`."""

    left: Form
    operator: str
    right: Form

    def emit(self, out: Emitter) -> expr:
        name = ".pow" if self.operator == "**" else ".caret"
        return out.helper(name, (self.left.emit(out), self.right.emit(out)), out.at(self))


class Unary(Form):
    operator: str
    operand: Form

    def emit(self, out: Emitter) -> expr:
        chain: list[Unary] = []
        form: Form = self
        while type(form) is Unary:
            chain.append(form)
            form = form.operand
        node: expr = form.emit(out)
        while chain:
            form = chain.pop()
            node = _ast.UnaryOp(_UNARY[form.operator], node, **out.at(form))
        return node


class Not(Form):
    operand: Form

    def emit(self, out: Emitter) -> expr:
        return _ast.UnaryOp(_NOT, self.operand.emit(out), **out.at(self))


class And(Form):
    operands: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        return _ast.BoolOp(_AND, [operand.emit(out) for operand in self.operands], **out.at(self))


class Or(Form):
    operands: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        return _ast.BoolOp(_OR, [operand.emit(out) for operand in self.operands], **out.at(self))


class Comparison(Form):
    """Operands and the comparators between them, in turn."""

    kind = "comparison"
    parts: Rest[Form]

    def emit(self, out: Emitter) -> expr:
        first, *others = [operand.emit(out) for operand in self.parts[::2]]
        comparators = [_COMPARATORS[comparator] for comparator in self.parts[1::2]]
        return _ast.Compare(first, comparators, others, **out.at(self))


class Ternary(Form):
    kind = "conditional expression"
    value: Form
    test: Form
    otherwise: Form

    def emit(self, out: Emitter) -> expr:
        value = self.value.emit(out)
        return _ast.IfExp(self.test.emit(out), value, self.otherwise.emit(out), **out.at(self))


class Walrus(Form):
    kind = "named expression"
    name: str
    value: Form

    def emit(self, out: Emitter) -> expr:
        place = out.between(self.start, self.start + len(self.name))
        if not out.definitions:
            # In a comprehension too it binds outside.
            out.assigned.add(self.name)
        name = _ast.Name(out.name(self.name, self), STORE, **place)
        return _ast.NamedExpr(name, self.value.emit(out), **out.at(self))
