"""Counts of a hidden Markov model, and the weights that follow from them."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcw._belief import Belief, padded
from skcw.data._saved import saved_array

# What a label that has no token counts: it stays possible.
UNSEEN_LABEL = 0.5


class Counts(NamedTuple):
    """How often everything was seen, each token counting its sequence's weight.

    Parameters
    ----------
    features : csr_matrix of shape (n_features, n_labels)
        The summed values of each feature at tokens of each label.
    labels : ndarray of shape (n_labels,)
        The tokens of each label.
    transitions : ndarray of shape (n_labels, n_labels)
        The pairs of neighbours.
    borders : ndarray of shape (2, n_labels)
        The first, and the last tokens of a sequence.
    """

    features: sparse.csr_matrix
    labels: np.ndarray
    transitions: np.ndarray
    borders: np.ndarray

    def plus(self, other):
        """Return the sum with later counts, which may know more labels and features."""
        n = len(self.labels)
        features = self.features.copy()
        features.resize(other.features.shape)
        labels, transitions = other.labels.copy(), other.transitions.copy()
        borders = other.borders.copy()
        labels[:n] += self.labels
        transitions[:n, :n] += self.transitions
        borders[:, :n] += self.borders
        return Counts(_sorted(features + other.features), labels, transitions, borders)

    def arrays(self):
        """Return the arrays by name, for saving."""
        features = self.features
        return {
            "count.data": features.data,
            "count.indices": features.indices,
            "count.indptr": features.indptr,
            "count.labels": self.labels,
            "count.transitions": self.transitions,
            "count.borders": self.borders,
        }

    @classmethod
    def restored(cls, arrays, n_labels):
        """Return counts from saved arrays; raise unless they fit together."""
        integers = "i4", "i8"
        data = _saved_counts(arrays, "data", None)
        indices = saved_array(arrays, "count.indices", integers, (None,))
        indptr = saved_array(arrays, "count.indptr", integers, (None,))
        shape = len(indptr) - 1, n_labels
        features = sparse.csr_matrix((data, indices, indptr), shape=shape)
        features.check_format(full_check=True)
        return cls(
            features,
            _saved_counts(arrays, "labels", n_labels),
            _saved_counts(arrays, "transitions", n_labels, n_labels),
            _saved_counts(arrays, "borders", 2, n_labels),
        )


def _saved_counts(arrays, name, *shape):
    """Return counts of a model; raise unless they can be counts."""
    found = saved_array(arrays, f"count.{name}", ("f8",), shape)
    if (found < 0).any():
        raise ValueError(f"a count among the {name} is negative")
    return found


def _sorted(features):
    """Return a CSR array in the one order that its content can have."""
    features = features.tocsr()
    features.sort_indices()
    return features


def count(data, n_labels):
    """Return the counts of labelled sequences.

    Parameters
    ----------
    data : Examples
        The sequences, the codes of their labels and their weights.
    n_labels : int
        The number of labels.

    Returns
    -------
    counts : Counts
        The counts.
    """
    batch, codes = data.batch.compact(), data.codes
    weight = np.ones(len(batch)) if data.weight is None else data.weight
    weight = np.repeat(weight, batch.lengths)
    sizes = np.diff(batch.indptr)
    mass = np.repeat(weight, sizes)
    if batch.values is not None:
        mass = mass * batch.values
    where = batch.indices, np.repeat(codes, sizes)
    features = sparse.coo_matrix((mass, where), shape=(batch.n_features, n_labels))
    follows = np.ones(len(codes), dtype=bool)
    full = batch.lengths > 0
    first, last = batch.offsets[:-1][full], batch.offsets[1:][full] - 1
    follows[first] = False
    after = np.flatnonzero(follows)
    pairs = codes[after - 1] * np.int64(n_labels) + codes[after]
    transitions = _tally(pairs, weight[after], n_labels * n_labels)
    borders = [_tally(codes[at], weight[at], n_labels) for at in (first, last)]
    return Counts(
        _sorted(features),
        _tally(codes, weight, n_labels),
        transitions.reshape(n_labels, n_labels),
        np.array(borders),
    )


def _tally(codes, weight, n_codes):
    """Return the summed weight of each code, in double even of nothing."""
    return np.bincount(codes, weight, n_codes).astype(np.float64)


def label_prior(counts):
    """Return the share of each label among all tokens, by their counts; never 0."""
    seen = np.where(counts > 0, counts, UNSEEN_LABEL)
    return seen / seen.sum()


class LogProbabilities(Belief):
    """Weights that are logarithms of probabilities, and of quotients of them."""

    # A draw is off by about one in the exponent, whatever the corpus: the usual scale
    # of 4 makes it a variance of 0.9, which was best on tweets and on EWT alike. Rare
    # words have large negative weights that say nothing on how far draws should go.
    own_unit = 0.225


def hmm_belief(counts, seen, shares, word_smoothing, transition_smoothing):
    """Return the weights of a hidden Markov model.

    With P(j) the prior of label j, the row of a feature f is log P(j | f) / P(j), which
    is log P(f | j) but for a constant; those of transitions and of first tokens are
    log P(j | i) and log P(j | first), that of last tokens is log P(j | last) / P(j).
    The rows of first and last tokens follow the blank one; then come the features.

    Parameters
    ----------
    counts : Counts
        The counts.
    seen : ndarray of int
        The features that get a row.
    shares : ndarray of shape (n_seen, n_labels)
        What is known of P(j | f) before f was seen.
    word_smoothing : float
        How many tokens that knowledge is worth.
    transition_smoothing : float
        How many tokens the prior is worth beside the label before.

    Returns
    -------
    belief : Belief
        The weights.
    """
    prior, n_labels = label_prior(counts.labels), len(counts.labels)
    width = padded(n_labels)
    rows = np.zeros((width + 3 + len(seen), width))
    rows[:n_labels, :n_labels] = _after(counts.transitions, prior, transition_smoothing)
    first, last = _after(counts.borders, prior, transition_smoothing)
    rows[width + 1, :n_labels] = first
    rows[width + 2, :n_labels] = last - np.log(prior)
    own = counts.features[seen].toarray()
    total = own.sum(axis=1, keepdims=True) + word_smoothing
    given = (own + word_smoothing * shares) / total
    rows[width + 3 :, :n_labels] = np.log(given / prior)
    row_of = np.full(counts.features.shape[0], width, dtype=np.int32)
    row_of[seen] = np.arange(width + 3, len(rows), dtype=np.int32)
    return LogProbabilities(n_labels, row_of, rows.ravel(), None, None, 0.0)


def _after(counts, prior, smoothing):
    """Return log P(label | row), the prior counting as so many tokens."""
    total = counts.sum(axis=1, keepdims=True) + smoothing
    return np.log((counts + smoothing * prior) / total)
