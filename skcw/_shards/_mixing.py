"""Merge what shards have moved in one pass into the Gaussian that all started from.

This is iterative parameter mixing. A weight moves by the mean of its moves, each
weighted by the precision that its shard gained with it, over the k shards that moved
it, so that what only one of them has seen is learnt as in one piece. (The sum of all
moves, which the product of Gaussians would ask for, overshoots wherever shards correct
the same mistake.) It gains the mean of their precisions, times √k: more than one shard
has seen, and less than all together, since what they saw was much the same. Learners
without variances weigh all shards that moved a weight alike.

Shards learn most in the first pass, each from nothing, and that is where they drift
apart: it is cut into pieces, after each of which they are merged.

The average over rounds goes the same way: it is that of the merge of all shards, had
they been merged after every round with these weights. Shards learn less in a pass than
one piece would, so the first passes must not weigh down the average: the rounds of the
p-th pass count p³ times.
"""

from typing import NamedTuple

import numpy as np

from skcw._kernels.mixing import add_moves, mark_moved, move_cells, take_moved

# The weight of a move that gained no precision, as a share of the precision there was.
LEAST_WEIGHT = 1e-12
# The sums of a cell; see `add_moves`.
N_SUMS = 5
# How often the shards are merged in the first pass, if there are as many. Chosen, like
# the powers above, on a fifth of the training parts of three corpora and 20 Newsgroups.
FIRST_MERGES = 16
NO_ROWS = np.empty(0, dtype=np.int32)


def n_merges(number, n_shards):
    """Return how often shards are merged in a pass; passes are counted from 1."""
    return min(n_shards, FIRST_MERGES) if number == 1 else 1


class Moves(NamedTuple):
    """The weights that a shard has moved, and what they are after its pass.

    Parameters
    ----------
    cells : ndarray of int
        The places of these weights in the common tables, each once. From ``n_old`` rows
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
        The number under which each of them is told.
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
    >>> from skcw._shards._mixing import moved_cells
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
    take_moved(moved, numbers, width, *tables, cells, *kept)
    return Moves(cells, *kept, float(rounds), found)


class Mixture:
    """Sums over shards, added one by one; then the merge, in place.

    Parameters
    ----------
    mean, variance, drift : ndarray or None
        The flat tables of the common Gaussian; those of all passes so far.
    rounds : float
        The rounds that the drift is about.
    number : int, default=1
        The number of this pass, from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._shards._mixing import Mixture, Moves
    >>> mean, variance = np.zeros(2), np.ones(2)
    >>> mixture = Mixture(mean, variance, None, 0.0)
    >>> both, one = np.array([0, 1]), np.array([0])
    >>> moves = Moves(both, np.ones(2), np.full(2, 0.5), None, 1.0, ())
    >>> mixture.add(moves)
    >>> moves = Moves(one, np.array([0.0]), np.array([0.25]), None, 1.0, ())
    >>> mixture.add(moves)
    >>> mixture.finish()
    2.0
    >>> mean, 1 / variance
    (array([0.25, 1.  ]), array([3.82842712, 2.        ]))
    """

    def __init__(self, mean, variance, drift, rounds, number=1):
        self.tables = mean, variance, drift
        self.times = number**3
        self.rounds, self.new_rounds = rounds, 0.0
        # The cells met so far, and the sums of each of them; there is room for more.
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
            size = min(2 * size, len(self.place))
            met, sums = self.met[: self.n_met], self.sums[: self.n_met]
            self.met, self.sums = np.empty(size, np.int64), np.empty((size, N_SUMS))
            self.met[: self.n_met], self.sums[: self.n_met] = met, sums

    def finish(self):
        """Move the common tables; return the rounds of all passes, as they count."""
        new_rounds = self.times * self.new_rounds
        n_met = self.n_met
        move_cells(
            self.met[:n_met], self.sums[:n_met], *self.tables, self.rounds, new_rounds
        )
        return self.rounds + new_rounds
