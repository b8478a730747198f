"""Base class of scores in bins: the gaps between claims and outcomes."""

import copy
from functools import cached_property

import numpy as np
from scipy import sparse

from skcw._kernels.score_loops import draw_right
from skcw.metrics.binnings import make_binning, make_cells, recalibrated, steps_between
from skcw.metrics.score import Score, deviation, latent_correlation, thresholds

TINY = np.finfo(np.float64).tiny


class BinnedScore(Score):
    """A score of how far claims are from the outcomes in bins.

    Parameters
    ----------
    pairs : Pairs
        The words.
    strategy, bin_size, n_bins, claim :
        As in `calibration_bins`; words are put into bins again for each weight.

    Attributes
    ----------
    is_largest_gap : bool
        Whether the worst bin alone decides.
    is_mean_size : bool
        Whether the score is the mean size of the gaps.
    """

    interval_methods = ("inversion",)
    compared_by = "ends"
    is_largest_gap = False
    is_mean_size = False

    def __init__(
        self, pairs, *, strategy="adaptive", bin_size=None, n_bins=None, claim="mean"
    ):
        super().__init__(pairs)
        self.binning = make_binning(pairs, strategy, bin_size, n_bins, claim)

    @property
    def n_families(self):
        """How many families: errors counted by size have two."""
        return 2 if self.is_mean_size else 1

    def value(self, weight=None):
        """Return the score of the bins that the weights make."""
        weight = self.pairs.weight if weight is None else weight
        return float(self.combine(*self.binning.sums(weight)))

    def combine(self, mass, claimed, right):
        """Return the score of filled bins, which lie along the last axis."""
        raise NotImplementedError

    def slopes(self, mass, gap):
        """Return how the score changes with surplus claims in bins, and with mass.

        Both are for one more word of weight one, and the first per unit of what that
        word claims too much. The score does not change as all masses grow by the same
        factor, and whether chance is taken off the gaps makes no difference here.

        Parameters
        ----------
        mass, gap : ndarray of shape (n_bins,)
            Weight of the words in each bin, and mean claim less accuracy.

        Returns
        -------
        of_surplus, of_mass : ndarray of shape (n_bins,)
            The slopes.
        """
        raise NotImplementedError

    def with_chance(self):
        """Return the same score without taking chance off its gaps."""
        return self

    def influence(self):
        """Return what words add to the score, with bins as they are."""
        pairs, binning = self.pairs, self.binning
        surplus = binning.claim - pairs.y
        share = binning.shares(pairs.weight).multiply(pairs.weight).tocsr()
        mass = share.sum(axis=1).A1
        of_surplus, of_mass = self.slopes(mass, (share @ surplus) / mass)
        return (share.T @ of_surplus) * surplus + share.T @ of_mass

    def resampled(self, counts):
        """Return the scores: three sums per sentence and bin are enough."""
        mass, claimed, right = ((sums @ counts.T).T for sums in self._sentence_sums)
        return self.combine(np.where(mass > 0, mass, TINY), claimed, right)

    @cached_property
    def _sentence_sums(self):
        """Mass, claims and right words of each sentence in each bin, sparse."""
        pairs, binning = self.pairs, self.binning
        share = binning.shares(pairs.weight).multiply(pairs.weight).tocsr()
        n = len(pairs.q)
        where = (np.arange(n), pairs.group)
        return [
            share @ sparse.csr_matrix((values, where), shape=(n, pairs.n_groups))
            for values in (np.ones(n), binning.claim, pairs.y)
        ]

    def alternatives(self):
        """Return worse and worse calibration of the words."""
        return BinnedAlternatives(self)


