"""Connectionist temporal classification: the likelihood of a label sequence over all its alignments with the frames."""

from __future__ import annotations

from gradsh.backend.dtypes import int64
from gradsh.engine.op import general
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.choice import clamp_min, where
from gradsh.ops.losses import apply_reduction, reduction_of
from gradsh.ops.registry import function
from gradsh.ops.shape import reshape, reshaped, squeezed_at
from gradsh.ops.structure import to_dtype

# Graves et al., "Connectionist Temporal Classification" (2006), section 4: forward and backward variables over the
# labels with blanks between and around them.


def _extended(labels, blank):
    found = [blank]
    for label in labels:
        found += [label, blank]
    return found


def _sequences(targets, lengths):
    """The labels of each sequence, from a table or from one line of all of them."""
    if targets.ndim == 2:
        return [row[:length] for row, length in zip(targets.tolist(), lengths)]
    line, found = targets.tolist(), []
    for length in lengths:
        found.append(line[:length])
        line = line[length:]
    return found


def _forward(xp, scores, labels, blank):
    """Logarithms of the forward variables (frames, extended labels) of one sequence of frames."""
    states = _extended(labels, blank)
    emitted = scores[:, states].astype(xp.float64)
    may_skip = xp.array([k > 1 and one != blank and one != states[k - 2] for k, one in enumerate(states)])
    found = xp.full(emitted.shape, -xp.inf)
    if not len(found):
        return found
    found[0, :2] = emitted[0, :2]
    for t in range(1, len(found)):
        before = found[t - 1]
        total = before.copy()
        total[1:] = xp.logaddexp(total[1:], before[:-1])
        total[2:] = xp.where(may_skip[2:], xp.logaddexp(total[2:], before[:-2]), total[2:])
        found[t] = total + emitted[t]
    return found


def _likelihood(xp, alpha):
    """Minus the logarithm of the probability of the labels."""
    if not len(alpha):
        return 0.0 if alpha.shape[1] == 1 else xp.inf
    last = alpha[-1]
    return -(xp.logaddexp(last[-1], last[-2]) if len(last) > 1 else last[-1])


def _each(xp, x, targets, frames, lengths):
    frames, lengths = xp.asarray(frames).tolist(), xp.asarray(lengths).tolist()
    for n, (count, labels) in enumerate(zip(frames, _sequences(targets, lengths))):
        yield n, x[:count, n], labels


def _no_second(g):
    raise fault(RuntimeError, "derivative for aten::_ctc_loss_backward is not implemented")


@general(x=_no_second, at=(), grad_fn="CtcLossBackwardBackward0")
def ctc_slopes(xp, x, targets, frames, lengths, *, blank, zero_infinity):
    """The derivatives of the losses as PyTorch has them: by what log_softmax was taken of, not by its result."""
    found = xp.zeros(x.shape, x.dtype)
    for n, scores, labels in _each(xp, x, targets, frames, lengths):
        alpha = _forward(xp, scores, labels, blank)
        loss = _likelihood(xp, alpha)
        if (zero_infinity and loss == xp.inf) or not len(scores):
            continue
        beta = _forward(xp, scores[::-1], labels[::-1], blank)[::-1, ::-1]
        joint = xp.full(scores.shape, -xp.inf)
        for state, label in enumerate(_extended(labels, blank)):
            joint[:, label] = xp.logaddexp(joint[:, label], alpha[:, state] + beta[:, state])
        found[: len(scores), n] = xp.exp(scores) - xp.exp(joint + loss - scores)
    return found


@general(
    x=lambda g, x, targets, frames, lengths, blank, zero_infinity: (
        reshaped(g, size=(1, *g.shape, 1))
        * ctc_slopes(x, targets, frames, lengths, blank=blank, zero_infinity=zero_infinity)
    ),
    at=(),
    grad_fn="CtcLossBackward0",
)
def ctc_losses(xp, x, targets, frames, lengths, *, blank, zero_infinity):
    """The loss of each sequence of a batch of log-probabilities (frames, batch, labels)."""
    losses = [
        _likelihood(xp, _forward(xp, scores, labels, blank))
        for _, scores, labels in _each(xp, x, targets, frames, lengths)
    ]
    return xp.array(losses, x.dtype)


def _lengths(value, name, batch):
    if isinstance(value, list | tuple):
        from gradsh.engine.create import tensor

        value = tensor(list(value), dtype=int64)
    value = operand(value, name)
    if value.dtype.category != 1:
        raise fault(RuntimeError, f"{name} must be integral")
    value = to_dtype(reshape(value, (-1,)), dtype=int64)
    if value.shape[0] != batch:
        raise fault(RuntimeError, f"{name} must be of size batch_size")
    return value


@function(at=("F", "torch"), example="F.ctc_loss(zeros(3, 1, 2), tensor([[1]]), tensor([3]), tensor([1]))")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Mean over sequences of minus the log-probability per target; log_probs is (frames, batch, labels)."""
    if reduction.__class__ is int:
        reduction = ("none", "mean", "sum")[reduction]
    reduction = reduction_of(reduction)
    log_probs, targets = operand(log_probs, "log_probs"), operand(targets, "targets")
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = reshape(targets, (1, -1)) if targets.ndim == 1 else targets
    frames = _lengths(input_lengths, "input_lengths", log_probs.shape[1])
    lengths = _lengths(target_lengths, "target_lengths", log_probs.shape[1])
    if not 0 <= blank < log_probs.shape[2]:
        raise fault(RuntimeError, "blank must be in label range")
    longest = max(frames.tolist(), default=0)
    if longest > log_probs.shape[0]:
        raise fault(
            RuntimeError,
            f"Expected input_lengths to have value at most {log_probs.shape[0]}, but got value {longest} (while "
            "checking arguments for ctc_loss_allocate_outputs)",
        )
    losses = ctc_losses(log_probs, targets, frames, lengths, blank=blank, zero_infinity=bool(zero_infinity))
    if zero_infinity:
        losses = where(losses == float("inf"), 0.0, losses)
    if reduction == "mean":
        losses = losses / clamp_min(lengths, 1)
    return squeezed_at(losses, dim=0) if single and reduction == "none" else apply_reduction(losses, reduction)
