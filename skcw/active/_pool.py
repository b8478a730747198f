"""``Pool``: rows or sequences that are taken by position, whatever holds them."""

import hashlib

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skcw._compat import _safe_indexing
from skcw.data._batch import SequenceBatch
from skcw.data._encoder import encode_any
from skcw.data._ragged import RaggedRows, object_rows


class Pool:
    """What may be asked about: rows of a classifier or sequences of a tagger.

    Parameters
    ----------
    X : rows or sequences
        As the estimator takes them; lists, arrays, sparse matrices and batches.
    estimator : tagger or classifier
        What will learn from them. For a classifier each item is a row and counts as
        one word; for anything else it is a sequence.

    Attributes
    ----------
    has_sequences : bool
        Whether the items are sequences.
    lengths : ndarray of int64, shape (n_items,)
        The number of words of each item; ones for rows.
    """

    def __init__(self, X, estimator):
        self.has_sequences = not is_classifier(estimator)
        usable = np.iterable(X) or sparse.issparse(X)
        if usable and not (hasattr(X, "__len__") or sparse.issparse(X)):
            X = list(X)
        self._X = X
        if not usable or isinstance(X, (str, bytes, dict, set)):
            raise TypeError(
                f"the pool is a {type(X).__name__}; it must be a list, an array or a "
                "matrix of items that have an order"
            )
        self._X = _sorted(self._X)
        n_items = self._X.shape[0] if hasattr(self._X, "shape") else len(self._X)
        if not n_items:
            raise ValueError("the pool is empty: there is nothing to ask about")
        if not self.has_sequences:
            self.lengths = np.ones(n_items, dtype=np.int64)
        elif isinstance(self._X, RaggedRows):
            self.lengths = np.asarray(self._X.lengths, dtype=np.int64)
        else:
            self.lengths = np.array([_length(x) for x in self._X], dtype=np.int64)

    def __len__(self):
        return len(self.lengths)

    def take(self, positions):
        """Return the items at these positions, in the form in which they came."""
        positions = np.asarray(positions, dtype=np.int64)
        if isinstance(self._X, RaggedRows):
            return self._X[positions]
        if isinstance(self._X, list) and self.has_sequences:
            return [self._X[i] for i in positions]
        return _safe_indexing(self._X, positions)

    def features(self, positions):
        """Return which features each item has, as a sparse matrix of ones."""
        items = self.take(positions)
        if not self.has_sequences:
            return _ones(sparse.csr_array(_numbers(items)))
        batch = items if isinstance(items, SequenceBatch) else encode_any(items)
        batch = batch.compact()
        indptr = batch.indptr[batch.offsets]
        shape = len(batch), batch.n_features
        ones = np.ones(len(batch.indices))
        return _ones(sparse.csr_array((ones, batch.indices, indptr), shape=shape))

    def fingerprint(self):
        """Return a hash that tells this pool from others."""
        X = self._X
        if isinstance(X, SequenceBatch):
            X = X.compact()
            parts = X.indptr, X.indices, X.values
            items = [part for part in parts if part is not None]
        elif hasattr(X, "to_numpy"):
            items = [X.to_numpy()]
        elif sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype != object):
            items = [X]
        else:
            items = X
        return digest_of([self.lengths, *items])


def as_items(y):
    """Return a list of labels or of label sequences as one object per item."""
    return y if isinstance(y, np.ndarray) and y.dtype != object else object_rows(y)


def is_one_label(label):
    """Tell a label from a sequence of labels."""
    return isinstance(label, str) or not hasattr(label, "__len__")


def is_fitted(estimator):
    """Tell whether an estimator can be asked."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


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
    if not sparse.issparse(X) or X.ndim != 2:
        return X
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
