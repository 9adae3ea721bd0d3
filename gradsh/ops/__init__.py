"""Every operation, one declaration each, by family; importing this package binds them to Tensor and the namespaces."""

from gradsh.ops import affine, arithmetic, chains, choice, combination, comparison, contraction, conversion, copying, creation, dropout, einsum, expanding, extrema, generator, graph, joining, legacy, memory, picking, powers, products, random, ranges, reduction, registry, scanning, shape, slicing, special, splitting, structure, transposing, unary

registry.add_ops()

__all__ = ["affine", "arithmetic", "chains", "choice", "combination", "comparison", "contraction", "conversion", "copying", "creation", "dropout", "einsum", "expanding", "extrema", "generator", "graph", "joining", "legacy", "memory", "picking", "powers", "products", "random", "ranges", "reduction", "registry", "scanning", "shape", "slicing", "special", "splitting", "structure", "transposing", "unary"]
