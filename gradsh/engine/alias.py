"""Tensors that share memory: views, detached handles, and the record of in-place changes.

Only a tensor that is a view, shares its memory, was changed in place or was made in inference mode
has an Alias. Versions follow PyTorch's rule (a saved value must not have changed since it was saved),
but nothing is counted when a value is saved: a change is stamped with the engine's clock, and a node
is stale where a value it saved was changed after the node was made.
"""

from __future__ import annotations

from gradsh.engine.node import AccumulateGrad, Node, Output, extra_of, operation_name
from gradsh.engine.site import user_site
from gradsh.engine.state import settle, state, tick
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from gradsh.engine.tensor import Tensor

# How a view came about, where it is not in the ordinary way: PyTorch's CreationMeta.
NO_GRAD, INFERENCE, SEVERAL, FUNCTION = "no_grad", "inference", "several", "function"

KEPT_CHANGES = 64  # of a memory's in-place changes the latest are described, older ones only counted


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
    seen: the memory's version when this view's node was made.
    changes, earlier: the latest in-place changes of this memory, oldest first, or None, and how many came before them.
    inference: made in inference mode.
    origin: NO_GRAD, INFERENCE, SEVERAL (`unbind`, `split`) or FUNCTION (a custom one) where the view, or what it is a
        view of, was made in that way, which forbids to change it in place; None for the ordinary way.
    """

    __slots__ = ("base", "changes", "earlier", "inference", "origin", "owner", "seen")

    def __init__(self, base: Tensor | None = None, owner: Tensor | None = None) -> None:
        self.base, self.owner = base, owner
        self.seen = self.earlier = 0
        self.changes: list[Change] | None = None
        self.inference = False
        self.origin: str | None = None

    @staticmethod
    def view_of(tensor: Tensor) -> Alias:
        """For a new differentiable view of a tensor (or of what that is a view of)."""
        extra = tensor.extra
        if extra is None:
            alias = Alias(tensor, tensor)
        else:
            alias = Alias(tensor if extra.base is None else extra.base, tensor if extra.owner is None else extra.owner)
            alias.seen = version_of(tensor)
            alias.inference = extra.inference
            alias.origin = extra.origin
        if not state.grad:
            alias.origin = INFERENCE if state.inference else NO_GRAD
        return alias

    @staticmethod
    def detached(tensor: Tensor) -> Alias:
        """For `detach()`: the same memory and the same record of changes, no gradient."""
        extra = tensor.extra
        alias = Alias(None, tensor if extra is None or extra.owner is None else extra.owner)
        alias.inference = extra is not None and extra.inference
        return alias

    @staticmethod
    def untracked(tensor: Tensor) -> Alias:
        """For `.data`: the same memory, changes not recorded with the original's."""
        return Alias()

    def tracks(self, tensor: Tensor) -> bool:
        """Whether the tensor requires a gradient: a view does where its base does."""
        return tensor.node is not None or (self.base is not None and self.base.requires_grad)

    def is_current(self) -> bool:
        """Whether the view's node is that of its memory as it is now."""
        return self.base is None or version_of(self.base) == self.seen

    def node_of(self, tensor: Tensor) -> Node | None:
        """The view's node; made anew where its memory was changed in place since it was made.

        A view that got no node under `no_grad`, of a base that has one, is a leaf of its own.
        """
        base, node = self.base, tensor.node
        if base is None:
            return node
        version = version_of(base)
        if version == self.seen:
            if node is None and base.requires_grad:
                node = tensor.node = AccumulateGrad(tick(), tensor)
            return node
        if (node is None or isinstance(node, AccumulateGrad)) and not base.requires_grad:
            return node
        if self.origin is not None:
            raise refusal(tensor, "its base or another view of its base has been")
        from gradsh.engine.inplace import attach_view, move_retained

        settle()
        if self.seen == version:  # what was put off has asked for it
            return tensor.node
        self.seen = version
        attach_view(tensor, base, base.current_node())
        move_retained(tensor, node, tensor.node)
        return tensor.node


def owner_of(tensor: Tensor) -> Tensor:
    """The tensor that keeps the record of changes of this memory."""
    extra = tensor.extra
    return tensor if extra is None or extra.owner is None else extra.owner


def record_change(tensor: Tensor, what: str) -> None:
    """Note that the memory of a tensor was changed in place by `what`."""
    extra = tensor.extra
    owner = tensor if extra is None or extra.owner is None else extra.owner
    record = owner.extra
    if record is None:
        record = owner.extra = Alias()
    change = Change(what)
    if record.changes is None:
        record.changes = [change]
    else:
        if len(record.changes) == 2 * KEPT_CHANGES:
            del record.changes[:KEPT_CHANGES]
            record.earlier += KEPT_CHANGES
        record.changes.append(change)
    _mark_outputs(owner, change)
    if tensor is not owner:
        _mark_outputs(tensor, change)
        if extra is not None and extra.base is not None and extra.base is not owner:
            _mark_outputs(extra.base, change)


