"""Every operation, one declaration each, by family; importing this package binds them to Tensor and the namespaces."""

from gradsh.ops import (
    activation, affine, arithmetic, autograd, chains, choice, combination, comparison, contraction, conversion,
    copying, counting, creation, diagonals, differences, distances, dropout, einsum, expanding, extrema,
    functional, generator, gradcheck, graph, index_tensors, indexing, joining, legacy, masking, memory, norms,
    ordering, picking, powers, products, quantiles, random, ranges, rearranging, rectifiers, reduction,
    registry, restriding, scaling, scanning, scattering, selecting, settings, shape, slicing, softmax, special,
    splitting, storage, structure, testing, transposing, types, unary, variance,
)

registry.add_ops()

__all__ = [
    "activation", "affine", "arithmetic", "autograd", "chains", "choice", "combination", "comparison",
    "contraction", "conversion", "copying", "counting", "creation", "diagonals", "differences", "distances",
    "dropout", "einsum", "expanding", "extrema", "functional", "generator", "gradcheck", "graph",
    "index_tensors", "indexing", "joining", "legacy", "masking", "memory", "norms", "ordering", "picking",
    "powers", "products", "quantiles", "random", "ranges", "rearranging", "rectifiers", "reduction", "registry",
    "restriding", "scaling", "scanning", "scattering", "selecting", "settings", "shape", "slicing", "softmax",
    "special", "splitting", "storage", "structure", "testing", "transposing", "types", "unary", "variance",
]
