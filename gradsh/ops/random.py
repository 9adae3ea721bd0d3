"""Random tensors, number for number PyTorch's: rand, randn, randint, randperm, normal, bernoulli and their like."""

from __future__ import annotations

from gradsh.backend.dtypes import int64
from gradsh.backend.memory import check_room
from gradsh.engine.alias import record_change
from gradsh.engine.create import leaf
from gradsh.engine.inplace import inplace, is_array, writable
from gradsh.engine.op import general
from gradsh.engine.promote import common_shape
from gradsh.engine.runtime import canonical
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.calls import operand
from gradsh.ops.generator import stream_of
from gradsh.ops.options import TAIL, fits_none, integer, number, options, sizes, whole
from gradsh.ops.out import deliver, taken
from gradsh.ops.registry import function
from gradsh.ops.samples import Sample, reals
from gradsh.ops.structure import zeros

DRAW = f"torch.Generator generator, Tensor out = None, {TAIL}"
PLAIN = f"Tensor out = None, {TAIL}"
SIZED = (f"(tuple of ints size, *, {DRAW}", f"(tuple of ints size, *, {PLAIN}")
RANGED = tuple(
    f"({bounds}, tuple of ints size, *, {rest}"
    for bounds in ("int high", "int low, int high")
    for rest in (DRAW, PLAIN)
)


def _made(name, shape, size, draw, out, dtype, layout, device, requires_grad, default=None):
    """A leaf of a shape filled by `draw(shape, name of the type)`."""
    if not shape and size is None:
        raise fits_none()
    dtype = options(name, dtype, layout, device, taken(out) or default)
    shape = sizes(name, shape, size)
    check_room(shape, dtype.itemsize)
    made = leaf(canonical(draw(shape, dtype.name)[()]), requires_grad)
    return made if out is None else deliver(out, made, name)


