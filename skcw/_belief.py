"""The Gaussian over a tagger's weights."""

import numpy as np

from skcw.data._saved import FLOATS, saved_array, saved_number

# Label columns are padded to a multiple of this, so that rows fill registers.
BLOCK = 8
# How the names of the arrays begin in the file of a model.
SAVED_AS = "belief."


def padded(n_labels):
    """Return the number of columns that a belief about so many labels has."""
    return max(BLOCK, -(-n_labels // BLOCK) * BLOCK)


class Belief:
    """A mean and a variance for every weight of a sequence tagger.

    The arrays are flat, in rows of ``width`` labels. Row i < width holds the
    transitions from label i, row ``width`` is blank: the prior of a feature that no
    update has touched. ``row_of[f]`` is the row of feature f. Updates follow
    mistakes, so most features of a corpus keep the blank row (65 % after ten passes
    over CoNLL-2000), cost no memory and stay out of the way.

    The kernels train an *expanded* belief, with room for every feature and with
    ``drift``, the lazy form of the averaged mean. A *compact* one holds just the
    rows in use and the average itself.

    Parameters
    ----------
    n_labels : int
        The number of labels.
    row_of : ndarray of int32, shape (n_features,)
        The row of each feature.
    mean : ndarray, shape (n_rows * width,)
        The mean after the last round.
    variance : ndarray or None
        The variance of each weight; None for learners that keep none.
    average : ndarray or None
        The mean averaged over rounds; None without averaging.
    rounds : float
        How many sequences have been presented since the average began.
    unknown_row : int or None, default=None
        The row of tokens none of whose features is known; None for learners that
        learn nothing of them.
    unseen : ndarray of int32, default=()
        Features that have a number but occurred in nothing that was learnt from. Where
        there is an `unknown_row` they count as not known.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> belief = Belief.start(n_features=3, n_labels=2, initial_variance=1.0)
    >>> belief.feature_weights("variance")
    array([[1., 1.],
           [1., 1.],
           [1., 1.]], dtype=float32)
    """

    # The unit of the variance of draws that give all weights the same one; None where
    # weights have no scale of their own and only their size tells it.
    own_unit = None

    def __init__(
        self,
        n_labels,
        row_of,
        mean,
        variance,
        average,
        rounds,
        unknown_row=None,
        unseen=(),
    ):
        self.n_labels = n_labels
        self.row_of = row_of
        self.mean = mean
        self.variance = variance
        self.average = average
        self.rounds = rounds
        self.unknown_row = unknown_row
        self.unseen = np.asarray(unseen, dtype=np.int32)

    @classmethod
    def start(
        cls,
        n_features,
        n_labels,
        initial_variance=None,
        averaging=True,
        dtype="float32",
        learn_unknown=False,
    ):
        """Return the prior: mean zero, the same variance everywhere."""
        width = padded(n_labels)
        size = (width + 1) * width
        return cls(
            n_labels,
            np.full(n_features, width, dtype=np.int32),
            np.zeros(size, dtype),
            None
            if initial_variance is None
            else np.full(size, initial_variance, dtype),
            np.zeros(size, dtype) if averaging else None,
            0.0,
            width if learn_unknown else None,
            np.arange(n_features if learn_unknown else 0),
        )

    @property
    def width(self):
        """The length of a row."""
        return padded(self.n_labels)

    @property
    def n_rows(self):
        """The number of rows of a compact belief."""
        return len(self.mean) // self.width

    @property
    def weights(self):
        """The weights to predict with: the average where there is one."""
        return self.mean if self.average is None else self.average

    def feature_weights(self, kind="weights"):
        """Return an array of shape (n_features, n_labels): weights or variance."""
        rows = getattr(self, kind).reshape(-1, self.width)
        return rows[self.row_of, : self.n_labels]

    def transition_weights(self, kind="weights"):
        """Return an array of shape (n_labels, n_labels): weights or variance."""
        rows = getattr(self, kind).reshape(-1, self.width)
        return rows[: self.n_labels, : self.n_labels].copy()

    def extended(self, n_features, n_labels):
        """Return a belief that also covers new features and labels, at the prior."""
        row_of, width = self.row_of, padded(n_labels)
        unknown_row, unseen = self.unknown_row, self.unseen
        if n_features > len(row_of):
            new = np.full(n_features - len(row_of), self.width, dtype=np.int32)
            if unknown_row is not None:
                unseen = np.append(unseen, np.arange(len(row_of), n_features))
            row_of = np.concatenate([row_of, new])
        if width != self.width:
            # The transition block grows by as many rows as a row by columns.
            row_of = row_of + np.int32(width - self.width)
            if unknown_row is not None:
                unknown_row += width - self.width
        return Belief(
            n_labels,
            row_of,
            self._widened(self.mean, width, 0.0),
            self._widened(self.variance, width, self._prior_variance()),
            self._widened(self.average, width, 0.0),
            self.rounds,
            unknown_row,
            unseen,
        )

    def as_dtype(self, dtype, averaging):
        """Return a belief in this precision that continues with averaging, or without.

        Where there was no average, the mean so far counts as one.
        """
        average = self.weights.astype(dtype, copy=False) if averaging else None
        variance = self.variance
        return Belief(
            self.n_labels,
            self.row_of,
            self.mean.astype(dtype, copy=False),
            None if variance is None else variance.astype(dtype, copy=False),
            average,
            self.rounds,
            self.unknown_row,
            self.unseen,
        )

    def with_average_restarted(self):
        """Return a belief that continues from the average and starts a new average.

        Otherwise the many rounds of a finished training would outweigh what is
        learnt later: a new label would hardly ever be predicted.
        """
        weights = self.weights
        average = None if self.average is None else weights
        return Belief(
            self.n_labels,
            self.row_of,
            weights,
            self.variance,
            average,
            0.0,
            self.unknown_row,
            self.unseen,
        )

    def with_unknown_row_times(self, strength):
        """Return a belief that makes so many times as much of unknown tokens."""
        belief = self.as_dtype(self.mean.dtype, self.average is not None)
        for kind in ("mean", "average"):
            flat = getattr(self, kind)
            if flat is not None:
                flat = flat.copy()
                flat.reshape(-1, self.width)[self.unknown_row] *= strength
                setattr(belief, kind, flat)
        return belief

    def with_unknown_feature(self):
        """Return a belief in which one more feature, the last, has the unknown row."""
        belief = Belief(
            self.n_labels,
            self._all_rows(),
            self.mean,
            self.variance,
            self.average,
            self.rounds,
        )
        belief.own_unit = self.own_unit
        return belief

    def _all_rows(self):
        """Return the rows of all features, and of tokens without a known one."""
        if self.unknown_row is None:
            return self.row_of
        return np.append(self.row_of, np.int32(self.unknown_row))

    def _prior_variance(self):
        blank = self.width * self.width
        return None if self.variance is None else self.variance[blank]

    def _widened(self, flat, width, prior):
        if flat is None or width == self.width:
            return flat
        old = flat.reshape(-1, self.width)
        new = np.full((len(old) + width - self.width, width), prior, flat.dtype)
        new[: self.width, : self.width] = old[: self.width]
        new[width:, : self.width] = old[self.width :]
        return new.ravel()

    def expanded_for_training(self):
        """Return a copy ready for training: (belief with room, rows in use).

        Its ``average`` is the drift: rounds * (mean - average). Its last feature is
        that of tokens without a known one, where there is a row for them.
        """
        row_of = self._all_rows()
        untouched = int(np.count_nonzero(row_of == self.width))
        size = len(self.mean) + untouched * self.width
        mean = _with_room(self.mean, size)
        variance = None if self.variance is None else _with_room(self.variance, size)
        drift = None
        if self.average is not None:
            drift = _with_room(self.mean - self.average, size)
            drift[: len(self.mean)] *= self.rounds
        expanded = Belief(
            self.n_labels,
            row_of.copy(),
            mean,
            variance,
            drift,
            self.rounds,
            self.unknown_row,
            self.unseen,
        )
        return expanded, self.n_rows

    def compacted(self, n_rows):
        """Return a compact copy of an expanded belief, with its average."""
        size = n_rows * self.width
        mean = self.mean[:size].copy()
        average = None
        if self.average is not None:
            # Before the first round there is no drift to divide.
            average = self.average[:size] / -(self.rounds or 1.0)
            average += mean
        row_of, unknown_row = _split_rows(self.row_of, self.unknown_row is not None)
        return Belief(
            self.n_labels,
            row_of.copy(),
            mean,
            None if self.variance is None else self.variance[:size].copy(),
            average,
            self.rounds,
            unknown_row,
            self.unseen,
        )

    @classmethod
    def from_arrays(cls, n_labels, arrays, rounds=0.0):
        """Return the belief among the arrays of a model; raise if they do not fit."""
        mean = _saved_part(arrays, "mean", FLOATS)
        same = (mean.dtype.str[1:],)
        parts = {
            name: _saved_part(arrays, name, same)
            for name in ("variance", "average")
            if SAVED_AS + name in arrays
        }
        unknown_row = _saved_part(arrays, "unknown_row", ("i4",))
        belief = cls(
            n_labels,
            _saved_part(arrays, "row_of", ("i4",)),
            mean,
            parts.get("variance"),
            parts.get("average"),
            saved_number(rounds, "rounds", 0),
            int(unknown_row[0]) if len(unknown_row) else None,
            _saved_part(arrays, "unseen", ("i4",)),
        )
        belief.check()
        return belief

    def check(self):
        """Raise unless the arrays fit together: kernels read them unchecked."""
        flat = (self.mean, self.variance, self.average)
        sizes = {len(array) for array in flat if array is not None}
        if len(sizes) != 1 or len(self.mean) % self.width or self.n_rows <= self.width:
            raise ValueError("the arrays of weights do not have the same rows")
        least = 1.0 if self.variance is None else self.variance.min()
        if least < 0 or (self.variance is not None and not self._prior_variance() > 0):
            raise ValueError("a variance is negative, or that of the prior is zero")
        if not _within(self._all_rows(), self.width, self.n_rows):
            raise ValueError("a feature refers to a row that does not exist")
        if not _within(self.unseen, 0, len(self.row_of)):
            raise ValueError("an unseen feature has a number that does not exist")

    def check_finite(self):
        """Raise if a weight is not a finite number, after a training."""
        if not all(np.isfinite(array).all() for array in self.arrays().values()):
            raise ValueError(
                "the weights grew without bound; scale the feature values (about -1 to "
                "1 works best), use dtype='float64' where there is one, or choose less "
                "extreme parameters"
            )

    def arrays(self):
        """Return the arrays by the names that they have in the file of a model."""
        names = ("row_of", "mean", "variance", "average")
        arrays = {SAVED_AS + name: getattr(self, name) for name in names}
        # Always there, empty or not: a model that has lost them would tag differently.
        unknown_row = [] if self.unknown_row is None else [self.unknown_row]
        arrays[f"{SAVED_AS}unknown_row"] = np.array(unknown_row, dtype=np.int32)
        arrays[f"{SAVED_AS}unseen"] = self.unseen
        return {name: array for name, array in arrays.items() if array is not None}


def _within(numbers, least, end):
    return not len(numbers) or (numbers.min() >= least and numbers.max() < end)


def _saved_part(arrays, name, kinds):
    return saved_array(arrays, SAVED_AS + name, kinds, (None,))


def _split_rows(row_of, with_unknown):
    """Return the rows of features, and that of unknown tokens or None."""
    return (row_of[:-1], int(row_of[-1])) if with_unknown else (row_of, None)


def _with_room(flat, size):
    """Return a longer copy; the system gives the rest memory only when it is used."""
    longer = np.zeros(size, flat.dtype)
    longer[: len(flat)] = flat
    return longer


class BeliefMean:
    """The mean of several compact beliefs about the same features and labels.

    Means are averaged, and so are precisions: the result is what one typical model
    believes. (Multiplying the Gaussians would count the same data several times.)
    Beliefs are added one by one, so that only two need to be in memory.

    Examples
    --------
    >>> from skcw._belief import Belief, BeliefMean
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
            self.n_labels, self.width = belief.n_labels, belief.width
            self.dtype = belief.mean.dtype
            self.with_unknown = belief.unknown_row is not None
            self.row_of = belief._all_rows().copy()
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
            (self.row_of == self.width) & (belief._all_rows() != self.width)
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
        there = np.concatenate([fixed, belief._all_rows()[touched]])
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
        row_of, unknown_row = _split_rows(self.row_of, self.with_unknown)
        return Belief(
            self.n_labels,
            row_of,
            mean,
            variance,
            average,
            self.rounds / self.n,
            unknown_row,
            self.unseen,
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
