"""The Gaussian over a classifier's weights."""

from dataclasses import dataclass, replace

import numpy as np

# Columns of a table are padded to a multiple of this, so that rows fill registers.
LANES = 4


def table_width(n_classes):
    """Return the number of columns: two classes need one, for their difference."""
    return 1 if n_classes == 2 else -(-n_classes // LANES) * LANES


@dataclass
class TableBelief:
    """A mean and a variance for every weight of a classifier.

    Tables have a row per feature and one for the intercept, and a column per class,
    padded; two classes share one column, the second's weights less the first's.

    Parameters
    ----------
    mean : ndarray of shape (n_features + 1, width)
        The mean after the last round.
    variance : ndarray or None
        The variance of each weight; None for learners that keep none.
    drift : ndarray or None
        ``rounds * (mean - average)``, the lazy form of the averaged mean; None
        without averaging.
    rounds : float
        How many rows have been presented since the average began.
    """

    mean: np.ndarray
    variance: np.ndarray | None
    drift: np.ndarray | None
    rounds: float = 0.0

    @classmethod
    def start(cls, n_features, n_classes, initial_variance, averaging, dtype):
        """Return the prior: mean zero, the same variance everywhere."""
        shape = (n_features + 1, table_width(n_classes))
        variance = initial_variance
        return cls(
            np.zeros(shape, dtype),
            None if variance is None else np.full(shape, variance, dtype),
            np.zeros(shape, dtype) if averaging else None,
        )

    def copied(self):
        """Return a belief that shares no array with this one."""
        return replace(
            self,
            **{
                name: None if table is None else table.copy()
                for name, table in self.tables().items()
            },
        )

    def tables(self):
        """Return the arrays by name."""
        return {"mean": self.mean, "variance": self.variance, "drift": self.drift}

    def recast(self, dtype):
        """Return a belief in this precision that can be changed in place.

        It shares arrays that have the precision already, unless they are read-only, as
        those are that joblib maps from a file.
        """
        return replace(
            self,
            **{
                name: None if table is None else np.require(table, dtype, ["C", "W"])
                for name, table in self.tables().items()
            },
        )

    def weights(self):
        """Return the table to predict with: the average where there is one."""
        if self.drift is None or not self.rounds:
            return self.mean
        average = self.drift / -self.rounds
        average += self.mean
        return average

    def settled(self):
        """Return a belief whose mean is the average; a new average may begin."""
        return TableBelief(self.weights(), self.variance, None)

    def averaging_from_here(self):
        """Return the belief with a drift: the mean so far is the average so far."""
        if self.drift is not None:
            return self
        return replace(self, drift=np.zeros_like(self.mean), rounds=0.0)
