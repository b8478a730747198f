"""Worse and worse calibration without bins, and what would be seen of it."""

import numpy as np

from skcw._kernels.score_loops import draw_right
from skcw.metrics._cores.pooling import isotonic_blocks
from skcw.metrics._intervals.gap_path import deviation
from skcw.metrics._intervals.recalibration import directed, recalibrated
from skcw.metrics._intervals.sentence_model import latent_correlation, thresholds

# Pooling starts from no more cells than that, so that many draws can be pooled.
MOST_CELLS = 2000


class PartPath:
    """Probabilities from the claimed (t = 0) to the recalibrated ones (t = 1).

    The score is the miscalibration of neighbouring words taken together in cells; its
    draws and its observed value are made alike.

    Parameters
    ----------
    core : ScorePart
        A part of a proper score; the path is that of its miscalibration.

    Attributes
    ----------
    observed, group, correlation :
        As in `GapPath`; words are sorted by confidence.
    """

    def __init__(self, core):
        pairs = core.pairs
        order = np.argsort(pairs.q, kind="stable")
        q, y = pairs.q[order], pairs.y[order]
        self.group, self.weight = pairs.group[order], pairs.weight[order]
        self.of_constant = core.of_constant
        self.if_wrong, self.if_right = (
            core.score(pairs._replace(q=q, y=np.full(len(q), outcome))).loss
            for outcome in (0.0, 1.0)
        )
        self._starts = cell_starts(q, MOST_CELLS)
        self._mass = self._in_cells(self.weight)
        slope = self._in_cells(self.weight * (self.if_right - self.if_wrong))
        self._slope = slope / np.where(self._mass > 0, self._mass, 1.0)
        self.observed = self._score(self._in_cells(self.weight * y))
        goal = recalibrated(q, y, self.weight)
        self._start, self._step = q, directed(q, goal)
        self.correlation = latent_correlation(y - goal, goal, self.weight, self.group)

    def at(self, t):
        """Return the place at t."""
        return PartPlace(self, np.clip(self._start + t * self._step, 0.0, 1.0))

    def flattened(self):
        """Return None: there is no other path."""

    def draw(self, places, latent):
        """Return the scores of outcomes drawn at each place, (n_places, n_draws)."""
        right = np.empty((len(places), len(latent.normal), len(self._mass)))
        draw_right(
            *latent[:2],
            self.group,
            *latent[2:],
            np.stack([place.limit for place in places]),
            self.weight,
            self._starts,
            np.empty(len(self.group), dtype=np.float32),
            right,
        )
        return np.array([[self._score(sums) for sums in drawn] for drawn in right])

    def _in_cells(self, values):
        return np.add.reduceat(values, self._starts[:-1])

    def _score(self, right):
        """Return the miscalibration for the right words in cells."""
        claimed = self.weight @ self.if_wrong + right @ self._slope
        blocks = isotonic_blocks(self._mass, right)
        best = blocks.mass @ self.of_constant(blocks.right / blocks.mass)
        return float(claimed - best) / self.weight.sum()


class PartPlace:
    """One place of a `PartPath`: the true probabilities, if it is the right one.

    Parameters
    ----------
    path : PartPath
        The path.
    probability : ndarray of shape (n_words,)
        How likely each word is right.

    Attributes
    ----------
    limit, value, spread :
        As in `GapPlace`.
    """

    def __init__(self, path, probability):
        self.limit = thresholds(probability)
        each = path.if_wrong + probability * (path.if_right - path.if_wrong)
        each -= path.of_constant(probability)
        total = path.weight.sum()
        self.value = float(path.weight @ each / total)
        self.spread = deviation(path.weight * (each - self.value) / total, path.group)


def cell_starts(q, most):
    """Return where cells of sorted confidences begin, and the end of the last.

    There are no more than ``most`` cells, and words of equal confidences are in one.
    """
    n = len(q)
    begins = np.flatnonzero(np.concatenate(([True], q[1:] != q[:-1])))
    cell = begins * min(most, n) // n
    first = np.unique(cell, return_index=True)[1]
    return np.append(begins[first], n).astype(np.intp)
