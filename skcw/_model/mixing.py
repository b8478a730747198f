"""What shards have learned, mixed into one Gaussian."""

from typing import NamedTuple

import numpy as np

from skcw._kernels.mixing import (
    add_moves,
    add_rows,
    mark_moved,
    move_cells,
    take_moved,
)

# The weight of a move that gained no precision, as a share of the precision there was.
LEAST_WEIGHT = 1e-12
# The sums of a cell; see `add_moves`.
N_SUMS = 5
# How often shards are merged in the first pass at most, if they are not few.
# Chosen, like the powers above, on a fifth of the training parts of three corpora and
# 20 Newsgroups.
FIRST_MERGES = 16
NO_ROWS = np.empty(0, dtype=np.int32)


def n_merges(number, n_shards, few):
    """Return how often shards are merged in a pass; passes are counted from 1.

    Up to `few` shards are merged once in the first pass, too.
    """
    first = number == 1 and n_shards > few
    return min(n_shards, FIRST_MERGES) if first else 1


class Moves(NamedTuple):
    """The weights that a shard has moved, and what they are after its pass.

    Parameters
    ----------
    cells : ndarray of int
        The places of these weights in the common tables, ascending. From ``n_old`` rows
        on come those of features that had no row when the shard began, in the order of
        the shard's features.
    mean, variance, drift : ndarray or None
        What stands there now. ``drift`` is ``rounds * (mean - average)``, the average
        being that over the rounds of this pass; None without averaging.
    rounds : float
        How many sequences or rows were presented.
    found : tuple of int
        How many of them were wrong, and whatever else the pass has counted.
    """

    cells: np.ndarray
    mean: np.ndarray
    variance: np.ndarray | None
    drift: np.ndarray | None
    rounds: float
    found: tuple

    @property
    def n_bytes(self):
        """The size of the arrays, which travel."""
        return sum(array.nbytes for array in self if isinstance(array, np.ndarray))


def moved_cells(before, origin, numbers, tables, rounds, found):
    """Return the cells of tables that are not what they were.

    Parameters
    ----------
    before : tuple of ndarray
        The common mean and variance (or None) that the pass started from, flat.
    origin : ndarray of int
        The row of these tables that each row of those below was.
    numbers : ndarray of int
        The number by which each of them is reported.
    tables : tuple of ndarray or None
        Mean and variance as the pass has made them, and the drift, which was zero; all
        flat.
    rounds : float
        The rounds of the pass.
    found : tuple of int
        What it has counted.

    Returns
    -------
    moves : Moves
        The cells.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.mixing import moved_cells
    >>> before, after = np.zeros(3), np.array([0.0, 0.5, 0.0])
    >>> rows, tables = np.arange(3), (after, None, None)
    >>> moved_cells((before, None), rows, rows, tables, 1.0, (1,)).cells
    array([1], dtype=int32)
    """
    width = len(tables[0]) // len(origin)
    moved = np.empty(len(tables[0]), dtype=np.uint8)
    n_moved = mark_moved(*before, origin, width, *tables, moved)
    small = (numbers.max() + 1) * width <= np.iinfo(np.int32).max
    cells = np.empty(n_moved, np.int32 if small else np.int64)
    kept = [
        None if table is None else np.empty(n_moved, table.dtype) for table in tables
    ]
    # Whoever merges reads the common tables from end to end.
    order = np.argsort(numbers, kind="stable")
    take_moved(moved, numbers, order, width, *tables, cells, *kept)
    return Moves(cells, *kept, float(rounds), found)


