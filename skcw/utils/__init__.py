"""Tools for authors of taggers: ``skcw.utils.checks``."""
