"""The build hook: puts the grammar, and what is computed once from our own files, into the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stored(BuildHookInterface[Any]):
    """An editable install has neither: it reads grammar/ beside the package, and keeps what it computes in a cache."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        self.folder = tempfile.TemporaryDirectory(prefix="gradsh-build-")
        shipped = Path(self.folder.name, "shipped")
        path = os.pathsep.join([self.root, *sys.path])  # where an isolated build has lark is known to this process only
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-m", "gradsh.ship", str(shipped)], cwd=root, env=environment, check=True)
        build_data["force_include"] |= {str(root / "grammar"): "gradsh/grammar", str(shipped): "gradsh/shipped"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
