"""Encode Python sequences as a batch."""

import sys
from itertools import chain

import numpy as np

from skcw._util.checks import (
    check_sequence,
    check_sparse,
    no_sequences,
    refuse_table,
)
from skcw._util.ragged import offsets_of
from skcw.data.batch import SequenceBatch
from skcw.data.encoding import TokenEncoder
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ForeignBatchError


def is_sparse(thing):
    """Return whether a thing is a sparse matrix, without importing SciPy for it."""
    # Whoever has a sparse matrix has imported SciPy.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(thing)


def is_numeric_sequence(sequence):
    """Return whether a sequence is a 2-D array or sparse matrix of numbers."""
    if is_sparse(sequence):
        return True
    return (
        isinstance(sequence, np.ndarray)
        and sequence.ndim == 2
        and sequence.dtype.kind in "biuf"
    )


def check_sequences(X):
    """Raise if X as a whole cannot be a collection of sequences."""
    refuse_table(X, "X")
    unordered = isinstance(X, (str, bytes, dict, set, frozenset))
    if unordered or not hasattr(X, "__iter__"):
        raise TypeError(no_sequences(X))
    if is_sparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
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
    for s, sequence in enumerate(X):
        check_sequence(sequence, s)
        encoder.add_sequence(sequence)
    if len(table) > known:
        vocabulary = Vocabulary(*table.freeze())
    return SequenceBatch._owning(*encoder.finish(), len(vocabulary), vocabulary)


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
        n_tokens, n_columns = sequence.shape
        if n_tokens or n_columns:
            n_features = n_columns if n_features is None else n_features
            if n_columns != n_features:
                raise ValueError(
                    f"sequence {s} has {n_columns} columns where {n_features} are "
                    "expected"
                )
        blocks.append(_entries(sequence, s))
    nothing = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))
    parts = zip(nothing, *blocks, strict=True)
    counts, columns, values = (np.concatenate(part) for part in parts)
    return SequenceBatch._owning(
        offsets_of([len(counts) for counts, _, _ in blocks]),
        offsets_of(counts),
        columns,
        values,
        n_features or 0,
    )


def _entries(sequence, s):
    """Return the number of entries of each row, their columns and their values."""
    if is_sparse(sequence):
        check_sparse(sequence, f"sequence {s}")
        block = sequence.tocsr().astype(np.float64, copy=True)
        # In the copy alone: the matrix is not ours to change.
        block.sum_duplicates()
        counts, columns, values = np.diff(block.indptr), block.indices, block.data
    else:
        values = sequence.astype(np.float64)
        rows, columns = np.nonzero(values)
        counts = np.bincount(rows, minlength=len(values))
        values = values[rows, columns]
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        token = np.searchsorted(np.cumsum(counts), bad[0], side="right")
        raise ValueError(
            f"sequence {s}, token {token}, column {columns[bad[0]]} is "
            f"{values[bad[0]]}; values must be finite"
        )
    return counts, columns, values


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
        if not hasattr(sequence, "__len__") or is_sparse(sequence):
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
        return batch._renumbered(batch.indices, len(vocabulary), vocabulary)
    return batch


def drop_rare(batch, min_count, n_known=0):
    """Return the batch without features that occur fewer than `min_count` times.

    The first `n_known` features stay, however rare.
    """
    if min_count <= 1:
        return batch
    if batch.vocabulary is None:
        raise ValueError("min_count needs named features; these are numeric columns")
    batch = batch._compact()
    counts = np.bincount(batch.indices, minlength=batch.n_features)
    keep = counts >= min_count
    keep[:n_known] = True
    number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    kept = batch._filtered(keep[batch.indices])
    vocabulary = batch.vocabulary.select(keep)
    return kept._renumbered(number[kept.indices], len(vocabulary), vocabulary)


def without_needless(batch, known):
    """Return a batch without the unknown features of tokens that have a known one.

    Parameters
    ----------
    batch : SequenceBatch
        The sequences.
    known : ndarray of bool, shape (n_features,)
        Which features were seen in training.

    Returns
    -------
    batch : SequenceBatch
        The sequences; unknown features are left where a token has no others.
    """
    batch = batch._compact()
    entry_known = known[batch.indices]
    before = np.concatenate([[0], np.cumsum(entry_known)])
    told = before[batch.indptr[1:]] > before[batch.indptr[:-1]]
    return batch._filtered(entry_known | ~np.repeat(told, np.diff(batch.indptr)))
