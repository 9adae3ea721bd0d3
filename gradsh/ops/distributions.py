"""Random numbers with parameters that tensors hold: bernoulli, poisson, gamma, multinomial, normal."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.alias import TYPE_NAMES
from gradsh.engine.create import leaf
from gradsh.engine.promote import common_shape
from gradsh.engine.runtime import canonical
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops import chance
from gradsh.ops.calls import operand
from gradsh.ops.drawing import DRAWN, array_of, normal_of_both
from gradsh.ops.generator import stream_of
from gradsh.ops.options import fits_none, integer, number
from gradsh.ops.out import deliver
from gradsh.ops.random import PLAIN, made
from gradsh.ops.registry import function


@function(example="bernoulli(tensor([0.1, 0.9]))")
def bernoulli(input, p=None, *, generator=None, out=None):
    """Ones with the probabilities that a tensor holds, or of its shape with probability p."""
    input, stream = operand(input), stream_of(generator)
    if state.levels:
        name = input.dtype.name
        if p is None:
            return chance.drawn_for([input], lambda chances: stream.bernoulli(chances.shape, name, chances))
        return chance.drawn(tuple(input.shape), lambda size: stream.bernoulli(size, name, number(p, "p")))
    chances = array_of(input) if p is None else number(p, "p")
    values = stream.bernoulli(tuple(input.shape), input.dtype.name, chances, out=_memory_like(input))
    drawn = DRAWN["bernoulli_of"](input, values=canonical(values[()]))
    return drawn if out is None else deliver(out, drawn, "bernoulli")


def _memory_like(tensor):
    from gradsh.backend import arrays

    return arrays.empty_like(arrays.asarray(tensor.raw))


@function(example="poisson(tensor([1.0, 5.0]))")
def poisson(input, generator=None):
    """Poisson-distributed counts of the rates that a tensor holds."""
    from gradsh.backend.continuous import check_floating
    from gradsh.backend.poisson import poisson as draw

    input = operand(input)
    check_floating(input.dtype.name, "poisson_cpu")
    if state.levels:
        return chance.drawn_for([input], lambda rates: draw(stream_of(generator), rates))
    return DRAWN["poisson"](input, values=canonical(draw(stream_of(generator), array_of(input))[()]))


@function(at=("torch",), example="torch.binomial(tensor([10.0, 10.0]), tensor([0.1, 0.9]))")
def binomial(count, prob, generator=None):
    """How many of so many trials succeed, each with a probability that a tensor holds."""
    from gradsh.backend import arrays
    from gradsh.backend.binomial import binomial as draw

    count, prob = operand(count, "count"), operand(prob, "prob")
    for name, value in (("count", count), ("prob", prob)):
        if value.dtype.category != FLOATING:
            kind = TYPE_NAMES[value.dtype.name]
            raise fault(ValueError, f"binomial only supports floating-point dtypes for {name}, got: {kind}")
    if count.dtype is not prob.dtype:
        have, want = (TYPE_NAMES[value.dtype.name] for value in (prob, count))
        raise fault(RuntimeError, f"Found dtype {have} but expected {want}")
    shape = common_shape([count.shape, prob.shape])
    stream = stream_of(generator)
    count, prob = count.expand(shape), prob.expand(shape)
    if state.levels:
        return chance.drawn_for([count, prob], lambda counts, chances: draw(stream, counts, chances))
    values = canonical(draw(stream, *(arrays.asarray(array_of(value)) for value in (count, prob)))[()])
    return DRAWN["binomial"](count, values=values)


def _of_gammas(name, draw):
    """A function of the shape parameters that a tensor holds; its numbers have no gradient here."""

    def drawn(input, generator=None):
        from gradsh.backend import gamma_sampling

        input = operand(input)
        if input.requires_grad and state.grad:
            raise fault(
                NotImplementedError,
                f"gamma-distributed numbers have no gradient with respect to their shape: {name}",
                hint=".sample(), and .log_prob() of what it gives",
            )
        sample = getattr(gamma_sampling, draw)
        if state.levels:
            return chance.drawn_for([input], lambda shapes: sample(stream_of(generator), shapes))
        return leaf(canonical(sample(stream_of(generator), array_of(input))[()]))

    drawn.__doc__ = f"Numbers drawn with the shape parameters that a tensor holds: {draw}."
    return function(name, at=("torch",), example=f"torch.{name}(tensor([1.0, 2.0]))")(drawn)


_standard_gamma = _of_gammas("_standard_gamma", "standard_gamma")
_sample_dirichlet = _of_gammas("_sample_dirichlet", "dirichlet")


@function(example="multinomial(tensor([0.2, 0.8]), 1)")
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices drawn with probabilities in proportion to the weights of a tensor's rows."""
    if state.levels:
        stream, count = stream_of(generator), integer(num_samples, "num_samples")
        return chance.drawn_for([operand(input)], lambda weights: stream.multinomial(weights, count, bool(replacement)))
    drawn = stream_of(generator).multinomial(
        array_of(operand(input)), integer(num_samples, "num_samples"), bool(replacement)
    )
    return leaf(drawn) if out is None else deliver(out, leaf(drawn), "multinomial")


@function(
    at=("torch",),
    example="normal(0.0, 1.0, (3,))",
    overloads=(
        "(Tensor mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)",
        "(Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out = None)",
        "(float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None)",
        f"(float mean, float std, tuple of ints size, *, torch.Generator generator = None, {PLAIN}",
    ),
)
def normal(
    mean,
    std=1.0,
    size=None,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Normally distributed numbers whose means and deviations are numbers or tensors."""
    stream = stream_of(generator)
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        mean, std = number(mean, "mean"), number(std, "std")

        def draw(shape, name):
            return stream.normal(shape, name, mean, std)

        return made("normal", (), size, draw, out, dtype, layout, device, requires_grad)
    if size is not None:
        raise fits_none()
    drawn = _normal_of(stream, mean, std)
    return drawn if out is None else deliver(out, drawn, "normal")


def _scaled(stream, means, deviations, name):
    drawn = stream.normal(common_shape([getattr(one, "shape", ()) for one in (means, deviations)]), name)
    drawn *= deviations
    drawn += means
    return drawn


def _normal_of(stream, mean, std):
    """Standard normal numbers, scaled and shifted by tensors; no gradient reaches those."""
    like = mean if isinstance(mean, Tensor) else std
    if state.levels:
        return chance.drawn_for(
            [mean, std], lambda means, deviations: _scaled(stream, means, deviations, like.dtype.name)
        )
    if isinstance(std, Tensor):
        if (array_of(std) < 0).any():
            raise fault(RuntimeError, "normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise fault(RuntimeError, f"normal expects std >= 0.0, but found std {std:g}")
    means, deviations = (array_of(value) if isinstance(value, Tensor) else value for value in (mean, std))
    values = canonical(_scaled(stream, means, deviations, like.dtype.name)[()])
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        return normal_of_both(mean, std, values=values)
    return DRAWN["normal_of_mean" if isinstance(mean, Tensor) else "normal_of_std"](like, values=values)
