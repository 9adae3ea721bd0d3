"""Times the programs of work/ under gradsh and under other libraries: `python -m benchmarks`."""

from __future__ import annotations
