"""The pool, its labels, and the choice of the items to ask about."""

import hashlib
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_sparse
from skcw._util.compat import _safe_indexing
from skcw._util.ragged import RaggedRows, object_rows
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import encode_any
from skcw.data.labels import check_labels, listed_in_order


def select_batch(
    utilities: ArrayLike,
    n: int | None = None,
    *,
    words: int | None = None,
    lengths: ArrayLike | None = None,
    features: Any = None,
    max_overlap: float | None = None,
) -> np.ndarray:
    """Return the items to query, the most useful first.

    Of equal utilities the shorter sequence goes first [1]_, then the earlier one.

    Parameters
    ----------
    utilities : array-like of shape (n_items,)
        The higher, the sooner; minus infinity for items that are never asked about.
    n : int, default=None
        How many items at most; by default `words` alone counts.
    words : int, default=None
        How many words they may have in all. An item that is too long for what is left
        is passed over.
    lengths : array-like of shape (n_items,), default=None
        The number of words of each item; ones if None.
    features : sparse matrix of shape (n_items, n_features), default=None
        Which features each item has, for `max_overlap`.
    max_overlap : float, default=None
        Pass an item over if those of its features that an earlier item of this batch
        has weigh more than this share of all its features, where a feature counts by
        the logarithm of how rare it is. If too few items are left, those passed over
        fill the batch, in their order. Each feature of each item is looked at once.

    Returns
    -------
    positions : ndarray of int64
        Positions in `utilities`.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010, section 6.

    Examples
    --------
    >>> from skcw.active import select_batch
    >>> select_batch([0.5, 0.9, 0.9, 0.1], 2, lengths=[3, 8, 5, 2])
    array([2, 1])
    >>> select_batch([0.5, 0.9, 0.9, 0.1], words=10, lengths=[3, 8, 5, 2])
    array([2, 0, 3])
    """
    utilities = _check_utilities(utilities)
    lengths = _check_lengths(lengths, len(utilities))
    order = np.lexsort((lengths, -utilities))
    order = order[utilities[order] > -np.inf]
    _check_budget(n, words, lengths[order])
    if max_overlap is not None:
        enough = n if words is None else len(order)
        order = _spread_out(order, features, max_overlap, enough)
    return _within(order, lengths, len(order) if n is None else n, words)


def _within(order, lengths, n, words):
    """Return the first items that a budget allows."""
    if words is None:
        return order[:n].astype(np.int64)
    chosen, left, sizes = [], words, lengths.tolist()
    for position in order.tolist():
        if len(chosen) == n or left <= 0:
            break
        if sizes[position] <= left:
            chosen.append(position)
            left -= sizes[position]
    return np.array(chosen, dtype=np.int64)


def _spread_out(order, features, max_overlap, enough):
    """Return the order with items that repeat earlier ones put to the end.

    It stops looking when there are enough items.
    """
    check_overlap(max_overlap)
    if features is None:
        raise ValueError("max_overlap compares features: give them as a sparse matrix")
    if sparse.issparse(features):
        check_sparse(features, "features")
    features = sparse.csr_array(features)
    if features.shape[0] < order.max(initial=-1) + 1:
        raise ValueError(
            f"features has {features.shape[0]} rows, fewer than there are utilities"
        )
    counts = np.bincount(features.indices, minlength=features.shape[1])
    weight = np.log(features.shape[0] / np.maximum(counts, 1))
    is_covered = np.zeros(features.shape[1], dtype=bool)
    kept, passed = [], []
    for position in order.tolist():
        if len(kept) == enough:
            break
        start, stop = features.indptr[position : position + 2]
        own = features.indices[start:stop]
        own_weight = weight[own]
        repeated = own_weight[is_covered[own]].sum()
        if repeated > max_overlap * own_weight.sum():
            passed.append(position)
        else:
            kept.append(position)
            is_covered[own] = True
    return np.array(kept + passed, dtype=np.int64)


def askable(utilities, lengths):
    """Return utilities that leave out empty items only, however confident a model is.

    A model that knows a single label is infinitely confident, and still has
    something to learn.
    """
    utilities = np.maximum(utilities, np.finfo(np.float64).min)
    return np.where(np.asarray(lengths) > 0, utilities, -np.inf)


def draw_candidates(positions, n_candidates, rng):
    """Return a random subset of positions, in order; all of them if they are few."""
    if n_candidates is None or n_candidates >= len(positions):
        return positions
    return np.sort(rng.choice(positions, n_candidates, replace=False))


