"""The mean of several beliefs, which are added one by one."""

import numpy as np


class BeliefMean:
    """The mean of several compact beliefs about the same features and labels.

    Means are averaged, and so are precisions: the result is what one typical model
    believes. (Multiplying the Gaussians would count the same data several times.)
    Beliefs are added one by one, so that only two need to be in memory.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.belief_mean import BeliefMean
    >>> total = BeliefMean()
    >>> for variance in (1.0, 3.0):
    ...     total.add(Belief.start(2, 2, initial_variance=variance))
    >>> float(total.result().feature_weights("variance")[0, 0])
    1.5
    """

    def __init__(self):
        self.n = 0

    def add(self, belief):
        """Add one belief to the mean."""
        if self.n == 0:
            # The mean is about the same features and labels.
            self.first, self.width = belief, belief.width
            self.dtype = belief.mean.dtype
            self.row_of = belief.all_rows().copy()
            self.unseen = belief.unseen
            self.rows = _summands(belief)
            self.rounds = belief.rounds
        else:
            self._cover(belief)
            self._accumulate(belief)
            self.rounds += belief.rounds
            # What one of them has seen, their mean knows.
            self.unseen = np.intersect1d(self.unseen, belief.unseen)
        self.n += 1

    def _cover(self, belief):
        """Give a row to every feature that the new belief has touched."""
        new = np.flatnonzero(
            (self.row_of == self.width) & (belief.all_rows() != self.width)
        )
        first = len(self.rows["mean"])
        self.row_of[new] = np.arange(first, first + len(new), dtype=np.int32)
        for kind, rows in self.rows.items():
            # What the former beliefs hold for these features is their blank row.
            blank = np.broadcast_to(rows[self.width], (len(new), self.width))
            self.rows[kind] = np.concatenate([rows, blank])

    def _accumulate(self, belief):
        summands = _summands(belief)
        fixed = np.arange(self.width + 1)
        touched = np.flatnonzero(self.row_of != self.width)
        here = np.concatenate([fixed, self.row_of[touched]])
        there = np.concatenate([fixed, belief.all_rows()[touched]])
        for kind, rows in self.rows.items():
            rows[here] += summands[kind][there]

    def result(self):
        """Return the mean of the beliefs added so far."""
        flat = {kind: (rows / self.n).ravel() for kind, rows in self.rows.items()}
        if "variance" in flat:
            flat["variance"] = 1.0 / flat["variance"]
        mean, variance, average = (
            flat[kind].astype(self.dtype) if kind in flat else None
            for kind in ("mean", "variance", "average")
        )
        return self.first.replaced(
            mean=mean,
            variance=variance,
            average=average,
            rounds=self.rounds / self.n,
            unseen=self.unseen,
            **self.first.split_rows(self.row_of),
        )


def _summands(belief):
    """Return what is averaged, in rows and double: means, and precisions."""
    rows = {"mean": belief.mean, "average": belief.average}
    if belief.variance is not None:
        rows["variance"] = 1.0 / belief.variance.astype(np.float64)
    return {
        kind: flat.astype(np.float64).reshape(-1, belief.width)
        for kind, flat in rows.items()
        if flat is not None
    }
