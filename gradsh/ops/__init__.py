"""Every operation, one declaration each, by family; importing this package binds them to Tensor and the namespaces."""

from gradsh.ops import arithmetic, conversion, creation, extrema, legacy, picking, ranges, reduction, registry, scanning, structure

registry.add_ops()

__all__ = ["arithmetic", "conversion", "creation", "extrema", "legacy", "picking", "ranges", "reduction", "registry", "scanning", "structure"]
