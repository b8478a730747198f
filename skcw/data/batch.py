"""``SequenceBatch``: sequences in compiled form."""

from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw._util.limits import MOST_FEATURES
from skcw._util.ragged import (
    RaggedRows,
    check_steps,
    frozen,
    joined_ranges,
    offsets_of,
    own_copy,
    place_of,
)
from skcw.data.vocabulary import Vocabulary


class SequenceBatch(RaggedRows):
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

    def __init__(
        self,
        offsets: ArrayLike,
        indptr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike | None,
        n_features: int,
        vocabulary: Any = None,
    ) -> None:
        # Copies, for the arrays are the caller's, who may change them later.
        self._store(
            own_copy("offsets", offsets, np.int64),
            own_copy("indptr", indptr, np.int64),
            own_copy("indices", indices, np.int32),
            None if values is None else own_copy("values", values, np.float64),
            n_features,
            vocabulary,
        )
        self._check()

    @classmethod
    def _owning(cls, offsets, indptr, indices, values, n_features, vocabulary=None):
        """Return a batch of arrays without other owners, checked but not copied."""
        batch = cls._unchecked(offsets, indptr, indices, values, n_features, vocabulary)
        batch._check()
        return cls._unchecked(
            np.ascontiguousarray(offsets, dtype=np.int64),
            np.ascontiguousarray(indptr, dtype=np.int64),
            np.ascontiguousarray(indices, dtype=np.int32),
            None if values is None else np.ascontiguousarray(values, dtype=np.float64),
            n_features,
            vocabulary,
        )

    def _store(self, offsets, indptr, indices, values, n_features, vocabulary):
        """Keep read-only views: kernels rely on the checks."""
        self.offsets = frozen(offsets)
        self.indptr = frozen(indptr)
        self.indices = frozen(indices)
        self.values = None if values is None else frozen(values)
        self.n_features = n_features
        self.vocabulary = vocabulary

    def _check(self):
        """Raise unless the arrays fit together: kernels read them unchecked."""
        n = self.n_features
        if not isinstance(n, Integral) or not 0 <= n <= MOST_FEATURES:
            raise ValueError(
                f"n_features is {n!r}; it must be a whole number from 0 to "
                f"{MOST_FEATURES}"
            )
        if self.indices.ndim != 1:
            raise ValueError(
                f"indices has the shape {self.indices.shape}; it must be flat"
            )
        check_steps("indptr", self.indptr, len(self.indices))
        check_steps("offsets", self.offsets, len(self.indptr) - 1)
        if len(self.indices) and not (
            self.indices.min() >= 0 and self.indices.max() < self.n_features
        ):
            raise ValueError(f"indices must lie between 0 and {self.n_features - 1}")
        if self.values is not None and (
            self.values.shape != self.indices.shape
            or not np.isfinite(self.values).all()
        ):
            raise ValueError("values must be one finite number for each of indices")
        if not isinstance(self.vocabulary, Vocabulary | None):
            raise TypeError(
                f"vocabulary is {self.vocabulary!r}; it must be a Vocabulary or None"
            )
        if self.vocabulary is not None and len(self.vocabulary) != self.n_features:
            raise ValueError(
                f"n_features is {self.n_features}, but the vocabulary has "
                f"{len(self.vocabulary)} names"
            )

    @property
    def n_tokens(self):
        """The number of tokens in all."""
        return int(self.offsets[-1])

    @property
    def fingerprint(self):
        """A short hash of the names of the features."""
        if self.vocabulary is None:
            return f"columns-{self.n_features}"
        return self.vocabulary.fingerprint(self.n_features)

    def _row(self, position):
        """Return a batch of one sequence."""
        return self._slice(position, position + 1)

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
        return SequenceBatch._unchecked(
            offsets, indptr, indices, values, self.n_features, self.vocabulary
        )

    @classmethod
    def _unchecked(cls, offsets, indptr, indices, values, n_features, vocabulary=None):
        """Return a batch of arrays that are known to fit together."""
        batch = cls.__new__(cls)
        batch._store(offsets, indptr, indices, values, n_features, vocabulary)
        return batch

    def _compact(self):
        """Return the batch without the entries of a parent that it does not use."""
        first, last = int(self.indptr[0]), int(self.indptr[-1])
        if last - first == len(self.indices):
            return self
        return self._with(
            self.offsets,
            self.indptr - first,
            self.indices[first:last],
            None if self.values is None else self.values[first:last],
        )

    def _readable(self, unseen, unknown_feature):
        """Return the batch as a model reads that knows unknown tokens.

        Parameters
        ----------
        unseen : ndarray of int
            Features that the model has never seen: they are left out.
        unknown_feature : int
            The feature of every token that is then without any.

        Returns
        -------
        batch : SequenceBatch
            The batch, which knows one feature more than the model has.
        """
        batch = self._compact()
        if len(unseen):
            # One more, for a batch that has been through this already.
            known = np.ones(max(batch.n_features, unknown_feature + 1), dtype=bool)
            known[unseen] = False
            batch = batch._filtered(known[batch.indices])
        empty = np.flatnonzero(batch.indptr[1:] == batch.indptr[:-1])
        return batch._replaced(empty, unknown_feature)

    def _renumbered(self, indices, n_features, vocabulary=None):
        """Return the batch with other features in their places.

        Parameters
        ----------
        indices : ndarray of int32
            The feature number of each entry.
        n_features : int
            How many features there are.
        vocabulary : Vocabulary, default=None
            Their names, if they have any.

        Returns
        -------
        batch : SequenceBatch
            The batch with the same values.
        """
        return SequenceBatch._unchecked(
            self.offsets, self.indptr, indices, self.values, n_features, vocabulary
        )

    def _filtered(self, kept):
        """Return a compact batch with some of its entries.

        Parameters
        ----------
        kept : ndarray of bool
            Which entries to keep.

        Returns
        -------
        batch : SequenceBatch
            The batch with the others left out.
        """
        if kept.all():
            return self
        before = np.concatenate([[0], np.cumsum(kept)])
        return self._with(
            self.offsets,
            before[self.indptr],
            self.indices[kept],
            None if self.values is None else self.values[kept],
        )

    def _replaced(self, tokens, feature):
        """Return a compact batch with one feature in place of all those of tokens.

        Parameters
        ----------
        tokens : ndarray of int
            The positions of the tokens, ascending.
        feature : int
            The number of the feature, beyond the vocabulary perhaps.

        Returns
        -------
        batch : SequenceBatch
            The batch with these tokens changed.
        """
        if not len(tokens):
            return self
        counts = np.diff(self.indptr)
        kept = np.ones(self.n_tokens, dtype=bool)
        kept[tokens] = False
        entry_kept = np.repeat(kept, counts)
        counts[tokens] = 1
        indptr = offsets_of(counts)
        old = np.repeat(kept, counts)
        indices = np.full(indptr[-1], feature, dtype=np.int32)
        indices[old] = self.indices[entry_kept]
        values = None
        if self.values is not None:
            values = np.ones(indptr[-1], dtype=self.values.dtype)
            values[old] = self.values[entry_kept]
        return self._with(self.offsets, indptr, indices, values)

    def with_precision(self, dtype: Any) -> Self:
        """Return the batch with values of another type, all of which it can square."""
        if self.values is None:
            return self
        batch = self._compact()
        bad = np.flatnonzero(np.abs(batch.values) > np.sqrt(np.finfo(dtype).max))
        if len(bad):
            token = np.searchsorted(batch.indptr, bad[0], side="right") - 1
            raise ValueError(
                f"{place_of(token, batch.offsets)} has the feature value "
                f"{batch.values[bad[0]]}, too large for {np.dtype(dtype)}; scale the "
                "values"
            )
        return batch._with(
            batch.offsets,
            batch.indptr,
            batch.indices,
            batch.values.astype(dtype, copy=False),
        )

    def to_lists(self) -> list[Any]:
        """Return the tokens as lists of names, or as dicts when they have values."""
        if self._compact() is not self:
            return self._compact().to_lists()
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
        return vars(self._compact()).copy()

    def __setstate__(self, state):
        self._store(**state)

    def __repr__(self):
        return (
            f"SequenceBatch({len(self)} sequences, {self.n_tokens} tokens, "
            f"{self.n_features} features)"
        )
