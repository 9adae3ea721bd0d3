"""Every operation, one declaration each, by family.

Importing this package loads no family: a name of a namespace, a method or an operator of Tensor, or an op that another
asks for by name imports the file that declares it (see `index`).
"""

from __future__ import annotations

from gradsh.ops import loading, registry

loading.bind()

__all__ = ["registry"]
