"""Check label sequences, and encode them as numbers."""

from array import array
from collections.abc import Mapping, Set
from numbers import Integral

import numpy as np

from skcw._util.checks import refuse_table

# The exact types are looked up first: one set per sequence is cheaper than one
# isinstance call per label, and nearly every label is a plain str.
_STRING_TYPES = frozenset({str, np.str_})


def encode_labels(y, known=(), grow=True):
    """Number the labels of all sequences in order of first appearance.

    Parameters
    ----------
    y : iterable of sequences of str
        The labels, one sequence per sequence of tokens.
    known : sequence of str, default=()
        Labels that already have the numbers 0, 1, ...
    grow : bool, default=True
        Whether unknown labels get a new number; otherwise they become -1.

    Returns
    -------
    codes : ndarray of int32
        The labels of all sequences, joined.
    lengths : ndarray of int64
        The number of labels of each sequence.
    names : list of str
        The label of each number.

    Examples
    --------
    >>> from skcw.data.labels import encode_labels
    >>> encode_labels([["O", "B"], [], ["B"]])
    (array([0, 1, 1], dtype=int32), array([2, 0, 1]), ['O', 'B'])
    """
    refuse_table(y, "y")
    if isinstance(y, (str, bytes, dict, set)) or not hasattr(y, "__iter__"):
        raise TypeError(f"y is a {type(y).__name__}, not a list of label sequences")
    number_of = {label: i for i, label in enumerate(known)}
    # An array becomes one of NumPy at once, a list number by number.
    codes, lengths = array("i"), []
    for s, labels in enumerate(y):
        # Sets and dicts have as many labels as tokens at best by accident.
        if not isinstance(labels, list):
            labels = _listed_labels(labels, s)
        try:
            codes.fromlist(list(map(number_of.__getitem__, labels)))
        except (KeyError, TypeError):
            codes.fromlist(_number_slowly(labels, s, number_of, grow))
        lengths.append(len(labels))
    return (
        np.array(codes, dtype=np.int32),
        np.array(lengths, dtype=np.int64),
        list(number_of),
    )


def _listed_labels(labels, s):
    refuse_table(labels, f"y[{s}]")
    unordered = isinstance(labels, (str, dict, set, frozenset))
    if unordered or not hasattr(labels, "__iter__"):
        raise TypeError(
            f"the labels of sequence {s} are {labels!r} "
            f"({type(labels).__name__}), not a list of strings"
        )
    return list(labels)


def _number_slowly(labels, s, number_of, grow):
    """Number the labels of sequence s, some of which are new or not strings."""
    codes = []
    for t, label in enumerate(labels):
        check_label(label, f"the label of sequence {s}, token {t}")
        if label not in number_of and grow:
            number_of[plain(label)] = len(number_of)
        codes.append(number_of.get(label, -1))
    return codes


def check_label(label, what):
    """Raise unless a label is a string that arrays can hold."""
    if not isinstance(label, str):
        raise TypeError(
            f"{what} is {label!r} ({type(label).__name__}); labels are strings"
        )
    if label.endswith("\0"):
        # NumPy's strings would lose it, and two labels might become one.
        raise ValueError(f"{what} is {label!r}; labels cannot end in a null character")


def joined_labels(known, classes):
    """Return the known labels and those of `classes` that are new, each once."""
    if classes is None:
        return list(known)
    if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
        raise TypeError(f"classes is {classes!r}, not a list of labels")
    classes = list(classes)
    for i, label in enumerate(classes):
        check_label(label, f"label {i} of classes")
    return [plain(label) for label in dict.fromkeys([*known, *classes])]


def plain(label):
    """Return the string that a subclass of str holds; str() might say another one."""
    return str.__str__(label)


def check_labels(labels, name, integers=False):
    """Return one sequence of labels as a list; raise unless all are strings.

    Where `integers` are allowed, all labels may also be those.
    """
    if isinstance(labels, (str, bytes)):
        raise TypeError(
            f"{name} is a single string, {labels!r}; "
            "it must be a sequence of labels, such as ['B-PER', 'O']"
        )
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    elif not isinstance(labels, list):
        labels = listed(labels, name)
    if not _STRING_TYPES.issuperset(map(type, labels)):
        if integers and all(map(is_integer, labels)):
            return list(map(int, labels))
        for position, label in enumerate(labels):
            if not isinstance(label, str):
                or_integers = ", or integers all of them" if integers else ""
                raise TypeError(
                    f"{name}[{position}] is {label!r} of type "
                    f"{type(label).__name__}; labels must be strings{or_integers}"
                )
        # Members of a string enumeration stand for the strings they hold.
        labels = [str.__str__(label) for label in labels]
    return labels


def is_integer(label):
    """Return whether a label is a number such as a dataset keeps instead of a name."""
    return isinstance(label, Integral) and not isinstance(label, bool)


def check_label_rows(y, name, integers=False):
    """Return ``y`` as a list of label lists; raise at a row that is not one."""
    if isinstance(y, (str, bytes)):
        raise TypeError(f"{name} is a single string; it must be a list of sequences")
    rows = listed_in_order(y, name)
    lists = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if _all_strings(lists):
        return lists
    for i, row in enumerate(rows):
        refuse_unordered(row, f"{name}[{i}]")
    return [check_labels(row, f"{name}[{i}]", integers) for i, row in enumerate(rows)]


def _all_strings(rows):
    """Return whether all rows are lists of strings; asks about each string once."""
    if not set(map(type, rows)) <= {list}:
        return False  # a generator, say, which can be read only once
    try:
        return _STRING_TYPES.issuperset(map(type, set().union(*rows)))
    except TypeError:  # a label that is a list
        return False


def listed(values, name):
    """Return any iterable as a list; raise if it is not iterable."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(
            f"{name} is of type {type(values).__name__}; it must be a sequence"
        ) from None


def listed_in_order(values, name):
    """Return any iterable whose order means something as a list."""
    refuse_unordered(values, name)
    return listed(values, name)


def refuse_unordered(values, name):
    """Raise at a set or a dict, whose entries belong to no places."""
    # Asking the abstract classes is slow, and nearly all rows are lists.
    if not isinstance(values, list) and isinstance(values, (Set, Mapping)):
        raise TypeError(
            f"{name} is a {type(values).__name__}, whose entries have no order; give "
            "a list or an array"
        )
