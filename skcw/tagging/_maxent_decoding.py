"""Decode with a model of label histories: beam search, and confidence."""

import numpy as np

from skcw._decoding import ScoredBatch
from skcw._kernels.beam import beam_search, history_marginals
from skcw.confidence._marginals import chosen
from skcw.confidence._methods import Method
from skcw.tagging._maxent_training import labels_before


class ScoredHistories(ScoredBatch):
    """One batch under one model whose labels depend on the two before them.

    Its decoder has the ``intercept``, the ``histories`` (weights of the label before,
    rows of two labels before, and their weights) and the size of the ``beam``.
    """

    def _score(self):
        """Return what each label scores at each token before its history is known."""
        scores = self.decoder.scores(self.batch, self.first)
        scores[:, : self.n_labels] += self.decoder.intercept
        return scores

    def viterbi(self):
        """Return the best labeling that the beam finds, and its log-probability."""
        if self._best is None:
            codes, total, _ = self.k_best(1)
            self._best = codes[0], total[:, 0]
        return self._best

    def k_best(self, k):
        """Return the k best of the beam: codes (k, n_tokens), logarithms and numbers.

        For more than the size of the beam the search is widened, and may find a better
        first one.
        """
        most = self.most_labelings()
        k, beam = min(k, most), min(max(k, self.decoder.beam), most)
        codes = np.zeros((k, self.n_tokens), dtype=np.int32)
        total = np.full((len(self), k), -np.inf)
        found = np.zeros(len(self), dtype=np.int32)

        def search(piece, tokens, sequences):
            labels = np.zeros((beam, piece.n_tokens), dtype=np.int32)
            sums = np.full((len(piece), beam), -np.inf)
            number = np.zeros(len(piece), dtype=np.int32)
            beam_search(
                piece.scores,
                *self.decoder.histories,
                piece.offsets,
                labels,
                sums,
                number,
            )
            codes[:, tokens], total[sequences] = labels[:k], sums[:, :k]
            found[sequences] = np.minimum(number, k)

        self.each_piece(search)
        return codes, total, found

    def _sum_up(self, temperature, out, log_z):
        """Sum probabilities over the histories of one piece; log_z stays 0."""
        none = np.empty((2, 0), dtype=np.intp)
        self._sum_histories(out, none, np.empty((self.n_tokens, 0)))

    def _sum_histories(self, out, asked, joint):
        history_marginals(
            self.scores,
            *self.decoder.histories,
            self.offsets,
            self.decoder.beam,
            *(out, asked, joint),
        )

    def pairs(self, left, right):
        """Return the probabilities of pairs of labels of each token and the next."""
        asked = np.stack([left, right])
        joint = np.zeros((self.n_tokens + 1, len(left)))

        def collect(piece, tokens, sequences):
            own = np.empty((piece.n_tokens, len(left)))
            piece._sum_histories(np.empty((len(own), self.n_labels)), asked, own)
            joint[tokens] = own

        self.each_piece(collect)
        return joint[1:]

    def local(self):
        """Return the probabilities of all labels after the predicted ones."""
        previous, row, pairs = self.decoder.histories
        near, far = labels_before(self.viterbi()[0], self.offsets, self.n_labels)
        scores = self.scores[:, : self.n_labels] + previous[near]
        known = row[far, near] >= 0
        scores[known] += pairs[row[far, near][known]]
        power = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return power / power.sum(axis=1, keepdims=True)


# Rounding may lift a sum of shares above one.
def _marginal(scored, codes, settings):
    return np.minimum(chosen(scored.marginals()[0], codes), 1.0)


def _local(scored, codes, settings):
    return np.minimum(chosen(scored.local(), codes), 1.0)


def _nbest(scored, codes, settings):
    labels, total, found = scored.k_best(scored.decoder.beam)
    exists = np.arange(total.shape[1]) < found[:, None]
    votes = np.where(exists, np.exp(total - total[:, :1]), 0.0)
    # One by one, so that labelings which do not exist change no bit.
    votes /= np.cumsum(votes, axis=1)[:, -1:]
    votes = np.repeat(votes, scored.lengths, axis=0).T
    if codes is not None:
        return np.minimum(((labels == codes) * votes).sum(axis=0), 1.0)
    every = range(scored.n_labels)
    shares = [((labels == code) * votes).sum(axis=0) for code in every]
    return np.minimum(np.stack(shares, axis=1), 1.0)


def _pairs(scored, left, right, settings):
    return np.minimum(scored.pairs(left, right), 1.0)


def _labeling(scored, codes, settings):
    """Return the probability of the labeling that the beam has found."""
    return np.minimum(np.exp(scored.viterbi()[1]), 1.0)


HISTORY_METHODS = {
    "marginal": Method(_marginal, True, sequences=_labeling, pairs=_pairs),
    "local": Method(_local, True),
    "nbest": Method(_nbest, True),
}
