"""Datasets: generated corpora, and functions that read or download real ones."""

from skcw.datasets.fetching import get_data_home
from skcw.datasets.reviews import make_reviews
from skcw.datasets.sequence_corpora import (
    fetch_ark_twitter,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud_ewt,
    load_conll2003,
)
from skcw.datasets.tagged_corpus import make_tagged_corpus

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
