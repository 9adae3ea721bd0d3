"""`python -m gradsh` is the command."""

from __future__ import annotations

import sys

from gradsh.cli import main

sys.exit(main())
