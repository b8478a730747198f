"""Labels of rows and of sequences, read, checked and compared in one place.

What a pool holds decides which of the two kinds its labels are, `ROWS` or `SEQUENCES`;
everything that depends on it asks the kind.
"""

from itertools import chain
from numbers import Real

import numpy as np

from skcw.active._selection import check_number
from skcw.data._labels import check_labels, listed_in_order
from skcw.data._ragged import object_rows


class RowLabels:
    """One label per row, a string or a number."""

    name = "rows"
    has_sequences = False

    def plain(self, label, position, length):
        """Return the label of an item as a builtin; raise unless it can be one."""
        plain = label.item() if isinstance(label, np.generic) else label
        if isinstance(plain, Real) and plain != plain:
            plain = None
        if not isinstance(plain, (str, Real)):
            raise ValueError(
                f"the label of item {position} is {label!r}; labels of rows are "
                "strings or numbers"
            )
        return plain

    def check_together(self, labels):
        """Raise at a string among numbers, which an array would make strings, too."""
        if len({isinstance(label, str) for label in labels}) > 1:
            raise ValueError(
                "some labels are strings and some are numbers; give all of them as "
                "strings, or all as numbers"
            )

    def targets(self, labels):
        """Return labels as estimators take them."""
        return np.array(labels)

    def classes(self, labels):
        """Return the different labels, which a first ``partial_fit`` must know."""
        return np.unique(self.targets(labels))

    def can_begin(self, labels):
        """Tell whether a model can begin with these labels alone."""
        return len(set(labels)) > 1

    def words(self, labels):
        """Return the labels of all words, a row being one."""
        return list(labels)

    def count_wrong(self, guess, truth):
        """Return the number of words whose labels differ."""
        return int(guess != truth)


class SequenceLabels:
    """One list of strings per sequence."""

    name = "sequences"
    has_sequences = True

    def plain(self, labels, position, length):
        """Return the labels of an item as builtins; raise unless they fit it."""
        labels = check_labels(labels, f"the labels of item {position}")
        if len(labels) != length:
            raise ValueError(
                f"item {position} of the pool has {length} tokens but {len(labels)} "
                "labels"
            )
        return list(map(str, labels))

    def check_together(self, labels):
        """Do nothing: labels of sequences are all strings."""

    def targets(self, labels):
        """Return labels as estimators take them."""
        return labels

    def classes(self, labels):
        """Return None: taggers learn of labels as they come."""

    def can_begin(self, labels):
        """Tell whether a model can begin with these labels alone."""
        return len(labels) > 0

    def words(self, labels):
        """Return the labels of all words."""
        return list(chain.from_iterable(labels))

    def count_wrong(self, guess, truth):
        """Return the number of words whose labels differ."""
        return sum(a != b for a, b in zip(guess, truth, strict=True))


ROWS, SEQUENCES = RowLabels(), SequenceLabels()


def kind_of_labels(items):
    """Return the kind that labels show, where there is no estimator to ask."""
    first = items[0] if len(items) else ()
    is_one = isinstance(first, str) or not hasattr(first, "__len__")
    return ROWS if is_one else SEQUENCES


def as_items(y):
    """Return a list of labels or of label sequences as one object per item."""
    if isinstance(y, (str, bytes)):
        raise TypeError(f"y is a single string, {y!r}; it must be a list")
    return y if isinstance(y, np.ndarray) and y.dtype != object else object_rows(y)


def check_positions(positions, n_items):
    """Return positions in a pool; raise unless they are different and exist."""
    positions = np.atleast_1d(np.asarray(positions))
    if positions.size and not np.issubdtype(positions.dtype, np.integer):
        raise TypeError(f"positions are whole numbers, got {positions.dtype}")
    if positions.ndim != 1 or not len(positions):
        raise ValueError("give at least one position, and all of them in one list")
    bad = positions[(positions < 0) | (positions >= n_items)]
    if len(bad):
        raise ValueError(f"there is no item {bad[0]} in a pool of {n_items}")
    found, counts = np.unique(positions, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"item {found[counts > 1][0]} occurs more than once")
    return positions.astype(np.int64)


def check_answers(y, positions, pool, known=()):
    """Return labels as builtins; raise unless they fit the items of a pool.

    `known` are labels that the pool has already.
    """
    rows = listed_in_order(y, "y")
    if len(rows) != len(positions):
        raise ValueError(f"{len(positions)} items need labels, but y has {len(rows)}")
    rows = [
        pool.kind.plain(row, i, pool.lengths[i])
        for row, i in zip(rows, positions.tolist(), strict=True)
    ]
    pool.kind.check_together([*known[:1], *rows])
    return rows


def noisy_labels(y, rate, *, classes=None, random_state=0):
    """Return labels as an annotator gives them who errs at a given rate.

    Each label, of a row or of a word, is replaced with the given probability by another
    one, all others being equally likely.

    Parameters
    ----------
    y : sequence of labels, or of sequences of labels
        The truth.
    rate : float
        The probability of an error, from 0 to 1.
    classes : sequence of labels, default=None
        The labels to choose from; by default all that y has.
    random_state : int, default=0
        The seed. An item keeps its errors whichever other items there are.

    Returns
    -------
    y : ndarray of shape (n_items,)
        The labels, in the form in which they came.

    Examples
    --------
    >>> from skcw.active import noisy_labels
    >>> noisy_labels([["P", "O"], ["O"]], 1.0)
    array([list(['O', 'P']), list(['P'])], dtype=object)
    >>> noisy_labels([0, 1, 0, 1], 0.0).tolist()
    [0, 1, 0, 1]
    """
    if not isinstance(rate, Real) or not 0 <= rate <= 1:
        raise ValueError(f"rate must be between 0 and 1, got {rate!r}")
    check_number("random_state", random_state, least=0)
    items = as_items(y)
    kind = kind_of_labels(items)
    rows = [list(kind.words([item])) for item in items.tolist()]
    if classes is None:
        classes = sorted({label for row in rows for label in row})
    if rate and len(classes) < 2:
        raise ValueError("an error needs another label: there is one class only")
    for position, row in enumerate(rows):
        rng = np.random.default_rng([random_state, position])
        for t in np.flatnonzero(rng.random(len(row)) < rate):
            others = [label for label in classes if label != row[t]]
            row[t] = others[rng.integers(len(others))]
    if kind.has_sequences:
        return object_rows(rows)
    # Errors may be longer strings than the truth.
    dtype = np.result_type(items.dtype, np.asarray(classes).dtype)
    return np.array(list(chain.from_iterable(rows)), dtype=dtype)
