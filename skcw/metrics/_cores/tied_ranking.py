"""A ranking of words from the least to the most confident, in groups of ties."""

from typing import NamedTuple

import numpy as np

from skcw.metrics._cores.ties import Ties


class TiedRanking(NamedTuple):
    """Groups of words with the same confidence, the least confident group first.

    Only counts are kept, so that no figure can depend on the order in which tied
    words happened to come.
    """

    confidence: np.ndarray  # (n_groups,) of each word of the group
    sizes: np.ndarray  # (n_groups,) words in the group
    errors: np.ndarray  # (n_groups,) wrong words in the group
    words_before: np.ndarray  # (n_groups,) words in the groups before it
    errors_before: np.ndarray  # (n_groups,) wrong words in the groups before it

    @property
    def n_words(self):
        """Number of words in all groups."""
        return int(self.sizes.sum())

    @property
    def n_errors(self):
        """Number of wrong words in all groups."""
        return int(self.errors.sum())

    def expected_errors(self, n):
        """Return the mean number of wrong words among the first n, for an array of n.

        The mean is over all orders of tied words. A group of m words with e wrong
        ones of which the first k are taken gives k e / m.
        """
        if not self.n_errors:
            return np.zeros(np.shape(n))
        taken = np.minimum(n, self.n_words)
        group = np.searchsorted(self.words_before, taken, side="right") - 1
        inside = taken - self.words_before[group]
        found = inside * self.errors[group] / self.sizes[group]
        return self.errors_before[group] + found

    def risk(self):
        """Return the mean share of wrong words among the 1, 2, ... most confident."""
        accepted = np.arange(1, self.n_words + 1)
        rejected = self.n_words - accepted
        return (self.n_errors - self.expected_errors(rejected)) / accepted


def rank_words(pairs):
    """Return the ranking of words by confidence, the least confident first.

    Parameters
    ----------
    pairs : Pairs
        The words; each counts as often as its weight, a whole number, says.
    """
    counts = pairs.weight > 0
    ties = Ties(pairs.q[counts])
    weight = pairs.weight[counts]
    words, right = ties.sums(weight, pairs.y[counts])
    sizes, errors = words.astype(np.int64), (words - right).astype(np.int64)
    return TiedRanking(
        confidence=ties.values,
        sizes=sizes,
        errors=errors,
        words_before=np.cumsum(sizes) - sizes,
        errors_before=np.cumsum(errors) - errors,
    )
