"""`python -m gradsh` is the command."""

import sys

from gradsh.cli import main

sys.exit(main())