def check_number(name, value, least=1):
    """Raise unless a value is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, got {value!r}")


def check_overlap(share):
    """Raise unless `max_overlap` is None or a share."""
    if share is not None and (not isinstance(share, Real) or not 0 <= share <= 1):
        raise ValueError(f"max_overlap must be between 0 and 1, got {share!r}")


def _check_utilities(utilities):
    utilities = np.asarray(utilities, dtype=np.float64)
    if utilities.ndim != 1:
        raise ValueError(
            f"utilities have the shape {utilities.shape}; one number per item is needed"
        )
    bad = np.flatnonzero(np.isnan(utilities))
    if len(bad):
        raise ValueError(
            f"the utility of item {bad[0]} is not a number, so it has no rank"
        )
    return utilities


def _check_lengths(lengths, n_items):
    if lengths is None:
        return np.ones(n_items, dtype=np.int64)
    lengths = np.asarray(lengths)
    if lengths.shape != (n_items,):
        raise ValueError(
            f"there are {n_items} utilities but lengths has the shape {lengths.shape}"
        )
    if lengths.dtype.kind not in "iu" or lengths.min(initial=0) < 0:
        raise ValueError("lengths must be whole numbers of words, none below 0")
    return lengths


def _check_budget(n, words, lengths):
    """Raise unless a batch of this size can be had."""
    if n is None and words is None:
        raise ValueError("say how many items (n) or how many words may be asked about")
    if not len(lengths):
        raise ValueError("no item is left that could be asked about")
    if n is not None:
        check_number("n", n)
        if n > len(lengths):
            raise ValueError(
                f"{n} items are asked for, but only {len(lengths)} can be asked about"
            )
    if words is not None:
        check_number("words", words)
        if words > lengths.sum() and n is None:
            raise ValueError(
                f"a budget of {words} words is more than the {lengths.sum()} words "
                "that can be asked about"
            )
        if words < lengths.min():
            raise ValueError(
                f"a budget of {words} words has room for no item: the shortest one "
                f"has {lengths.min()}"
            )


class RowLabels:
    """One label per row, a string or a number."""

    name = "rows"
    has_sequences = False

    def plain(self, label, position, length):
        """Return the label of an item as a builtin; raise unless it can be one."""
        plain = label.item() if isinstance(label, np.generic) else label
        if isinstance(plain, Real) and plain != plain:
            plain = None
        if not isinstance(plain, (str, Real)):
            raise ValueError(
                f"the label of item {position} is {label!r}; labels of rows are "
                "strings or numbers"
            )
        return plain

    def check_together(self, labels):
        """Raise at a string among numbers, which an array would make strings, too."""
        if len({isinstance(label, str) for label in labels}) > 1:
            raise ValueError(
                "some labels are strings and some are numbers; give all of them as "
                "strings, or all as numbers"
            )

    def targets(self, labels):
        """Return labels as estimators take them."""
        return np.array(labels)

    def classes(self, labels):
        """Return the different labels, which a first ``partial_fit`` must know."""
        return np.unique(self.targets(labels))

    def can_begin(self, labels):
        """Tell whether a model can begin with these labels alone."""
        return len(set(labels)) > 1

    def words(self, labels):
        """Return the labels of all words, a row being one."""
        return list(labels)

    def count_wrong(self, guess, truth):
        """Return the number of words whose labels differ."""
        return int(guess != truth)


class SequenceLabels:
    """One list of strings per sequence."""

    name = "sequences"
    has_sequences = True

    def plain(self, labels, position, length):
        """Return the labels of an item as builtins; raise unless they fit it."""
        labels = check_labels(labels, f"the labels of item {position}")
        if len(labels) != length:
            raise ValueError(
                f"item {position} of the pool has {length} tokens but {len(labels)} "
                "labels"
            )
        return list(map(str, labels))

    def check_together(self, labels):
        """Do nothing: labels of sequences are all strings."""

    def targets(self, labels):
        """Return labels as estimators take them."""
        return labels

    def classes(self, labels):
        """Return None: taggers accept new labels at any time."""

    def can_begin(self, labels):
        """Tell whether a model can begin with these labels alone."""
        return len(labels) > 0

    def words(self, labels):
        """Return the labels of all words."""
        return list(chain.from_iterable(labels))

    def count_wrong(self, guess, truth):
        """Return the number of words whose labels differ."""
        return sum(a != b for a, b in zip(guess, truth, strict=True))


ROWS, SEQUENCES = RowLabels(), SequenceLabels()


def kind_of_labels(items):
    """Return the kind of labels without an estimator."""
    first = items[0] if len(items) else ()
    is_one = isinstance(first, str) or not hasattr(first, "__len__")
    return ROWS if is_one else SEQUENCES


def as_items(y):
    """Return a list of labels or of label sequences as one object per item."""
    if isinstance(y, (str, bytes)):
        raise TypeError(f"y is a single string, {y!r}; it must be a list")
    return y if isinstance(y, np.ndarray) and y.dtype != object else object_rows(y)


def check_positions(positions, n_items):
    """Return positions in a pool; raise unless they are different and exist."""
    positions = np.atleast_1d(np.asarray(positions))
    if positions.size and not np.issubdtype(positions.dtype, np.integer):
        raise TypeError(f"positions are whole numbers, got {positions.dtype}")
    if positions.ndim != 1 or not len(positions):
        raise ValueError("give at least one position, and all of them in one list")
    bad = positions[(positions < 0) | (positions >= n_items)]
    if len(bad):
        raise ValueError(f"there is no item {bad[0]} in a pool of {n_items}")
    found, counts = np.unique(positions, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"item {found[counts > 1][0]} occurs more than once")
    return positions.astype(np.int64)


def check_answers(y, positions, pool, known=()):
    """Return labels as builtins; raise unless they fit the items of a pool.

    `known` are labels that the pool has already.
    """
    rows = listed_in_order(y, "y")
    if len(rows) != len(positions):
        raise ValueError(f"{len(positions)} items need labels, but y has {len(rows)}")
    rows = [
        pool.kind.plain(row, i, pool.lengths[i])
        for row, i in zip(rows, positions.tolist(), strict=True)
    ]
    pool.kind.check_together([*known[:1], *rows])
    return rows


def noisy_labels(y, rate, *, classes=None, random_state=0):
    """Return labels with errors at a given rate, as of a noisy annotator.

    Each label, of a row or of a word, is replaced with the given probability by another
    one, all others being equally likely.

    Parameters
    ----------
    y : sequence of labels, or of sequences of labels
        The truth.
    rate : float
        The probability of an error, from 0 to 1.
    classes : sequence of labels, default=None
        The labels to choose from; by default all that y has.
    random_state : int, default=0
        The seed. An item keeps its errors whichever other items there are.

    Returns
    -------
    y : ndarray of shape (n_items,)
        The labels, in the form in which they came.

    Examples
    --------
    >>> from skcw.active.pool import noisy_labels
    >>> noisy_labels([["P", "O"], ["O"]], 1.0)
    array([list(['O', 'P']), list(['P'])], dtype=object)
    >>> noisy_labels([0, 1, 0, 1], 0.0).tolist()
    [0, 1, 0, 1]
    """
    if not isinstance(rate, Real) or not 0 <= rate <= 1:
        raise ValueError(f"rate must be between 0 and 1, got {rate!r}")
    check_number("random_state", random_state, least=0)
    items = as_items(y)
    kind = kind_of_labels(items)
    rows = [list(kind.words([item])) for item in items.tolist()]
    if classes is None:
        classes = sorted({label for row in rows for label in row})
    if rate and len(classes) < 2:
        raise ValueError("an error needs another label: there is one class only")
    for position, row in enumerate(rows):
        rng = np.random.default_rng([random_state, position])
        for t in np.flatnonzero(rng.random(len(row)) < rate):
            others = [label for label in classes if label != row[t]]
            row[t] = others[rng.integers(len(others))]
    if kind.has_sequences:
        return object_rows(rows)
    # Errors may be longer strings than the truth.
    dtype = np.result_type(items.dtype, np.asarray(classes).dtype)
    return np.array(list(chain.from_iterable(rows)), dtype=dtype)


def read_pool(X, estimator):
    """Return the pool: rows of a classifier or sequences of a tagger.

    Parameters
    ----------
    X : rows or sequences
        As the estimator takes them; lists, arrays, sparse matrices and batches.
    estimator : tagger or classifier
        The estimator that will learn them. For a classifier each item is a row and
        counts as one word; for anything else it is a sequence.

    Returns
    -------
    pool : RowPool or SequencePool
        The items, their ``lengths`` and the ``kind`` of their labels.
    """
    usable = np.iterable(X) or sparse.issparse(X)
    if usable and not (hasattr(X, "__len__") or sparse.issparse(X)):
        X = list(X)
    if not usable or isinstance(X, (str, bytes, dict, set)):
        raise TypeError(
            f"the pool is a {type(X).__name__}; it must be a list, an array or a "
            "matrix of items that have an order"
        )
    n_items = X.shape[0] if hasattr(X, "shape") else len(X)
    if not n_items:
        raise ValueError("the pool is empty: there is nothing to ask about")
    if is_regressor(estimator):
        raise TypeError(
            f"{type(estimator).__name__} is neither a classifier nor a tagger; labels "
            "that are asked for are classes"
        )
    if is_classifier(estimator):
        return RowPool(X, n_items)
    return SequencePool(X)


class RowPool:
    """Rows of a list, an array, a matrix or a data frame; each counts as one word."""

    kind = ROWS

    def __init__(self, X, n_items):
        self._X = _sorted(X) if sparse.issparse(X) else X
        self.lengths = np.ones(n_items, dtype=np.int64)

    def __len__(self):
        return len(self.lengths)

    def take(self, positions):
        """Return the rows at these positions, in the form in which they came."""
        positions = np.asarray(positions, dtype=np.int64)
        if sparse.issparse(self._X):
            return self._X[positions]
        return _safe_indexing(self._X, positions)

    def features(self, positions):
        """Return which features each row has, as a sparse matrix of ones."""
        return _ones(sparse.csr_array(_numbers(self.take(positions))))

    def fingerprint(self):
        """Return a fingerprint of the pool."""
        X = self._X.to_numpy() if hasattr(self._X, "to_numpy") else self._X
        return digest_of([self.lengths, *(X if isinstance(X, list) else [X])])


class SequencePool:
    """Sequences of any form: a list, or a ``SequenceBatch`` or a relative as it is."""

    kind = SEQUENCES

    def __init__(self, X):
        is_ragged = isinstance(X, RaggedRows)
        self._X = X if is_ragged else object_rows(X)
        lengths = X.lengths if is_ragged else [_length(x) for x in self._X]
        self.lengths = np.array(lengths, dtype=np.int64)

    def __len__(self):
        return len(self.lengths)

    def take(self, positions):
        """Return the sequences at these positions, as a list or a batch."""
        found = self._X[np.asarray(positions, dtype=np.int64)]
        return list(found) if isinstance(found, np.ndarray) else found

    def features(self, positions):
        """Return which features each sequence has, as a sparse matrix of ones."""
        batch = self.take(positions)
        if not isinstance(batch, SequenceBatch):
            batch = encode_any(batch)
        batch = batch._compact()
        indptr = batch.indptr[batch.offsets]
        shape = len(batch), batch.n_features
        ones = np.ones(len(batch.indices))
        return _ones(sparse.csr_array((ones, batch.indices, indptr), shape=shape))

    def fingerprint(self):
        """Return a fingerprint of the pool."""
        parts = self._X
        if isinstance(parts, SequenceBatch):
            batch = parts._compact()
            parts = batch.indptr, batch.indices, batch.values
        return digest_of([self.lengths, *(part for part in parts if part is not None)])


def is_fitted(estimator):
    """Tell whether an estimator is fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    # sklearn-crfsuite has such an attribute from the start.
    learned = [value for name, value in vars(estimator).items() if name[-1:] == "_"]
    return not learned or any(value is not None for value in learned)


def digest_of(items):
    """Return a short hash of arrays, matrices and objects by ``repr``."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(_bytes(item))
    return digest.hexdigest()[:16]


def _length(sequence):
    if sparse.issparse(sequence):
        return sequence.shape[0]
    if isinstance(sequence, str) or not hasattr(sequence, "__len__"):
        raise TypeError(
            f"the pool holds {sequence!r}; for a tagger its items are sequences of "
            "tokens"
        )
    return len(sequence)


def _sorted(X):
    """Return sparse rows in the order that models want, which else sort them often."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _numbers(rows):
    try:
        return rows if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "max_overlap compares features, so the pool must be a matrix of numbers; "
            "vectorize the texts first"
        ) from None


def _ones(matrix):
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.data = np.ones(len(matrix.data))
    return matrix


def _bytes(item):
    if sparse.issparse(item):
        item = sparse.csr_array(item)
        return b"".join(a.tobytes() for a in (item.indptr, item.indices, item.data))
    if isinstance(item, np.ndarray) and item.dtype != object:
        return np.ascontiguousarray(item).tobytes()
    return repr(item.tolist() if isinstance(item, np.ndarray) else item).encode()
