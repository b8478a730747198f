"""Confidences and whether their labels were right: checked once and laid flat."""

import numpy as np

from skcw.metrics._checks import listed_in_order

# Methods of predict_confidence whose values are probabilities. The methods live in a
# room above this one; a test holds the list against theirs.
PROBABILITY_METHODS = (
    "marginal",
    "blend",
    "kd-pc",
    "kd-fixed",
    "kd-independent",
    "draw-marginal",
    "draw-marginal-fixed",
    "kbv",
    "wkbv",
    "delta-probit",
)


def check_outcomes(confidence, correct):
    """Return both as flat arrays, floats and bools, one of each a word."""
    values, hits, _ = flat_outcomes(confidence, correct)
    return values, hits


def refuse_no_probability(values, lengths):
    """Raise if a confidence is outside [0, 1], and say which methods stay inside."""
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        place = place_of("confidence", outside[0], lengths)
        raise ValueError(
            f"{place} is {values[outside[0]]}, which is no probability. Distances such "
            "as those of 'delta' and 'delta-max' only rank words: judge them by "
            "error_average_precision or area_under_risk_coverage, map them to [0, 1] "
            f"first, or take a method that gives probabilities: "
            f"{', '.join(PROBABILITY_METHODS)}"
        )


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
    return check_whole_number(n_bins, "n_bins")


def check_whole_number(number, name):
    """Return a whole number of at least 1, or say that it is none."""
    if isinstance(number, (bool, np.bool_)) or not isinstance(
        number, (int, np.integer)
    ):
        raise TypeError(f"{name} is {number!r}; it must be a whole number")
    if number < 1:
        raise ValueError(f"{name} is {number}; it must be at least 1")
    return int(number)


def flat_outcomes(confidence, correct):
    """Return flat confidences and outcomes, and the lengths of their rows."""
    values, lengths = flatten(confidence, "confidence")
    hits, hit_lengths = flatten(correct, "correct")
    check_same_layout(len(values), lengths, len(hits), hit_lengths, "correct")
    return _floats(values, lengths), _bools(hits, lengths), lengths


def flatten(values, name):
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
    values = listed_in_order(values, name)
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


def check_same_layout(
    n_values, value_lengths, n_others, other_lengths, other, name="confidence"
):
    """Raise unless ``other`` has as many words as ``name``, in the same rows."""
    if (value_lengths is None) != (other_lengths is None):
        flat, rows = name, other
        if other_lengths is None:
            flat, rows = rows, flat
        raise ValueError(
            f"{flat} is flat but {rows} has a row for each sequence; "
            "give both flat or both in rows"
        )
    if value_lengths is None:
        if n_values != n_others:
            raise ValueError(f"{name} has {n_values} words but {other} has {n_others}")
        return
    if len(value_lengths) != len(other_lengths):
        raise ValueError(
            f"{name} has {len(value_lengths)} sequences "
            f"but {other} has {len(other_lengths)}"
        )
    differ = np.flatnonzero(value_lengths != other_lengths)
    if differ.size:
        i = differ[0]
        raise ValueError(
            f"sequence {i} has {value_lengths[i]} words in {name} "
            f"but {other_lengths[i]} in {other}"
        )


def _floats(values, lengths):
    """Return confidences as floats; infinite ones may be ranked, NaN may not."""
    if values.dtype.kind != "f":
        values = as_float64(values, "confidence", "confidences must be numbers")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"{place_of('confidence', missing[0], lengths)} is NaN; "
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
    hits = as_float64(hits, "correct", advice)
    strange = np.flatnonzero((hits != 0) & (hits != 1))
    if strange.size:
        place = place_of("correct", strange[0], lengths)
        raise ValueError(f"{place} is {hits[strange[0]]}; {advice}")
    return hits == 1


def as_float64(values, name, advice):
    """Return numbers as floats, or say what they are and what they should be."""
    try:
        if values.dtype.kind in "biufO":
            return values.astype(np.float64)
    except (TypeError, ValueError):  # an object that is no number
        pass
    raise TypeError(f"{name} holds values such as {values[0]!r}; {advice}")


def place_of(name, index, lengths):
    """Return how a caller would write the word at a place of the flat array."""
    if lengths is None:
        return f"{name}[{index}]"
    ends = np.cumsum(lengths)
    row = np.searchsorted(ends, index, side="right")
    return f"{name}[{row}][{index - (ends[row] - lengths[row])}]"
