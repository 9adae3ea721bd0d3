"""A tape that is followed: what a place did last time, which each operation is checked against and then put off.

The interpreter still runs every line. An operation that is the next one on the tape, on the operands that the tape
expects, gives a `Deferred` tensor at once. What was put off is computed when somebody looks: a decision on data, a print,
a pass, a change in place. An operation that the tape does not expect has what was put off computed first, and is run and
recorded as another way on from there. So the tape is a tree of operations, whose ways are the programs that were run.
"""

from __future__ import annotations

from math import isfinite
from sys import getrefcount

from gradsh.engine.exposure import is_exposed, owner_of_memory
from gradsh.engine.generate import follow_tapes
from gradsh.engine.op import BILINEAR, ELEMENTWISE, Op
from gradsh.engine.site import user_site
from gradsh.engine.state import head, state
from gradsh.engine.tensor import Size, Tensor, new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    from gradsh.backend.dtypes import DType
    from gradsh.engine.plans.plan import Plan

HOT = 8  # passes from one place after which what follows them is recorded
LONGEST = 10_000  # operations that are recorded behind one place
WAYS = 16  # ways on from one operation
# What following saves for each operation that is put off, and costs for each stretch and for each operation that is not
# simply the next one, in microseconds; and after how many turns a tape that costs more than it saves is left.
OPERATION, STRETCH, STRAYED, SETTLED = 0.6, 5.0, 1.5, HOT + 8
NUMBERS = (float, int)
SIMPLE = (int, float, bool, str, type(None))
# Operations, beside elementwise and bilinear ones, whose kernels raise nothing that depends on the numbers.
DEFERRED = frozenset(
    "sum_all sum_over mean_all mean_over expand_to sum_to_size unsafe_view view t transpose permute unsqueeze squeezed "
    "squeezed_at select slice softmax log_softmax logsumexp linear_row linear_rows linear_stack affine_rows affine_stack "
    "added_product squared_error smoothed_error huber_error native_layer_norm tril triu diagonal flip norm vector_norm".split()
)


