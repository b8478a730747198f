"""Checks of the labels that come back, annotators who err, and what is wrong."""

from numbers import Real

import numpy as np

from skcw.active._pool import as_items, is_one_label
from skcw.data._labels import check_labels, listed_in_order
from skcw.data._ragged import object_rows


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


def check_answers(y, positions, pool):
    """Return labels as plain lists; raise unless they fit the items of a pool."""
    rows = listed_in_order(y, "y")
    if len(rows) != len(positions):
        raise ValueError(f"{len(positions)} items need labels, but y has {len(rows)}")
    if not pool.has_sequences:
        return [_check_label(row, i) for row, i in zip(rows, positions, strict=True)]
    rows = [
        check_labels(row, f"the labels of item {i}")
        for row, i in zip(rows, positions, strict=True)
    ]
    for row, position in zip(rows, positions.tolist(), strict=True):
        if len(row) != pool.lengths[position]:
            raise ValueError(
                f"item {position} of the pool has {pool.lengths[position]} tokens but "
                f"{len(row)} labels"
            )
    return [list(map(str, row)) for row in rows]


def _check_label(label, position):
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, Real) and plain != plain:
        plain = None
    if not isinstance(plain, (str, Real)):
        raise ValueError(
            f"the label of item {position} is {label!r}; labels of rows are strings or "
            "numbers"
        )
    return plain


def count_wrong(guess, truth):
    """Return the number of words whose labels differ; for rows 0 or 1."""
    if not isinstance(truth, list):
        return int(guess != truth)
    return sum(a != b for a, b in zip(guess, truth, strict=True))


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
    items = as_items(y)
    flat = len(items) and is_one_label(items[0])
    rows = [[item] for item in items.tolist()] if flat else list(map(list, items))
    if classes is None:
        classes = sorted({label for row in rows for label in row})
    if rate and len(classes) < 2:
        raise ValueError("an error needs another label: there is one class only")
    for position, row in enumerate(rows):
        rng = np.random.default_rng([random_state, position])
        for t in np.flatnonzero(rng.random(len(row)) < rate):
            others = [label for label in classes if label != row[t]]
            row[t] = others[rng.integers(len(others))]
    if not flat:
        return object_rows(rows)
    return np.array([row[0] for row in rows], dtype=items.dtype)
