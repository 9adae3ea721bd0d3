"""The work of work/, as it is written for libraries that have no PyTorch names."""

from __future__ import annotations
