"""gradsh: an autograd interpreter for the command line.

>>> from gradsh import Session
>>> s = Session()
>>> records = s.run("x = param(3.0); y = x * x; y.backward()")
>>> float(s["x"].grad)
6.0
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.session import Session

__version__ = "0.1.0"
__all__ = ["Session", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Session":
        from gradsh.session import Session

        return Session
    raise AttributeError(f"module 'gradsh' has no attribute {name!r}")
