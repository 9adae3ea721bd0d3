"""Random numbers drawn over a tensor: uniform_, normal_, random_, bernoulli_ and their like."""

from __future__ import annotations

from gradsh.engine.alias import record_change
from gradsh.engine.inplace import inplace, is_array, writable
from gradsh.engine.op import general
from gradsh.engine.runtime import canonical
from gradsh.engine.state import state
from gradsh.engine.tensor import Tensor
from gradsh.ops import chance
from gradsh.ops.copying import write
from gradsh.ops.generator import stream_of
from gradsh.ops.options import integer, number
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import zeros


def array_of(tensor):
    """A tensor's numbers as an array, also where there is only one."""
    from gradsh.backend import arrays

    return arrays.asarray(tensor.raw)


def _drawn(name, grad_fn):
    """An op whose result does not depend on its operand: the numbers that were drawn in its place."""

    sample = Sample(reals(2, 3), values=0.5)

    @general(x=lambda g, x_shape: zeros(g, shape=x_shape), sample=sample, at=(), name=name, grad_fn=grad_fn)
    def op(xp, x, *, values):
        return values

    return op


DRAWN = {
    name: _drawn(name, grad_fn)
    for name, grad_fn in (
        ("uniform_", "UniformBackward0"), ("normal_", "NormalBackward0"), ("exponential_", "ExponentialBackward0"),
        ("cauchy_", "CauchyBackward0"), ("log_normal_", "LogNormalBackward0"), ("geometric_", "GeometricBackward0"),
        ("bernoulli_", "BernoulliBackward2"), ("bernoulli_tensor_", "BernoulliBackward1"),
        ("random_", "RandomBackward2"), ("random_below_", "RandomBackward1"), ("random_between_", "RandomBackward0"),
        ("poisson", "PoissonBackward0"), ("binomial", "BinomialBackward0"),
        ("bernoulli_of", "BernoulliBackward0"), ("normal_of_mean", "NormalBackward1"),
        ("normal_of_std", "NormalBackward2"),
    )
}  # fmt: skip


@general(
    x=lambda g, x_shape: zeros(g, shape=x_shape),
    y=lambda g, y_shape: zeros(g, shape=y_shape),
    sample=Sample(reals(2, 3), reals(3), values=0.5),
    at=(),
    grad_fn="NormalBackward3",
)
def normal_of_both(xp, x, y, *, values):
    """Numbers that were drawn with means x and deviations y."""
    return values


def _over(tensor, op, draw):
    """Draw numbers over a tensor, in the order of its memory; `draw(shape, name of the type, memory or None)`."""
    what = DRAWN[op].name
    if state.levels:
        return write(tensor, chance.drawn_over(tensor, lambda size: draw(size, tensor.dtype.name, None)), what)
    if writable(tensor, (), what):
        from gradsh.backend import arrays

        memory = arrays.empty_like(tensor.raw) if is_array(tensor.raw) else None
        values = canonical(draw(tuple(tensor.shape), tensor.dtype.name, memory)[()])
        return inplace(DRAWN[op], tensor, values=values, what=what)
    if is_array(tensor.raw):
        draw(tensor.raw.shape, tensor.dtype.name, tensor.raw)
    else:
        tensor.raw = canonical(draw((), tensor.dtype.name, None)[()])
    record_change(tensor, what)
    return tensor


@function(at=("Tensor",), example="zeros(3).uniform_(-1, 1)")
def uniform_(self, low=0.0, to=1.0, *, generator=None):
    """Uniform numbers in [low, to) in the tensor's place."""
    low, to, stream = number(low, "from"), number(to, "to"), stream_of(generator)
    return _over(self, "uniform_", lambda shape, name, out: stream.uniform(shape, name, low, to, out=out))


@function(at=("Tensor",), example="zeros(3).normal_(0, 0.1)")
def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Normally distributed numbers in the tensor's place."""
    mean, std, stream = number(mean, "mean"), number(std, "std"), stream_of(generator)
    return _over(self, "normal_", lambda shape, name, out: stream.normal(shape, name, mean, std, out=out))


@function(at=("Tensor",), example="zeros(3).exponential_()")
def exponential_(self, lambd=1.0, *, generator=None):
    """Exponentially distributed numbers of mean 1 / lambd in the tensor's place."""
    rate, stream = number(lambd, "lambd"), stream_of(generator)
    return _over(self, "exponential_", lambda shape, name, out: stream.exponential(shape, name, rate, out=out))


@function(at=("Tensor",), example="zeros(3).cauchy_()")
def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Cauchy distributed numbers in the tensor's place."""
    median, sigma, stream = number(median, "median"), number(sigma, "sigma"), stream_of(generator)
    return _over(self, "cauchy_", lambda shape, name, out: stream.cauchy(shape, name, median, sigma, out=out))


@function(at=("Tensor",), example="zeros(3).log_normal_()")
def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Numbers whose logarithm is normally distributed in the tensor's place."""
    mean, std, stream = number(mean, "mean"), number(std, "std"), stream_of(generator)
    return _over(self, "log_normal_", lambda shape, name, out: stream.log_normal(shape, name, mean, std, out=out))


@function(at=("Tensor",), example="zeros(3).geometric_(0.5)")
def geometric_(self, p, *, generator=None):
    """The number of trials up to the first success of probability p in the tensor's place."""
    p, stream = number(p, "p"), stream_of(generator)
    return _over(self, "geometric_", lambda shape, name, out: stream.geometric(shape, name, p, out=out))


@function(at=("Tensor",), example="zeros(3).random_(10)")
def random_(self, low=None, to=None, *, generator=None):
    """Whole numbers in [low, to), or below one bound, or all that the type holds, in the tensor's place."""
    op = "random_" if low is None else "random_below_" if to is None else "random_between_"
    if low is not None and to is None:
        low, to = 0, low
    low, to = (None if bound is None else integer(bound, name) for bound, name in ((low, "from"), (to, "to")))
    stream = stream_of(generator)
    return _over(self, op, lambda shape, name, out: stream.integers(shape, name, low, to, out=out))


@function(at=("Tensor",), example="zeros(3).bernoulli_(0.5)")
def bernoulli_(self, p=0.5, *, generator=None):
    """Ones with probability p, else zeros, in the tensor's place."""
    stream = stream_of(generator)
    if isinstance(p, Tensor):
        if state.levels:
            shape, name = tuple(self.shape), self.dtype.name
            made = chance.drawn_for([p.expand(shape)], lambda chances: stream.bernoulli(chances.shape, name, chances))
            return write(self, made, "bernoulli_")
        chances = array_of(p)
        return _over(
            self, "bernoulli_tensor_", lambda shape, name, out: stream.bernoulli(shape, name, chances, out=out)
        )
    p = number(p, "p")
    return _over(self, "bernoulli_", lambda shape, name, out: stream.bernoulli(shape, name, p, out=out))
