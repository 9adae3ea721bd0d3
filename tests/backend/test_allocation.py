"""The C library's allocator, told to keep freed memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from gradsh.backend import arrays
def faults_of(turns):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(turns):
        np.ones(1 << 22)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults_of(2)
print(faults_of(10))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc is told")
def test_the_pages_of_freed_arrays_are_used_again() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) < (1 << 22) * 8 // 4096, "each turn took fresh pages"
