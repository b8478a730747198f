"""The Gaussian over the weights of a classifier, in tables."""

from dataclasses import dataclass, replace
from sys import getrefcount

import numpy as np

from skcw._model.gaussian import Gaussian
from skcw.data.saved import SAVED_AS

# Columns of a table are padded to a multiple of this, so that rows fill registers.
LANES = 4
# The size of what a processor fetches at once, in bytes.
CACHE_LINE = 64
# Rows of tables up to so many bytes lie side by side while they are learned: wider ones
# would hardly share what is fetched at once, and the memory is needed twice at the end.
WIDEST_SHARED = 2 * CACHE_LINE


def table_width(n_classes):
    """Return the number of columns: two classes need one, for their difference."""
    return 1 if n_classes == 2 else -(-n_classes // LANES) * LANES


def _side_by_side(n_tables, shape, dtype):
    """Return tables of zeros in one memory: the first rows of all, then the second."""
    n_rows, width = shape
    itemsize = np.dtype(dtype).itemsize
    size = n_rows * n_tables * width
    memory = np.zeros(size + CACHE_LINE // itemsize, dtype)
    # From the beginning of a line on; otherwise rows would reach into one more.
    first = -memory.ctypes.data % CACHE_LINE // itemsize
    memory = memory[first : first + size].reshape(n_rows, n_tables, width)
    return memory.swapaxes(0, 1)


@dataclass
class TableBelief(Gaussian):
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
    variance: np.ndarray | None = None
    drift: np.ndarray | None = None
    rounds: float = 0.0

    table_names = ("mean", "variance", "drift")

    @classmethod
    def start(
        cls, n_features, n_classes, initial_variance, averaging, dtype, together=True
    ):
        """Return the prior: mean zero, the same variance everywhere.

        If ``together`` tables of narrow rows lie side by side: what an update needs of
        a feature is then in fewer pieces of memory. `lay_apart` ends it.
        """
        shape = (n_features + 1, table_width(n_classes))
        has_variance = initial_variance is not None
        n_tables = 1 + has_variance + averaging
        together &= shape[1] * np.dtype(dtype).itemsize <= WIDEST_SHARED
        if together:
            tables = iter(_side_by_side(n_tables, shape, dtype))
        else:
            tables = (np.zeros(shape, dtype) for _ in range(n_tables))
        belief = cls(
            next(tables),
            next(tables) if has_variance else None,
            next(tables) if averaging else None,
        )
        if has_variance:
            belief.variance[:] = initial_variance
        return belief

    def lay_apart(self):
        """Give each table a memory of its own, if they share one."""
        for name, table in self.tables().items():
            if not table.flags.c_contiguous:
                setattr(self, name, np.ascontiguousarray(table))

    def extended(self, places, n_classes, initial_variance):
        """Return a belief about more classes, new ones at the prior.

        ``places[k]`` is the number that class k has among the new ones. Two classes
        that shared a column get one each: half of the difference, with either sign.
        """
        shape = (len(self.mean), table_width(n_classes))
        found = {}
        for name, table in self.tables().items():
            prior = initial_variance if name == "variance" else 0.0
            found[name] = np.full(shape, prior, table.dtype)
            if table.shape[1] == 1:
                # The variance of a difference is the sum of two.
                signs = [0.5, 0.5] if name == "variance" else [-0.5, 0.5]
                found[name][:, places] = table * np.array(signs, table.dtype)
            else:
                found[name][:, places] = table[:, : len(places)]
        return replace(self, **found)

    def copy(self):
        """Return a belief that shares no array with this one."""
        return self.copied_as(self.mean.dtype)

    def arrays(self, prefix=SAVED_AS):
        """Return the tables by the names that they have in a file."""
        return {prefix + name: table for name, table in self.tables().items()}

    @classmethod
    def from_arrays(cls, arrays, rounds):
        """Return the belief among the arrays of a file, as `arrays` has named them."""
        others = (arrays.get(SAVED_AS + name) for name in ("variance", "drift"))
        return cls(arrays[f"{SAVED_AS}mean"], *others, rounds)

    def copied_as(self, dtype):
        """Return a belief in this precision that shares no array with this one."""
        tables = self.tables().items()
        copies = {name: np.array(table, dtype, order="C") for name, table in tables}
        return replace(self, **copies)

    @classmethod
    def about(cls, features, mean, variance, averaging):
        """Return a belief about some features of these tables, with a new average."""
        mean = mean[features]
        variance = None if variance is None else variance[features]
        return cls(mean, variance, np.zeros_like(mean) if averaging else None)

    def draft(self, dtype):
        """Return a belief of the same numbers to learn in; this one stays as it is."""
        spare = vars(self).pop("_spare", None)
        if spare is not None and spare.fits(self, dtype):
            return spare.brought_up_to(self)
        return self.copied_as(dtype)

    def keep_spare(self, before, rows):
        """Keep the tables of the belief before, which differ in some rows, for later.

        Copies of this belief, and pickles, are without them.
        """
        self._spare = Spare(before.tables(), rows)

    def __getstate__(self):
        return {name: v for name, v in vars(self).items() if name != "_spare"}

    @property
    def weights(self):
        """Return the table to predict with: the average where there is one."""
        if self.drift is None or not self.rounds:
            return self.mean
        average = self.drift / -self.rounds
        average += self.mean
        return average

    def with_average_restarted(self):
        """Return a belief whose mean is the average so far; a new average may begin."""
        return TableBelief(self.weights, self.variance)

    def with_average_started(self):
        """Return the belief with a drift: the mean so far is the average so far."""
        if self.drift is not None:
            return self
        return replace(self, drift=np.zeros_like(self.mean), rounds=0.0)


class Spare:
    """Tables that were replaced by others, and in which rows these are different.

    To learn a few rows in a copy of large tables takes most of its time for the copy.
    What the last piece left behind is as good, once its rows are brought up to date;
    but only if nobody else has it: somebody may still be asking the older model.
    """

    def __init__(self, tables, rows):
        self.tables = tables
        self.rows = rows

    def fits(self, belief, dtype):
        """Tell whether nobody else has the tables, and they are like those of now."""
        now, dtype = belief.tables(), np.dtype(dtype)
        alike = now.keys() == self.tables.keys() and all(
            old.dtype == dtype == now[name].dtype and old.shape == now[name].shape
            for name, old in self.tables.items()
        )
        return alike and not any(map(self._is_shared, self.tables))

    def _is_shared(self, name):
        table = self.tables[name]
        # Views of what was read from a file hang on its buffer, where they are not
        # counted. Else there are three references here: the dict, the name, the call.
        return not table.flags.owndata or getrefcount(table) > 3

    def brought_up_to(self, belief):
        """Return a belief of the same numbers as this one in the spare tables."""
        for name, table in belief.tables().items():
            self.tables[name][self.rows] = table[self.rows]
        return replace(belief, **self.tables)
