"""Predictions of a reranked tagger: sums over the candidates of each sequence."""

from functools import cached_property

import numpy as np

from skcw._util.ragged import offsets_of
from skcw.confidence.methods import Method
from skcw.confidence.predictions import Layer, ModelLayer, check_n
from skcw.confidence.settings import ModelConfidence
from skcw.confidence.tallies import span_tally
from skcw.data.labels import encode_labels


class ScoredCandidates:
    """The candidates of some sequences under a reranker, best first.

    Parameters
    ----------
    lengths : sequence of int
        The number of tokens of each sequence.
    classes : list of str
        The labels.
    make : callable
        Returns the candidate lists, the totals of all candidates and their
        probabilities; it is called once, when something is asked.

    Attributes
    ----------
    offsets, lengths : ndarray of int64
        Where each sequence begins, and how many tokens it has.
    """

    def __init__(self, lengths, classes, make):
        self.offsets = offsets_of(lengths)
        self.lengths = np.diff(self.offsets)
        self.classes = classes
        self._make = make

    def __len__(self):
        return len(self.lengths)

    @property
    def n_labels(self):
        """The number of labels."""
        return len(self.classes)

    @property
    def n_tokens(self):
        """The number of tokens of all sequences."""
        return int(self.offsets[-1])

    @cached_property
    def ranked(self):
        """Codes (rank, token), totals and probabilities (sequence, rank)."""
        lists, totals, probabilities = self._make()
        most = int(lists.lengths.max(initial=1))
        codes = np.full((most, self.n_tokens), -1, dtype=np.int32)
        total = np.full((len(self), most), -np.inf)
        share = np.zeros((len(self), most))
        rows = zip(lists.rows(totals), lists.rows(probabilities), strict=True)
        for s, (mine, sure) in enumerate(rows):
            order = np.argsort(-mine, kind="stable")
            n = len(order)
            total[s, :n], share[s, :n] = mine[order], sure[order]
            labelings = [lists.labelings[s][j] for j in order]
            flat, _, _ = encode_labels(labelings, self.classes, grow=False)
            tokens = slice(self.offsets[s], self.offsets[s + 1])
            codes[:n, tokens] = flat.reshape(n, -1)
        return codes, total, share

    def viterbi(self):
        """Return the codes of the chosen candidates, and their totals."""
        codes, total, _ = self.ranked
        return codes[0], total[:, 0]

    def most_labelings(self):
        """Return how many candidates a sequence has at most."""
        return len(self.ranked[0])

    def k_best(self, k):
        """Return the k best: codes (k, n_tokens), totals and numbers."""
        codes, total, _ = self.ranked
        found = np.isfinite(total[:, :k]).sum(axis=1)
        return codes[:k], total[:, :k], found


def _marginal(scored, codes, settings):
    """Return what the candidates with a label have of all probability."""
    labels, _, share = scored.ranked
    share = np.repeat(share, scored.lengths, axis=0).T
    if codes is not None:
        return np.minimum(((labels == codes) * share).sum(axis=0), 1.0)
    every = range(scored.n_labels)
    table = [((labels == code) * share).sum(axis=0) for code in every]
    table = np.stack(table, axis=1)
    return table / table.sum(axis=1, keepdims=True)


def _spans(scored, codes, spans, borders, settings):
    """Return what the candidates that agree on each span have of it."""
    labels, _, share = scored.ranked
    owner = np.searchsorted(scored.offsets, spans[0], side="right") - 1
    whole = slice(0, scored.n_tokens), slice(0, len(scored))
    sure = np.zeros(len(owner))
    for rank in range(len(labels)):
        tally = span_tally(codes, spans, scored.offsets, borders)
        tally(labels[rank : rank + 1], *whole)
        sure += tally.spans * share[owner, rank]
    return np.minimum(sure, 1.0)


def _sequences(scored, codes, settings):
    return np.minimum(scored.ranked[2][:, 0], 1.0)


def _pairs(scored, left, right, settings):
    """Return what the candidates with a pair of labels have, token by token."""
    labels, _, share = scored.ranked
    share = np.repeat(share, scored.lengths, axis=0).T
    table = np.zeros((scored.n_tokens, len(left)))
    for k, (i, j) in enumerate(zip(left, right, strict=True)):
        both = (labels[:, :-1] == i) & (labels[:, 1:] == j)
        table[:-1, k] = (both * share[:, :-1]).sum(axis=0)
    return np.minimum(table, 1.0)


METHODS = {
    "marginal": Method(
        _marginal, True, spans=_spans, sequences=_sequences, pairs=_pairs
    )
}


class NoWeights:
    """Stands where other models have a belief over weights."""

    variance = None


class RerankedLayer(Layer):
    """The answers of a reranker, whose probabilities are of whole candidates.

    Parameters
    ----------
    scored : ScoredCandidates
        The candidates of the sequences.
    classes : list of str
        The labels.
    """

    def __init__(self, scored, classes):
        model = ModelConfidence(NoWeights, methods=METHODS)
        super().__init__(ModelLayer(scored, model, classes))

    def labeling_shares(self, n):
        """Yield how probable the reranker thinks each of the n best is among them."""
        _, total, share = self.scored.ranked
        found = np.isfinite(total[:, :n]).sum(axis=1).tolist()
        for row, size in zip(share, found, strict=True):
            yield row[:size] / row[:size].sum()

    def sampled(self, n, unit_variance, options):
        """Return the codes of n candidates drawn with their probabilities."""
        if unit_variance is not None or set(options) - {"random_state"}:
            raise TypeError(
                "draws among candidates have no option but random_state; they draw no "
                "weights"
            )
        seed = self.model.draw_seed(options.get("random_state"))
        # Each sequence is drawn for itself, with the same numbers.
        drawn = np.random.default_rng(seed).random(check_n(n))
        codes, total, share = self.scored.ranked
        last = np.maximum(np.isfinite(total).sum(axis=1) - 1, 0)
        rank = (np.cumsum(share, axis=1)[:, :, None] <= drawn).sum(axis=1)
        rank = np.repeat(np.minimum(rank, last[:, None]), self.scored.lengths, axis=0)
        return np.take_along_axis(codes, rank.T, axis=0)
