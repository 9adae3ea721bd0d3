"""The build hook: puts the grammar, and the parser's tables made from it, into the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParserTables(BuildHookInterface[Any]):
    """An editable install has neither: it reads grammar/ beside the package, and caches its own tables on first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        self.folder = tempfile.TemporaryDirectory(prefix="gradsh-build-")
        tables = Path(self.folder.name, "tables.bin")
        path = os.pathsep.join([self.root, *sys.path])  # where an isolated build has lark is known to this process only
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-m", "gradsh.lang.tables", str(tables)], cwd=root, env=environment, check=True)
        build_data["force_include"] |= {str(root / "grammar"): "gradsh/grammar", str(tables): "gradsh/lang/tables.bin"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
