"""The Gaussian over weights: what all layouts have in common, and that of a tagger."""

from functools import cached_property

import numpy as np

from skcw._util.limits import LARGEST_LEARNED, LARGEST_SAVED
from skcw.data.saved import (
    FLOATS,
    SAVED_AS,
    largest_size,
    padded,
    saved_array,
    saved_number,
)

# Rows that begin where a line of the cache does reach into fewer lines: 8 % less time
# for a pass over CoNLL-2000.
ALIGNMENT = 64
# How large the numbers of an array may be, after a training and in a file.
LIMITS = {
    "mean": LARGEST_LEARNED,
    "average": LARGEST_LEARNED,
    "variance": LARGEST_SAVED,
    "drift": LARGEST_SAVED,
}


class Gaussian:
    """A mean and a variance for every weight, in one of two layouts.

    `Belief` has flat rows of the features of sequences that training has touched,
    `TableBelief` a dense row for every column of a table. Both are made by ``start``,
    grow by ``extended``, are predicted with by their ``weights``, continue from
    ``with_average_restarted``, and are files by ``arrays`` and ``from_arrays``.
    """

    table_names = ()

    def tables(self):
        """Return the tables that there are, by name."""
        found = {name: getattr(self, name) for name in self.table_names}
        return {name: table for name, table in found.items() if table is not None}

    def check_finite(self, changed=lambda table: table):
        """Raise if a weight is not a finite number that can be used and saved.

        ``changed(table)`` gives the rows that training may have changed.
        """
        for name, table in self.tables().items():
            check_size(changed(table), LIMITS[name])


def check_size(table, most=LARGEST_LEARNED):
    """Raise if a number is too large to be used and saved."""
    if not largest_size(table) <= most:
        raise ValueError(
            "the weights grew without bound; scale the feature values (about -1 to 1 "
            "works best), use dtype='float64' where there is one, or choose less "
            "extreme parameters"
        )


