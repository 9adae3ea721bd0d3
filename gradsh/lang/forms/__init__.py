"""The syntax forms: one class for each rule of the grammar that makes one."""

from __future__ import annotations

from gradsh.lang.form import FORMS, Form
from gradsh.lang.forms import (
    access,
    command,
    compound,
    definitions,
    displays,
    imports,
    operators,
    simple,
    strings,
    values,
)

__all__ = [
    "FORMS",
    "Form",
    "access",
    "command",
    "compound",
    "definitions",
    "displays",
    "imports",
    "operators",
    "simple",
    "strings",
    "values",
]