class BinnedAlternatives:
    """Probabilities from those that bins claim (t = 0) to those observed (t = 1).

    A truth further on has larger errors of the same kind. The observed probabilities
    are isotonic in the confidences, not those of bins, which hold mostly chance.

    Parameters
    ----------
    score : BinnedScore
        The score. If it takes chance off its gaps, the family is that of the same score
        which does not: both are estimates of the same value.

    Attributes
    ----------
    observed : float
        The score.
    group : ndarray of shape (n_words,)
        The sentence of each word.
    correlation : float
        How much of its number a word shares with its sentence.
    """

    def __init__(self, score):
        pairs = score.pairs
        self._bins = FilledBins(score)
        self.observed = self._bins.observed
        goal = recalibrated(pairs.q, pairs.y, pairs.weight)
        self._start = np.clip(self._bins.claims_of_words(), 0.0, 1.0)
        self._step = steps_between(self._start, goal)
        # Up to t = 1 only the largest gaps of a maximum shrink: that several bins are
        # about as bad makes the worst of them look worse than it is.
        self._largest = np.abs(self._step).max() if score.is_largest_gap else None
        self._by_size = score.is_mean_size
        self.correlation = latent_correlation(
            pairs.y - goal, goal, pairs.weight, pairs.group
        )
        self._cells = make_cells(self._bins.part, pairs.q)
        self.group = pairs.group[self._cells.order]
        self._weight = pairs.weight[self._cells.order]

    def shifted(self, t):
        """Return the truth at t."""
        step = t * self._step
        if self._largest and t < 1:
            step = np.clip(self._step, -t * self._largest, t * self._largest)
        return BinnedTruth(self._bins, np.clip(self._start + step, 0.0, 1.0))

    def flattened(self):
        """Return the family in which all words are off by the same, or None.

        Of all errors with the same mean size these are the ones to which chance adds
        least, as it adds more to small gaps than to large ones, and whose score varies
        most, as no bin makes up for another. What chance adds to a mean of squares does
        not depend on the gaps, so squares need no such family.
        """
        if not self._by_size:
            return None
        surplus = self._bins.share @ self._step
        size = np.abs(surplus).sum() / self._bins.mass.sum()
        flat = copy.copy(self)
        flat._step = np.full_like(self._step, np.copysign(size, surplus.sum()))
        return flat

    def draw(self, truths, latent):
        """Return the scores of outcomes drawn under each truth, (n_truths, n_draws)."""
        cells = self._cells
        limits = np.stack([truth.limit[cells.order] for truth in truths])
        right = np.empty((len(truths), len(latent.normal), len(cells.starts) - 1))
        draw_right(
            *latent[:2],
            self.group,
            *latent[2:],
            limits,
            self._weight,
            cells.starts,
            np.empty(len(self.group), dtype=np.float32),
            right,
        )
        return self._bins.score(cells.in_bins(right))


class BinnedTruth:
    """One of the `BinnedAlternatives`: the true probabilities, if it is the right one.

    Parameters
    ----------
    bins : FilledBins
        The bins.
    probability : ndarray of shape (n_words,)
        How likely each word is right.

    Attributes
    ----------
    limit : ndarray of shape (n_words,)
        Below which normal number a word is right.
    value : float
        The score if each bin had as many right words as is likely.
    spread : float
        The standard deviation of that value over other sentences.
    """

    def __init__(self, bins, probability):
        self.limit = thresholds(probability)
        right = bins.share @ probability
        self.value = float(bins.score(right))
        self.spread = deviation(bins.contributions(right), bins.group)


class FilledBins:
    """The bins of a score as they are, whatever the outcomes of their words.

    Parameters
    ----------
    score : BinnedScore
        The score.

    Attributes
    ----------
    part, share : sparse matrix of shape (n_bins, n_words)
        Which part of each word lies in each bin, and how much weight that is.
    observed : float
        The score, without chance being taken off.
    """

    def __init__(self, score):
        pairs = score.pairs
        self.group = pairs.group
        self._score = score.with_chance()
        self._q = pairs.q
        self.part = score.binning.shares(pairs.weight)
        self.share = sparse.csr_matrix(self.part.multiply(pairs.weight))
        self.mass = np.asarray(self.share.sum(axis=1)).ravel()
        self.claimed = self.share @ score.binning.claim
        self.observed = float(self.score(self.share @ pairs.y))

    def score(self, right):
        """Return the score for right words in bins, which lie along the last axis."""
        return self._score.combine(self.mass, self.claimed, right)

    def claims_of_words(self):
        """Return confidences moved in each bin such that their mean is its claim."""
        missing = (self.claimed - self.share @ self._q) / self.mass
        return self._q + self.part.T @ missing

    def contributions(self, right):
        """Return how much words add to the score by being there, whatever they are."""
        gap = (self.claimed - right) / self.mass
        of_surplus, of_mass = self._score.slopes(self.mass, gap)
        return self.share.T @ (of_surplus * gap + of_mass)
