"""An operation: one kernel on raw arrays, one derivative rule per operand, and what follows from its kind.

    @elementwise(x=lambda g, out: g * (1 - out * out), sample=reals)
    def tanh(xp, x):
        \"\"\"Hyperbolic tangent.\"\"\"
        return xp.tanh(x)

The kernel's positional parameters after `xp` are the operands (a default of None makes one optional, `*name`
stands for any number of them), its keyword-only parameters are settings. A rule gives the gradient of its operand
from `g`, the gradient of the output, in this package's own op vocabulary. Its parameter names declare what is
saved: `g`, `out`, an operand, `<operand>_shape`, `<operand>_dtype`, a setting, an output's name, and `i` (which
of the operands, for `*name`); any other name is refused when the module is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.engine.node import Kind

    Rule = Callable[..., Any]
    Kernel = Callable[..., Any]


class Registry(dict[str, "Op"]):
    """Ops by name. `find` imports the file that declares one, where it is not imported yet."""

    find: Callable[[str], None] | None = None

    def __missing__(self, name: str) -> Op:
        if self.find is not None:
            self.find(name)
        if name not in self:
            raise KeyError(name)
        return self[name]


OPS = Registry()

ELEMENTWISE, LINEAR, BILINEAR, GENERAL, CONSTANT = "elementwise", "linear", "bilinear", "general", "constant"
PUBLIC = {"x": "input", "y": "other"}


class Op:
    """A declared operation. `op(...)` applies it to tensors (recording) or, inside a rule, to raw values.

    kind: how forward mode follows from the rules: elementwise, linear, bilinear, general or constant.
    floating: integers are taken as the default float type first.
    view: the output shares the operand's memory.
    outputs: names of the outputs where there are several, with `differentiable` telling which have a gradient;
        `many=True` for a list whose length depends on the settings.
    grad_fn: the name PyTorch gives the node, where it is not the op's own; an op with two such names is two ops.
    through: operands that PyTorch passes through another node first, with its name; `next_functions` shows it.
    sample: what the registry-driven tests draw operands from: a domain for each operand of an elementwise op
        (one domain serves all), else a `Sample` or several (see `ops.samples`).
    at: where it is found: "torch", "Tensor" (a method), "F", "linalg", "special"; "Tensor:name" for another name there.
    inplace: there is an in-place method with `_` behind the name.
    public: names of the operands as PyTorch's signature has them, where not `input` for x and `other` for y.
    explain: turns an exception of the kernel into PyTorch's own error: (error, operands…, settings…) -> exception or None.
    result: "same" or "bool", the element type of an elementwise output.
    promote: operands are brought to one element type first, as PyTorch's type promotion has it.
    numbers: a Python number may stand for an operand; where not, only the shell's defaults allow it.
    check: called with the operands before they are promoted, unless they are all of one floating or integer type;
        raises PyTorch's refusals.
    batch: how it is applied to all examples of a vmap at once, where that does not follow from its kind and its
        settings (`batching`).
    refuses: the name of PyTorch's kernel, and for which of "bool", "integer", "floating" it is not implemented.
    """

    def __init__(
        self,
        kind: str,
        kernel: Kernel,
        rules: dict[str, Rule],
        *,
        name: str | None = None,
        sample: Any = None,
        floating: bool = False,
        promote: bool | None = None,
        numbers: bool = True,
        check: Callable[..., None] | None = None,
        batch: Any = None,
        refuses: tuple[str, str] | None = None,
        result: str = "same",
        view: bool = False,
        outputs: tuple[str, ...] = (),
        differentiable: tuple[bool, ...] = (),
        many: bool = False,
        grad_fn: str | None = None,
        through: dict[str, str] | None = None,
        explain: Callable[..., BaseException | None] | None = None,
        at: tuple[str, ...] = ("torch", "Tensor"),
        inplace: bool | None = None,
        public: dict[str, str] | None = None,
        example: str | None = None,
        returns: str | None = None,
    ) -> None:
        code = kernel.__code__
        self.name = name or kernel.__name__
        self.kind, self.kernel, self.rules = kind, kernel, rules
        self.doc = (kernel.__doc__ or "").strip()
        self.sample, self.floating, self.result, self.view = sample, floating, result, view
        self.promote = kind == ELEMENTWISE if promote is None else promote
        self.numbers, self.check, self.refuses, self.batch = numbers, check, refuses, batch
        self.outputs, self.many = outputs, many
        self.differentiable = differentiable or (True,) * len(outputs)
        self.explain, self.at, self.example, self.returns = explain, at, example, returns or self.name
        self.module = kernel.__globals__

        names = code.co_varnames
        self.operands = list(names[1 : code.co_argcount])
        self.optional = set(self.operands[len(self.operands) - len(kernel.__defaults__ or ()) :])
        count = code.co_argcount + code.co_kwonlyargcount
        self.settings = {
            key: (kernel.__kwdefaults__ or {}).get(key, REQUIRED) for key in names[code.co_argcount : count]
        }
        self.variadic = names[count] if code.co_flags & 4 else None
        if self.variadic:
            self.operands.append(self.variadic)
        self.inplace = kind == ELEMENTWISE and result == "same" if inplace is None else inplace
        self.public = {operand: (public or PUBLIC).get(operand, operand) for operand in self.operands}

        camel = "".join(part.capitalize() for part in self.name.strip("_").split("_"))
        self.grad_fn = grad_fn or f"{camel}Backward0"
        self.shown_through = [through.get(name) for name in self.operands if name in rules] if through else []
        self.uses = {operand: self._parameters(operand, rule) for operand, rule in rules.items()}
        self.saves_out = any(set(uses) & {"out", *outputs} for uses in self.uses.values())
        self.call: Callable[..., Any] = self._first_call
        self.way: Any = None  # of `batching`, once it is asked for
        self.places: list[tuple[Any, str]] = []
        self.spaces: list[tuple[dict[str, Any], str]] = []
        self.node_kinds: dict[bool, Kind] = {}
        if self.name in OPS:
            raise TypeError(f"two ops are named {self.name}")
        OPS[self.name] = self

    def _parameters(self, operand: str, rule: Rule) -> tuple[str, ...]:
        if operand not in self.operands:
            raise TypeError(f"{self.name}: a rule for {operand!r}, but the operands are {', '.join(self.operands)}")
        code = rule.__code__
        asked = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        known = {"g", "out", "i", *self.outputs, *self.settings, *self.operands}
        known |= {name + suffix for name in self.operands for suffix in ("_shape", "_dtype")}
        stray = [name for name in asked if name not in known]
        if stray:
            raise TypeError(
                f"{self.name}: the rule for {operand} asks for {', '.join(stray)}; it may ask for {', '.join(sorted(known))}"
            )
        return asked

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return self.call(*args, **settings)

    def _first_call(self, *args: Any, **settings: Any) -> Any:
        self.specialise()
        return self.call(*args, **settings)

    def specialise(self) -> None:
        """Generate this op's own code, at its first use, and put it wherever the op is called from."""
        from gradsh.engine.generate import generated_call

        if self.call == self._first_call:
            self.call = generated_call(self)
            for name in [name for name, value in self.module.items() if value is self]:
                self.module[name] = self.call
            for owner, name in self.places:
                setattr(owner, name, self.call)
            for space, name in self.spaces:
                space[name] = self.call

    def node_kind(self, fitted: bool) -> Kind:
        """What this op's nodes have in common; `fitted` where gradients must be brought to an operand's shape or type."""
        found = self.node_kinds.get(fitted)
        if found is None:
            from gradsh.engine.generate import generated_node

            found = self.node_kinds[fitted] = generated_node(self, fitted)
        return found

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


def _kind(kind: str) -> Callable[..., Callable[[Kernel], Op]]:
    def declare(**declared: Any) -> Callable[[Kernel], Op]:
        def make(kernel: Kernel) -> Op:
            code = kernel.__code__
            names = code.co_varnames[1 : code.co_argcount]
            if code.co_flags & 4:
                names += (code.co_varnames[code.co_argcount + code.co_kwonlyargcount],)
            rules = {name: declared.pop(name) for name in names if name in declared}
            return Op(kind, kernel, rules, **declared)

        return make

    return declare


elementwise = _kind(ELEMENTWISE)
linear = _kind(LINEAR)
bilinear = _kind(BILINEAR)
general = _kind(GENERAL)
constant = _kind(CONSTANT)