class Mixture:
    """Sums over shards, added one by one; then the merge, in place; and so on.

    Parameters
    ----------
    mean, variance, drift : ndarray or None
        The flat tables of the common Gaussian; those of all passes so far.
    rounds : float
        The rounds that the drift is about.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.mixing import Mixture, Moves
    >>> mean, variance = np.zeros(2), np.ones(2)
    >>> mixture = Mixture(mean, variance, None, 0.0)
    >>> both, one = np.array([0, 1]), np.array([0])
    >>> moves = Moves(both, np.ones(2), np.full(2, 0.5), None, 1.0, ())
    >>> mixture.add(moves)
    >>> moves = Moves(one, np.array([0.0]), np.array([0.25]), None, 1.0, ())
    >>> mixture.add(moves)
    >>> mixture.finish(number=1)
    2.0
    >>> mean, 1 / variance
    (array([0.25, 1.  ]), array([3.82842712, 2.        ]))
    """

    def __init__(self, mean, variance, drift, rounds):
        self.tables = mean, variance, drift
        self.rounds, self.new_rounds = rounds, 0.0
        # The cells met so far, and the sums of each of them; there is room for more. It
        # is kept from merge to merge: fresh memory took longer to get than to fill.
        self.n_met = 0
        self.met = np.empty(0, dtype=np.int64)
        self.sums = np.empty((0, N_SUMS))
        # One more than the place of a cell among them; 0 for none.
        self.place = np.zeros(len(mean), dtype=np.int32)

    def add(self, moves, n_old=None, new_rows=NO_ROWS, width=1):
        """Add what a shard has moved.

        Parameters
        ----------
        moves : Moves
            What it has moved.
        n_old : int, default=None
            How many rows there were when it began; None if no more have come.
        new_rows : ndarray of int32, default=()
            The rows that the features of the shard have now.
        width : int, default=1
            The length of a row.
        """
        self._make_room(len(moves.cells))
        mean, variance, drift = self.tables
        n_old = len(mean) // width if n_old is None else n_old
        self.n_met = add_moves(
            self.place,
            self.met,
            self.sums,
            self.n_met,
            moves.cells,
            n_old,
            new_rows,
            width,
            mean,
            variance,
            moves.mean,
            moves.variance,
            None if drift is None else moves.drift,
            moves.rounds,
            LEAST_WEIGHT,
        )
        self.new_rounds += moves.rounds

    def _make_room(self, n_cells):
        """Let the sums have room for so many cells more."""
        size = min(self.n_met + n_cells, len(self.place))
        if size > len(self.met):
            # A second shard of about this size finds room without copying.
            size = min(3 * size, len(self.place))
            met, sums = self.met[: self.n_met], self.sums[: self.n_met]
            self.met, self.sums = np.empty(size, np.int64), np.empty((size, N_SUMS))
            self.met[: self.n_met], self.sums[: self.n_met] = met, sums

    def finish(self, number):
        """Move the common tables; return the rounds of all passes, as they count.

        Parameters
        ----------
        number : int
            The number of this pass, from 1.

        Returns
        -------
        rounds : float
            The rounds that the drift is about now.
        """
        new_rounds = number**3 * self.new_rounds
        met, sums = self.met[: self.n_met], self.sums[: self.n_met]
        move_cells(self.place, met, sums, *self.tables, self.rounds, new_rounds)
        self.rounds, self.new_rounds, self.n_met = self.rounds + new_rounds, 0.0, 0
        return self.rounds


RULES = ("gain", "mean")


class GaussianMerge:
    """Means and variances of several models, added one by one.

    ``"mean"`` averages means and precisions over all models; one that has not seen a
    feature counts with its prior. ``"gain"`` weighs the mean of each weight by the
    precision that its model has gained over the prior, and leaves out models that have
    gained none: what one of them alone knows stays as it is. Learners without variances
    leave out models whose weight is zero. Under both rules a model merged with itself
    is that model.

    Parameters
    ----------
    rule : {"gain", "mean"}
        The rule.
    prior : float or None
        The variance that all models began with; None for learners that keep none.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.mixing import GaussianMerge
    >>> merge = GaussianMerge("gain", prior=1.0)
    >>> merge.add(np.array([1.0, 1.0]), np.array([0.5, 0.5]), 1.0)
    >>> merge.add(np.array([0.0, 3.0]), np.array([1.0, 0.25]), 1.0)
    >>> merge.result()
    (array([1. , 2.5]), array([0.5       , 0.33333333]))
    """

    def __init__(self, rule, prior):
        self.rule, self.prior = rule, prior
        self.first = None

    def add(self, mean, variance, share, prior=None):
        """Add the arrays of one model, whose share is a positive number.

        `prior` is the variance of its untouched weights, if that is rounded elsehow.
        """
        if self.first is None:
            self.first = mean, variance
            self.same = np.ones(mean.shape, dtype=bool)
            self.weight, self.step, self.gain, self.shares = np.zeros((4, *mean.shape))
        self.same &= mean == self.first[0]
        gain = 0.0
        if variance is not None:
            self.same &= variance == self.first[1]
            # Rounded as the others are: what was not touched has gained nothing.
            prior = variance.dtype.type(self.prior if prior is None else prior)
            gain = 1.0 / variance.astype(np.float64) - 1.0 / float(prior)
        weight, counts = share, share
        if self.rule == "gain":
            moved = mean != 0.0 if variance is None else (mean != 0.0) | (gain > 0.0)
            counts = share * moved
            weight = counts
            if variance is not None:
                # A variance may be as small as the prior where a weight has moved.
                least = LEAST_GAIN / self.prior
                weight = share * np.where(moved, np.maximum(gain, least), 0.0)
        self.weight += weight
        self.step += weight * mean.astype(np.float64)
        self.gain += counts * gain
        self.shares += counts

    def result(self):
        """Return the mean and the variance of the merge."""
        mean, variance = self.first
        found = np.zeros(mean.shape)
        np.divide(self.step, self.weight, out=found, where=self.weight > 0)
        # Where all agree, nothing is rounded.
        merged = np.where(self.same, mean, found).astype(mean.dtype)
        if variance is None:
            return merged, None
        gain = np.zeros(mean.shape)
        np.divide(self.gain, self.shares, out=gain, where=self.shares > 0)
        found = 1.0 / (1.0 / self.prior + gain)
        return merged, np.where(self.same, variance, found).astype(variance.dtype)


