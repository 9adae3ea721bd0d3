"""What the tests share: running gradsh, and comparing what it prints."""

from __future__ import annotations
