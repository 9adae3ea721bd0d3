"""Tensors that share memory: views, detached handles, and the record of in-place changes.

Only a tensor that is a view, shares its memory, was changed in place or was made in inference mode
has an Alias. Versions follow PyTorch's rule (a saved value must not have changed since it was saved),
but nothing is counted when a value is saved: a change is stamped with the engine's clock, and a node
is stale where a value it saved was changed after the node was made.
"""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from gradsh.engine.node import Node, Output, extra_of
from gradsh.engine.site import user_site
from gradsh.engine.state import tick
from gradsh.fault import fault

if TYPE_CHECKING:
    from gradsh.engine.tensor import Tensor


class Change:
    """One in-place change: when, by what, and where in the user's program."""

    __slots__ = ("clock", "code", "lasti", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.code: CodeType | None
        self.code, self.lasti = user_site()
        self.clock = tick()


class Alias:
    """How a tensor shares its memory.

    base: the tensor this one is a differentiable view of, or None.
    owner: the tensor whose `changes` count for this memory, or None for this tensor itself.
    seen: the base's `rebased` count when this view's node was made.
    rebased: how often an in-place change through a view gave this base a new node.
    changes: the in-place changes of this memory, oldest first, or None.
    inference: made in inference mode.
    split: made as one of several views (`unbind`, `split`), which may not be changed in place.
    """

    __slots__ = ("base", "changes", "inference", "owner", "rebased", "seen", "split")

    def __init__(self, base: Tensor | None = None, owner: Tensor | None = None) -> None:
        self.base, self.owner = base, owner
        self.seen = self.rebased = 0
        self.changes: list[Change] | None = None
        self.inference = False
        self.split: str | None = None

    @staticmethod
    def view_of(tensor: Tensor) -> Alias:
        """For a new differentiable view of a tensor (or of what that is a view of)."""
        extra = tensor.extra
        if extra is None:
            return Alias(tensor, tensor)
        base = tensor if extra.base is None else extra.base
        alias = Alias(base, tensor if extra.owner is None else extra.owner)
        base_extra = base.extra
        if base_extra is not None:
            alias.seen = base_extra.rebased
            alias.inference = base_extra.inference
        return alias

    @staticmethod
    def detached(tensor: Tensor) -> Alias:
        """For `detach()`: the same memory and the same record of changes, no gradient."""
        extra = tensor.extra
        return Alias(None, tensor if extra is None or extra.owner is None else extra.owner)

    @staticmethod
    def untracked(tensor: Tensor) -> Alias:
        """For `.data`: the same memory, changes not recorded with the original's."""
        return Alias()

    def node_of(self, tensor: Tensor) -> Node | None:
        """The view's node, made anew where its base was changed in place through another view."""
        base = self.base
        if base is None or base.extra is None or base.extra.rebased == self.seen:
            return tensor.node
        from gradsh.engine.inplace import view_node

        self.seen = base.extra.rebased
        node = base.current_node()
        tensor.node = None if node is None else view_node(base, tensor, node)
        return tensor.node


def owner_of(tensor: Tensor) -> Tensor:
    """The tensor that keeps the record of changes of this memory."""
    extra = tensor.extra
    return tensor if extra is None or extra.owner is None else extra.owner


def record_change(tensor: Tensor, what: str) -> None:
    """Note that the memory of a tensor was changed in place by `what`."""
    owner = owner_of(tensor)
    if owner.extra is None:
        owner.extra = Alias()
    change = Change(what)
    if owner.extra.changes is None:
        owner.extra.changes = []
    owner.extra.changes.append(change)
    base = None if tensor.extra is None else tensor.extra.base
    for holder in (tensor, base, owner):
        node = None if holder is None else holder.node
        while node is not None:
            if node.op is not None and node.op.saves_out:
                extra_of(node).changed = (change, holder)
            node = node.p if type(node) is Output else None


def version_of(tensor: Tensor) -> int:
    """PyTorch's `_version`: how many in-place changes this memory has seen."""
    extra = owner_of(tensor).extra
    return 0 if extra is None or extra.changes is None else len(extra.changes)


def check_saved(node: Node, tensor: Tensor) -> None:
    """Refuse to use a saved operand that was changed in place after the node was made."""
    extra = owner_of(tensor).extra
    if extra is not None and extra.changes is not None and extra.changes[-1].clock > node.seq:
        raise stale(node, tensor, extra.changes)


def check_saved_out(node: Node) -> None:
    """Refuse to use a saved output that was changed in place after the node was made."""
    assert node.extra is not None
    change, holder = node.extra.changed
    if change.clock > node.seq:
        extra = owner_of(holder).extra
        assert extra is not None and extra.changes is not None
        raise stale(node, holder, extra.changes, made_by=node)


def stale(node: Node, tensor: Tensor, changes: list[Change], made_by: Node | None = None) -> BaseException:
    """PyTorch's error for a value needed by a node and changed in place since; ours says where."""
    then = sum(change.clock <= node.seq for change in changes)
    maker = made_by or tensor.grad_fn
    what = "" if maker is None else f", which is output {tensor.output_nr} of {maker.name()},"
    change = changes[then]
    needed = "a value" if node.op is None else f"the backward pass of {node.op.name}"
    return fault(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor_type(tensor)} {list(tensor.shape)}]{what} is at version {len(changes)}; expected version {then} "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).",
        sites=(
            (f"{needed} needs it: {{}}", node.code, node.lasti),
            (f"{change.what} changed it in place: {{}}", change.code, change.lasti),
        ),
        hint="make a new tensor instead of changing this one: y = y * 2, not y *= 2; or change a y.clone()",
    )


TYPE_NAMES = {"float64": "Double", "float32": "Float", "float16": "Half", "int64": "Long", "int32": "Int",
              "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}  # fmt: skip


def tensor_type(tensor: Tensor) -> str:
    """PyTorch's old name of a tensor's type, `torch.DoubleTensor` say."""
    return f"torch.{TYPE_NAMES[tensor.dtype.name]}Tensor"


def inference_alias(extra: Any) -> Alias:
    alias = extra if extra is not None else Alias()
    alias.inference = True
    return alias  # type: ignore[no-any-return]
