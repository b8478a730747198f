"""Sequences in compiled form."""

from itertools import pairwise

import numpy as np

from skcw.data.ragged import joined_ranges, offsets_of


class SequenceBatch:
    """Encoded sequences: rows of feature numbers per token, frozen.

    Made by :class:`SequenceEncoder` (or ``tagger.encode``). It has a length, can be
    indexed, sliced and fancy-indexed like an array of sequences without encoding
    anything again, and so passes through cross-validation in compiled form.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Sequence s owns the tokens ``offsets[s]`` to ``offsets[s + 1]``.
    indptr : ndarray of int64, shape (n_tokens + 1,)
        Token t owns the entries ``indptr[t]`` to ``indptr[t + 1]``.
    indices : ndarray of int32
        The feature number of each entry.
    values : ndarray of float64 or None
        The value of each entry; None when all are one.
    n_features : int
        How many features the encoder knew.
    vocabulary : Vocabulary or None
        The names of the features; None for numeric columns.

    Attributes
    ----------
    shape : tuple
        ``(n_sequences,)``, which lets scikit-learn index a batch like an array.

    Examples
    --------
    >>> from skcw.data import SequenceEncoder
    >>> batch = SequenceEncoder().fit_transform([["the", "cat"], ["sat"]])
    >>> batch
    SequenceBatch(2 sequences, 3 tokens, 3 features)
    >>> batch[1:].lengths
    array([1])
    """

    def __init__(self, offsets, indptr, indices, values, n_features, vocabulary=None):
        self.offsets = offsets
        self.indptr = indptr
        self.indices = indices
        self.values = values
        self.n_features = n_features
        self.vocabulary = vocabulary
        for array in (offsets, indptr, indices, values):
            if array is not None:
                array.flags.writeable = False

    @property
    def shape(self):
        """One axis, which lets scikit-learn index a batch like an array."""
        return (len(self),)

    @property
    def n_tokens(self):
        """The number of tokens in all."""
        return int(self.offsets[-1])

    @property
    def lengths(self):
        """The number of tokens of each sequence."""
        return np.diff(self.offsets)

    @property
    def fingerprint(self):
        """A short hash of what the feature numbers mean."""
        if self.vocabulary is None:
            return f"columns-{self.n_features}"
        return self.vocabulary.fingerprint(self.n_features)

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, key):
        if isinstance(key, tuple):
            key = self._first_axis(key)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._slice(start, max(start, stop))
            key = np.arange(start, stop, step)
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"no sequence {key} in a batch of {len(self)}")
            key = int(key) % len(self)
            return self._slice(key, key + 1)
        return self._take(self._positions(key))

    @staticmethod
    def _first_axis(key):
        """Accept ``batch[key, ...]``, the form scikit-learn uses for arrays."""
        if len(key) != 2 or key[1] is not Ellipsis:
            raise IndexError("a SequenceBatch has one axis")
        return key[0]

    def _positions(self, key):
        key = np.asarray(key)
        if key.dtype == bool:
            if len(key) != len(self):
                raise IndexError(
                    f"a mask of {len(key)} for a batch of {len(self)} sequences"
                )
            return np.flatnonzero(key)
        key = key.astype(np.int64) if key.size == 0 else key
        if key.ndim != 1 or not np.issubdtype(key.dtype, np.integer):
            raise IndexError("index a SequenceBatch by integers, a slice or a mask")
        if key.size and (key.min() < -len(self) or key.max() >= len(self)):
            raise IndexError(f"index out of range for a batch of {len(self)} sequences")
        return np.where(key < 0, key + len(self), key)

    def _slice(self, start, stop):
        """Return a view: no entry is copied."""
        first, last = self.offsets[start], self.offsets[stop]
        return self._with(
            self.offsets[start : stop + 1] - first,
            self.indptr[first : last + 1],
            self.indices,
            self.values,
        )

    def _take(self, positions):
        lengths = self.lengths[positions]
        tokens = joined_ranges(self.offsets[positions], lengths)
        starts = self.indptr[tokens]
        counts = self.indptr[tokens + 1] - starts
        entries = joined_ranges(starts, counts)
        return self._with(
            offsets_of(lengths),
            offsets_of(counts),
            self.indices[entries],
            None if self.values is None else self.values[entries],
        )

    def _with(self, offsets, indptr, indices, values):
        return SequenceBatch(
            offsets, indptr, indices, values, self.n_features, self.vocabulary
        )

    def values_as(self, dtype):
        """Return the values in another precision, or None when all are one."""
        return None if self.values is None else self.values.astype(dtype, copy=False)

    def to_lists(self):
        """Return the tokens as lists of names, or as dicts when they have values."""
        names = self._names()
        entries = [names[i] for i in self.indices.tolist()]
        ends = self.indptr.tolist()
        if self.values is None:
            tokens = [entries[a:b] for a, b in pairwise(ends)]
        else:
            values = self.values.tolist()
            tokens = [
                dict(zip(entries[a:b], values[a:b], strict=True))
                for a, b in pairwise(ends)
            ]
        offsets = self.offsets.tolist()
        return [tokens[a:b] for a, b in pairwise(offsets)]

    def _names(self):
        if self.vocabulary is None:
            return [f"x{i}" for i in range(self.n_features)]
        return self.vocabulary.names()

    def __getstate__(self):
        """Leave out the entries of the parent that a sliced view does not use."""
        state = self.__dict__.copy()
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        state["indptr"] = self.indptr - first
        state["indices"] = self.indices[first:last]
        if self.values is not None:
            state["values"] = self.values[first:last]
        return state

    def __repr__(self):
        return (
            f"SequenceBatch({len(self)} sequences, {self.n_tokens} tokens, "
            f"{self.n_features} features)"
        )
