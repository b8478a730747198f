"""Pools: rows or sequences that are taken by position, whatever holds them."""

import hashlib

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skcw._compat import _safe_indexing
from skcw.active._labels import ROWS, SEQUENCES
from skcw.data._batch import SequenceBatch
from skcw.data._encoder import encode_any
from skcw.data._ragged import RaggedRows, object_rows


def read_pool(X, estimator):
    """Return what may be asked about: rows of a classifier or sequences of a tagger.

    Parameters
    ----------
    X : rows or sequences
        As the estimator takes them; lists, arrays, sparse matrices and batches.
    estimator : tagger or classifier
        What will learn from them. For a classifier each item is a row and counts as
        one word; for anything else it is a sequence.

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
    if isinstance(X, RaggedRows):
        return BatchPool(X)
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
        """Return a hash that tells this pool from others."""
        X = self._X.to_numpy() if hasattr(self._X, "to_numpy") else self._X
        return digest_of([self.lengths, *(X if isinstance(X, list) else [X])])


class SequencePool:
    """Sequences of any form, as a list."""

    kind = SEQUENCES

    def __init__(self, X):
        self._X = object_rows(X)
        self.lengths = np.array([_length(x) for x in self._X], dtype=np.int64)

    def __len__(self):
        return len(self.lengths)

    def take(self, positions):
        """Return the sequences at these positions, as a list."""
        return list(self._X[np.asarray(positions, dtype=np.int64)])

    def features(self, positions):
        """Return which features each sequence has, as a sparse matrix of ones."""
        return _features_of(encode_any(self.take(positions)))

    def fingerprint(self):
        """Return a hash that tells this pool from others."""
        return digest_of([self.lengths, *self._X])


class BatchPool(SequencePool):
    """The sequences of a ``SequenceBatch`` or a relative, which are not listed."""

    def __init__(self, X):
        self._X = X
        self.lengths = np.asarray(X.lengths, dtype=np.int64)

    def take(self, positions):
        """Return the sequences at these positions, as a batch."""
        return self._X[np.asarray(positions, dtype=np.int64)]

    def features(self, positions):
        """Return which features each sequence has, as a sparse matrix of ones."""
        batch = self.take(positions)
        is_encoded = isinstance(batch, SequenceBatch)
        return _features_of(batch if is_encoded else encode_any(batch))

    def fingerprint(self):
        """Return a hash that tells this pool from others."""
        if not isinstance(self._X, SequenceBatch):
            return super().fingerprint()
        batch = self._X.compact()
        parts = batch.indptr, batch.indices, batch.values
        return digest_of([self.lengths, *(part for part in parts if part is not None)])


def is_fitted(estimator):
    """Tell whether an estimator can be asked."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    # sklearn-crfsuite has such an attribute from the start.
    learnt = [value for name, value in vars(estimator).items() if name[-1:] == "_"]
    return not learnt or any(value is not None for value in learnt)


def digest_of(items):
    """Return a short hash of arrays, matrices and what ``repr`` tells all of."""
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


def _features_of(batch):
    batch = batch.compact()
    indptr = batch.indptr[batch.offsets]
    shape = len(batch), batch.n_features
    ones = np.ones(len(batch.indices))
    return _ones(sparse.csr_array((ones, batch.indices, indptr), shape=shape))


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
