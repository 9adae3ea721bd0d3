"""Einstein's summation: reading the equation, and contracting any number of tensors pair by pair."""

from __future__ import annotations

from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.contraction import product_over
from gradsh.ops.diagonals import diagonal_view
from gradsh.ops.reduction import sum_over
from gradsh.ops.registry import function
from gradsh.ops.shape import reshape
from gradsh.ops.transposing import permuted

ELLIPSIS = "."  # in a term of labels; a label that it stands for is one of COVERED
COVERED = "".join(map(chr, range(0x2460, 0x24A0)))


def summed_products(operands, labels, out_labels):
    """The products of any number of tensors, summed over the labels that the output lacks."""
    sizes: dict[str, int] = {}
    for x, names in zip(operands, labels):
        for label, length in zip(names, x.shape):
            if sizes.get(label, 1) == 1:
                sizes[label] = length
    terms = [_squeezed(_diagonal(x, names), sizes) for x, names in zip(operands, labels)]
    if len(terms) == 1:
        return _summed_and_ordered(terms[0], out_labels)
    terms = [_summed_alone(terms, k, out_labels) for k in range(len(terms))]
    nothing_summed = all(label in out_labels for names in labels for label in names)
    while len(terms) > 1:
        i, j = _cheapest(terms, sizes, out_labels)
        (x, x_names), (y, y_names) = terms[i], terms[j]
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        kept = _kept(x_names + y_names, rest, out_labels)
        plain = bool(rest) or nothing_summed
        terms = [*rest, (product_over(x, y, x_names, y_names, kept, plain), kept)]
    return terms[0][0]


def _summed_and_ordered(term, out_labels):
    """One operand with its dimensions in the output's order and the others summed."""
    x, names = term
    lone = [label for label in names if label not in out_labels]
    x = permuted(x, dims=tuple([names.index(label) for label in (*out_labels, *lone)]))
    return sum_over(x, axes=tuple(range(len(out_labels), x.ndim)), keepdim=False) if lone else x


def _diagonal(x, names):
    """An operand whose repeated labels are made one dimension each."""
    for label in dict.fromkeys(names):
        while names.count(label) > 1:
            first = names.index(label)
            second = names.index(label, first + 1)
            x = diagonal_view(x, offset=0, dim1=first, dim2=second)
            names = names[:first] + names[first + 1 : second] + names[second + 1 :] + label
    return x, names


def _squeezed(term, sizes):
    """An operand without the dimensions of length 1 that are broadcast to those of others."""
    x, names = term
    shape = x.shape
    kept = [k for k, label in enumerate(names) if shape[k] != 1 or sizes[label] == 1]
    if len(kept) == len(names):
        return x, names
    return reshape(x, tuple([shape[k] for k in kept])), "".join([names[k] for k in kept])


def _summed_alone(terms, k, out_labels):
    """One of the operands with the labels that nothing else has summed."""
    x, names = terms[k]
    others = out_labels + "".join([other for place, (_, other) in enumerate(terms) if place != k])
    lone = tuple([place for place, label in enumerate(names) if label not in others])
    if not lone:
        return x, names
    return sum_over(x, axes=lone, keepdim=False), "".join([label for label in names if label in others])


def _kept(names, rest, out_labels):
    """The labels of a product that are needed later, in the output's order if it is the last."""
    if not rest:
        return out_labels
    needed = out_labels + "".join([other for _, other in rest])
    return "".join(dict.fromkeys([label for label in names if label in needed]))


def _cheapest(terms, sizes, out_labels):
    """The two operands whose product takes the fewest multiplications."""
    best, chosen = None, (0, 1)
    if len(terms) > 2:
        for i, (_, one) in enumerate(terms):
            for j in range(i + 1, len(terms)):
                cost = 1
                for label in {*one, *terms[j][1]}:
                    cost *= sizes[label]
                if best is None or cost < best:
                    best, chosen = cost, (i, j)
    return chosen


# ---- reading the equation


