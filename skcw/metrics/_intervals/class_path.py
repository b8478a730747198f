"""Worse and worse probabilities of all classes, and the scores that would be seen."""

import numpy as np

from skcw._kernels.score_loops import draw_classes
from skcw.metrics._intervals.cells import make_cells
from skcw.metrics._intervals.gap_path import FilledBins, deviation
from skcw.metrics._intervals.recalibration import directed, recalibrated
from skcw.metrics._intervals.sentence_model import latent_correlation, thresholds

# Rows of probabilities that sum to one up to float32 leave nothing to other classes.
ROUNDING = 1e-5


class ClassPath:
    """As `GapPath`, for the mean over classes of the errors of each.

    Each word has one true class, and tries the likeliest first: a sentence with high
    numbers is one in which unlikely classes are true. What claims of a word lack to one
    belongs to no class.

    Parameters
    ----------
    core : ClasswiseError
        The score.
    """

    def __init__(self, core):
        pairs = [error.pairs for error in core.errors]
        self._bins = [FilledBins(error) for error in core.errors]
        self.observed = float(np.mean([bins.observed for bins in self._bins]))
        self.group, self._weight = core.pairs.group, core.pairs.weight
        self._start = np.stack([each.q for each in pairs], axis=1)
        goal = [recalibrated(each.q, each.y, each.weight) for each in pairs]
        self._step = directed(self._start, np.stack(goal, axis=1))
        self._complete = self._start.sum(axis=1) >= 1 - ROUNDING
        self._order = np.argsort(-_with_none(self._start), axis=1, kind="stable")
        self._cells = [
            make_cells(bins.part, each.q)
            for bins, each in zip(self._bins, pairs, strict=True)
        ]
        self._ends = np.cumsum([len(cells.starts) - 1 for cells in self._cells])
        self._cell = self._cell_of_tries()
        self.correlation = self._correlation(np.stack([e.y for e in pairs], axis=1))

    def at(self, t):
        """Return the place at t."""
        table = np.clip(self._start + t * self._step, 0.0, 1.0)
        total = table.sum(axis=1)
        fill = np.where(self._complete | (total > 1), total, 1.0)
        table /= np.where(fill > 0, fill, 1.0)[:, None]
        return ClassPlace(self._bins, self._order, table)

    def flattened(self):
        """Return None: there is no other path."""

    def draw(self, places, latent):
        """Return the scores of classes drawn at each place, (n_places, n_draws)."""
        right = np.empty((len(places), len(latent.normal), self._ends[-1]))
        draw_classes(
            *latent[:2],
            self.group,
            *latent[2:],
            np.stack([place.limits for place in places]),
            self._cell,
            self._weight,
            np.empty_like(latent.normal),
            right,
        )
        by_class = np.split(right, self._ends[:-1], axis=2)
        each = zip(self._bins, self._cells, by_class, strict=True)
        scores = [bins.score(cells.in_bins(sums)) for bins, cells, sums in each]
        return np.mean(scores, axis=0)

    def _cell_of_tries(self):
        """Return the cell of each word for each class that it tries; -1 for none."""
        n_words, n_tries = self._order.shape
        of_class = np.full((n_words, n_tries), -1, dtype=np.intc)
        begins = np.concatenate(([0], self._ends[:-1]))
        for k, (cells, begin) in enumerate(zip(self._cells, begins, strict=True)):
            of_class[:, k] = cells.of_word + begin
        return np.ascontiguousarray(np.take_along_axis(of_class, self._order, axis=1))

    def _correlation(self, outcome):
        """Return how much sentences share in whether the likeliest class is true."""
        first = np.arange(len(outcome)), self._start.argmax(axis=1)
        likely = self.at(1).table[first]
        return latent_correlation(
            outcome[first] - likely, likely, self._weight, self.group
        )


class ClassPlace:
    """One place of a `ClassPath`.

    Parameters
    ----------
    bins : list of FilledBins
        The bins of each class.
    order : ndarray of shape (n_words, n_classes + 1)
        The classes as each word tries them; the last number is no class.
    table : ndarray of shape (n_words, n_classes)
        Probabilities of the classes.
    """

    def __init__(self, bins, order, table):
        self.table = table
        tried = np.take_along_axis(_with_none(table), order, axis=1)
        self.limits = thresholds(np.minimum(np.cumsum(tried, axis=1), 1.0))
        right = [b.share @ p for b, p in zip(bins, table.T, strict=True)]
        each = list(zip(bins, right, strict=True))
        self.value = float(np.mean([b.score(r) for b, r in each]))
        self.spread = deviation(
            sum(b.contributions(r) for b, r in each) / len(bins), bins[0].group
        )


def _with_none(table):
    """Return probabilities with a last column for no class at all."""
    return np.hstack([table, np.maximum(0.0, 1 - table.sum(axis=1, keepdims=True))])
