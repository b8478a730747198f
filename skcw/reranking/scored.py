"""Predictions of a reranked tagger: sums over the candidates of each sequence."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from skcw._util.ragged import offsets_of, split_rows
from skcw.confidence.methods import Method
from skcw.confidence.predictions import Layer, ModelLayer, check_n
from skcw.confidence.settings import ModelConfidence
from skcw.confidence.tallies import span_tally
from skcw.data.labels import encode_labels
from skcw.data.saved import saved_number


class Confidence(NamedTuple):
    """What turns the probabilities of candidates into confidence in labels.

    Parameters
    ----------
    temperature : float, default=1.0
        What logarithms of probabilities are divided by.
    base_share : float, default=0.0
        How much of the confidence in a label is that of the base tagger: candidates
        know nothing of labels that none of them has.
    """

    temperature: float = 1.0
    base_share: float = 0.0

    def tempered(self, probabilities, starts, lengths):
        """Return the probabilities of candidates, which sum to one in each list."""
        if self.temperature == 1.0 or not len(starts):
            return probabilities
        most = np.repeat(np.maximum.reduceat(probabilities, starts), lengths)
        power = (probabilities / most) ** (1.0 / self.temperature)
        return power / np.repeat(np.add.reduceat(power, starts), lengths)

    @classmethod
    def of_saved(cls, temperature, base_share):
        """Return the confidence of a model file; raise unless it can be used."""
        return cls(
            saved_number(temperature, "the temperature", TEMPERATURES[0]),
            saved_number(base_share, "the share of the base tagger", 0, 1),
        )


class RerankedWords:
    """Words held out, as a reranker and the base tagger see them.

    Parameters
    ----------
    rows : list of CodedNbest
        The candidates of each sentence.
    best : list of int
        The chosen ones.
    shares : list of ndarray of float64
        The probabilities of the candidates.
    sentences : Sentences
        The sentences, with the true labels and weights.
    answers : Predictions
        The answers of a base tagger that has not seen them.
    labels : list of str
        The labels of the numbers.

    Attributes
    ----------
    base : ndarray of float64
        The confidence of the base tagger in each chosen label.
    right : ndarray of bool
        Whether it is right.
    weight : ndarray of float64
        How much it counts.
    """

    def __init__(self, rows, best, shares, sentences, answers, labels):
        self.sizes = np.array([len(share) for share in shares])
        self.shares = np.concatenate([np.empty(0), *shares])
        chosen = [row.codes[j] for row, j in zip(rows, best, strict=True)]
        agree = [row.codes == one for row, one in zip(rows, chosen, strict=True)]
        lengths = np.array([len(one) for one in chosen])
        pairs = [np.nonzero(one) for one in agree]
        firsts = zip(offsets_of(self.sizes), offsets_of(lengths), pairs, strict=False)
        both = [(c + pair[0], t + pair[1]) for c, t, pair in firsts]
        self.candidate, self.token = (
            np.concatenate([np.empty(0, np.int64), *part])
            for part in zip(*both, strict=True)
        )
        codes, self.n_tokens = np.concatenate(chosen), int(lengths.sum())
        true, _, _ = encode_labels(sentences.y, labels, grow=False)
        self.right = codes == true
        names = split_rows(np.array(labels, dtype=object)[codes], offsets_of(lengths))
        sure = answers.label_confidence([row.tolist() for row in names])
        self.base = np.concatenate(sure)
        self.weight = np.repeat(sentences.weights(), lengths)

    def sure(self, confidence):
        """Return how probable the candidates with each chosen label are."""
        shares = confidence.tempered(
            self.shares, offsets_of(self.sizes)[:-1], self.sizes
        )
        return np.bincount(self.token, shares[self.candidate], minlength=self.n_tokens)


# What is tried: temperatures, and shares of the base tagger.
TEMPERATURES = tuple(2.0 ** (k / 2) for k in range(-4, 9))
BASE_SHARES = tuple(k / 10 for k in range(11))
# No probability is trusted to be nearer to 0 or 1, as no number of words shows more.
LEAST_RISK = 1e-4


def learned_confidence(parts):
    """Return the confidence with the least log loss in words held out.

    Parameters
    ----------
    parts : list of RerankedWords
        The words.

    Returns
    -------
    confidence : Confidence
        The best of all that were tried.
    """
    best, least = Confidence(), np.inf
    for temperature in TEMPERATURES:
        tried = [part.sure(Confidence(temperature)) for part in parts]
        own = np.concatenate(tried)
        base, right, weight = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("base", "right", "weight")
        )
        for share in BASE_SHARES:
            sure = (1.0 - share) * own + share * base
            sure = np.clip(sure, LEAST_RISK, 1.0 - LEAST_RISK)
            loss = -(weight @ np.log(np.where(right, sure, 1.0 - sure)))
            if loss < least:
                best, least = Confidence(temperature, share), loss
    return best


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
    below : Layer or ModelLayer
        The answers of the base tagger.
    confidence : Confidence
        What was learned of the probabilities.

    Attributes
    ----------
    offsets, lengths : ndarray of int64
        Where each sequence begins, and how many tokens it has.
    """

    def __init__(self, lengths, classes, make, below, confidence):
        self.offsets = offsets_of(lengths)
        self.lengths = np.diff(self.offsets)
        self.classes = classes
        self._make = make
        self.below, self.confidence = below, confidence

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
        starts = lists.offsets[:-1]
        probabilities = self.confidence.tempered(probabilities, starts, lists.lengths)
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

    def mixed(self, own, base):
        """Return shares of candidates mixed with what the base tagger says.

        Parameters
        ----------
        own : ndarray of float64
            The shares.
        base : callable
            Returns the answer of the base tagger; it is not asked for nothing.
        """
        weight = self.confidence.base_share
        return (1.0 - weight) * own + weight * base() if weight else own

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
        own = np.minimum(((labels == codes) * share).sum(axis=0), 1.0)
        return scored.mixed(own, lambda: scored.below.label_confidence(codes, None, {}))
    every = range(scored.n_labels)
    table = [((labels == code) * share).sum(axis=0) for code in every]
    table = np.stack(table, axis=1)
    table /= table.sum(axis=1, keepdims=True)
    return scored.mixed(table, lambda: scored.below.label_table(None, {}))


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
