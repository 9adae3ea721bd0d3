"""Nested tuples, lists and dicts of tensors: taken apart into their leaves and put together again.

As in PyTorch's `pytree`, anything else is a leaf, None included, and dicts keep their order.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Shape:
    """How leaves are nested. kind: the type of the collection, None for a leaf; keys: of a dict."""

    __slots__ = ("children", "keys", "kind")

    def __init__(self, kind: type | None, keys: Any, children: list[Shape]) -> None:
        self.kind, self.keys, self.children = kind, keys, children

    def count(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind is None else sum(child.count() for child in self.children)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Shape)
            and self.kind is other.kind
            and self.keys == other.keys
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.text(0)

    def text(self, indent: int) -> str:
        """As PyTorch writes a TreeSpec."""
        if self.kind is None:
            return "*"
        indent += 2
        first, *rest = [child.text(indent) for child in self.children] or [""]
        lines = ",".join(f"\n{' ' * indent}{one}" for one in rest)
        return f"TreeSpec({self.kind.__name__}, {self.keys}, [{first}{',' if rest else ''}{lines}])"


LEAF = Shape(None, None, [])


class _Star:
    def __repr__(self) -> str:
        return "*"


def children_of(tree: Any) -> tuple[type | None, Any, list[Any]]:
    """(type of a collection or None for a leaf, keys of a dict, what it holds)."""
    if isinstance(tree, dict):
        return type(tree), list(tree), list(tree.values())
    if isinstance(tree, list | tuple) and type(tree).__name__ != "Size":
        return type(tree), None, list(tree)
    return None, None, []


def flatten(tree: Any) -> tuple[list[Any], Shape]:
    """The leaves in order, and how they are nested."""
    kind, keys, children = children_of(tree)
    if kind is None:
        return [tree], LEAF
    leaves: list[Any] = []
    shapes = []
    for child in children:
        below, shape = flatten(child)
        leaves += below
        shapes.append(shape)
    return leaves, Shape(kind, keys, shapes)


def unflatten(leaves: list[Any], shape: Shape) -> Any:
    """Leaves nested again."""
    if shape.kind is None:
        return leaves[0]
    parts, start = [], 0
    for child in shape.children:
        end = start + child.count()
        parts.append(unflatten(leaves[start:end], child))
        start = end
    if issubclass(shape.kind, dict):
        made = shape.kind()
        made.update(zip(shape.keys, parts))
        return made
    if shape.kind in (list, tuple):
        return shape.kind(parts)
    return shape.kind(*parts)  # a tuple with names


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """A function of each leaf, nested alike."""
    leaves, shape = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], shape)


def starred(shape: Shape) -> str:
    """How leaves are nested, each written as a star."""
    return repr(unflatten([_Star()] * shape.count(), shape))


def broadcast(prefix: Any, shape: Shape) -> list[Any] | None:
    """A value for each leaf, from one for each or for a whole part of the tree; None where the two do not match."""
    kind, keys, children = children_of(prefix)
    if kind is None:
        return [prefix] * shape.count()
    if kind is not shape.kind or keys != shape.keys or len(children) != len(shape.children):
        return None
    found: list[Any] = []
    for child, below in zip(children, shape.children):
        values = broadcast(child, below)
        if values is None:
            return None
        found += values
    return found