def _mark_outputs(holder: Tensor, change: Change) -> None:
    """Let the nodes that made a tensor know that the output they may have saved was changed."""
    node = holder.node
    while node is not None:
        op = node.op
        if op is None:
            single = node.resolved()
            if single is not node:
                node = holder.node = single
                continue
            node = node.p if type(node) is Output else None
            continue
        if op.saves_out:
            extra_of(node).changed = (change, holder)
        node = node.q if op.name == "strided_put" and not node.saved("copied") else None


def version_of(tensor: Tensor) -> int:
    """PyTorch's `_version`: how many in-place changes this memory has seen."""
    extra = owner_of(tensor).extra
    return 0 if extra is None or extra.changes is None else extra.earlier + len(extra.changes)


def check_saved(node: Node, tensor: Tensor) -> None:
    """Refuse to use a saved operand that was changed in place after the node was made."""
    if is_stale(node, tensor):
        extra = owner_of(tensor).extra
        assert extra is not None
        raise stale(node, tensor, extra)


def is_stale(node: Node, tensor: Tensor) -> bool:
    """Whether a saved operand was changed in place after the node was made."""
    extra = owner_of(tensor).extra
    return extra is not None and extra.changes is not None and extra.changes[-1].clock > node.seq


def check_saved_out(node: Node) -> None:
    """Refuse to use a saved output that was changed in place after the node was made."""
    assert node.extra is not None
    change, holder = node.extra.changed
    if change.clock > node.seq:
        extra = owner_of(holder).extra
        assert extra is not None
        raise stale(node, holder, extra, made_by=node)


def refuse_inference(node: Node) -> None:
    """Refuse to record an operation that saves a tensor made in inference mode."""
    for field in node.saves:
        value = node.saved(field)
        for saved in value if isinstance(value, tuple) else (value,):
            if getattr(getattr(saved, "extra", None), "inference", False):
                raise fault(
                    RuntimeError,
                    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
                    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
                    "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
                    hint=".clone(), outside inference_mode",
                )


def stale(node: Node, tensor: Tensor, extra: Alias, made_by: Node | None = None) -> BaseException:
    """PyTorch's error for a value needed by a node and changed in place since; ours says where."""
    changes = extra.changes or []
    before = sum(change.clock <= node.seq for change in changes)
    maker = made_by or tensor.grad_fn
    what = "" if maker is None else f", which is output {tensor.output_nr} of {operation_name(maker)},"
    change = changes[before]
    needed = "a value" if node.op is None else "the backward pass of {what}"
    return fault(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor_type(tensor)} {list(tensor.shape)}]{what} is at version {extra.earlier + len(changes)}; expected "
        f"version {extra.earlier + before} instead. Hint: enable anomaly detection to find the operation that "
        "failed to "
        "compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
        sites=(
            (needed + " needs it: {}", node.code, node.lasti),
            (f"{change.what} changed it in place: {{}}", change.code, change.lasti),
        ),
        hint="make a new tensor instead of changing this one: y = y * 2, not y *= 2; or change a y.clone()",
    )


def refusal(view: Tensor, changed: str) -> BaseException:
    """PyTorch's error for a view that may not be changed in place, or whose base was (`handle_view_on_rebase`)."""
    assert view.extra is not None
    origin, node = view.extra.origin, view.node
    maker = None if node is None or isinstance(node, AccumulateGrad) else node.p if type(node) is Output else node
    output = "" if maker is None else f"Output {view.output_nr} of {operation_name(maker)} is a view"
    mode = "inference" if origin == INFERENCE else "no_grad"
    if origin in (NO_GRAD, INFERENCE) or maker is None:
        message = f"{output} of a view which was created in" if output else "A view was created in"
        end = "in normal mode" if origin == INFERENCE else "with grad mode enabled"
        message += f" {mode} mode and {changed} modified inplace {end}."
    else:
        message = f"{output} and {changed} modified inplace."
    if origin == SEVERAL:
        message += (
            " This view is the output of a function that returns multiple views. Such functions do not allow the "
            "output "
            "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    elif origin == FUNCTION:
        message += (
            " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
            "logic to handle view+inplace would override the custom backward associated with the custom Function, "
            "leading "
            "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
            "Function."
        )
    else:
        message += (
            " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            "moving "
            f"both the view and the inplace either both inside the {mode} block (if you don't want the inplace to be "
            "tracked) or both outside (if you want the inplace to be tracked)."
        )
    sites = () if maker is None else (("it is a view, {what}, made here: {}", maker.code, maker.lasti),)
    return fault(RuntimeError, message, sites=sites)


TYPE_NAMES = {"float64": "Double", "float32": "Float", "float16": "Half", "int64": "Long", "int32": "Int",
              "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}  # fmt: skip


# What PyTorch's errors call an element type where they speak C++.
C_TYPES = {"float64": "double", "float32": "float", "float16": "c10::Half", "int64": "long int", "int32": "int",
           "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool"}  # fmt: skip


def tensor_type(tensor: Tensor) -> str:
    """PyTorch's old name of a tensor's type, `torch.DoubleTensor` say."""
    return f"torch.{TYPE_NAMES[tensor.dtype.name]}Tensor"


def inference_alias(extra: Any) -> Alias:
    """For a result of inference mode; a view there of an ordinary tensor is an ordinary tensor."""
    alias: Alias = Alias() if extra is None else extra
    if alias.base is None:
        alias.inference = True
    return alias