@function(at=("torch",), example="rand(2, 3)", overloads=SIZED)
def rand(
    *shape,
    size=None,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Uniform numbers in [0, 1)."""
    return _made("rand", shape, size, stream_of(generator).uniform, out, dtype, layout, device, requires_grad)


@function(at=("torch",), example="randn(2, 3)", overloads=SIZED)
def randn(
    *shape,
    size=None,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """Normally distributed numbers of mean 0 and variance 1."""
    return _made("randn", shape, size, stream_of(generator).normal, out, dtype, layout, device, requires_grad)


def _bounds(low, high, size):
    """(low, high, size) of randint, whose low may be left out."""
    if size is None and high is not None and whole(high) is None:
        low, high, size = 0, low, high
    if high is None:
        low, high = 0, low
    return low, high, size


@function(at=("torch",), example="randint(0, 10, (5,))", overloads=RANGED)
def randint(
    low=None,
    high=None,
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
    """Whole numbers in [low, high), low being 0 where only one bound is given."""
    if size is None and whole(high) is not None and low is not None:
        raise fault(
            TypeError,
            f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(high).__name__}",
            hint=f"randint({low}, ({high},))",
        )
    low, high, size = _bounds(low, high, size)
    if size is None or whole(high) is None or whole(low or 0) is None:
        raise fits_none()
    low, high = whole(low or 0), whole(high)

    def draw(shape, name):
        return stream_of(generator).integers(shape, name, low, high)

    return _made("randint", (), size, draw, out, dtype, layout, device, requires_grad, int64)


@function(at=("torch",), example="randperm(5)")
def randperm(
    n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """The numbers from 0 to n - 1 in random order."""
    n = integer(n, "n")
    dtype = options("randperm", dtype, layout, device, taken(out) or int64)
    if n > 0:
        check_room((n,), dtype.itemsize)
    made = leaf(stream_of(generator).permutation(n, dtype.name), requires_grad)
    return made if out is None else deliver(out, made, "randperm")


# ---- like another tensor


def _like(input, name, draw, dtype, layout, device, requires_grad):
    """As `_made`, in another tensor's shape and memory order."""
    input = operand(input)
    dtype = options(name, dtype, layout, device, input.dtype)
    if not input.ndim:
        return leaf(canonical(draw((), dtype.name, None)[()]), requires_grad)
    from gradsh.backend import arrays

    memory = arrays.empty_like(input.raw, dtype.code)
    return leaf(draw(memory.shape, dtype.name, memory), requires_grad)


@function(at=("torch",), example="rand_like(ones(3))")
def rand_like(
    input,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Uniform numbers in [0, 1) in another tensor's shape."""
    stream = stream_of(generator)
    return _like(
        input,
        "rand_like",
        lambda shape, name, out: stream.uniform(shape, name, out=out),
        dtype,
        layout,
        device,
        requires_grad,
    )


@function(at=("torch",), example="randn_like(ones(3))")
def randn_like(
    input,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Normally distributed numbers in another tensor's shape."""
    stream = stream_of(generator)
    return _like(
        input,
        "randn_like",
        lambda shape, name, out: stream.normal(shape, name, out=out),
        dtype,
        layout,
        device,
        requires_grad,
    )


@function(at=("torch",), example="randint_like(ones(3), 10)")
def randint_like(
    input,
    low=None,
    high=None,
    *,
    generator=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
):
    """Whole numbers in [low, high) in another tensor's shape and type."""
    low, high = (0, low) if high is None else (low or 0, high)
    low, high = integer(low, "low"), integer(high, "high")
    stream = stream_of(generator)

    def draw(shape, name, out):
        return stream.integers(shape, name, low, high, out=out)

    return _like(input, "randint_like", draw, dtype, layout, device, requires_grad)


# ---- drawn over what is there


def _drawn(name, grad_fn):
    """An op whose result does not depend on its operand: the numbers that were drawn in its place."""

    sample = Sample(reals(2, 3), values=0.5)

    @general(x=lambda g, x_shape: zeros(g, shape=x_shape), sample=sample, at=(), name=name, grad_fn=grad_fn)
    def op(xp, x, *, values):
        return values

    return op


OPS = {
    name: _drawn(name, grad_fn)
    for name, grad_fn in (
        ("uniform_", "UniformBackward0"), ("normal_", "NormalBackward0"), ("exponential_", "ExponentialBackward0"),
        ("cauchy_", "CauchyBackward0"), ("log_normal_", "LogNormalBackward0"), ("geometric_", "GeometricBackward0"),
        ("bernoulli_", "BernoulliBackward2"), ("bernoulli_tensor_", "BernoulliBackward1"),
        ("random_", "RandomBackward2"), ("random_below_", "RandomBackward1"), ("random_between_", "RandomBackward0"),
        ("poisson", "PoissonBackward0"), ("bernoulli_of", "BernoulliBackward0"), ("normal_of_mean", "NormalBackward1"),
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
    what = OPS[op].name
    if writable(tensor):
        from gradsh.backend import arrays

        memory = arrays.empty_like(tensor.raw) if is_array(tensor.raw) else None
        values = canonical(draw(tuple(tensor.shape), tensor.dtype.name, memory)[()])
        return inplace(OPS[op], tensor, values=values, what=what)
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
        chances = _array(p)
        return _over(
            self, "bernoulli_tensor_", lambda shape, name, out: stream.bernoulli(shape, name, chances, out=out)
        )
    p = number(p, "p")
    return _over(self, "bernoulli_", lambda shape, name, out: stream.bernoulli(shape, name, p, out=out))


def _array(tensor):
    from gradsh.backend import arrays

    return arrays.asarray(tensor.raw)


# ---- with parameters that are tensors


@function(example="bernoulli(tensor([0.1, 0.9]))")
def bernoulli(input, p=None, *, generator=None, out=None):
    """Ones with the probabilities that a tensor holds, or of its shape with probability p."""
    input, stream = operand(input), stream_of(generator)
    chances = _array(input) if p is None else number(p, "p")
    values = stream.bernoulli(tuple(input.shape), input.dtype.name, chances, out=_memory_like(input))
    made = OPS["bernoulli_of"](input, values=canonical(values[()]))
    return made if out is None else deliver(out, made, "bernoulli")


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
    return OPS["poisson"](input, values=canonical(draw(stream_of(generator), _array(input))[()]))


@function(example="multinomial(tensor([0.2, 0.8]), 1)")
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices drawn with probabilities in proportion to the weights of a tensor's rows."""
    drawn = stream_of(generator).multinomial(
        _array(operand(input)), integer(num_samples, "num_samples"), bool(replacement)
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

        return _made("normal", (), size, draw, out, dtype, layout, device, requires_grad)
    if size is not None:
        raise fits_none()
    made = _normal_of(stream, mean, std)
    return made if out is None else deliver(out, made, "normal")


def _normal_of(stream, mean, std):
    """Standard normal numbers, scaled and shifted by tensors; no gradient reaches those."""
    like = mean if isinstance(mean, Tensor) else std
    if isinstance(std, Tensor):
        if (_array(std) < 0).any():
            raise fault(RuntimeError, "normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise fault(RuntimeError, f"normal expects std >= 0.0, but found std {std:g}")
    means, deviations = (_array(value) if isinstance(value, Tensor) else value for value in (mean, std))
    shape = common_shape([getattr(means, "shape", ()), getattr(deviations, "shape", ())])
    drawn = stream.normal(shape, like.dtype.name)
    drawn *= deviations
    drawn += means
    values = canonical(drawn[()])
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        return normal_of_both(mean, std, values=values)
    return OPS["normal_of_mean" if isinstance(mean, Tensor) else "normal_of_std"](like, values=values)
