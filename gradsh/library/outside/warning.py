"""`warnings` as programs see it: Python's own, whose showing is the session's business."""

from __future__ import annotations

import warnings
from typing import Any

from gradsh.lang import members


class catch_warnings(warnings.catch_warnings):
    """Changes of the filters end with the `with`; with record=True, warnings are put in the list that it gives."""

    def __init__(self, *, record: bool = False, action: Any = None, category: type[Warning] = Warning) -> None:
        super().__init__(record=record, action=action, category=category)


def names() -> dict[str, Any]:
    """The names of the module."""
    found = {name: getattr(warnings, name) for name in ("warn", "filterwarnings", "simplefilter", "resetwarnings")}
    return found | {"catch_warnings": catch_warnings}


members.allow(warnings.WarningMessage, ("message", "category", "lineno", "filename"))
members.allow(catch_warnings, ())
