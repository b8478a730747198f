"""Confidences and whether their labels were right: checked once and laid flat."""

import numpy as np

from skcw.metrics._checks import listed


def check_outcomes(confidence, correct):
    """Return both as flat arrays, floats and bools, one of each a word."""
    values, hits, _ = _flat_outcomes(confidence, correct)
    return values, hits


def check_probabilities(confidence, correct):
    """Return what `check_outcomes` does, and refuse what is outside [0, 1]."""
    values, hits, lengths = _flat_outcomes(confidence, correct)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        place = _place("confidence", outside[0], lengths)
        raise ValueError(
            f"{place} is {values[outside[0]]}, which is no probability. Distances such "
            "as those of 'delta' and 'delta-max' only rank words: judge them by "
            "error_average_precision or area_under_risk_coverage, or map them to "
            "[0, 1] first"
        )
    return values, hits


def check_review_sizes(n):
    """Return numbers of words as an array of integers that are not negative."""
    sizes = np.asarray(n)
    if sizes.size == 0:
        return sizes.astype(np.int64)
    if sizes.dtype.kind not in "iu":
        raise TypeError(
            f"n is {n!r}; it must be a whole number of words or an array of such, "
            "so write int(...) around a share of the words"
        )
    if sizes.min() < 0:
        raise ValueError(f"n holds {sizes.min()}; a number of words is not negative")
    return sizes.astype(np.int64)


def check_n_bins(n_bins):
    """Return a number of bins, or say that it is none."""
    if isinstance(n_bins, (bool, np.bool_)) or not isinstance(
        n_bins, (int, np.integer)
    ):
        raise TypeError(f"n_bins is {n_bins!r}; it must be a whole number")
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}; it must be at least 1")
    return int(n_bins)


def _flat_outcomes(confidence, correct):
    """Return flat confidences and outcomes, and the lengths of their rows."""
    values, lengths = _flatten(confidence, "confidence")
    hits, hit_lengths = _flatten(correct, "correct")
    _check_same_layout(len(values), lengths, len(hits), hit_lengths)
    return _floats(values, lengths), _bools(hits, lengths), lengths


def _flatten(values, name):
    """Return the words of all rows in one array, and the lengths of the rows.

    The lengths are None if the words came without rows.
    """
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a single string; it must hold a value per word")
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        if values.ndim == 0:
            raise TypeError(f"{name} is a single value; it must hold one per word")
        if values.ndim == 1 and values.dtype != object:
            return values, None
        if values.ndim == 2 and values.dtype != object:
            return values.ravel(), np.full(len(values), values.shape[1])
    values = listed(values, name)
    if not values:
        return np.empty(0), None
    if not _is_row(values[0]):
        return _array(values, name), None
    rows = [_array(row, f"{name}[{i}]") for i, row in enumerate(values)]
    lengths = np.array([len(row) for row in rows])
    # An empty list has no type of its own; it must not turn bools into floats.
    filled = [row for row in rows if len(row)]
    return np.concatenate(filled) if filled else np.empty(0), lengths


def _is_row(item):
    """Tell whether an item holds the values of several words."""
    sized = hasattr(item, "__len__") and not isinstance(item, (str, bytes))
    return sized and getattr(item, "ndim", 1) > 0


def _array(row, name):
    """Return a row as a 1-D array."""
    try:
        array = np.asarray(row)
    except ValueError:  # lists beside numbers
        array = None
    if array is None or array.ndim != 1:
        raise ValueError(
            f"{name} must be a sequence with one value per word; "
            "give either all words in one flat array or one sequence for each sentence"
        )
    return array


def _check_same_layout(n_values, value_lengths, n_hits, hit_lengths):
    if (value_lengths is None) != (hit_lengths is None):
        flat, rows = "confidence", "correct"
        if hit_lengths is None:
            flat, rows = rows, flat
        raise ValueError(
            f"{flat} is flat but {rows} has a row for each sequence; "
            "give both flat or both in rows"
        )
    if value_lengths is None:
        if n_values != n_hits:
            raise ValueError(
                f"confidence has {n_values} words but correct has {n_hits}"
            )
        return
    if len(value_lengths) != len(hit_lengths):
        raise ValueError(
            f"confidence has {len(value_lengths)} sequences "
            f"but correct has {len(hit_lengths)}"
        )
    differ = np.flatnonzero(value_lengths != hit_lengths)
    if differ.size:
        i = differ[0]
        raise ValueError(
            f"sequence {i} has {value_lengths[i]} words in confidence "
            f"but {hit_lengths[i]} in correct"
        )


def _floats(values, lengths):
    """Return confidences as floats; infinite ones may be ranked, NaN may not."""
    if values.dtype.kind != "f":
        values = _as_float64(values, "confidence", "confidences must be numbers")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"{_place('confidence', missing[0], lengths)} is NaN; "
            "a word without a confidence cannot be ranked, so leave it out of both "
            "confidence and correct"
        )
    return values


def _bools(hits, lengths):
    """Return outcomes as bools; 0 and 1 stand for them."""
    if hits.dtype.kind == "b":
        return hits
    advice = (
        "it must be True where the label is right and False where it is wrong; "
        "label_matches(y_true, y_pred) tells which are"
    )
    hits = _as_float64(hits, "correct", advice)
    strange = np.flatnonzero((hits != 0) & (hits != 1))
    if strange.size:
        place = _place("correct", strange[0], lengths)
        raise ValueError(f"{place} is {hits[strange[0]]}; {advice}")
    return hits == 1


def _as_float64(values, name, advice):
    try:
        if values.dtype.kind in "biufO":
            return values.astype(np.float64)
    except (TypeError, ValueError):  # an object that is no number
        pass
    raise TypeError(f"{name} holds values such as {values[0]!r}; {advice}")


def _place(name, index, lengths):
    """Return how a caller would write the word at a place of the flat array."""
    if lengths is None:
        return f"{name}[{index}]"
    ends = np.cumsum(lengths)
    row = np.searchsorted(ends, index, side="right")
    return f"{name}[{row}][{index - (ends[row] - lengths[row])}]"
