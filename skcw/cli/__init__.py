"""The command ``skcw``: train, tag, evaluate, compare, inspect."""

from skcw.cli.commands import main

__all__ = ["main"]
