"""Input checks for all modules: order, lengths, weights, sparse matrices."""

from collections.abc import Mapping, Set
from numbers import Real

import numpy as np

from skcw._util.limits import HEAVIEST_WEIGHT, LIGHTEST_WEIGHT

# Their tables give the names of columns when one iterates over them.
FRAME_LIBRARIES = {"pandas", "polars", "pyarrow", "modin", "cudf", "dask", "narwhals"}


def brief(text):
    """Return a text, or its beginning, as a message shows it."""
    return text if len(text) <= 60 else text[:57] + "..."


def check_same_length(n_first, n_second, names=("X", "y"), what="sequences"):
    """Raise unless two inputs hold equally many things.

    Parameters
    ----------
    n_first, n_second : int
        How many there are in each input.
    names : tuple of two str, default=("X", "y")
        The names of the inputs in the error message.
    what : str, default="sequences"
        The unit, in the plural.

    Raises
    ------
    ValueError
        ``X has 2 sequences but y has 3``.

    Examples
    --------
    >>> from skcw._util.checks import check_same_length
    >>> check_same_length(2, 3)
    Traceback (most recent call last):
        ...
    ValueError: X has 2 sequences but y has 3
    """
    if n_first != n_second:
        raise ValueError(
            f"{names[0]} has {n_first} {what} but {names[1]} has {n_second}"
        )


def is_table(thing):
    """Return whether a thing is a data frame, or groups of its rows.

    Parameters
    ----------
    thing : object
        Anything.

    Returns
    -------
    table : bool
        Whether iterating over it gives the names of columns, or pairs of a group.

    Examples
    --------
    >>> import pandas as pd
    >>> from skcw._util.checks import is_table
    >>> frame = pd.DataFrame({"word": ["Ann"]})
    >>> is_table(frame), is_table(frame["word"])
    (True, False)
    """
    kinds = type(thing).__mro__
    if not any(kind.__module__.partition(".")[0] in FRAME_LIBRARIES for kind in kinds):
        return False
    # Of the class: a lazy frame would have to work for the names of its columns.
    return hasattr(type(thing), "columns") or "GroupBy" in type(thing).__name__


def refuse_table(thing, name):
    """Raise at a data frame, which cannot stand for a list of sequences or tokens.

    Parameters
    ----------
    thing : object
        Anything.
    name : str
        Its name in messages.
    """
    if is_table(thing):
        library = type(thing).__module__.partition(".")[0]
        raise TypeError(
            f"{name} is a {type(thing).__name__} of {library}; iterating over it gives "
            "names of columns or groups of rows, not words. If it has one row per "
            "token, TokenColumns.from_frame(df, sentence=...) makes sentences of it, "
            "and split_label(...) of these the labels; if its columns are numbers, "
            "give df.to_numpy() for each sequence"
        )


PLAIN_TEXT = "; for plain text, call predict_text of a pipeline"


def no_sequences(X):
    """Return the text of an error about X, which is no collection of sequences."""
    hint = PLAIN_TEXT * isinstance(X, str)
    return f"X is a {type(X).__name__}, not a list of sequences{hint}"


