"""Label sequences checked once, at the door of every metric."""

from collections.abc import Mapping, Set

import numpy as np

# The exact types are looked up first: one set per sequence is cheaper than one
# isinstance call per label, and nearly every label is a plain str.
_STRING_TYPES = frozenset({str, np.str_})


def check_labels(labels, name):
    """Return one sequence of labels as a list, or say which label is no string."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(
            f"{name} is a single string, {labels!r}; "
            "it must be a sequence of labels, such as ['B-PER', 'O']"
        )
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    elif not isinstance(labels, (list, tuple)):
        labels = listed(labels, name)
    if not _STRING_TYPES.issuperset(map(type, labels)):
        for position, label in enumerate(labels):
            if not isinstance(label, str):
                raise TypeError(
                    f"{name}[{position}] is {label!r} of type "
                    f"{type(label).__name__}; labels must be strings"
                )
        # Members of a string enumeration stand for the strings they hold.
        labels = [str.__str__(label) for label in labels]
    return labels


def check_label_rows(y, name):
    """Return ``y`` as a list of label lists, or say which row is none."""
    if isinstance(y, (str, bytes)):
        raise TypeError(f"{name} is a single string; it must be a list of sequences")
    rows = listed_in_order(y, name)
    for i, row in enumerate(rows):
        refuse_unordered(row, f"{name}[{i}]")
    return [check_labels(row, f"{name}[{i}]") for i, row in enumerate(rows)]


def check_label_pair(y_true, y_pred):
    """Return both as lists of label lists of the same lengths."""
    true_rows = check_label_rows(y_true, "y_true")
    pred_rows = check_label_rows(y_pred, "y_pred")
    if len(true_rows) != len(pred_rows):
        raise ValueError(
            f"y_true has {len(true_rows)} sequences but y_pred has {len(pred_rows)}"
        )
    for i, (true, pred) in enumerate(zip(true_rows, pred_rows, strict=True)):
        if len(true) != len(pred):
            raise ValueError(
                f"sequence {i} has {len(true)} labels in y_true "
                f"but {len(pred)} in y_pred"
            )
    return true_rows, pred_rows


def check_sequence_weight(sample_weight, n_sequences):
    """Return one finite, non-negative float per sequence; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_sequences,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; "
            f"it must hold one weight for each of the {n_sequences} sequences"
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}; "
            "weights must be finite and not negative"
        )
    if n_sequences and not weight.any():
        raise ValueError("sample_weight is zero for every sequence")
    return weight


def check_label_names(labels, name):
    """Return the labels a caller asked for as a list without repeats."""
    names = list(dict.fromkeys(check_labels(labels, name)))
    if not names:
        raise ValueError(f"{name} is empty; name at least one label or pass None")
    return names


def listed(values, name):
    """Return any iterable as a list, or say that it is none."""
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
    if isinstance(values, (Set, Mapping)):
        raise TypeError(
            f"{name} is a {type(values).__name__}, whose entries have no places; give "
            "a list or an array"
        )


def check_confidence_options(options):
    """Return options of ``predict_confidence`` as a dict; None for none."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            f"confidence_options is {options!r}; it must be a dict of options of "
            "predict_confidence, such as {'n_draws': 50}"
        )
    return dict(options)
