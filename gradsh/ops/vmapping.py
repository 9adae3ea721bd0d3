"""`vmap`: a function of one example made one of many, which are along a dimension of its arguments and its results."""

from __future__ import annotations

from gradsh.engine.batched import batched, lowered, of_all
from gradsh.engine.level import VMAP, Level
from gradsh.engine.tensor import Tensor
from gradsh.engine.tree import broadcast, flatten, unflatten
from gradsh.fault import fault
from gradsh.ops.joining import cat
from gradsh.ops.registry import function
from gradsh.ops.slicing import part
from gradsh.ops.transposing import movedim

MODES = ("error", "different", "same")


def name_of(func):
    """What PyTorch's errors call a function."""
    if hasattr(func, "__name__"):
        return func.__name__
    inner = getattr(func, "func", None)
    return repr(func) if inner is None else f"functools.partial({name_of(inner)}, ...)"


def named_like(func, made):
    """A function made of another one, with its name."""
    made.__name__ = made.__qualname__ = getattr(func, "__name__", type(func).__name__)
    made.__doc__ = getattr(func, "__doc__", None)
    return made


def check_randomness(randomness):
    if randomness not in MODES:
        message = f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        raise fault(RuntimeError, message)


@function(at=("torch", "func"), example="vmap(lambda x: x.sum())(ones(2, 3))", python=True)
def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function of many examples, which are along `in_dims` of its arguments and come out along `out_dims`.

    randomness: whether random numbers are an error, different for each example, or the same for all. chunk_size: how
    many examples at most are computed at once.
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise fault(ValueError, f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def mapped(*args, **settings):
        _check_out_dims(func, out_dims)
        size, dims, leaves, shape = _examples(func, in_dims, args)
        if chunk_size is None:
            return on_examples(func, size, dims, leaves, shape, out_dims, randomness, settings)
        return _in_chunks(func, size, dims, leaves, shape, out_dims, randomness, settings, chunk_size)

    return named_like(func, mapped)


def on_examples(func, size, dims, leaves, shape, out_dims, randomness, settings):
    """The function applied once to all examples, which are along the given dimensions of some of the leaves."""
    with Level(VMAP, func, size, randomness) as level:
        args = [leaf if dim is None else batched(in_front(leaf, dim), level) for leaf, dim in zip(leaves, dims)]
        found = func(*unflatten(args, shape), **settings)
        outs, out_shape = flatten(found)
        places = _out_dims(func, found, out_dims, out_shape)
        return unflatten([_whole(func, out, place, level) for out, place in zip(outs, places)], out_shape)


def in_front(tensor, dim):
    """A dimension moved to the front."""
    return movedim(tensor, dim, 0) if dim else tensor


def _in_chunks(func, size, dims, leaves, shape, out_dims, randomness, settings, length):
    """The same on a part of the examples at a time, the results joined."""
    from gradsh.ops.generator import default_generator

    before = default_generator.stream.get_state() if randomness == "same" else None
    found = []
    for start in range(0, size, length):
        count = min(length, size - start)
        if before is not None:
            default_generator.stream.set_state(before)
        chunk = [leaf if dim is None else part(leaf, dim, start, start + count) for leaf, dim in zip(leaves, dims)]
        found.append(flatten(on_examples(func, count, dims, chunk, shape, out_dims, randomness, settings)))
    if not found:
        raise fault(AssertionError, "arg_spec must not be None", notes=("there are no examples",))
    out_shape = found[0][1]
    places = broadcast(out_dims, out_shape)
    assert places is not None  # on_examples has matched them
    if None in places:
        raise fault(
            TypeError, "cat(): argument 'dim' must be int, not NoneType", hint="out_dims of 0, or no chunk_size"
        )
    columns = zip(*(leaves for leaves, _ in found))
    return unflatten([cat(column, place) for column, place in zip(columns, places)], out_shape)


# ---- the arguments


def _examples(func, in_dims, args):
    """(how many examples, the dimension they are along in each leaf or None, the leaves, their nesting)."""
    head = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int | tuple):
        raise fault(
            ValueError,
            f"{head}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}.",
        )
    if not args:
        raise fault(
            ValueError,
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported.",
        )
    leaves, shape = flatten(args)
    dims = broadcast(in_dims, shape)
    if dims is None:
        raise fault(
            ValueError,
            f"{head}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {shape}.",
        )
    for place, (leaf, dim) in enumerate(zip(leaves, dims)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            message = f"{head}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            raise fault(ValueError, message)
        if not isinstance(leaf, Tensor):
            raise fault(
                ValueError,
                f"{head}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim",
            )
        rank = leaf.ndim
        if not -rank <= dim < rank:
            raise fault(
                ValueError,
                f"{head}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so expected "
                f"in_dim to satisfy -{rank} <= in_dim < {rank}.",
            )
        dims[place] = dim % rank
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise fault(ValueError, "vmap: Expected at least one Tensor to vmap over")
    if sizes.count(sizes[0]) < len(sizes):
        raise fault(
            ValueError,
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension",
        )
    return sizes[0], dims, leaves, shape


# ---- the results


def _check_out_dims(func, out_dims):
    for dim in flatten(out_dims)[0]:
        if not (dim is None or isinstance(dim, int)):
            raise fault(
                ValueError,
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear.",
            )


def _out_dims(func, found, out_dims, shape):
    """Where the examples are to be in each of the results."""
    if isinstance(found, Tensor):
        alone = isinstance(out_dims, tuple) and len(out_dims) == 1
        places = list(out_dims) if alone else [out_dims] if out_dims is None or isinstance(out_dims, int) else None
    else:
        places = broadcast(out_dims, shape)
    if places is None:
        raise fault(
            ValueError,
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {flatten(out_dims)[1]} but outputs has structure {shape}.",
        )
    return places


def _whole(func, out, place, level):
    """A result of all examples, along a dimension."""
    name = name_of(func)
    if place is None:
        if isinstance(out, Tensor) and lowered(out, level) is not None:
            message = f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            raise fault(ValueError, message)
        return out
    if not isinstance(out, Tensor):
        raise fault(
            ValueError,
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(out)}. Did you mean to set out_dims= "
            "to None for output?",
        )
    found = of_all(out, level)
    return movedim(found, 0, place) if place else found