@function(at=("torch",), python=True, example='einsum("ij,jk->ik", ones(2, 3), ones(3, 4))')
def einsum(*args):
    """Sum of products by an equation of subscripts: "ij,jk->ik" is the matrix product."""
    if len(args) < 2:
        raise fault(
            ValueError,
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list",
        )
    if isinstance(args[0], Tensor):
        args = _from_lists(args)
    equation, *operands = args
    if not isinstance(equation, str):
        raise fault(TypeError, f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    operands = [_operand(value, k) for k, value in enumerate(operands)]
    labels, out_labels = _read(equation, [x.ndim for x in operands])
    _check_sizes(operands, labels)
    return summed_products(operands, labels, out_labels)


def _operand(value, place):
    if isinstance(value, str | int | float):
        raise fault(TypeError, f"expected Tensor as element {place} in argument 1, but got {type(value).__name__}")
    return operand(value)


def _from_lists(args):
    """The form einsum(x, [0, 1], y, [1, 2], [0, 2]) as an equation; 0 to 51 are the letters A to Z, a to z."""
    terms, operands, rest = [], [], list(args)
    while len(rest) > 1:
        operands.append(rest.pop(0))
        terms.append(_term(rest.pop(0)))
    return (",".join(terms) + (f"->{_term(rest[0])}" if rest else ""), *operands)


def _term(places):
    letters = [chr(65 + k) for k in range(26)] + [chr(97 + k) for k in range(26)]
    term = ""
    for place in places:
        if place is Ellipsis:
            term += "..."
        elif 0 <= place < 52:
            term += letters[place]
        else:
            raise fault(
                ValueError,
                f"einsum(): subscript at index {len(term)} in operand subscripts list is not within the valid range "
                "[0, 52)",
            )
    return term


def _read(equation, ranks):
    """(labels of each operand, labels of the output), the dimensions under an ellipsis with labels of their own."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    offset = 0
    parsed = []
    for k, term in enumerate(terms):
        parsed.append(_labels(term, f"operand {k}", offset))
        offset += len(term) + 1
    if len(terms) > len(ranks):
        raise fault(RuntimeError, "einsum(): fewer operands were provided than specified in the equation")
    if len(terms) < len(ranks):
        raise fault(RuntimeError, "einsum(): more operands were provided than specified in the equation")
    covered = 0
    for k, (names, rank) in enumerate(zip(parsed, ranks)):
        covered = max(covered, _ellipsis_size(names, rank, k))
    labels = [
        names.replace(ELLIPSIS, COVERED[covered - _ellipsis_size(names, rank, k) : covered])
        for k, (names, rank) in enumerate(zip(parsed, ranks))
    ]
    if not arrow:
        once = "".join(parsed)
        return labels, COVERED[:covered] + "".join(
            sorted(name for name in set(once) - {ELLIPSIS} if once.count(name) == 1)
        )
    out = _labels(right, "the output", len(left) + 2)
    for name in out:
        if name != ELLIPSIS and out.count(name) > 1:
            raise fault(RuntimeError, f"einsum(): output subscript {name} appears more than once in the output")
        if name != ELLIPSIS and not any(name in names for names in parsed):
            raise fault(
                RuntimeError,
                f"einsum(): output subscript {name} does not appear in the equation for any input operand",
            )
    return labels, out.replace(ELLIPSIS, COVERED[:covered])


def _labels(term, where, offset):
    """A term without blanks, its ellipsis as one mark."""
    found, place = "", 0
    while place < len(term):
        mark = term[place]
        if mark == ".":
            if where != "the output" and ELLIPSIS in found:
                raise fault(RuntimeError, f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if term[place : place + 3] != "..." or ELLIPSIS in found:
                where, more = ("output", " (...)") if where == "the output" else (where, "")
                raise fault(RuntimeError, f"einsum(): found '.' for {where} that is not part of any ellipsis{more}")
            found += ELLIPSIS
            place += 2
        elif mark != " ":
            if not (mark.isascii() and mark.isalpha()):
                raise fault(
                    RuntimeError,
                    f"einsum(): invalid subscript given at index {offset + place} in the equation string, subscripts "
                    "must be in [a-zA-Z]",
                )
            found += mark
        place += 1
    return found


def _ellipsis_size(names, rank, place):
    """How many dimensions an operand's ellipsis stands for."""
    named = len(names.replace(ELLIPSIS, ""))
    if ELLIPSIS in names and rank >= named:
        return rank - named
    if rank != named:
        more = "more" if ELLIPSIS in names else ""
        raise fault(
            RuntimeError,
            f"einsum(): the number of subscripts in the equation ({named}) "
            + (
                f"is {more} than the number of dimensions ({rank}) for operand {place}"
                if more
                else f"does not match the number of dimensions ({rank}) for operand {place} and no ellipsis was given"
            ),
        )
    return 0


def _check_sizes(operands, labels):
    sizes: dict[str, int] = {}
    for k, (x, names) in enumerate(zip(operands, labels)):
        own: dict[str, int] = {}
        for place, (label, length) in enumerate(zip(names, x.shape)):
            if own.setdefault(label, length) != length:
                raise fault(
                    RuntimeError,
                    f"einsum(): subscript {label} is repeated for operand {k} but the sizes don't match, "
                    f"{length} != {own[label]}",
                )
            seen = sizes.get(label, 1)
            if length != seen and 1 not in (length, seen):
                if label in COVERED:
                    raise fault(
                        RuntimeError,
                        f"einsum(): dimension {place} covered by ellipsis in operand {k}has size {length} which does "
                        f"not broadcast with previously seen ellipsis with size {seen} for the respective dimension",
                    )
                raise fault(
                    RuntimeError,
                    f"einsum(): subscript {label} has size {length} for operand {k} which does not broadcast with "
                    f"previously seen size {seen}",
                )
            sizes[label] = length if seen == 1 else seen
