"""Data to try things on."""

from skcw.datasets._basic_features import basic_features
from skcw.datasets._corpus import make_tagged_corpus

__all__ = ["basic_features", "make_tagged_corpus"]
