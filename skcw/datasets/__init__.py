"""Data to try things on."""

from skcw.datasets._basic_features import basic_features
from skcw.datasets._corpus import make_tagged_corpus
from skcw.datasets._reviews import make_reviews

__all__ = ["basic_features", "make_reviews", "make_tagged_corpus"]
