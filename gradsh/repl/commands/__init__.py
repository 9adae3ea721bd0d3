"""The `:` commands, one file per family; each is a function with `@command`."""

from __future__ import annotations

from gradsh.repl.commands import gradients, graph, library, plans, running, settings, variables
from gradsh.repl.commands.command import COMMANDS, Command

__all__ = ["COMMANDS", "Command", "gradients", "graph", "library", "plans", "running", "settings", "variables"]