def check_sequence(sequence, s):
    """Raise unless a thing can be a sequence: tokens in their order.

    Parameters
    ----------
    sequence : object
        The sequence.
    s : int
        Its number.

    Raises
    ------
    TypeError
        If it is a set, whose order means nothing, a data frame, a string, a dict, or
        nothing to iterate over.

    Examples
    --------
    >>> from skcw._util.checks import check_sequence
    >>> check_sequence({"Ann"}, 0)
    Traceback (most recent call last):
        ...
    TypeError: sequence 0 is a set, whose tokens have no order; give a list
    """
    if isinstance(sequence, (list, tuple, np.ndarray)):
        return
    refuse_table(sequence, f"sequence {s}")
    if isinstance(sequence, Set):
        raise TypeError(
            f"sequence {s} is a {type(sequence).__name__}, whose tokens have no order; "
            "give a list"
        )
    if isinstance(sequence, (str, bytes, Mapping)) or not hasattr(sequence, "__iter__"):
        hint = PLAIN_TEXT * isinstance(sequence, str)
        raise TypeError(
            f"sequence {s} is {brief(repr(sequence))} ({type(sequence).__name__}), not "
            f"a list of tokens{hint}"
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
        The units of the sequences in each input.

    Raises
    ------
    ValueError
        ``X has 2 sequences but y has 3`` or
        ``sequence 1 has 4 tokens but 5 labels``.

    Examples
    --------
    >>> from skcw._util.checks import check_same_lengths
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


def check_sample_weight(sample_weight, n, what="sequences", *, at_most=HEAVIEST_WEIGHT):
    """Return one finite, non-negative weight each as float64; None stays None.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        The weight of each sequence (or token, or row).
    n : int
        How many weights there must be.
    what : str, default="sequences"
        The weighted things, in the plural.
    at_most : float, default=1e20
        The largest weight that makes sense.

    Returns
    -------
    weight : ndarray of float64 of shape (n,) or None
        The weights; None if none were given.

    Raises
    ------
    ValueError
        When the shape is wrong, a weight is negative, not finite, too large or too
        small to count, or when all weights are zero.

    Examples
    --------
    >>> from skcw._util.checks import check_sample_weight
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
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n} {what}, none too "
            "large for a float"
        ) from None
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; "
            f"it must hold one weight for each of the {n} {what}"
        )
    check_weight_values(weight, what, at_most=at_most)
    return weight


def check_weight_values(
    weight, what="sequences", *, at_most=HEAVIEST_WEIGHT, place=None
):
    """Raise at the first weight of a flat array that cannot be used.

    Parameters
    ----------
    weight : ndarray of float64 of shape (n,)
        The weights.
    what : str, default="sequences"
        The weighted things, in the plural.
    at_most : float, default=1e20
        The largest weight that makes sense.
    place : callable, optional
        Takes a position and returns how to name it; ``sample_weight[3]`` by default.

    Raises
    ------
    ValueError
        When a weight is negative, not finite, too large or too small to count, or all
        are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._util.checks import check_weight_values
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
    vanishing = np.flatnonzero((weight > 0) & (weight < LIGHTEST_WEIGHT))
    if vanishing.size:
        raise ValueError(
            f"{place(vanishing[0])} is {weight[vanishing[0]]:g}; weights must be 0 or "
            f"at least {LIGHTEST_WEIGHT:g}: scale them to a mean of one"
        )
    if weight.size and weight.max() > at_most:
        heaviest = np.argmax(weight)
        raise ValueError(
            f"{place(heaviest)} is {weight[heaviest]:g}; weights must be at most "
            f"{at_most:g}: a weight says how often one of the {what} counts, so scale "
            "them to a mean of one"
        )


def check_weighted_labels(class_weight, classes):
    """Raise if class weights name a label that is none of the classes.

    As in scikit-learn, weights of all classes and of further ones are taken: a fold may
    lack a rare one.

    Parameters
    ----------
    class_weight : dict
        Weights by label.
    classes : list
        The labels of the training data.

    Examples
    --------
    >>> from skcw._util.checks import check_weighted_labels
    >>> check_weighted_labels({"B-LCO": 2}, ["B-LOC", "O"])
    Traceback (most recent call last):
        ...
    ValueError: class_weight names the label 'B-LCO', which is none of: 'B-LOC', 'O'...
    """
    unknown = [label for label in class_weight if label not in classes]
    if unknown and not all(label in class_weight for label in classes):
        known = ", ".join(map(repr, classes[:30]))
        raise ValueError(
            f"class_weight names the label {unknown[0]!r}, which is none of: {known}. "
            "If the training part of a fold may lack a rare label, give the weights of "
            "all labels"
        )


def check_real(name, value):
    """Return a parameter as a float; raise unless it is a real number.

    Examples
    --------
    >>> from skcw._util.checks import check_real
    >>> check_real("zero_division", "1")
    Traceback (most recent call last):
        ...
    TypeError: zero_division is '1'; it must be a number
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    return float(floats(value, name))


def floats(values, name):
    """Return numbers as an array of float64; raise where one is too large for it.

    Examples
    --------
    >>> from skcw._util.checks import floats
    >>> floats([1, 10**400], "confidence")
    Traceback (most recent call last):
        ...
    ValueError: confidence holds a whole number that is too large for a float
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(
            f"{name} holds a whole number that is too large for a float"
        ) from None


def check_sparse(matrix, name="X"):
    """Raise if a sparse matrix has an entry outside of its own shape.

    SciPy looks at what it is given by hand only in part, and compiled code not at all.

    Parameters
    ----------
    matrix : sparse matrix or array
        The matrix, in any format.
    name : str, default="X"
        Its name in the error message.

    Raises
    ------
    ValueError
        When an index is negative or too large, or the offsets of the rows are broken.

    Examples
    --------
    >>> from scipy import sparse
    >>> from skcw._util.checks import check_sparse
    >>> matrix = sparse.csr_array([[0.0, 1.0]])
    >>> matrix.indices[0] = 7
    >>> check_sparse(matrix)
    Traceback (most recent call last):
        ...
    ValueError: X is a broken csr matrix: an index is 7, but it must lie between 0 and 1
    """
    kind = f"{name} is a broken {matrix.format} matrix"
    if matrix.format == "coo":
        for axis, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            _check_indices(axis, len(matrix.data), size, kind)
    if matrix.format not in ("csr", "csc", "bsr"):
        return
    blocks = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    shape = [size // block for size, block in zip(matrix.shape, blocks, strict=True)]
    n_lines, n_places = shape[::-1] if matrix.format == "csc" else shape
    steps = np.asarray(matrix.indptr)
    if (
        steps.shape != (n_lines + 1,)
        or steps.dtype.kind not in "iu"
        or steps[0] != 0
        or (steps[1:] < steps[:-1]).any()
        or steps[-1] > len(matrix.data)
    ):
        raise ValueError(
            f"{kind}: indptr must be {n_lines + 1} whole numbers that begin with 0, "
            f"never fall and end with {len(matrix.data)} at most"
        )
    _check_indices(matrix.indices, len(matrix.data), n_places, kind)


def _check_indices(indices, n_entries, n_places, kind):
    """Raise unless there is one index for every entry, and each is a place."""
    indices = np.asarray(indices)
    if indices.shape != (n_entries,) or (n_entries and indices.dtype.kind not in "iu"):
        raise ValueError(f"{kind}: it must have one whole number for each entry")
    for worst in (indices.min(), indices.max()) if n_entries else ():
        if not 0 <= worst < n_places:
            raise ValueError(
                f"{kind}: an index is {worst}, but it must lie between 0 and "
                f"{n_places - 1}"
            )
