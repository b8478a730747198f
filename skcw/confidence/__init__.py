"""How sure a tagger is of each word: one file a method."""

from skcw.confidence.delta_max import delta_max

__all__ = ["delta_max"]
