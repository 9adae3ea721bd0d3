"""Walking the graph backward: `backward` adds to the leaves' `.grad`, `grad` returns derivatives.

The nodes reachable from the roots are gathered without recursion, sorted by creation number (a parent is always
older than what was made from it), and run from the newest to the oldest. Leaves receive their gradients at the end
and all at once, so that a pass that fails changes nothing; only one with a hook for after that has it before.
"""

from __future__ import annotations

from operator import attrgetter, methodcaller

from gradsh.backend.shield import shield
from gradsh.engine import runtime
from gradsh.engine.arrival import add_grad, arrive, call_node_hooks, prepare, retain_grad, run_observed
from gradsh.engine.create import ones_of, zeros_of
from gradsh.engine.level import refuse_inside
from gradsh.engine.node import PENDING, AccumulateGrad, Node, OpNode, Output, Released
from gradsh.engine.op import OPS
from gradsh.engine.site import user_site
from gradsh.engine.state import head, state, stop_following
from gradsh.engine.tensor import Tensor, wrap
from gradsh.engine.undefined import judge, observe as look_at
from gradsh.engine.wrapped import Wrapped
from gradsh.fault import Site, fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

_creation = attrgetter("seq")
INFINITY = float("inf")
BACKWARD = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
    "instead or call backward() outside of functorch transforms."
)


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add to `.grad` of the leaves (or of `inputs` only) the derivative of the tensors, weighted by `grad_tensors`."""
    if state.levels:
        refuse_inside(BACKWARD)
    roots = _listed(tensors)
    grads = _listed(grad_tensors) if grad_tensors is not None else [None] * len(roots)
    seeds: list[Any] = _seeds(roots, grads)
    if not create_graph:
        seeds = [seed.raw for seed in seeds]
    keep = create_graph if retain_graph is None else retain_graph
    targets = None if inputs is None else _targets(inputs)
    if targets is not None:
        if not targets:
            raise fault(RuntimeError, "`inputs` argument to `backward()` cannot be empty.")
        for target in targets:
            retain_grad(target)
    walk([root.current_node() for root in roots], seeds, targets, bool(keep), create_graph, accumulate=True)


def backward_of(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add to the `.grad` of every leaf the derivative of this tensor with respect to it: `Tensor.backward`.

    gradient: the incoming gradient, of this tensor's shape; may be left out for a single number.
    """
    if gradient is None and inputs is None and not create_graph and not state.levels:
        kind = self.raw.__class__
        seed = 1.0 if kind is float else runtime.ONE if kind is runtime.float32 else None
        node = self.current_node()
        if seed is not None and node is not None:
            walk([node], [seed], None, bool(retain_graph), False, accumulate=True)
            return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


