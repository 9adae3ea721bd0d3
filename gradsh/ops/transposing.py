"""Views with the dimensions in another order."""

from __future__ import annotations

from gradsh.engine.op import linear
from gradsh.fault import fault
from gradsh.ops.calls import Unfit, operand
from gradsh.ops.copying import aliased
from gradsh.ops.dimensions import axis_of
from gradsh.ops.options import sizes
from gradsh.ops.registry import attribute, function
from gradsh.ops.samples import Sample, reals


@linear(
    x=lambda g: turned(g),
    sample=[Sample(reals(2, 3)), Sample(reals(3))],
    at=(),
    view=True,
    name="t",
    batch=lambda x: swapped(x, dim0=1, dim1=2) if x.ndim == 3 else aliased(x),
)
def turned(xp, x):
    """A matrix with its rows as columns."""
    return xp.asarray(x).T


@linear(
    x=lambda g, dim0, dim1: swapped(g, dim0=dim0, dim1=dim1),
    sample=Sample(reals(2, 3, 2), dim0=0, dim1=-2),
    at=(),
    view=True,
    name="transpose",
    batch=lambda x, dim0, dim1: (
        swapped(x, dim0=dim0 + (dim0 >= 0), dim1=dim1 + (dim1 >= 0)) if x.ndim > 1 else aliased(x)
    ),
)
def swapped(xp, x, *, dim0, dim1):
    """Two dimensions exchanged."""
    x = xp.asarray(x)
    return x.swapaxes(dim0, dim1) if x.ndim else x[...]


@linear(
    x=lambda g, dims: permuted(g, dims=inverse(dims)),
    sample=Sample(reals(2, 3, 2), dims=(2, 0, 1)),
    at=(),
    view=True,
    name="permute",
    batch=lambda x, dims: permuted(x, dims=(0, *[dim + 1 for dim in dims])),
)
def permuted(xp, x, *, dims):
    """The dimensions in another order."""
    return xp.transpose(x, dims)


def inverse(dims):
    """The order that undoes an order of dimensions."""
    places = [0] * len(dims)
    for place, dim in enumerate(dims):
        places[dim] = place
    return tuple(places)


@function(example="t(ones(2, 3))")
def t(input):
    """A matrix with its rows as columns; a vector as it is."""
    input = operand(input)
    if input.ndim > 2:
        raise fault(
            RuntimeError,
            f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D",
            hint=".mT, which transposes the last two dimensions",
        )
    return turned(input)


@function(example="transpose(ones(2, 3), 0, 1)")
def transpose(input, dim0, dim1):
    """Two dimensions exchanged."""
    input = operand(input)
    ndim = input.ndim
    return swapped(input, dim0=axis_of(dim0, ndim, "dim0"), dim1=axis_of(dim1, ndim, "dim1"))


@function(example="swapaxes(ones(2, 3), 0, 1)")
def swapaxes(input, axis0, axis1):
    """Two dimensions exchanged: `transpose` under numpy's name."""
    input = operand(input)
    return swapped(input, dim0=axis_of(axis0, input.ndim, "axis0"), dim1=axis_of(axis1, input.ndim, "axis1"))


@function(example="swapdims(ones(2, 3), 0, 1)")
def swapdims(input, dim0, dim1):
    """Two dimensions exchanged: another name of `transpose`."""
    return transpose(input, dim0, dim1)


@function(example="permute(ones(2, 3, 4), (2, 0, 1))", several="dims")
def permute(input, *order, dims=None):
    """The dimensions in another order."""
    input = operand(input)
    order, ndim = sizes("permute", order, dims, "dims"), input.ndim
    if len(order) != ndim:
        raise fault(
            RuntimeError,
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            "ordering "
            f"of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}",
        )
    order = tuple([axis_of(dim, ndim) for dim in order])
    if len({*order}) < ndim:
        raise fault(RuntimeError, "permute(): duplicate dims are not allowed.")
    return permuted(input, dims=order)


MOVEDIM = (
    "(Tensor input, int source, int destination)",
    "(Tensor input, tuple of ints source, tuple of ints destination)",
)


@function(example="movedim(ones(2, 3, 4), 0, 2)", overloads=MOVEDIM)
def movedim(input, source, destination):
    """Dimensions moved to other places, the others kept in order."""
    input = operand(input)
    ndim = input.ndim
    single = not isinstance(source, list | tuple)
    if single != (not isinstance(destination, list | tuple)):
        raise Unfit("destination", "int" if single else "tuple of ints", destination)
    if single:
        source, destination = (source,), (destination,)
    if len(source) != len(destination):
        raise fault(
            RuntimeError,
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same "
            "number of "
            f"dims as destination ({list(destination)} dims)",
        )
    taken = [axis_of(dim, ndim, "source") for dim in source]
    places = [axis_of(dim, ndim, "destination") for dim in destination]
    for name, dims, given in (("source", taken, source), ("destination", places, destination)):
        if len({*dims}) < len(dims):
            raise fault(RuntimeError, f"movedim: repeated dim in `{name}` ({list(given)})")
    if not ndim:
        return aliased(input)
    order = [-1] * ndim
    for dim, place in zip(taken, places):
        order[place] = dim
    rest = iter([dim for dim in range(ndim) if dim not in taken])
    return permuted(input, dims=tuple([next(rest) if dim == -1 else dim for dim in order]))


@function(example="moveaxis(ones(2, 3, 4), 0, 2)")
def moveaxis(input, source, destination):
    """Dimensions moved to other places: `movedim` under numpy's name."""
    return movedim(input, source, destination)


@attribute
def T(self):
    """The tensor with its dimensions in reverse order."""
    return permuted(self, dims=tuple(range(self.ndim))[::-1])


def _matrices(self, name):
    if self.ndim == 1:
        raise fault(
            RuntimeError,
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.",
            hint="x[:, None] for a column, x[None] for a row",
        )
    return swapped(self, dim0=-2, dim1=-1) if self.ndim else self


@attribute
def mT(self):
    """The tensor with its last two dimensions exchanged."""
    return _matrices(self, "mT")


@attribute
def mH(self):
    """As `mT`: the numbers are real."""
    return _matrices(self, "mH")


@attribute
def H(self):
    """A matrix with its rows as columns: the numbers are real."""
    if self.ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise fault(
            RuntimeError, f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{more}"
        )
    return _matrices(self, "H")


@function(example="adjoint(ones(2, 3))")
def adjoint(input):
    """As `mT`: the numbers are real."""
    return _matrices(operand(input), "adjoint()")
