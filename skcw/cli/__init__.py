"""The command ``skcw``: train, tag, evaluate, compare, inspect."""

from skcw.cli.main import main

__all__ = ["main"]
