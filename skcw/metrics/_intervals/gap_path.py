"""Worse and worse calibration of words in bins, and the scores that would be seen."""

import copy

import numpy as np
from scipy import sparse

from skcw._kernels.score_loops import draw_right
from skcw.metrics._cores.binned import (
    ExpectedCalibrationError,
    MaximumCalibrationError,
)
from skcw.metrics._intervals.cells import make_cells
from skcw.metrics._intervals.gap_slopes import gap_slopes
from skcw.metrics._intervals.recalibration import directed, recalibrated
from skcw.metrics._intervals.sentence_model import latent_correlation, thresholds


def counts_sizes(core):
    """Tell whether a score of bins is the mean size of their gaps."""
    return isinstance(core, ExpectedCalibrationError) and core.norm == "l1"


class GapPath:
    """Probabilities from those that bins claim (t = 0) to those observed (t = 1).

    A place further on has larger errors of the same kind. The observed probabilities
    are isotonic in the confidences, not those of bins, which hold mostly chance.

    Parameters
    ----------
    core : BinnedScore
        The score. If it takes chance off its gaps, the path is that of the same score
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

    def __init__(self, core):
        pairs = core.pairs
        self._bins = FilledBins(core)
        self.observed = self._bins.observed
        goal = recalibrated(pairs.q, pairs.y, pairs.weight)
        self._start = np.clip(self._bins.claims_of_words(), 0.0, 1.0)
        self._step = directed(self._start, goal)
        # Up to t = 1 only the largest gaps of a maximum shrink: that several bins are
        # about as bad makes the worst of them look worse than it is.
        maximum = isinstance(core, MaximumCalibrationError)
        self._largest = np.abs(self._step).max() if maximum else None
        self._by_size = counts_sizes(core)
        self.correlation = latent_correlation(
            pairs.y - goal, goal, pairs.weight, pairs.group
        )
        self._cells = make_cells(self._bins.part, pairs.q)
        self.group = pairs.group[self._cells.order]
        self._weight = pairs.weight[self._cells.order]

    def at(self, t):
        """Return the place at t."""
        step = t * self._step
        if self._largest and t < 1:
            step = np.clip(self._step, -t * self._largest, t * self._largest)
        return GapPlace(self._bins, np.clip(self._start + step, 0.0, 1.0))

    def flattened(self):
        """Return the path on which all words are off by the same, or None.

        Of all errors with the same mean size these are the ones to which chance adds
        least, as it adds more to small gaps than to large ones, and whose score varies
        most, as no bin makes up for another. To a mean of squares chance adds the same
        whatever the gaps are, so for that there is no such path.
        """
        if not self._by_size:
            return None
        surplus = self._bins.share @ self._step
        size = np.abs(surplus).sum() / self._bins.mass.sum()
        flat = copy.copy(self)
        flat._step = np.full_like(self._step, np.copysign(size, surplus.sum()))
        return flat

    def draw(self, places, latent):
        """Return the scores of outcomes drawn at each place, (n_places, n_draws)."""
        cells = self._cells
        limits = np.stack([place.limit[cells.order] for place in places])
        right = np.empty((len(places), len(latent.normal), len(cells.starts) - 1))
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


class GapPlace:
    """One place of a `GapPath`: the true probabilities, if it is the right one.

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
    core : BinnedScore
        The score.

    Attributes
    ----------
    part, share : sparse matrix of shape (n_bins, n_words)
        Which part of each word lies in each bin, and how much weight that is.
    observed : float
        The score, without chance being taken off.
    """

    def __init__(self, core):
        pairs = core.pairs
        self.group = pairs.group
        self._core = copy.copy(core)
        self._core.debiased = False
        self._q = pairs.q
        self.part = core.binning.shares(pairs.weight)
        self.share = sparse.csr_matrix(self.part.multiply(pairs.weight))
        self.mass = np.asarray(self.share.sum(axis=1)).ravel()
        self.claimed = self.share @ core.binning.claim
        self.observed = float(self.score(self.share @ pairs.y))

    def score(self, right):
        """Return the score for right words in bins, which lie along the last axis."""
        return self._core.combine(self.mass, self.claimed, right)

    def claims_of_words(self):
        """Return confidences moved in each bin such that their mean is its claim."""
        missing = (self.claimed - self.share @ self._q) / self.mass
        return self._q + self.part.T @ missing

    def contributions(self, right):
        """Return how much words add to the score by being there, whatever they are."""
        gap = (self.claimed - right) / self.mass
        of_surplus, of_mass = gap_slopes(self._core, self.mass, gap)
        return self.share.T @ (of_surplus * gap + of_mass)


def deviation(contributions, group):
    """Return the standard deviation of a sum over independent sentences."""
    sentences = np.bincount(group, contributions)
    n = len(sentences)
    return float(np.sqrt((sentences**2).sum() * n / max(1, n - 1)))