backward_of.__qualname__ = "Tensor.backward"  # as TypeErrors about its arguments name it
Tensor.backward = backward_of  # type: ignore[method-assign]


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The derivative of the sum of `outputs` (weighted by `grad_outputs`) with respect to each of `inputs`.

    Nothing is accumulated. An input that the outputs do not depend on is an error unless `allow_unused` (then None)
    or `materialize_grads` (then zeros). `only_inputs` is as good as True.
    """
    roots, targets = _listed(outputs), _targets(inputs)
    if not targets:
        raise fault(RuntimeError, "`inputs` argument to `grad()` cannot be empty.")
    if allow_unused is False and materialize_grads:
        raise fault(
            ValueError,
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.",
        )
    for root in roots:
        if not isinstance(root, Tensor):
            raise fault(AssertionError, "Expected output to be a torch.Tensor", notes=(f"it is {type(root).__name__}",))
    grads = _listed(grad_outputs)[: len(roots)] if grad_outputs is not None else [None] * len(roots)
    keep = create_graph if retain_graph is None else bool(retain_graph)
    if is_grads_batched and None not in grads:
        found = _batched(roots, targets, grads, keep, create_graph)
    else:
        found = _found(roots, targets, grads, keep, create_graph)
    result: list[Tensor | None] = []
    for index, (target, value) in enumerate(zip(targets, found, strict=True)):
        if value is None and materialize_grads:
            value = zeros_of(tuple(target.shape), target.dtype)
            if create_graph:
                value.requires_grad_()
        elif value is None and not allow_unused:
            raise fault(
                RuntimeError,
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior.",
            )
        result.append(value)
    return tuple(result)


def _found(roots: list[Any], targets: list[Tensor], grads: list[Any], keep: bool, create: bool) -> list[Tensor | None]:
    """What reaches each of the targets, None where they have no part in the roots."""
    seeds = _seeds(roots, grads)
    for target in targets:
        if target.current_node() is None:
            raise fault(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                hint="make it one that does: x = torch.tensor(…, requires_grad=True), or x.requires_grad_() before it is used",
            )
    if state.levels and any(isinstance(one, Wrapped) for one in (*roots, *targets)):
        from gradsh.engine.pulling import pull

        return pull(roots, targets, seeds, create, keep)
    return gradients(roots, targets, seeds, keep, create)


def gradients(
    roots: list[Tensor], targets: list[Tensor], seeds: list[Tensor], keep: bool, create: bool
) -> list[Tensor | None]:
    """What reaches plain targets from seeds of the shapes of plain roots; a seed may be of a level.

    Where one is, or where the pass is recorded, it runs on tensors, else on raw values.
    """
    recorded = create or any(isinstance(seed, Wrapped) for seed in seeds)
    nodes: list[Any] = [root.current_node() for root in roots]
    found = walk(nodes, seeds if recorded else [seed.raw for seed in seeds], targets, keep, create, recorded=recorded)
    return [value if value is None or isinstance(value, Tensor) else wrap(runtime.canonical(value)) for value in found]


def _batched(roots: list[Any], targets: list[Any], grads: list[Any], keep: bool, create: bool) -> list[Tensor | None]:
    """As `_found`, for gradients of the outputs with a dimension more, in one pass: the results have it too."""
    from gradsh.engine.batched import batched, of_all
    from gradsh.engine.level import VMAP, Level

    for index, (root, given) in enumerate(zip(roots, grads, strict=True)):
        if given.shape[1:] != root.shape:
            raise fault(
                RuntimeError,
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
                "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{index}] has a shape of {given.shape[2:]!r} and output[{index}] has "
                f"a shape of {root.shape!r}. If you only want some tensors in `grad_output` to be considered batched, "
                "consider using vmap.",
            )
    with Level(VMAP, size=len(grads[0])) as level:
        found = _found(roots, targets, [batched(g, level) for g in grads], keep, create)
        return [None if value is None else of_all(value, level) for value in found]


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, Tensor) or (state.lists and isinstance(values, float | int)) else list(values)


def _targets(inputs: Any) -> list[Tensor]:
    """The tensors to differentiate with respect to."""
    targets = _listed(inputs)
    for target in targets:
        if not isinstance(target, Tensor):
            raise fault(
                RuntimeError, f"all inputs have to be Tensors or GradientEdges, but got {type(target).__name__}"
            )
    return targets


def _seeds(roots: list[Any], grads: list[Any]) -> list[Tensor]:
    """The gradient that enters at each root: given, or 1 for a single number; checked as PyTorch checks it."""
    if len(grads) != len(roots):
        raise fault(RuntimeError, f"got {len(roots)} tensors and {len(grads)} gradients")
    seeds: list[Tensor] = []
    for index, (root, given) in enumerate(zip(roots, grads, strict=True)):
        if not isinstance(root, Tensor):
            raise fault(
                TypeError, f"element {index} of tensors to differentiate must be a Tensor, not {type(root).__name__}"
            )
        if given is None:
            if root.current_node() is None:
                raise _no_graph(root, index)
            if root.numel() != 1:
                raise fault(
                    RuntimeError,
                    "grad can be implicitly created only for scalar outputs",
                    notes=(f"this one has shape {tuple(root.shape)}: {root.numel()} numbers",),
                    hint="y.sum().backward(), or y.backward(gradient=torch.ones_like(y)) for weights of your own",
                )
            given = ones_of(tuple(root.shape), root.dtype)
        else:
            if root.current_node() is None:
                raise _no_graph(root, index)
            if not isinstance(given, Tensor):
                from gradsh.engine.create import tensor

                given = tensor(given, dtype=root.dtype)
            if given.shape != root.shape:
                raise fault(
                    RuntimeError,
                    f"Mismatch in shape: grad_output[{index}] has a shape of {given.shape!r} and "
                    f"output[{index}] has a shape of {root.shape!r}.",
                )
            if given.dtype is not root.dtype:
                given = OPS["to_dtype"](given, dtype=root.dtype)
        seeds.append(given)
    return seeds


def _no_graph(root: Tensor, index: int) -> BaseException:
    return fault(
        RuntimeError,
        f"element {index} of tensors does not require grad and does not have a grad_fn",
        notes=("nothing that it was computed from requires a gradient, or it was computed under no_grad or detached",),
        hint="make an input require one: x = torch.tensor(…, requires_grad=True)",
    )


def reachable(roots: Iterable[Node | None], single: Callable[[Node], Node] = methodcaller("resolved")) -> list[Node]:
    """The nodes behind the roots, oldest first, each of one operation. Iterative; each node once.

    single: gives the node that stands for another one; what is linked to that is linked to it from then on.
    """
    found: dict[int, Node] = {}
    stack = [single(root) for root in roots if root is not None]
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            if node.p is not None and node.p.several:
                node.p = single(node.p)
            if node.q is not None and node.q.several:
                node.q = single(node.q)
            if node.more is not None and any(parent is not None and parent.several for parent in node.more):
                node.more = tuple(None if parent is None else single(parent) for parent in node.more)
            stack += [parent for parent in (node.p, node.q, *(node.more or ())) if parent is not None]
    return sorted(found.values(), key=_creation)


def _gather(roots: list[Node]) -> list[Node]:
    """The nodes behind the roots, all PENDING, in the order to be run from the end; an error where saved values are gone.

    A leaf comes last of all, since nothing waits for it; with hooks, as soon as its gradient is whole.
    """
    found: list[Node] = []
    leaves: list[Node] = []
    stack: list[Node] = []
    spent: list[Node] = []
    pop, push, add = stack.pop, stack.append, found.append
    for root in roots:
        if root.g is None:
            root.g = PENDING
            push(root)
        elif root.g is not PENDING:
            spent.append(root)
    hooked = False
    newest = INFINITY
    ordered = True
    while stack:
        node = pop()
        while True:  # along the first operands
            if node.__class__ is AccumulateGrad:
                leaves.append(node)
                if node.extra is not None or node.post_accumulate is not None:
                    hooked = True
                break
            add(node)
            seq = node.seq
            if seq > newest:
                ordered = False
            newest = seq
            parent = node.q
            if parent is not None:
                if parent.g is None:
                    parent.g = PENDING
                    push(parent)
                elif parent.g is not PENDING:
                    spent.append(parent)
            if node.more is not None:
                for parent in node.more:
                    if parent is not None:
                        if parent.g is None:
                            parent.g = PENDING
                            push(parent)
                        elif parent.g is not PENDING:
                            spent.append(parent)
            parent = node.p
            if parent is None:
                break
            if parent.g is None:
                parent.g = PENDING
                node = parent
                continue
            if parent.g is not PENDING:
                spent.append(parent)
            break
    if spent:
        for node in (*found, *leaves):
            node.g = None
        raise second_time(max(spent, key=_creation))
    if not ordered:
        found.sort(key=_creation, reverse=True)
    found = _placed(found, leaves) if hooked else found + leaves
    found.reverse()
    return found


def _placed(newest_first: Iterable[Node], leaves: Sequence[Node]) -> list[Node]:
    """The nodes with each leaf behind the last that passes it something, as PyTorch runs it."""
    last: dict[Node, Node] = {}
    for node in newest_first:
        for parent in node.parents():
            if parent.__class__ is AccumulateGrad:
                last[parent] = node
    after: dict[Node, list[Node]] = {}
    for leaf, node in last.items():
        after.setdefault(node, []).append(leaf)
    return [one for node in newest_first for one in (node, *after.get(node, ()))] + [
        leaf for leaf in leaves if leaf not in last
    ]


def _gather_amid(roots: list[Node], strict: bool) -> tuple[list[Node], list[tuple[Node, Any]]]:
    """As `_gather`, where another pass is under way or spent nodes may lie beside the paths to the targets.

    Also gives what the nodes held before, to be put back.
    """
    found = reachable(roots)
    before = [(node, node.g) for node in found if node.g is not None]
    spent = [node for node, g in before if g.__class__ is Released]
    if spent and strict:
        raise second_time(max(spent, key=_creation))
    for node in found:
        node.g = PENDING
    leaves = [node for node in found if node.__class__ is AccumulateGrad]
    return _placed([node for node in reversed(found) if node.__class__ is not AccumulateGrad], leaves)[::-1], before


def second_time(node: Node) -> BaseException:
    sites: tuple[Site, ...] = (
        ("{what} was computed here: {}; to compute it again makes a new graph", node.code, node.lasti),
    )
    if isinstance(node.g, Released):
        sites += (("its graph was given up by the first backward: {}", node.g.code, node.g.lasti),)
    return fault(
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.",
        sites=sites,
        hint="keep the graph at the first call: backward(retain_graph=True), or :backward z retain=True",
    )


def walk(
    nodes: list[Any],
    seeds: list[Any],
    targets: list[Any] | None,
    keep: bool,
    create: bool,
    *,
    accumulate: bool = False,
    recorded: bool = False,
) -> list[Any]:
    """One pass from the roots' nodes: adds to the leaves where it is to accumulate.

    With targets, goes only there, and returns what reaches each.
    create: the pass is recorded. recorded: it runs on tensors, as one that is recorded must.
    """
    if head.next is not None:
        stop_following()
    recorded = recorded or create
    plain = False
    before: list[tuple[Node, Any]] = []
    single = recorded or state.check_nan or state.suspicion is not None  # plans are taken apart
    if targets is None and not state.backward_depth and not single:
        if state.apart:
            from gradsh.engine.plans.node import single_if_apart

            nodes = [single_if_apart(node) for node in nodes]
            reachable(nodes, single_if_apart)
        order = _gather(nodes)
    else:
        nodes = [node.resolved() for node in nodes]
        order, before = _gather_amid(nodes, strict=targets is None)
    captured: dict[Node, Any] = {}
    passing: set[Node] = set()
    aside: list[Node] = []
    grad_before = state.grad
    leaves: list[tuple[AccumulateGrad, Any, bool]] = []
    queue: list[Node] = order
    node: Any = nodes[0] if nodes else None
    state.backward_depth += 1
    state.grad = create
    try:
        if targets is not None:
            for target in targets:
                if target.node is not None:
                    target.node = target.node.resolved()
            captured = dict.fromkeys(node for target in targets if (node := target.current_node()) is not None)
            queue, passing, aside = _between(order, captured)
            held = {id(one): g for one, g in before}
            spent = [one for one in passing if held.get(id(one)).__class__ is Released]
            if spent:
                raise second_time(max(spent, key=_creation))
        for node, seed in zip(nodes, seeds, strict=True):
            if node.g is PENDING:
                node.g, node.own = seed, False
            elif recorded:
                runtime.accumulate_recorded(node, seed)
            else:
                runtime.accumulate(node, seed)
        mark = None if keep else Released()
        pop = queue.pop
        careful = state.check_nan or state.suspicion is not None
        if state.suspicion is not None:
            state.suspicion.careful = True
        plain = targets is None and not recorded and not careful
        while queue:
            node = pop()
            g = node.g
            if g is PENDING:
                node.g = None
                continue
            extra = node.extra
            if plain and extra is None:
                if node.__class__ is OpNode:
                    node.kind.run(node, g, mark)
                elif node.__class__ is AccumulateGrad:
                    node.g = None
                    if node.post_accumulate is None:
                        leaves.append((node, g, node.own))
                    else:
                        _deliver(node, g, node.own, recorded)
                else:
                    node.run(g, mark)
                continue
            node.g = None
            if extra is not None:
                g = arrive(node, extra, g, recorded)
                if extra.kept is not None:
                    extra.kept.g = g
            if targets is not None:
                if node in captured:
                    captured[node] = g
                    node.own = False
                if node not in passing and not (accumulate and node.__class__ is AccumulateGrad):
                    continue
            if extra is not None:
                g = prepare(node, extra, g, recorded)
            if node.__class__ is AccumulateGrad:
                if node.post_accumulate is None and (extra is None or not extra.post):
                    leaves.append((node, g, node.own))
                else:
                    _deliver(node, g, node.own, recorded)
                continue
            if (careful and not isinstance(node, Output) and not node.several) or (extra is not None and extra.post):
                observed(node, g, recorded)
            elif recorded:
                node.run_recorded(g)
            else:
                node.run(g)
            if mark is not None:
                node.release(mark)
    except BaseException:
        if node is not None and node.g.__class__ is not Released:
            node.g = None
        for node in (*queue, *aside):
            node.g = None
        aside.clear()
        state.suspicion = None
        raise
    finally:
        state.grad = grad_before
        state.backward_depth -= 1
        for node in aside:
            node.g = None
        for node, g in before:
            if node.g is None:
                node.g = g
    if state.suspicion is not None:
        judge(nodes, (*(g for _, g, _ in leaves), *captured.values()), keep)
    with shield:
        for leaf, g, own in leaves:
            tensor = leaf.ref()
            if tensor is not None:
                add_grad(tensor, g, recorded, own)
    if plain and state.plans != "off" and not state.backward_depth:
        _follow_what_comes()
    return [] if targets is None else [captured.get(target.current_node()) for target in targets]


PASSES = 8  # before what comes after them is looked at for whether it comes again
_passes = [0]


def _follow_what_comes() -> None:
    """After a pass: follow what came after it last time, if there have been enough to be worth it."""
    _passes[0] += 1
    if _passes[0] >= PASSES or state.plans == "always":
        from gradsh.engine.plans.tape import begin

        begin(user_site())


def _deliver(leaf: AccumulateGrad, g: Any, own: bool, recorded: bool) -> None:
    """Add what has arrived at a leaf to its `.grad`; call the hooks that wait for this."""
    tensor = leaf.ref()
    if tensor is not None:
        add_grad(tensor, g, recorded, own)
        if leaf.post_accumulate is not None:
            for hook in list(leaf.post_accumulate.values()):
                hook(tensor)
    if leaf.extra is not None and leaf.extra.post:
        call_node_hooks(leaf.extra.post, (), g)


def _between(order: list[Node], ends: dict[Node, Any]) -> tuple[list[Node], set[Node], list[Node]]:
    """Of the nodes (oldest first): those on a path to one of `ends`, those of them to pass on gradients, all the others."""
    on_path: set[Node] = set()
    passing: set[Node] = set()
    for node in order:
        if any(parent in on_path for parent in (node.p, node.q, *(node.more or ())) if parent is not None):
            on_path.add(node)
            passing.add(node)
        elif node in ends:
            on_path.add(node)
    return [node for node in order if node in on_path], passing, [node for node in order if node not in on_path]


def observed(node: Node, g: Any, recorded: bool) -> None:
    """Run a node that has hooks, or whose gradients are to be free of nan (`detect_anomaly`) or looked at."""

    def observe(given: tuple[Any, ...]) -> tuple[Any, ...]:
        if state.check_nan:
            for index, value in enumerate(given):
                if value is not None and _has_nan(value.raw):
                    raise fault(
                        RuntimeError,
                        f"Function '{node.name()}' returned nan values in its {index}th output.",
                        sites=(("the operation it belongs to: {}", node.code, node.lasti),),
                        hint=":graph z shows the values on the way",
                    )
        if state.suspicion is not None:
            look_at(node, g, given)
        hooks = None if node.extra is None else node.extra.post
        return call_node_hooks(hooks, given, g) if hooks else given

    run_observed(node, g, recorded, observe)


def _has_nan(raw: Any) -> bool:
    return bool(raw != raw) if raw.__class__ is float else bool((raw != raw).any())
