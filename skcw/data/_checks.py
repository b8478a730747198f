"""Input checks for all modules: lengths that agree, and valid weights."""

import numpy as np


def check_same_length(n_first, n_second, names=("X", "y"), what="sequences"):
    """Raise unless two inputs hold equally many things.

    Parameters
    ----------
    n_first, n_second : int
        How many there are in each input.
    names : tuple of two str, default=("X", "y")
        The names of the inputs in the error message.
    what : str, default="sequences"
        What is counted, in the plural.

    Raises
    ------
    ValueError
        ``X has 2 sequences but y has 3``.

    Examples
    --------
    >>> from skcw.data._checks import check_same_length
    >>> check_same_length(2, 3)
    Traceback (most recent call last):
        ...
    ValueError: X has 2 sequences but y has 3
    """
    if n_first != n_second:
        raise ValueError(
            f"{names[0]} has {n_first} {what} but {names[1]} has {n_second}"
        )


def check_same_lengths(first, second, names=("X", "y"), units=("tokens", "labels")):
    """Raise unless two inputs hold equally many sequences of the same lengths.

    Parameters
    ----------
    first, second : array-like of int of shape (n_sequences,)
        The lengths of the sequences in each input.
    names : tuple of two str, default=("X", "y")
        The names of the inputs in the error message.
    units : tuple of two str, default=("tokens", "labels")
        What a sequence of each input is made of.

    Raises
    ------
    ValueError
        ``X has 2 sequences but y has 3`` or
        ``sequence 1 has 4 tokens but 5 labels``.

    Examples
    --------
    >>> from skcw.data._checks import check_same_lengths
    >>> check_same_lengths([3, 4], [3, 5])
    Traceback (most recent call last):
        ...
    ValueError: sequence 1 has 4 tokens but 5 labels
    """
    first, second = np.asarray(first), np.asarray(second)
    check_same_length(len(first), len(second), names)
    different = np.flatnonzero(first != second)
    if different.size:
        s = different[0]
        raise ValueError(
            f"sequence {s} has {first[s]} {units[0]} but {second[s]} {units[1]}"
            + (f" ({different.size} sequences differ)" if different.size > 1 else "")
        )


def check_sample_weight(sample_weight, n, what="sequences", *, at_most=None):
    """Return one finite, non-negative weight each as float64; None stays None.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        What each sequence (or word, or row) counts.
    n : int
        How many weights there must be.
    what : str, default="sequences"
        What is weighted, in the plural.
    at_most : float, optional
        The largest weight that makes sense.

    Returns
    -------
    weight : ndarray of float64 of shape (n,) or None
        The weights; None if none were given.

    Raises
    ------
    ValueError
        When the shape is wrong, a weight is negative, not finite or too large, or
        when all weights are zero.

    Examples
    --------
    >>> from skcw.data._checks import check_sample_weight
    >>> check_sample_weight([1, 2], 2)
    array([1., 2.])
    >>> check_sample_weight([1, -2], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight[1] is -2.0; weights must be finite and not negative
    """
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n} {what}"
        ) from None
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; "
            f"it must hold one weight for each of the {n} {what}"
        )
    check_weight_values(weight, what, at_most=at_most)
    return weight


def check_weight_values(weight, what="sequences", *, at_most=None, place=None):
    """Raise at the first weight of a flat array that cannot be used.

    Parameters
    ----------
    weight : ndarray of float64 of shape (n,)
        The weights.
    what : str, default="sequences"
        What is weighted, in the plural.
    at_most : float, optional
        The largest weight that makes sense.
    place : callable, optional
        Takes a position and returns how to name it; ``sample_weight[3]`` by default.

    Raises
    ------
    ValueError
        When a weight is negative, not finite or too large, or all are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data._checks import check_weight_values
    >>> check_weight_values(np.zeros(3))
    Traceback (most recent call last):
        ...
    ValueError: sample_weight is zero for all 3 sequences
    """
    place = place or "sample_weight[{}]".format
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"{place(bad[0])} is {weight[bad[0]]}; "
            "weights must be finite and not negative"
        )
    if weight.size and not weight.any():
        raise ValueError(f"sample_weight is zero for all {len(weight)} {what}")
    if at_most is not None and weight.size and weight.max() > at_most:
        heaviest = np.argmax(weight)
        raise ValueError(
            f"{place(heaviest)} is {weight[heaviest]:g}; weights must be at most "
            f"{at_most:g}: a weight says how often one of the {what} counts, so scale "
            "them to a mean of one"
        )
