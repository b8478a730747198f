"""The command ``skcw``: train, tag, evaluate, compare, inspect."""

from skcw.cli._main import main

__all__ = ["main"]
