"""The cells of the classifiers' half of the travel grid: sets times forms of rows.

They come from real corpora, which are not part of the project, through the loaders of
`skcw.datasets`. Without them reviews that are made take their place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.model_selection import (
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)

from common.documents import (
    SOURCES,
    load_20newsgroups,
    load_amazon_reviews,
    load_enron_bow,
    load_reuters21578,
    load_sms_spam,
)
from skcw.datasets import make_reviews

# ---- The rows and labels on which classifiers are compared ----

NEWS, AMAZON, REUTERS = "20 News", "Amazon 4", "Reuters"
ENRON_A, ENRON_B = "Enron A", "Enron B"
MADE = "made reviews"
FOLDERS = tuple(SOURCES)
# The four most frequent topics of the split "ModApte".
TOPICS = ("acq", "earn", "grain", "money-fx")

# A set of many rows gets by with some of its folds.
FOLDS_RUN = {NEWS: 3, AMAZON: 5}
FOLD_SEED = 0
QUICK_ROWS, QUICK_FOLDS, QUICK_FOLDS_RUN = 210, 3, 1


@dataclass(frozen=True)
class RowSet:
    """Rows as CSR in float64, and their labels as codes."""

    X: sparse.csr_matrix
    y: np.ndarray

    @property
    def n_classes(self):
        """The number of labels."""
        return int(self.y.max()) + 1


def set_names(data_home):
    """Return the names of the sets that `load_rows` can load."""
    return [MADE] if data_home is None else list(_READERS)


def set_or_made(name, data_home):
    """Return the name of the set, or of the one that takes its place."""
    return MADE if data_home is None else name


@cache
def load_rows(name, data_home, quick):
    """Return a set; a quick run has a few rows of every class."""
    if name == MADE:
        reviews = make_reviews(QUICK_ROWS, target="domain", random_state=0)
        source = _Source(reviews.data, reviews.target, CountVectorizer(binary=True))
    else:
        source = _READERS[name](data_home)
    rows, labels = source.rows, np.asarray(source.labels)
    if quick:
        chosen, _ = train_test_split(
            np.arange(len(labels)),
            train_size=min(QUICK_ROWS, len(labels) - len(set(labels))),
            random_state=0,
            stratify=labels,
        )
        labels = labels[chosen]
        rows = rows[chosen] if source.words is None else [rows[i] for i in chosen]
    X = rows if source.words is None else source.words.fit_transform(rows)
    return RowSet(_plain_rows(X), np.unique(labels, return_inverse=True)[1])


@dataclass(frozen=True)
class _Source:
    """What a loader gives, and what turns texts into rows."""

    rows: object
    labels: np.ndarray
    words: Callable | None = None


def _newsgroups(data_home):
    texts = load_20newsgroups(data_home)
    return _Source(texts.data, texts.target, CountVectorizer(binary=True))


def _amazon(data_home):
    texts = load_amazon_reviews(data_home, target="domain")
    return _Source(texts.data, texts.target, CountVectorizer(ngram_range=(1, 2)))


def _enron(part, data_home):
    mail = load_enron_bow(part, data_home)
    return _Source(mail.data, mail.target)


def _reuters(data_home):
    texts = load_reuters21578(data_home, topics=TOPICS)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    return _Source(texts.data, texts.target, words)


_READERS = {
    NEWS: _newsgroups,
    AMAZON: _amazon,
    ENRON_A: partial(_enron, "a"),
    ENRON_B: partial(_enron, "b"),
    REUTERS: _reuters,
}


def _plain_rows(X):
    """Return CSR in float64 with 32-bit indices, which every classifier takes."""
    X = sparse.csr_matrix(X, dtype=np.float64)
    X.sort_indices()
    return sparse.csr_matrix(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape
    )


def folds_of(name, settings):
    """Return the (train, test) positions of those folds that are run."""
    y = load_rows(name, settings.data_home, settings.quick).y
    n_folds = QUICK_FOLDS if settings.quick else settings.folds
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=FOLD_SEED)
    folds = list(splitter.split(np.zeros(len(y)), y))
    wanted = QUICK_FOLDS_RUN if settings.quick else FOLDS_RUN.get(name, n_folds)
    return folds[:wanted]


# ---- The cells of the classifiers' half of the travel grid ----

SENTIMENT, SMS, DIGITS = "Amazon sentiment", "SMS", "digits"
# Four domains with 1, 2, 4 or 5 stars: classes that overlap.
SIXTEEN = "16 kinds of reviews"
DOMAINS = ("books", "films", "kitchen", "phones")
BINARY, TF_IDF = "binary", "tf-idf"
FORMS = (BINARY, TF_IDF)

TEST_SHARE = 0.25
MADE_ROWS, QUICK_COUNTS = 4000, 240
# Dark enough to be ink, of 16 shades.
INK = 8
# One split of many rows is as good as several of few.
SPLITS = {NEWS: 1}


@dataclass(frozen=True)
class RowsSplit:
    """Rows to learn from and rows to judge by, with their labels."""

    X: sparse.csr_matrix
    y: np.ndarray
    X_test: sparse.csr_matrix
    y_test: np.ndarray


def names_of_counts(settings):
    """Return the names of the sets that can be loaded."""
    if settings.data_home is None:
        return [MADE, SIXTEEN]
    return list(_COUNTS)


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
        yield RowsSplit(
            _plain_rows(rows[:, seen]),
            labels[train],
            _plain_rows(others[:, seen]),
            labels[test],
        )


def rows_and_labels(name, settings):
    """Return whether each row of a set has each word, and the labels as codes."""
    counts, labels = _counts(name, settings.data_home, settings.quick)
    return _plain_rows((counts > 0).astype(float)), labels


def _in_form(counts, name, form, train):
    if name == DIGITS:
        return counts / 16.0 if form == TF_IDF else (counts >= INK).astype(float)
    if form == BINARY:
        return (counts > 0).astype(float)
    return TfidfTransformer().fit(train).transform(counts)


@cache
def _counts(name, data_home, quick):
    """Return how often each row has each word, and the labels as codes."""
    if name in _MADE:
        rows, labels = _MADE[name](QUICK_COUNTS if quick else MADE_ROWS)
    else:
        rows, labels = _COUNTS[name](data_home)
    if not sparse.issparse(rows):
        rows = CountVectorizer().fit_transform(rows)
    rows, labels = sparse.csr_matrix(rows), np.asarray(labels)
    if quick and len(labels) > 2 * QUICK_COUNTS:
        some = StratifiedShuffleSplit(1, train_size=2 * QUICK_COUNTS, random_state=0)
        chosen, _ = next(some.split(labels, labels))
        rows, labels = rows[chosen], labels[chosen]
    return rows, np.unique(labels, return_inverse=True)[1]


def _texts(load, data_home, **options):
    texts = load(data_home, **options)
    return texts.data, texts.target


def _counts_of_enron(part, data_home):
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
_COUNTS = {
    NEWS: partial(_texts, load_20newsgroups),
    AMAZON: partial(_texts, load_amazon_reviews, target="domain"),
    SENTIMENT: partial(_texts, load_amazon_reviews, target="sentiment"),
    ENRON_A: partial(_counts_of_enron, "a"),
    ENRON_B: partial(_counts_of_enron, "b"),
    REUTERS: partial(_texts, load_reuters21578),
    SMS: partial(_texts, load_sms_spam),
    DIGITS: _digits,
    SIXTEEN: None,
}
