"""Scores of the order of confidences, prepared once and evaluated for many weights."""

import numpy as np

from skcw.metrics._score_cores import Score
from skcw.metrics._tied_ranking import rank_ties
from skcw.metrics._ties import Ties


class RankingScore(Score):
    """A score of the ranking of words; weights are whole numbers.

    Parameters
    ----------
    pairs : Pairs
        The words.
    zero_division : float
        Value if the score is not defined.
    """

    def __init__(self, pairs, *, zero_division=0.0):
        super().__init__(pairs)
        self.zero_division = float(zero_division)
        self._ties = Ties(pairs.q)

    def value(self, weight=None):
        """Return the score of the ranking in which words count that often."""
        weight = self.pairs.weight if weight is None else weight
        mass, right = self._ties.sums(weight, self.pairs.y)
        return self.of_ranking(rank_ties(self._ties.values, mass, mass - right))

    def of_ranking(self, ranking):
        """Return the score of a `TiedRanking`."""
        raise NotImplementedError


class ErrorAveragePrecision(RankingScore):
    """Average precision of retrieving wrong words by low confidence."""

    greater_is_better = True

    def of_ranking(self, ranking):
        """Return the mean over all orders of ties of the average precision."""
        if not ranking.n_errors:
            return self.zero_division
        sizes = ranking.sizes
        share_wrong = ranking.errors / sizes
        # In a group of one there is no place but the first, where this counts for
        # nothing.
        share_of_others = (ranking.errors - 1) / np.maximum(sizes - 1, 1)
        rank = np.arange(1, ranking.n_words + 1)
        before_in_group = rank - 1 - np.repeat(ranking.words_before, sizes)
        expected = before_in_group * np.repeat(share_of_others, sizes)
        expected += np.repeat(ranking.errors_before + 1, sizes)
        precision_if_wrong = expected / rank
        total = (precision_if_wrong * np.repeat(share_wrong, sizes)).sum()
        return float(total / ranking.n_errors)


class RiskCoverageArea(RankingScore):
    """The mean risk over all coverages."""

    def of_ranking(self, ranking):
        """Return the mean of the risk at 1, 2, ... words."""
        if not ranking.n_words:
            return self.zero_division
        return float(ranking.risk().mean())
