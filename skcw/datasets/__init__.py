"""Data to try things on: made on the spot, or real corpora from a folder."""

from skcw.datasets._amazon import load_amazon_reviews
from skcw.datasets._basic_features import basic_features
from skcw.datasets._conll import load_conll2000, load_conll2002, load_conll2003
from skcw.datasets._corpus import make_tagged_corpus
from skcw.datasets._enron import load_enron_bow
from skcw.datasets._homes import get_data_home
from skcw.datasets._newsgroups import load_20newsgroups
from skcw.datasets._parts_of_speech import load_ark_twitter, load_ud_ewt
from skcw.datasets._reuters import load_reuters21578
from skcw.datasets._reviews import make_reviews
from skcw.datasets._sms import load_sms_spam

__all__ = [
    "basic_features",
    "get_data_home",
    "load_20newsgroups",
    "load_amazon_reviews",
    "load_ark_twitter",
    "load_conll2000",
    "load_conll2002",
    "load_conll2003",
    "load_enron_bow",
    "load_reuters21578",
    "load_sms_spam",
    "load_ud_ewt",
    "make_reviews",
    "make_tagged_corpus",
]
