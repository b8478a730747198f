"""From Python sequences to a batch."""

from itertools import chain
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skcw._compat import Interval, _fit_context
from skcw.data._encoding import TokenEncoder
from skcw.data.batch import SequenceBatch
from skcw.data.ragged import offsets_of
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ForeignBatchError


def is_numeric_sequence(sequence):
    """Tell whether a sequence is a 2-D array or sparse matrix of numbers."""
    if sparse.issparse(sequence):
        return True
    return (
        isinstance(sequence, np.ndarray)
        and sequence.ndim == 2
        and sequence.dtype.kind in "biuf"
    )


def check_sequences(X):
    """Raise if X as a whole cannot be a collection of sequences."""
    if isinstance(X, (str, bytes, dict, set)) or not hasattr(X, "__iter__"):
        raise TypeError(f"X is a {type(X).__name__}, not a list of sequences")
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        raise TypeError(
            "X is one 2-D array; a tagger takes a list with one 2-D array (or list "
            "of tokens) for each sequence"
        )
    return X


def encode_names(X, vocabulary, grow):
    """Return a batch of symbolic sequences; its vocabulary holds any new names."""
    table = vocabulary.table(grow=grow)
    known = len(table)
    encoder = TokenEncoder(table, grow)
    for sequence in X:
        encoder.add_sequence(sequence)
    if len(table) > known:
        vocabulary = Vocabulary(*table.freeze())
    return SequenceBatch(*encoder.finish(), len(vocabulary), vocabulary)


def encode_columns(X, n_features=None):
    """Return a batch of numeric sequences; every column is a feature."""
    blocks = []
    for s, sequence in enumerate(X):
        if not is_numeric_sequence(sequence):
            if not hasattr(sequence, "__len__") or len(sequence):
                raise TypeError(
                    f"sequence {s} is a {type(sequence).__name__}, but others are 2-D "
                    "arrays of numbers"
                )
            sequence = np.empty((0, n_features or 0))
        block = sparse.csr_matrix(sequence, dtype=np.float64)
        if block.shape[0] or block.shape[1]:
            n_features = block.shape[1] if n_features is None else n_features
            _check_block(block, s, n_features)
        blocks.append(block)
    n_features = n_features or 0
    lengths = [block.shape[0] for block in blocks]
    rows = [block for block in blocks if block.shape[0]]
    joined = (
        sparse.vstack(rows, format="csr")
        if rows
        else sparse.csr_matrix((0, n_features))
    )
    joined.sum_duplicates()
    return SequenceBatch(
        offsets_of(lengths),
        joined.indptr.astype(np.int64),
        joined.indices.astype(np.int32),
        joined.data,
        n_features,
    )


def _check_block(block, s, n_features):
    if block.shape[1] != n_features:
        raise ValueError(
            f"sequence {s} has {block.shape[1]} columns where {n_features} are expected"
        )
    bad = np.flatnonzero(~np.isfinite(block.data))
    if len(bad):
        token = np.searchsorted(block.indptr, bad[0], side="right") - 1
        raise ValueError(
            f"sequence {s}, token {token}, column {block.indices[bad[0]]} is "
            f"{block.data[bad[0]]}; values must be finite"
        )


def encode_any(X, vocabulary=None, grow=True, n_columns=None):
    """Return a batch from any input form.

    ``vocabulary`` and ``n_columns`` say what is known already: at most one of the
    two is given, and decides the form that X must have.
    """
    sequences = iter(check_sequences(X))
    head = []
    # Empty sequences do not show which form X has.
    for sequence in sequences:
        head.append(sequence)
        if not hasattr(sequence, "__len__") or sparse.issparse(sequence):
            break
        if len(sequence):
            break
    numeric = bool(head) and is_numeric_sequence(head[-1])
    everything = chain(head, sequences)
    if vocabulary is not None and numeric:
        raise TypeError(
            f"sequence {len(head) - 1} is a 2-D array, but the vocabulary is one of "
            "feature strings"
        )
    if n_columns is not None or (numeric and vocabulary is None):
        return encode_columns(everything, n_columns)
    return encode_names(everything, vocabulary or Vocabulary.empty(), grow)