class Belief(Gaussian):
    """A mean and a variance for every weight of a sequence tagger.

    The arrays are flat, in rows of ``width`` labels. Row i < width holds the
    transitions from label i, row ``width`` is blank: the prior of a feature that no
    update has touched. ``row_of[f]`` is the row of feature f. Updates follow
    mistakes, so most features of a corpus keep the blank row, cost no memory and stay
    out of the way.

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
        Features that have a number but occurred in nothing that was learned from. Where
        there is an `unknown_row` they count as not known.
    edges : ndarray of int32, default=()
        Features, ascending, that look at the label before as well: their own row stays
        the blank one.
    edge_rows : ndarray of int32, shape (n_edges, n_labels), default=None
        The row of each of them after each label; None is the blank one for all.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> belief = Belief.start(n_features=3, n_labels=2, initial_variance=1.0)
    >>> belief.feature_weights("variance")
    array([[1., 1.],
           [1., 1.],
           [1., 1.]], dtype=float32)
    """

    # The unit of the variance of draws that give all weights the same one; None where
    # weights have no scale of their own and only their size tells it.
    own_unit = None
    table_names = ("mean", "variance", "average")

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
        edges=(),
        edge_rows=None,
    ):
        self.n_labels = n_labels
        self.row_of = row_of
        self.mean = mean
        self.variance = variance
        self.average = average
        self.rounds = rounds
        self.unknown_row = unknown_row
        self.unseen = np.asarray(unseen, dtype=np.int32)
        self.edges = np.asarray(edges, dtype=np.int32)
        if edge_rows is None:
            edge_rows = np.full((len(self.edges), n_labels), self.width, np.int32)
        self.edge_rows = edge_rows

    def replaced(self, **parts):
        """Return a belief that differs in some parts."""
        same = self.__getstate__()
        same.pop("own_unit", None)
        return Belief(**{**same, **parts})

    def __getstate__(self):
        derived = "mean_square", "all_features"
        return {k: value for k, value in vars(self).items() if k not in derived}

    @classmethod
    def start(
        cls,
        n_features,
        n_labels,
        initial_variance=None,
        averaging=True,
        dtype="float32",
        learn_unknown_token=False,
        edges=(),
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
            width if learn_unknown_token else None,
            np.arange(n_features if learn_unknown_token else 0),
            edges,
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

    @cached_property
    def mean_square(self):
        """The mean square of the weights that are not zero; 1 if all are.

        Every question about draws needs it, so it is computed once: weights to predict
        with never change in place, another belief takes their place.
        """
        weights = self.weights[self.weights != 0]
        if not len(weights):
            return 1.0
        return float(np.mean(np.square(weights, dtype=np.float64)))

    def feature_weights(self, kind="weights"):
        """Return an array of shape (n_features, n_labels): weights or variance."""
        rows = getattr(self, kind).reshape(-1, self.width)
        return rows[self.row_of, : self.n_labels]

    def transition_weights(self, kind="weights"):
        """Return an array of shape (n_labels, n_labels): weights or variance."""
        rows = getattr(self, kind).reshape(-1, self.width)
        return rows[: self.n_labels, : self.n_labels].copy()

    def edge_weights(self, kind="weights"):
        """Return an array of shape (n_edges, n_labels, n_labels), as the above."""
        rows = getattr(self, kind).reshape(-1, self.width)
        return rows[self.edge_rows, : self.n_labels]

    def extended(self, n_features, n_labels, edges=None):
        """Return a belief that also covers new features and labels, at the prior.

        `edges` are all features that look at the label before, those known included;
        by default there are no new ones.
        """
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
        edges = self.edges if edges is None else np.asarray(edges, dtype=np.int32)
        edge_rows = np.full((len(edges), n_labels), width, dtype=np.int32)
        old = self.edge_rows + np.int32(width - self.width)
        edge_rows[: len(old), : self.n_labels] = old
        return self.replaced(
            n_labels=n_labels,
            row_of=row_of,
            mean=self._widened(self.mean, width, 0.0),
            variance=self._widened(self.variance, width, self.prior_variance),
            average=self._widened(self.average, width, 0.0),
            unknown_row=unknown_row,
            unseen=unseen,
            edges=edges,
            edge_rows=edge_rows,
        )

    def as_dtype(self, dtype, averaging):
        """Return a belief in this precision that continues with averaging, or without.

        Where there was no average, the mean so far counts as one.
        """
        variance = self.variance
        return self.replaced(
            mean=self.mean.astype(dtype, copy=False),
            variance=None if variance is None else variance.astype(dtype, copy=False),
            average=self.weights.astype(dtype, copy=False) if averaging else None,
        )

    def with_average_restarted(self):
        """Return a belief that continues from the average and starts a new average.

        Otherwise the many rounds of a finished training would outweigh what is
        learned later: a new label would hardly ever be predicted.
        """
        weights = self.weights
        average = None if self.average is None else weights
        return self.replaced(mean=weights, average=average, rounds=0.0)

    def with_unknown_row_times(self, strength):
        """Return a belief that makes so many times as much of unknown tokens."""

        def scaled(flat):
            flat = flat.copy()
            flat.reshape(-1, self.width)[self.unknown_row] *= strength
            return flat

        average = None if self.average is None else scaled(self.average)
        return self.replaced(mean=scaled(self.mean), average=average)

    @cached_property
    def all_features(self):
        """A belief whose features are all that have a row, as kernels read it.

        After those with a name come that of tokens without a known one, if there is a
        row for them, and from `first_edge` on the edges, each after every label.
        """
        belief = self.replaced(
            row_of=self.all_rows(),
            unknown_row=None,
            unseen=(),
            edges=(),
            edge_rows=None,
        )
        belief.own_unit = self.own_unit
        return belief

    @property
    def first_edge(self):
        """The number of the first edge after the first label among all features."""
        return len(self.row_of) + (self.unknown_row is not None)

    def all_rows(self):
        """Return the rows of all features, of unknown tokens, and of edges."""
        if self.unknown_row is None and not len(self.edges):
            return self.row_of
        unknown = [] if self.unknown_row is None else [self.unknown_row]
        rows = (self.row_of, np.array(unknown, np.int32), self.edge_rows.ravel())
        return np.concatenate(rows)

    def split_rows(self, rows):
        """Return the parts that `all_rows` has joined, by name."""
        first = len(rows) - self.edge_rows.size
        n_features = first - (self.unknown_row is not None)
        unknown_row = None if self.unknown_row is None else int(rows[n_features])
        return {
            "row_of": rows[:n_features].copy(),
            "unknown_row": unknown_row,
            "edge_rows": rows[first:].reshape(self.edge_rows.shape).copy(),
        }

    @property
    def prior_variance(self):
        """The variance of weights that no update has touched; None if there is none."""
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

        Its ``average`` is the drift: rounds * (mean - average). Its features are those
        of ``all_features``.
        """
        row_of = self.all_rows()
        untouched = int(np.count_nonzero(row_of == self.width))
        size = len(self.mean) + untouched * self.width
        mean = with_room(self.mean, size)
        variance = None if self.variance is None else with_room(self.variance, size)
        drift = None
        if self.average is not None:
            drift = with_room(self.mean - self.average, size)
            drift[: len(self.mean)] *= self.rounds
        expanded = self.replaced(
            row_of=row_of.copy(), mean=mean, variance=variance, average=drift
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
        return self.replaced(
            mean=mean,
            variance=None if self.variance is None else self.variance[:size].copy(),
            average=average,
            **self.split_rows(self.row_of),
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
        edges = _saved_part(arrays, "edges", ("i4",))
        shape = len(edges), n_labels
        belief = cls(
            n_labels,
            _saved_part(arrays, "row_of", ("i4",)),
            mean,
            parts.get("variance"),
            parts.get("average"),
            saved_number(rounds, "rounds", 0),
            int(unknown_row[0]) if len(unknown_row) else None,
            _saved_part(arrays, "unseen", ("i4",)),
            edges,
            saved_array(arrays, f"{SAVED_AS}edge_rows", ("i4",), shape),
        )
        belief.check()
        return belief

    def check(self):
        """Raise unless the arrays fit together: kernels read them unchecked."""
        sizes = {len(table) for table in self.tables().values()}
        if len(sizes) != 1 or len(self.mean) % self.width or self.n_rows <= self.width:
            raise ValueError("the arrays of weights do not have the same rows")
        least = 1.0 if self.variance is None else self.variance.min()
        if least < 0 or (self.variance is not None and not self.prior_variance > 0):
            raise ValueError("a variance is negative, or that of the prior is zero")
        if not _within(self.all_rows(), self.width, self.n_rows):
            raise ValueError("a feature refers to a row that does not exist")
        if not _within(self.unseen, 0, len(self.row_of)):
            raise ValueError("an unseen feature has a number that does not exist")
        if (np.diff(self.edges) <= 0).any() or not _within(
            self.edges, 0, len(self.row_of)
        ):
            raise ValueError("features that look at the label before are not in order")

    def arrays(self):
        """Return the arrays by the names that they have in the file of a model."""
        arrays = {f"{SAVED_AS}row_of": self.row_of}
        arrays |= {SAVED_AS + name: table for name, table in self.tables().items()}
        # Always there, empty or not: a model that has lost them would tag differently.
        unknown_row = [] if self.unknown_row is None else [self.unknown_row]
        arrays[f"{SAVED_AS}unknown_row"] = np.array(unknown_row, dtype=np.int32)
        arrays[f"{SAVED_AS}unseen"] = self.unseen
        arrays[f"{SAVED_AS}edges"] = self.edges
        arrays[f"{SAVED_AS}edge_rows"] = self.edge_rows
        return arrays


def _within(numbers, least, end):
    return not len(numbers) or (numbers.min() >= least and numbers.max() < end)


def _saved_part(arrays, name, kinds):
    most = LIMITS.get(name, LARGEST_SAVED)
    return saved_array(arrays, SAVED_AS + name, kinds, (None,), largest=most)


def with_room(flat, size):
    """Return a longer copy; the system gives the rest memory only when it is used."""
    spare = ALIGNMENT // flat.itemsize
    room = np.zeros(size + spare, flat.dtype)
    first = -room.ctypes.data % ALIGNMENT // flat.itemsize
    longer = room[first : first + size]
    longer[: len(flat)] = flat
    return longer
