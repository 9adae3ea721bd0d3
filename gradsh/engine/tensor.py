"""The Tensor: raw data, the node that made it, and its gradient."""

from __future__ import annotations

from gradsh.backend.dtypes import BY_CHAR, FLOATING, DType, boolean, float32 as single, float64 as double, int64
from gradsh.engine.node import AccumulateGrad, Node, Output
from gradsh.engine.site import user_site
from gradsh.engine.state import state, tick
from gradsh.fault import blamed, fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradsh.engine.alias import Alias

new = object.__new__


class Size(tuple[int, ...]):
    """A shape: a tuple that prints as `torch.Size([2, 3])`."""

    __slots__ = ()
    __module__ = "torch"

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        count = 1
        for length in self:
            count *= length
        return count

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __getitem__(self, key: Any) -> Any:
        try:
            found = tuple.__getitem__(self, key)
        except (IndexError, TypeError) as error:
            raise blamed(error) from None
        return Size(found) if isinstance(key, slice) else found


class Tensor:
    """An array that can require a gradient.

    raw: a Python float (0-d float64), a numpy.float32 (0-d float32) or an ndarray; see `backend`.
    node: what made it if it requires a gradient: AccumulateGrad for a leaf, else the operation.
    grad: the accumulated gradient, a Tensor, or None.
    extra: how it shares memory with others, and marks (`alias.Alias`); None for most.
    parts: what a tensor of a transform is made of (`wrapped.Wrapped`), which any tensor can become; no other has it.
    """

    __slots__ = ("__weakref__", "extra", "grad", "node", "parts", "raw")
    __module__ = "torch"

    raw: Any
    node: Node | None
    grad: Tensor | None
    extra: Alias | None
    parts: tuple[Any, ...]

    if TYPE_CHECKING:  # what `gradsh.ops` adds: methods and operators

        def __getattr__(self, name: str) -> Any: ...
        def __neg__(self) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...

    __hash__ = object.__hash__
    __array_priority__ = 1000  # numpy's operators leave a tensor on their right to ours

    # ---- what it is

    @property
    def dtype(self) -> DType:
        raw = self.raw
        if raw.__class__ is float:
            return double
        return BY_CHAR[raw.dtype.char]

    @property
    def shape(self) -> Size:
        raw = self.raw
        return Size() if raw.__class__ is float else Size(raw.shape)

    @property
    def ndim(self) -> int:
        raw = self.raw
        return 0 if raw.__class__ is float else raw.ndim

    @property
    def requires_grad(self) -> bool:
        return self.node is not None if self.extra is None else self.extra.tracks(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        node = self.current_node()
        return node is None or isinstance(node, AccumulateGrad)

    @property
    def grad_fn(self) -> Node | None:
        """The operation that made this tensor, None for a leaf."""
        node = self.current_node()
        if node is not None and node.resolved() is not node:
            node = self.node = node.resolved()
        if type(node) is Output:
            return node.p
        return None if isinstance(node, AccumulateGrad) else node

    @property
    def output_nr(self) -> int:
        return self.node.index if type(self.node) is Output else 0

    def current_node(self) -> Node | None:
        """The node; for a view whose base was changed in place since, the one made for it now."""
        if self.extra is None:
            return self.node
        return self.extra.node_of(self)

    # ---- gradients

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this leaf record (or not record) what is computed from it."""
        if state.levels:
            from gradsh.engine.level import REQUIRE, refuse_inside

            refuse_inside(REQUIRE)
        node = self.current_node()
        if bool(requires_grad) == (node is not None):
            return self
        if node is not None and not isinstance(node, AccumulateGrad):
            raise fault(
                RuntimeError,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                "in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
            )
        if not requires_grad:
            self.node = None
            return self
        if self.extra is not None and self.extra.inference and not state.inference:
            raise fault(
                RuntimeError,
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
                hint=".clone() makes an ordinary tensor",
            )
        if self.dtype.category != FLOATING:
            raise fault(
                RuntimeError,
                "only Tensors of floating point dtype can require gradients",
                notes=(f"this tensor is {self.dtype.name}",),
                hint=".float(), or write the numbers with a point: 1.0",
            )
        node = self.node = AccumulateGrad(tick(), self)
        node.code, node.lasti = user_site()
        return self

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add to the `.grad` of every leaf the derivative of this tensor with respect to it.

        gradient: the incoming gradient, of this tensor's shape; may be left out for a single number.
        """
        from gradsh.engine.backward import backward_of

        backward_of(self, gradient, retain_graph, create_graph, inputs)  # takes this method's place from now on

    # ---- numbers out

    def item(self) -> float | int | bool:
        """The one number this tensor holds, as Python's."""
        raw = self.raw
        if raw.__class__ is float:
            return raw
        if raw.size != 1:
            raise fault(RuntimeError, f"a Tensor with {raw.size} elements cannot be converted to Scalar")
        return raw.item()  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """The numbers as nested lists; a number for a 0-d tensor."""
        raw = self.raw
        return raw if raw.__class__ is float else raw.tolist()

    def __bool__(self) -> bool:
        raw = self.raw
        if raw.__class__ is float:
            return raw != 0.0
        if raw.size != 1:
            if raw.size == 0:
                raise fault(RuntimeError, "Boolean value of Tensor with no values is ambiguous")
            raise fault(
                RuntimeError,
                "Boolean value of Tensor with more than one value is ambiguous",
                notes=(f"the tensor has shape {tuple(raw.shape)}",),
                hint="(a < x) & (x < b) for each element, or .all() or .any() for one answer",
            )
        return bool(raw)

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> float | int | bool:
        if self.numel() != 1:
            raise fault(
                ValueError,
                "only one element tensors can be converted to Python scalars",
                hint=".sum(), .mean() or x[0]",
            )
        return self.item()

    def __index__(self) -> int:
        if self.dtype.category == FLOATING or self.numel() != 1:
            raise fault(TypeError, "only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise fault(TypeError, "len() of a 0-d tensor")
        return self.raw.shape[0]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise fault(TypeError, "iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, Tensor | float | int):
            message = f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            raise fault(RuntimeError, message)
        return bool((self == value).any())  # type: ignore[attr-defined]

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.ndim else self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise fault(
                RuntimeError,
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
                "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
                "see https://github.com/pytorch/pytorch/pull/103001",
                hint=".detach().clone()",
            )
        found = memo.get(id(self))
        if found is None:
            found = new(type(self))
            found.raw = self.raw.copy() if hasattr(self.raw, "copy") else self.raw
            found.node = found.extra = None
            found.grad = None if self.grad is None else self.grad.__deepcopy__(memo)
            memo[id(self)] = found.requires_grad_(self.requires_grad)
        return found

    def numel(self) -> int:
        """How many numbers it holds."""
        raw = self.raw
        return 1 if raw.__class__ is float else raw.size

    # ---- text

    def __repr__(self) -> str:
        from gradsh.engine.display import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        if self.ndim == 0:
            return format(self.item(), spec)
        return object.__format__(self, spec) if spec else repr(self)


class Parameter(Tensor):
    """A tensor that a module owns and an optimiser updates."""

    __slots__ = ()
    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        self = new(cls)
        self.raw = new_empty() if data is None else data.raw
        if data is not None and data.raw.__class__ is not float:
            from gradsh.engine.alias import Alias

            self.extra = Alias.untracked(data)
        else:
            self.extra = None
        self.grad = self.node = None
        if requires_grad:
            self.requires_grad_()
        return self

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


def new_empty() -> Any:
    from gradsh.backend import arrays

    return arrays.zeros(0, state.default.code)


def wrap(raw: Any, node: Node | None = None) -> Tensor:
    """A tensor around a canonical raw value."""
    tensor = new(Tensor)
    tensor.raw = raw
    tensor.node = node
    tensor.grad = tensor.extra = None
    return tensor


def scalar_dtype(value: float | int | bool) -> DType:
    """The element type that a Python number has as a tensor."""
    if isinstance(value, bool):
        return boolean
    return int64 if isinstance(value, int) else state.default


def number_raw(value: float | int | bool, dtype: DType | None = None) -> Any:
    """A Python number as the raw value of a 0-d tensor."""
    dtype = dtype or scalar_dtype(value)
    if dtype is double:
        return float(value)
    from gradsh.backend import arrays

    if dtype is single:
        return arrays.float32(value)
    return arrays.array(value, dtype.code)