def check_batch(batch, vocabulary, n_features):
    """Raise if a batch was made by an encoder with other feature numbers.

    Return it with the longer of the two vocabularies.
    """
    if vocabulary is None or batch.vocabulary is None:
        same = vocabulary is batch.vocabulary and batch.n_features == n_features
    else:
        same = batch.vocabulary.agrees_with(vocabulary)
    if not same:
        raise ForeignBatchError(
            f"this {batch!r} was made by another encoder: its feature numbers mean "
            "something else here. Encode with the encoder used for fit, or with "
            "tagger.encode"
        )
    if vocabulary is not None and len(vocabulary) > batch.n_features:
        return batch.adopt(vocabulary)
    return batch


def drop_rare(batch, min_count, n_known=0):
    """Return the batch without features that occur fewer than `min_count` times.

    The first `n_known` features stay, however rare.
    """
    if min_count <= 1:
        return batch
    if batch.vocabulary is None:
        raise ValueError("min_count needs named features; these are numeric columns")
    batch = batch.compact()
    counts = np.bincount(batch.indices, minlength=batch.n_features)
    keep = counts >= min_count
    keep[:n_known] = True
    number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    kept = keep[batch.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    vocabulary = batch.vocabulary.select(keep)
    return SequenceBatch(
        batch.offsets,
        before[batch.indptr].astype(np.int64),
        number[batch.indices[kept]],
        None if batch.values is None else batch.values[kept],
        len(vocabulary),
        vocabulary,
    )


# A batch is no table: scikit-learn must not wrap it in a data frame.
class SequenceEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Turn sequences of tokens into a :class:`SequenceBatch`.

    A token is a list of feature strings, a dict as sklearn-crfsuite takes it (a
    string value joins its name as ``name:value``), or one plain string. A sequence
    may also be a 2-D array or sparse matrix of numbers, one row a token.

    Encode once and pass the batch to several fits, or put the encoder first in a
    pipeline. Features first seen in ``transform`` are left out.

    Parameters
    ----------
    min_count : int, default=1
        Features that occur fewer times in ``fit`` are left out.

    Attributes
    ----------
    vocabulary_ : Vocabulary or None
        The feature names; None for numeric columns.
    n_features_out_ : int
        The number of features.

    See Also
    --------
    SequenceBatch : What it makes.

    Examples
    --------
    >>> from skcw.data import SequenceEncoder
    >>> encoder = SequenceEncoder()
    >>> encoder.fit_transform([[["w=a", "cap"], ["w=b"]], [{"w": "a"}]])
    SequenceBatch(2 sequences, 3 tokens, 4 features)
    >>> encoder.get_feature_names_out()
    array(['w=a', 'cap', 'w=b', 'w:a'], dtype=object)
    """

    _parameter_constraints: dict = {
        "min_count": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, min_count=1):
        self.min_count = min_count

    def fit(self, X, y=None):
        """Learn the features.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        y : None
            Ignored.

        Returns
        -------
        self : SequenceEncoder
            The fitted encoder.
        """
        self.fit_transform(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Learn the features and return the encoded sequences.

        Parameters
        ----------
        X : iterable of sequences
            The sequences; a ``SequenceBatch`` keeps its features.
        y : None
            Ignored.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        batch = X if isinstance(X, SequenceBatch) else encode_any(X)
        batch = drop_rare(batch, self.min_count)
        self.vocabulary_ = batch.vocabulary
        self.n_features_out_ = batch.n_features
        return batch

    def transform(self, X):
        """Encode sequences; features not known are left out.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        check_is_fitted(self)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary_, self.n_features_out_)
        columns = self.n_features_out_ if self.vocabulary_ is None else None
        return encode_any(X, self.vocabulary_, grow=False, n_columns=columns)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of object
            One name per feature.
        """
        check_is_fitted(self)
        if self.vocabulary_ is None:
            return np.array([f"x{i}" for i in range(self.n_features_out_)], object)
        return np.array(self.vocabulary_.names(), dtype=object)
