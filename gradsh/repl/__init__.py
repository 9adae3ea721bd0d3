"""The conversation at the prompt, and the commands."""