class Deferred(Tensor):
    """A tensor that is not computed yet. parts: the tape's entry that says how.

    It has Tensor's fields, unset: who reads one has it computed, and then finds a Tensor.
    """

    __slots__ = ()
    __module__ = "torch"

    parts: Any

    def __getattr__(self, name: str) -> Any:
        if self.__class__ is Deferred:
            look()
            return getattr(self, name)
        raise AttributeError(f"'Tensor' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        look()
        object.__setattr__(self, name, value)

    @property
    def shape(self) -> Size:
        return Size(self.parts.shape)

    @property
    def ndim(self) -> int:
        return len(self.parts.shape)

    @property
    def dtype(self) -> DType:
        return self.parts.dtype  # type: ignore[no-any-return]


Deferred.__name__ = Deferred.__qualname__ = "Tensor"  # as a program must see it


class Source:
    """A tensor or a number from outside the tape. out: the one of this turn. uses: where it is expected."""

    __slots__ = ("constant", "out", "uses")

    def __init__(self, out: Any) -> None:
        self.out = out
        self.constant = out.__class__ in NUMBERS and isfinite(out)  # a number that has been the same in each turn
        self.uses: list[tuple[Entry, str]] = []


NOTHING = object()
INFINITY = float("inf")


class Entry:
    """One operation of the tape.

    op, x, y, z, settings: what is expected. before: the entry before it. after, ways: the entry that is expected next, and
    all that have come next. out: the deferred result that is given out. sources: what each operand comes from, an Entry or a
    Source; uses: where the result is expected. alone: references to `out` when no program has one. put_off: it can be
    deferred. grad: recording was on; requires: the result requires a gradient. plans: of stretches that begin here.
    """

    __slots__ = (
        "after", "alone", "before", "code", "dtype", "grad", "lasti", "op", "out", "plans", "put_off", "raw_class",
        "requires", "settings", "shape", "sources", "uses", "ways", "x", "y", "z",
    )  # fmt: skip

    def __init__(self, op: Op | None, before: Entry | None) -> None:
        self.op, self.before = op, before
        self.after: Entry = self
        self.ways: list[Entry] = []
        self.x: Any = NOTHING
        self.y: Any = NOTHING
        self.z: Any = NOTHING
        self.settings: tuple[Any, ...] = ()
        self.out: Any = None
        self.sources: tuple[Entry | Source, ...] = ()
        self.uses: list[tuple[Entry, str]] = []
        self.alone = 2  # the entry's own, and that of the call which counts
        self.put_off = self.grad = self.requires = False
        self.plans: dict[Any, Any] = {}
        self.code: CodeType | None = None
        self.lasti = -1
        self.shape: tuple[int, ...] = ()
        self.dtype: DType | None = None
        self.raw_class: type = float

    def refresh(self) -> None:
        """Have a new deferred result at hand, the last one having become a tensor of the program's."""
        fresh = new(Deferred)
        object.__setattr__(fresh, "parts", self)
        self.out = fresh
        for entry, place in self.uses:
            setattr(entry, place, fresh)


class Tape:
    """What follows the passes from one place: a tree of entries.

    root: stands before the first entry. count: entries. spent: entries whose results became
    tensors in this turn. made: where the tensors of this turn come from, by id, while something is recorded.
    """

    __slots__ = ("count", "gain", "made", "root", "seen", "sources", "spent")

    def __init__(self) -> None:
        self.root = Entry(None, None)
        self.root.after = Entry(None, self.root)
        self.count = self.seen = 0
        self.gain = 0.0
        self.spent: list[Entry] = []
        self.sources: list[Source] = []
        self.made: dict[int, tuple[Any, Entry | Source]] | None = None

    def state(self) -> str:
        """What is done with it, in words."""
        if self.gain == -INFINITY:
            return "left: it cost more than it saved"
        return f"{self.count} operations noted" if self.count else "not noted yet"

    def plans(self) -> list[Plan]:
        """The plans of its stretches."""
        return [plan for entry in self.entries() for plan in entry.plans.values() if plan]

    def entries(self) -> Iterator[Entry]:
        """All entries, from the root on."""
        stack = [self.root]
        while stack:
            entry = stack.pop()
            yield entry
            stack += entry.ways


_tapes: dict[Any, Tape] = {}


class Following:
    """Where the reading of a tape stands. tape: the one that is followed. start: the first entry that is put off."""

    __slots__ = ("start", "tape")

    def __init__(self) -> None:
        self.tape: Tape | None = None
        self.start: Entry | None = None


following = Following()


# ---- turns


def begin(site: tuple[CodeType | None, int]) -> None:
    """After a pass from this place of the program: follow what came after it last time, once it has come often."""
    tape = _tapes.get(site)
    if tape is None:
        tape = _tapes[site] = Tape()
    tape.seen += 1
    hot = 2 if state.plans == "always" else HOT
    if tape.gain < 0 and (tape.seen > SETTLED or tape.gain == -INFINITY) and state.plans != "always":
        if tape.count:  # it costs more than it saves
            seen = tape.seen
            tape = _tapes[site] = Tape()
            tape.seen, tape.gain = seen, -INFINITY
            if all(one.gain == -INFINITY for one in _tapes.values() if one.seen >= HOT):
                follow_tapes(False)
        return
    if tape.seen < hot or state.keep is not None or state.levels or state.anomaly or state.inference or state.ledger:
        return
    follow_tapes()
    for entry in tape.spent:
        entry.refresh()
    tape.spent.clear()
    tape.made = None
    tape.gain *= 0.5
    following.tape, following.start, head.next = tape, tape.root.after, tape.root.after


def end() -> None:
    """Follow no longer; what was put off is computed."""
    look()
    head.next = following.tape = following.start = None


# ---- looking


def look() -> None:
    """Compute what was put off."""
    next, start = head.next, following.start
    if start is None or start is next:
        return
    stretch = []
    entry = start
    while entry is not next:
        if entry.put_off:
            stretch.append(entry)
        entry = entry.after
    if not stretch:
        following.start = next
        return
    head.next = None
    try:
        live = tuple([k for k, entry in enumerate(stretch) if getrefcount(entry.out) > entry.alone])
        tape = following.tape
        assert tape is not None
        key = (stretch[-1], live)
        plan = start.plans.get(key)
        if plan is None:
            start.plans[key] = False  # compiled when it comes again
        elif plan is False:
            from gradsh.engine.plans.plan import compiled

            plan = start.plans[key] = compiled(stretch, live)
        if plan is False or plan is None or not plan.run():
            _run_singly(stretch, live)
        tape.spent += [stretch[k] for k in live]
        tape.gain += len(stretch) * OPERATION - STRETCH
    except BaseException:
        head.next = next
        raise
    following.start = head.next = next


def _run_singly(stretch: list[Entry], live: tuple[int, ...]) -> None:
    """Run what was put off operation by operation."""
    results: dict[Any, Tensor] = {}
    kept = {stretch[k] for k in live}
    grad = state.grad
    try:
        for entry in stretch:
            state.grad = entry.grad
            found = singly(entry, [results.get(one, one.out) for one in entry.sources])
            if entry in kept:  # at once: a view of it has it as its base
                become(entry.out, found.raw, found.node, found.extra)
                found = entry.out
            results[entry] = found
    finally:
        state.grad = grad


def singly(entry: Entry, operands: list[Any]) -> Tensor:
    """Apply one operation of the tape, at its place in the program."""
    assert entry.op is not None
    found: Tensor = entry.op(*operands, **dict(zip(entry.op.settings, entry.settings, strict=True)))
    node = found.node
    if node is not None and entry.requires:
        node.code, node.lasti = entry.code, entry.lasti
    return found


def become(deferred: Tensor, raw: Any, node: Any, extra: Any = None) -> None:
    """Make a tensor of a deferred one."""
    object.__setattr__(deferred, "__class__", Tensor)
    deferred.raw, deferred.node, deferred.extra, deferred.grad = raw, node, extra, None


# ---- what is not simply the next


def strayed(op: Op, call: Callable[..., Any], operands: tuple[Any, ...], settings: tuple[Any, ...]) -> Any:
    """An operation that is not the expected one on the expected operands."""
    tape = following.tape
    assert tape is not None
    tape.gain -= STRAYED
    before = head.next.before
    for way in before.ways:
        if way.op is op and (not way.put_off or (way.settings == settings and _matches(way, operands))):
            _take(way)
            if way.put_off:
                return way.out
            return _run_now(way, call, operands, settings)
    if tape.count >= LONGEST or len(before.ways) >= WAYS:
        tape.gain = -INFINITY
        end()
        return call(*operands, **dict(zip(op.settings, settings)))
    return _recorded(before, tape, op, call, operands, settings)


def mode_changed() -> None:
    """Recording was switched on or off: this is an event on the tape, too."""
    before, tape = head.next.before, following.tape
    assert tape is not None
    for way in before.ways:
        if way.op is None and way.grad is state.grad:
            _take(way)
            return
    if len(before.ways) >= WAYS:
        end()
        return
    entry = _added(before, Entry(None, before), tape)
    entry.grad = state.grad
    _take(entry)


def _take(way: Entry) -> None:
    """Go one of the ways on from where the tape is read."""
    before = way.before
    assert before is not None
    if following.start is before.after:
        following.start = way
    before.after = way
    head.next = way.after


def _added(before: Entry, entry: Entry, tape: Tape) -> Entry:
    entry.after = Entry(None, entry)
    before.ways.append(entry)
    tape.count += 1
    return entry


def _alike(one: Any, other: Any) -> bool:
    """Whether two raw values have one class, shape and element type."""
    kind = one.__class__
    if kind is not other.__class__:
        return False
    return kind is float or (one.shape == other.shape and one.dtype is other.dtype)


def _matches(entry: Entry, operands: tuple[Any, ...]) -> bool:
    """Whether these are the operands that are expected, but for new tensors and numbers from outside, which are bound.

    A source is bound where it is used first.
    """
    if len(operands) != len(entry.sources) or state.grad is not entry.grad:
        return False
    given: dict[Any, Any] = {}
    for operand, source in zip(operands, entry.sources):
        expected = source.out
        if given.setdefault(source, operand) is not operand:
            return False
        if operand is expected:
            continue
        if (
            source.__class__ is not Source
            or source.uses[0][0] is not entry
            or operand.__class__ is not expected.__class__
        ):
            return False
        if operand.__class__ not in NUMBERS and not (_alike(operand.raw, expected.raw) and _stays(operand.raw)):
            return False
    for source, operand in given.items():
        if operand is source.out:
            continue
        if source.constant and operand != source.out:
            source.constant = False
            _forget_plans()
        source.out = operand
        for use, place in source.uses:
            setattr(use, place, operand)
    return True


def _forget_plans() -> None:
    """A number that was taken for a constant has changed."""
    assert following.tape is not None
    for entry in following.tape.entries():
        entry.plans.clear()


def _run_now(way: Entry, call: Callable[..., Any], operands: tuple[Any, ...], settings: tuple[Any, ...]) -> Any:
    """An operation of the tape that is never put off."""
    look()
    head.next = None
    try:
        return call(*operands, **dict(zip(way.op.settings, settings)))  # type: ignore[union-attr]
    finally:
        if following.tape is not None:
            following.start = head.next = way.after


def _recorded(
    before: Entry, tape: Tape, op: Op, call: Callable[..., Any], operands: tuple[Any, ...], settings: tuple[Any, ...]
) -> Any:
    """Run an operation that has not come here yet, and note it."""
    look()
    if tape.made is None:
        tape.made = _made_so_far(before)
    head.next = None
    entry = Entry(op, before)
    try:
        found = call(*operands, **dict(zip(op.settings, settings)))
    finally:
        if following.tape is tape:
            following.start = head.next = before.after
    if following.tape is not tape:
        return found
    entry.settings, entry.grad = settings, state.grad
    entry.put_off = _can_wait(op, operands, settings, found)
    if entry.put_off:
        _note(entry, tape, operands, found)
        tape.spent.append(entry)
    _take(_added(before, entry, tape))
    following.start = head.next
    return found


def _made_so_far(last: Entry) -> dict[int, tuple[Any, Entry | Source]]:
    """Where the tensors that this turn has met come from, by their ids."""
    made: dict[int, tuple[Any, Entry | Source]] = {}
    entry: Entry | None = last
    while entry is not None and entry.op is not None:
        if entry.put_off:
            made[id(entry.out)] = (entry.out, entry)
            for source in entry.sources:
                if source.__class__ is Source and isinstance(source.out, Tensor):
                    made.setdefault(id(source.out), (source.out, source))
        entry = entry.before
    return made


def _can_wait(op: Op, operands: tuple[Any, ...], settings: tuple[Any, ...], found: Any) -> bool:
    """Whether an operation may be put off: its result is plain, and its kernel raises nothing that hangs on numbers."""
    if op.variadic or op.outputs or op.many or len(operands) > 3 or found.__class__ is not Tensor:
        return False
    if op.kind == ELEMENTWISE:
        if len(operands) > 2:
            return False
    elif op.kind != BILINEAR and op.name not in DEFERRED:
        return False
    for operand in operands:
        kind = operand.__class__
        if isinstance(operand, Tensor):
            if kind is Deferred or kind.__base__ not in (object, Tensor) or not _stays(operand.raw):
                return False
        elif kind not in NUMBERS and operand is not None:
            return False
    if not all(_simple(one) for one in settings):
        return False
    return _plain(found.raw) or (
        found.raw.__class__.__name__ == "ndarray" and op.result == "bool" and found.raw.ndim > 0
    )


def _plain(raw: Any) -> bool:
    """Whether a raw value is of floats: Python's, single, or an array with dimensions."""
    if raw.__class__ is float:
        return True
    return raw.dtype.char in "df" and (raw.ndim > 0 or raw.__class__.__name__ == "float32")


def _stays(raw: Any) -> bool:
    """Whether a raw value is of floats that only operations can change."""
    return _plain(raw) and (raw.__class__ is float or raw.ndim == 0 or not is_exposed(raw))


def forget(owner: Any) -> None:
    """Forget the tapes that read memory which a program can write into now."""
    for site, tape in list(_tapes.items()):
        if any(_reads(source, owner) for source in tape.sources):
            del _tapes[site]


def forget_all() -> None:
    """Forget what came after all places."""
    end()
    _tapes.clear()


def tapes() -> list[tuple[Any, Tape]]:
    """The places behind which something is followed, with their tapes."""
    return list(_tapes.items())


def _reads(source: Source, owner: Any) -> bool:
    raw = getattr(source.out, "raw", None)
    return raw.__class__ is owner.__class__ and owner_of_memory(raw) is owner


def _simple(setting: Any) -> bool:
    if setting.__class__ is tuple:
        return all(_simple(one) for one in setting)
    return setting.__class__ in SIMPLE


def _note(entry: Entry, tape: Tape, operands: tuple[Any, ...], found: Tensor) -> None:
    """Fill an entry in: what its operands come from, and what is known of its result."""
    made, sources_of_tape = tape.made, tape.sources
    assert made is not None
    sources = []
    for operand, place in zip(operands, "xyz"):
        known = made.get(id(operand)) if isinstance(operand, Tensor) else None
        if known is not None:
            source = known[1]
        else:
            source = Source(operand)
            sources_of_tape.append(source)
            if isinstance(operand, Tensor):
                made[id(operand)] = (operand, source)
        source.uses.append((entry, place))
        if source.__class__ is Entry:
            source.alone += 1
        setattr(entry, place, source.out)
        sources.append(source)
    entry.sources = tuple(sources)
    raw = found.raw
    entry.shape, entry.dtype, entry.raw_class = tuple(found.shape), found.dtype, raw.__class__
    entry.requires = found.node is not None
    entry.code, entry.lasti = user_site()
    entry.out = found
    made[id(found)] = (found, entry)
