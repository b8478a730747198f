"""From utilities to items: the tie rule, budgets in words, diversity, candidates."""

from numbers import Integral, Real

import numpy as np
from scipy import sparse

from skcw._util.checks import check_sparse


def select_batch(
    utilities, n=None, *, words=None, lengths=None, features=None, max_overlap=None
):
    """Return the items to ask about, the most useful first.

    Of equal utilities the shorter sequence goes first [1]_, then the earlier one.

    Parameters
    ----------
    utilities : array-like of shape (n_items,)
        The higher, the sooner; minus infinity for items that are never asked about.
    n : int, default=None
        How many items at most; by default `words` alone counts.
    words : int, default=None
        How many words they may have in all. An item that is too long for what is left
        is passed over.
    lengths : array-like of shape (n_items,), default=None
        The number of words of each item; ones if None.
    features : sparse matrix of shape (n_items, n_features), default=None
        Which features each item has, for `max_overlap`.
    max_overlap : float, default=None
        Pass an item over if those of its features that an earlier item of this batch
        has weigh more than this share of all its features, where a feature counts by
        the logarithm of how rare it is. If too few items are left, those passed over
        fill the batch, in their order. Each feature of each item is looked at once.

    Returns
    -------
    positions : ndarray of int64
        Positions in `utilities`.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010, section 6.

    Examples
    --------
    >>> from skcw.active import select_batch
    >>> select_batch([0.5, 0.9, 0.9, 0.1], 2, lengths=[3, 8, 5, 2])
    array([2, 1])
    >>> select_batch([0.5, 0.9, 0.9, 0.1], words=10, lengths=[3, 8, 5, 2])
    array([2, 0, 3])
    """
    utilities = _check_utilities(utilities)
    lengths = _check_lengths(lengths, len(utilities))
    order = np.lexsort((lengths, -utilities))
    order = order[utilities[order] > -np.inf]
    _check_budget(n, words, lengths[order])
    if max_overlap is not None:
        enough = n if words is None else len(order)
        order = _spread_out(order, features, max_overlap, enough)
    return _within(order, lengths, len(order) if n is None else n, words)


def _within(order, lengths, n, words):
    """Return the first items that a budget allows."""
    if words is None:
        return order[:n].astype(np.int64)
    chosen, left, sizes = [], words, lengths.tolist()
    for position in order.tolist():
        if len(chosen) == n or left <= 0:
            break
        if sizes[position] <= left:
            chosen.append(position)
            left -= sizes[position]
    return np.array(chosen, dtype=np.int64)


def _spread_out(order, features, max_overlap, enough):
    """Return the order with items that repeat earlier ones put to the end.

    It stops looking when there are enough items.
    """
    check_overlap(max_overlap)
    if features is None:
        raise ValueError("max_overlap compares features: give them as a sparse matrix")
    if sparse.issparse(features):
        check_sparse(features, "features")
    features = sparse.csr_array(features)
    if features.shape[0] < order.max(initial=-1) + 1:
        raise ValueError(
            f"features has {features.shape[0]} rows, fewer than there are utilities"
        )
    counts = np.bincount(features.indices, minlength=features.shape[1])
    weight = np.log(features.shape[0] / np.maximum(counts, 1))
    is_covered = np.zeros(features.shape[1], dtype=bool)
    kept, passed = [], []
    for position in order.tolist():
        if len(kept) == enough:
            break
        start, stop = features.indptr[position : position + 2]
        own = features.indices[start:stop]
        own_weight = weight[own]
        repeated = own_weight[is_covered[own]].sum()
        if repeated > max_overlap * own_weight.sum():
            passed.append(position)
        else:
            kept.append(position)
            is_covered[own] = True
    return np.array(kept + passed, dtype=np.int64)


def askable(utilities, lengths):
    """Return utilities that leave out empty items alone, however sure a model is.

    A model that knows a single label is infinitely sure of everything, and still has
    something to learn.
    """
    utilities = np.maximum(utilities, np.finfo(np.float64).min)
    return np.where(np.asarray(lengths) > 0, utilities, -np.inf)


def draw_candidates(positions, n_candidates, rng):
    """Return a random subset of positions, in order; all of them if they are few."""
    if n_candidates is None or n_candidates >= len(positions):
        return positions
    return np.sort(rng.choice(positions, n_candidates, replace=False))


def check_number(name, value, least=1):
    """Raise unless a value is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, got {value!r}")


def check_overlap(share):
    """Raise unless `max_overlap` is None or a share."""
    if share is not None and (not isinstance(share, Real) or not 0 <= share <= 1):
        raise ValueError(f"max_overlap must be between 0 and 1, got {share!r}")


def _check_utilities(utilities):
    utilities = np.asarray(utilities, dtype=np.float64)
    if utilities.ndim != 1:
        raise ValueError(
            f"utilities have the shape {utilities.shape}; one number per item is needed"
        )
    bad = np.flatnonzero(np.isnan(utilities))
    if len(bad):
        raise ValueError(
            f"the utility of item {bad[0]} is not a number, so it has no rank"
        )
    return utilities


def _check_lengths(lengths, n_items):
    if lengths is None:
        return np.ones(n_items, dtype=np.int64)
    lengths = np.asarray(lengths)
    if lengths.shape != (n_items,):
        raise ValueError(
            f"there are {n_items} utilities but lengths has the shape {lengths.shape}"
        )
    if lengths.dtype.kind not in "iu" or lengths.min(initial=0) < 0:
        raise ValueError("lengths must be whole numbers of words, none below 0")
    return lengths


def _check_budget(n, words, lengths):
    """Raise unless a batch of this size can be had."""
    if n is None and words is None:
        raise ValueError("say how many items (n) or how many words may be asked about")
    if not len(lengths):
        raise ValueError("no item is left that could be asked about")
    if n is not None:
        check_number("n", n)
        if n > len(lengths):
            raise ValueError(
                f"{n} items are asked for, but only {len(lengths)} can be asked about"
            )
    if words is not None:
        check_number("words", words)
        if words > lengths.sum() and n is None:
            raise ValueError(
                f"a budget of {words} words is more than the {lengths.sum()} words "
                "that can be asked about"
            )
        if words < lengths.min():
            raise ValueError(
                f"a budget of {words} words has room for no item: the shortest one "
                f"has {lengths.min()}"
            )
