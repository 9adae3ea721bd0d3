"""Nodes of the dynamic graph: what an operation leaves behind so that `backward` can pass through it.

A node points to the nodes of its operands (`p`, `q`, `more`), never forward, and holds raw values or
operand tensors, never its own output tensor: no reference cycles, so an abandoned graph is freed at
once. The class of a node is made per op (`generate`), named as PyTorch names it.
"""

from __future__ import annotations

from _weakref import ref

from gradsh.engine.site import user_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any, ClassVar

    from gradsh.engine.op import Op
    from gradsh.engine.tensor import Tensor


BY_HAND = {"AccumulateGrad", "CopyBackwards", "CopySlices"}


class _Pending:
    """What a node has in place of a gradient while a backward pass has met it and none has arrived."""

    __slots__ = ()


PENDING = _Pending()


class Released:
    """What a node whose saved values a backward pass has given up has in place of a gradient; with the pass's place."""

    __slots__ = ("code", "lasti")

    def __init__(self) -> None:
        self.code, self.lasti = user_site()


class Node:
    """One recorded operation.

    p, q, more: nodes of the first, the second and the further operands; None where no gradient goes.
    seq: creation number on the clock `state.tick`; parents are always older.
    g, own: the gradient gathered so far in a pass, and whether its array may be changed in place; g is None outside a
        pass, PENDING until the first gradient arrives, and a Released where the saved values are gone.
    extra: hooks, what insight keeps, and the like (`Extra`), or None.
    code, lasti: where in the user's program it was made: code object and instruction offset.
    """

    __slots__ = ("code", "extra", "g", "lasti", "more", "own", "p", "q", "seq")

    op: ClassVar[Op | None] = None
    several: ClassVar[bool] = False  # it stands for several operations (`plans.node`)
    saves: ClassVar[tuple[str, ...]] = ()

    code: CodeType | None
    extra: Extra | None
    g: Any
    lasti: int
    more: tuple[Node | None, ...] | None
    own: bool
    p: Node | None
    q: Node | None
    seq: int

    def __init__(self, seq: int, p: Node | None = None, q: Node | None = None) -> None:
        self.seq, self.p, self.q = seq, p, q
        self.more = self.g = self.extra = self.code = None
        self.lasti = -1
        self.own = False

    def run(self, g: Any, mark: Released | None = None) -> None:
        """Pass the raw gradient of the output on to the operands' nodes; with a mark, give up the saved values."""
        raise NotImplementedError

    def run_recorded(self, g: Any) -> None:
        """The same with tensors, recording itself: `create_graph=True`."""
        raise NotImplementedError

    def resolved(self) -> Node:
        """The node of the single operation, where this one stands for several."""
        return self

    def parents(self) -> Iterator[Node | None]:
        """The operands' nodes in order, None where no gradient goes."""
        count = self.operand_count()
        yield from (self.p, self.q)[:count]
        if self.more is not None:
            yield from self.more

    def saved(self, name: str) -> Any:
        """A saved value by its name."""
        return getattr(self, name)

    def operand_count(self) -> int:
        """How many of `p` and `q` stand for an operand."""
        return 2 if self.q is not None else 1

    def name(self) -> str:
        """What PyTorch calls it; nodes it has by hand are named with their namespace."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in BY_HAND else name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Have a hook called with the gradients of the inputs and of the outputs, after this node has run."""
        from gradsh.engine.arrival import hooked

        extra = extra_of(self)
        if extra.post is None:
            extra.post = {}
        return hooked(extra.post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """Have a hook called with the gradients of the outputs, before this node runs."""
        from gradsh.engine.arrival import hooked

        extra = extra_of(self)
        if extra.pre is None:
            extra.pre = {}
        return hooked(extra.pre, hook)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for whatever a program wants to note with this node."""
        extra = extra_of(self)
        if extra.metadata is None:
            extra.metadata = {}
        return extra.metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return self.seq

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) of each operand that can have a gradient, as PyTorch shows them."""
        pairs: list[tuple[Node | None, int]] = []
        through = [] if self.op is None else self.op.shown_through
        for place, given in enumerate(self.parents()):
            parent = None if given is None else given.resolved()
            name = through[place] if through else None
            if parent is not None and name is not None:
                pairs.append((passage(name, parent), 0))
            elif type(parent) is Output:
                pairs.append((parent.p, parent.index))
            else:
                pairs.append((parent, 0))
        return tuple(pairs)

    def release(self, mark: Released) -> None:
        """Give up the saved values; a later pass through this node is an error if there were any."""
        if self.saves:
            for name in self.saves:
                setattr(self, name, None)
            self.g = mark

    @property
    def kept(self) -> Any:
        """What insight keeps of the output and the call path (`keep.Kept`), or None."""
        return None if self.extra is None else self.extra.kept


class ClassOfNodes(type):
    """The type of the classes that programs see of nodes; `isinstance` goes by the node's name."""

    def __instancecheck__(cls, node: Any) -> bool:
        return isinstance(node, OpNode) and node.kind.name == cls.__name__


class Kind:
    """What the nodes of one op have in common.

    name: the node's name in PyTorch. fields: saved value -> the node's place for it (see `OpNode`). saves: those of them
    that a pass gives up. run, run_recorded, release: the generated code.
    """

    __slots__ = ("fields", "name", "op", "operand_count", "release", "run", "run_recorded", "saves")

    def __init__(
        self, op: Op, name: str, fields: dict[str, str | int], saves: tuple[str, ...], operand_count: int
    ) -> None:
        self.op, self.name, self.fields, self.saves, self.operand_count = op, name, fields, saves, operand_count
        self.run: Callable[[Any, Any, Any], None]
        self.run_recorded: Callable[[Any, Any], None]
        self.release: Callable[[Any, Any], None]

    def varied(self, **changes: Any) -> Kind:
        """A kind like this one but for some fields."""
        made = object.__new__(Kind)
        for field in Kind.__slots__:
            setattr(made, field, changes.get(field, getattr(self, field)))
        return made


_shown: dict[str, ClassOfNodes] = {}


def shown_class(node: OpNode) -> ClassOfNodes:
    """The class that programs see of a node."""
    name = node.kind.name
    if name not in _shown:
        _shown[name] = ClassOfNodes(name, (), {"__module__": "builtins", "__slots__": ()})
    return _shown[name]


class OpNode(Node):
    """A recorded application of an op. All ops have this class, since Python reads a field fast where it meets one class.

    s0 to s3: the first saved values. rest: a list of the further ones. fits: shape and type that each operand's gradient is
    brought to, where its kind says so. `saved` and `save` reach a saved value by its name.
    """

    __slots__ = ("fits", "kind", "rest", "s0", "s1", "s2", "s3")

    kind: Kind
    fits: tuple[Any, ...]
    rest: list[Any]

    @property
    def op(self) -> Op:  # type: ignore[override]
        return self.kind.op

    @property
    def saves(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.kind.saves

    def operand_count(self) -> int:
        return self.kind.operand_count

    def name(self) -> str:
        name = self.kind.name
        return f"torch::autograd::{name}" if name in BY_HAND else name

    def __repr__(self) -> str:
        return f"<{self.kind.name} object at {id(self):#x}>"

    def run(self, g: Any, mark: Released | None = None) -> None:
        self.kind.run(self, g, mark)

    def run_recorded(self, g: Any) -> None:
        self.kind.run_recorded(self, g)

    def release(self, mark: Released) -> None:
        self.kind.release(self, mark)

    def saved(self, name: str) -> Any:
        """A saved value, None where it is not needed or was given up."""
        place = self.kind.fields[name]
        return self.rest[place] if isinstance(place, int) else getattr(self, place)

    def save(self, name: str, value: Any) -> None:
        """Put a saved value in its place."""
        place = self.kind.fields[name]
        if isinstance(place, int):
            self.rest[place] = value
        else:
            setattr(self, place, value)


def operation_name(node: Node) -> str:
    """What PyTorch's errors call the operation of a node: `Mul` for MulBackward0, `Transpose1` for TransposeBackward1."""
    name = node.name()
    head, _, number = name.rpartition("Backward")
    return head + number.removeprefix("0") if head and (number.isdigit() or not number) else name


class Extra:
    """What only some nodes have.

    hooks: called with the gradient of the output before it is passed on; each may return another one.
    retain: weak reference to the tensor whose `.grad` is to be kept (`retain_grad`).
    pre, post: node hooks (`register_prehook`, `register_hook`).
    changed: the clock when the saved output was changed in place, with the change's description.
    metadata: what a program notes with the node.
    packed: what finds each saved value again, by field, where `saved_tensors_hooks` packed them.
    kept: what insight keeps (`keep.Kept`).
    """

    __slots__ = ("changed", "hooks", "kept", "metadata", "packed", "post", "pre", "retain")

    def __init__(self) -> None:
        self.hooks: dict[int, Callable[[Any], Any]] | None = None
        self.retain: ref[Tensor] | None = None
        self.pre: dict[int, Callable[..., Any]] | None = None
        self.post: dict[int, Callable[..., Any]] | None = None
        self.changed: Any = None
        self.metadata: dict[Any, Any] | None = None
        self.packed: dict[str, Callable[[], Any]] | None = None
        self.kept: Any = None


def extra_of(node: Node) -> Extra:
    if node.extra is None:
        node.extra = Extra()
    return node.extra


class Passage(Node):
    """A node that PyTorch has between an operation and an operand, where one op here does the work of both."""

    __slots__ = ()


_passages: dict[str, type[Passage]] = {}


def passage(name: str, operand: Node) -> Passage:
    """A node to show between an operation and the node of an operand."""
    kind = _passages.get(name)
    if kind is None:
        kind = _passages[name] = type(name, (Passage,), {"__slots__": (), "__module__": "torch.autograd"})
    shown = kind(operand.seq, operand)
    shown.code, shown.lasti = operand.code, operand.lasti
    return shown


class AccumulateGrad(Node):
    """The end of a path: a leaf tensor, which it knows weakly; the pass adds to the leaf's `.grad`."""

    __slots__ = ("post_accumulate", "ref")

    def __init__(self, seq: int, leaf: Tensor) -> None:
        super().__init__(seq)
        self.ref = ref(leaf)
        self.post_accumulate: dict[int, Callable[[Any], Any]] | None = None

    def operand_count(self) -> int:
        return 0

    @property
    def variable(self) -> Tensor | None:
        return self.ref()


class Output(Node):
    """One output of an operation with several: puts its gradient in the operation's list."""

    __slots__ = ("index",)

    def __init__(self, seq: int, operation: Node, index: int) -> None:
        super().__init__(seq, operation)
        self.index = index
        self.code, self.lasti = operation.code, operation.lasti

    def run(self, g: Any, mark: Released | None = None) -> None:
        assert self.p is not None
        if self.p.g is PENDING:
            self.p.g = {}
        gathered = self.p.g
        if self.index in gathered:  # a rule that asks for an output has a node of its own for it
            from gradsh.engine.runtime import canonical

            total = gathered[self.index] + g
            g = total if hasattr(total, "node") else canonical(total)
        gathered[self.index] = g
        self.g = None

    run_recorded = run

    def operand_count(self) -> int:
        return 1
