"""Tensors, the dynamic graph that operations build, and the walks over it."""
