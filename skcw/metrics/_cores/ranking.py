"""Scores of the order of confidences, prepared once and evaluated for many weights."""

from skcw._kernels.score_loops import average_precision, mean_risk
from skcw.metrics._cores.base import Score
from skcw.metrics._cores.ties import Ties


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
        words, right = self._ties.sums(weight, self.pairs.y)
        return self.of_ranking(words, words - right)

    def of_ranking(self, words, wrong):
        """Return the score of groups of ties with that many words and wrong words."""
        raise NotImplementedError


class ErrorAveragePrecision(RankingScore):
    """Average precision of retrieving wrong words by low confidence."""

    greater_is_better = True

    def of_ranking(self, words, wrong):
        """Return the average precision, or ``zero_division`` if no word is wrong."""
        return average_precision(words, wrong) if wrong.any() else self.zero_division


class RiskCoverageArea(RankingScore):
    """The mean risk over all coverages."""

    def of_ranking(self, words, wrong):
        """Return the mean risk, or ``zero_division`` if there are no words."""
        return mean_risk(words, wrong) if words.any() else self.zero_division