# The least weight of a weight that has moved, as a share of the prior precision.
LEAST_GAIN = 1e-12


class BeliefMean:
    """The mean of several compact beliefs about the same features and labels.

    Means are averaged, and so are precisions: the result is what one typical model
    believes. (Multiplying the Gaussians would count the same data several times.)
    Beliefs are added one by one, so that only two need to be in memory.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.mixing import BeliefMean
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
        rows = belief.all_rows()
        if self.n == 0:
            self._begin(belief, rows)
            here = there = np.arange(self.n_rows)
        else:
            here, there = self._covered(rows)
            # What one of them has seen, their mean knows. Each has a feature once; to
            # let numpy look for copies took longer than to train.
            both = self.unseen, belief.unseen
            self.unseen = np.intersect1d(*both, assume_unique=True)
        for kind, table in belief.tables().items():
            # Precisions are summed, in double as the rest.
            inverse = kind == "variance"
            add_rows(self.sums[kind], table, here, there, self.width, inverse)
        self.rounds += belief.rounds
        self.n += 1

    def _begin(self, belief, rows):
        """Take the rows of the first belief; the mean is about the same features."""
        self.first, self.width, self.row_of = belief, belief.width, rows.copy()
        self.unseen, self.rounds, self.n_rows = belief.unseen, 0.0, belief.n_rows
        untouched = int(np.count_nonzero(rows == self.width))
        # The system gives memory to those that come when they are used.
        size = (self.n_rows + untouched) * self.width
        self.sums = {kind: np.zeros(size) for kind in belief.tables()}

    def _covered(self, rows):
        """Give a row to what the new belief has touched; return which to add to which.

        Whatever has a row here gets that of the belief added.
        """
        new = np.flatnonzero((self.row_of == self.width) & (rows != self.width))
        first, self.n_rows = self.n_rows, self.n_rows + len(new)
        self.row_of[new] = np.arange(first, self.n_rows, dtype=np.int32)
        for total in self.sums.values():
            table = total.reshape(-1, self.width)
            # What the former beliefs hold for these features is their blank row.
            table[first : self.n_rows] = table[self.width]
        fixed, touched = np.arange(self.width + 1), self.row_of != self.width
        parts = self.row_of[touched], rows[touched]
        return tuple(np.concatenate([fixed, part]) for part in parts)

    def result(self):
        """Return the mean of the beliefs added so far."""
        size = self.n_rows * self.width
        flat = {kind: total[:size] / self.n for kind, total in self.sums.items()}
        if "variance" in flat:
            flat["variance"] = 1.0 / flat["variance"]
        dtype = self.first.mean.dtype
        mean, variance, average = (
            flat[kind].astype(dtype) if kind in flat else None
            for kind in self.first.table_names
        )
        return self.first.replaced(
            mean=mean,
            variance=variance,
            average=average,
            rounds=self.rounds / self.n,
            unseen=self.unseen,
            **self.first.split_rows(self.row_of),
        )
