"""Probabilities of all classes and true labels, checked and laid flat."""

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from skcw.metrics._checks import listed, listed_in_order
from skcw.metrics._outcome_checks import check_same_layout, place_of
from skcw.metrics._weighted_pairs import Pairs, check_groups, check_weight


def check_class_table(proba, y, classes, labels, sample_weight, groups):
    """Return the words as a list of `Pairs`, one for each class asked for."""
    proba = list(proba) if isinstance(proba, Iterator) else proba
    words, lengths = _flat_words(proba)
    if not len(words):
        raise ValueError("there are no words to judge; proba must hold at least one")
    truth = _flat_labels(y, len(words), lengths)
    if classes is None:
        classes = _column_names(proba, truth)
    classes = _check_classes(classes, words, truth)
    columns = _check_labels(labels, classes)
    table = _check_table(words, classes, lengths)
    weight = check_weight(sample_weight, len(table), lengths, "proba")
    group = check_groups(groups, len(table), lengths, "proba")
    column_of = {label: column for column, label in enumerate(classes)}
    true_column = np.array([column_of.get(label, -1) for label in truth])
    return [
        Pairs(
            q=table[:, column].astype(np.float64),
            y=(true_column == column).astype(np.float64),
            weight=weight,
            group=group,
            dtype=table.dtype.type,
        )
        for column in columns
    ]


def _flat_words(proba):
    """Return a table or a list of dicts with all words, and the lengths of the rows.

    The lengths are None if the words came without rows.
    """
    if getattr(proba, "ndim", 0) == 2:
        return _table(proba, "proba"), None
    rows = listed_in_order(proba, "proba")
    if rows and isinstance(rows[0], Mapping):
        return _check_dicts(rows, None), None
    rows = [_row(row, f"proba[{i}]") for i, row in enumerate(rows)]
    first = next((row[0] for row in rows if len(row)), None)
    if first is None:
        return [], None
    if not isinstance(first, Mapping) and np.ndim(first) == 0:
        return _table(rows, "proba"), None
    lengths = np.array([len(row) for row in rows])
    words = list(chain.from_iterable(rows))
    if isinstance(first, Mapping):
        return _check_dicts(words, lengths), lengths
    return _table(words, "proba"), lengths


def _row(row, name):
    """Return the words of a sentence; those of a DataFrame are not its columns."""
    return np.asarray(row) if getattr(row, "ndim", 0) == 2 else listed(row, name)


def _check_dicts(words, lengths):
    """Return the words, or say which one is no dict although the first is."""
    for index, word in enumerate(words):
        if not isinstance(word, Mapping):
            raise TypeError(
                f"{place_of('proba', index, lengths)} is of type "
                f"{type(word).__name__} beside dicts from label to probability; give "
                "a dict for every word"
            )
    return words


def _column_names(proba, truth):
    """Return the names of the columns of a DataFrame, or of one a row; else None.

    A DataFrame made without names has numbers for them, which may be no labels.
    """
    tables = [proba] if hasattr(proba, "columns") else proba
    tables = [table for table in tables if hasattr(table, "columns")]
    if not tables:
        return None
    names, *others = [list(table.columns) for table in tables]
    if any(other != names for other in others):
        raise ValueError(
            "the tables in proba have different columns; give each the same, in the "
            "same order"
        )
    numbered = names == list(range(len(names)))
    return None if numbered and not set(names) & set(truth) else names


def _table(words, name):
    """Return words with a number for each class as a 2-D array of floats."""
    try:
        table = np.asarray(words)
        if table.dtype.kind != "f":
            table = table.astype(np.float64)
    except (TypeError, ValueError):  # rows of several lengths, or no numbers
        table = None
    if table is None or table.ndim != 2:
        raise ValueError(
            f"{name} must hold a probability of each class for each word: an array of "
            "shape (n_words, n_classes), or a row of such words for each sentence"
        )
    return table


def _flat_labels(y, n_words, lengths):
    """Return the true labels of all words in one list."""
    if isinstance(y, (str, bytes)):
        raise TypeError("y is a single string; it must hold a label per word")
    labels = y.tolist() if isinstance(y, np.ndarray) else listed_in_order(y, "y")
    in_rows = [
        hasattr(item, "__len__") and not isinstance(item, str) for item in labels
    ]
    label_lengths = None
    if labels and all(in_rows):
        label_lengths = np.array([len(row) for row in labels])
        labels = [str(s) if isinstance(s, str) else s for row in labels for s in row]
    elif any(in_rows):
        raise ValueError("y holds labels beside rows of labels; give one or the other")
    check_same_layout(n_words, lengths, len(labels), label_lengths, "y", "proba")
    return labels


def _check_classes(classes, words, truth):
    """Return the label of each column."""
    if classes is not None:
        classes = listed_in_order(classes, "classes")
    elif isinstance(words, np.ndarray):
        classes = sorted(set(truth))
    else:
        classes = sorted(set(chain.from_iterable(words)))
    different = len(set(classes))
    if different != len(classes):
        raise ValueError("classes holds a label twice; each column has its own")
    if isinstance(words, np.ndarray) and words.shape[1] != different:
        raise ValueError(
            f"proba has {words.shape[1]} columns but there are {different} classes; "
            "give classes=estimator.classes_, one for each column"
        )
    return classes


def _check_labels(labels, classes):
    """Return the columns of the labels that were asked for."""
    if labels is None:
        return range(len(classes))
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels is a single string; write [{labels!r}]")
    labels = list(dict.fromkeys(listed(labels, "labels")))
    unknown = [label for label in labels if label not in classes]
    if unknown or not labels:
        what = f"holds {unknown[0]!r}" if unknown else "is empty"
        raise ValueError(f"labels {what}; there are {', '.join(map(str, classes))}")
    return [classes.index(label) for label in labels]


def _check_table(words, classes, lengths):
    """Return the probabilities as an array; a label that a dict lacks has none."""
    if isinstance(words, np.ndarray):
        table = words
    else:
        rows = [[word.get(label, 0.0) for label in classes] for word in words]
        table = _table(rows, "proba")
    bad = np.flatnonzero(~((table >= 0) & (table <= 1)).all(axis=1))
    if bad.size:
        place = place_of("proba", bad[0], lengths)
        raise ValueError(
            f"{place} is {table[bad[0]].tolist()}; probabilities must be from 0 to 1"
        )
    return table
