"""The cells of the classifiers' half of the travel grid: sets times forms of rows.

They come from real corpora, which are not part of the project, through the loaders of
`skcw.datasets`. Without them reviews that are made take their place.
"""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from _multiclass_data import AMAZON, ENRON_A, ENRON_B, MADE, NEWS, REUTERS
from _text_corpora import (
    load_20newsgroups,
    load_amazon_reviews,
    load_enron_bow,
    load_reuters21578,
    load_sms_spam,
)
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedShuffleSplit

from skcw.datasets import make_reviews

SENTIMENT, SMS, DIGITS = "Amazon sentiment", "SMS", "digits"
# Four domains with 1, 2, 4 or 5 stars: classes that overlap.
SIXTEEN = "16 kinds of reviews"
DOMAINS = ("books", "films", "kitchen", "phones")
BINARY, TF_IDF = "binary", "tf-idf"
FORMS = (BINARY, TF_IDF)

TEST_SHARE = 0.25
MADE_ROWS, QUICK_ROWS = 4000, 240
# Dark enough to be ink, of 16 shades.
INK = 8
# One split of many rows is as good as several of few.
SPLITS = {NEWS: 1}


@dataclass(frozen=True)
class Part:
    """Rows to learn from and rows to judge by, with their labels."""

    X: sparse.csr_matrix
    y: np.ndarray
    X_test: sparse.csr_matrix
    y_test: np.ndarray


def set_names(settings):
    """Return the names of the sets that can be loaded."""
    if settings.data_home is None:
        return [MADE, SIXTEEN]
    return list(_READERS)


def parts_of(name, form, settings):
    """Yield the parts of a cell: the words and their counts are those of the first."""
    counts, labels = _counts(name, settings.data_home, settings.quick)
    n_splits = SPLITS.get(name, settings.splits)
    splitter = StratifiedShuffleSplit(n_splits, test_size=TEST_SHARE, random_state=0)
    for train, test in splitter.split(labels, labels):
        rows, others = (
            _in_form(counts[own], name, form, counts[train]) for own in (train, test)
        )
        # As in a pipeline: what no row of the training part has is not there.
        seen = np.flatnonzero(rows.getnnz(axis=0))
        yield Part(
            _plain(rows[:, seen]), labels[train], _plain(others[:, seen]), labels[test]
        )


def _in_form(counts, name, form, train):
    if name == DIGITS:
        return counts / 16.0 if form == TF_IDF else (counts >= INK).astype(float)
    if form == BINARY:
        return (counts > 0).astype(float)
    return TfidfTransformer().fit(train).transform(counts)


def _plain(X):
    """Return CSR in float64 with 32-bit indices, which every classifier takes."""
    X = sparse.csr_matrix(X, dtype=np.float64)
    X.sort_indices()
    return sparse.csr_matrix(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape
    )


@cache
def _counts(name, data_home, quick):
    """Return how often each row has each word, and the labels as codes."""
    if name in _MADE:
        rows, labels = _MADE[name](QUICK_ROWS if quick else MADE_ROWS)
    else:
        rows, labels = _READERS[name](data_home)
    if not sparse.issparse(rows):
        rows = CountVectorizer().fit_transform(rows)
    rows, labels = sparse.csr_matrix(rows), np.asarray(labels)
    if quick and len(labels) > 2 * QUICK_ROWS:
        some = StratifiedShuffleSplit(1, train_size=2 * QUICK_ROWS, random_state=0)
        chosen, _ = next(some.split(labels, labels))
        rows, labels = rows[chosen], labels[chosen]
    return rows, np.unique(labels, return_inverse=True)[1]


def _texts(load, data_home, **options):
    texts = load(data_home, **options)
    return texts.data, texts.target


def _enron(part, data_home):
    mail = load_enron_bow(part, data_home)
    return mail.data, mail.target


def _digits(_):
    X, y = load_digits(return_X_y=True)
    return sparse.csr_matrix(X), y


def _domains(n_reviews):
    return make_reviews(n_reviews, target="domain", random_state=0, return_X_y=True)


def _sixteen(n_reviews):
    reviews = make_reviews(n_reviews, target="domain", domains=DOMAINS, random_state=0)
    stars = np.asarray(reviews.rating)
    clear = np.flatnonzero(stars != 3)
    labels = 4 * reviews.target + np.searchsorted([1, 2, 4, 5], stars)
    return [reviews.data[i] for i in clear], labels[clear]


_MADE = {MADE: _domains, SIXTEEN: _sixteen}
_READERS = {
    NEWS: partial(_texts, load_20newsgroups),
    AMAZON: partial(_texts, load_amazon_reviews, target="domain"),
    SENTIMENT: partial(_texts, load_amazon_reviews, target="sentiment"),
    ENRON_A: partial(_enron, "a"),
    ENRON_B: partial(_enron, "b"),
    REUTERS: partial(_texts, load_reuters21578),
    SMS: partial(_texts, load_sms_spam),
    DIGITS: _digits,
    SIXTEEN: None,
}
