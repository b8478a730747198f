"""Datasets: generated corpora, and functions that read or download real ones."""

from skcw.datasets._fetching import get_data_home
from skcw.datasets._reviews import make_reviews
from skcw.datasets._sequence_corpora import (
    fetch_ark_twitter,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud_ewt,
    load_conll2003,
)
from skcw.datasets._tagged_corpus import make_tagged_corpus

__all__ = [
    "fetch_ark_twitter",
    "fetch_conll2000",
    "fetch_conll2002",
    "fetch_ud_ewt",
    "get_data_home",
    "load_conll2003",
    "make_reviews",
    "make_tagged_corpus",
]
