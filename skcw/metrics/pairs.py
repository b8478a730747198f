"""Check outcomes, confidences, weights and groups, and make them flat arrays."""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from skcw._util.checks import (
    check_same_length,
    check_same_lengths,
    check_weight_values,
    floats,
)
from skcw._util.limits import HEAVIEST_SCORED
from skcw.data.labels import listed_in_order


class Pairs(NamedTuple):
    """Tokens as every score of confidence takes them, one entry per token."""

    q: np.ndarray  # (n,) float64, the confidences
    y: np.ndarray  # (n,) float64, 1 where the label is right, else 0
    weight: np.ndarray  # (n,) float64, how often the token counts
    group: np.ndarray  # (n,) intp, number of its sentence: 0, 1, ... n_groups - 1
    dtype: type = np.float64  # what the confidences came in: their bits have borders

    @property
    def n_groups(self):
        """The number of sentences."""
        return int(self.group.max()) + 1

    def taken(self, rows):
        """Return some of the tokens, or all in another order."""
        return Pairs(*(values[rows] for values in self[:4]), self.dtype)

    def counted(self):
        """Return the tokens that have a weight: others must not change any result."""
        kept = self.weight > 0
        if kept.all():
            return self
        taken = self.taken(kept)
        return taken._replace(group=_numbered(taken.group))


def check_pairs(
    correct,
    confidence,
    sample_weight=None,
    groups=None,
    *,
    probabilities=True,
    allow_empty=False,
):
    """Return the tokens as `Pairs`; raise if there are none and some are needed.

    With ``probabilities=False`` confidences may be any numbers but NaN. Without
    ``groups`` each row is a group, and in flat arrays each token is one.
    """
    y, q, lengths = check_outcomes(correct, confidence)
    if probabilities:
        _refuse_no_probability(q, lengths)
    if not len(q) and not allow_empty:
        raise ValueError(
            "there are no tokens to judge; correct and confidence must hold some"
        )
    weight = check_weight(sample_weight, len(q), lengths)
    group = check_groups(groups, len(q), lengths)
    y = y.astype(np.float64)
    return Pairs(q.astype(np.float64), y, weight, group, q.dtype.type).counted()


def check_ranked_pairs(*arrays, allow_empty=False):
    """Return the tokens of a ranking as `Pairs`, weighted by whole numbers.

    The arrays are those of `check_pairs`; confidences may be any numbers but NaN.
    """
    pairs = check_pairs(*arrays, probabilities=False, allow_empty=allow_empty)
    broken = np.flatnonzero(pairs.weight != np.rint(pairs.weight))
    if broken.size:
        raise ValueError(
            f"sample_weight holds {pairs.weight[broken[0]]}; a ranking counts tokens, "
            "so weights must be whole numbers"
        )
    return pairs


def check_weight(sample_weight, n, lengths, name="confidence"):
    """Return one finite, non-negative float per token, not all of them zero."""
    if sample_weight is None:
        return np.ones(n)
    weight, weight_lengths = flatten(sample_weight, "sample_weight")
    check_same_layout(n, lengths, len(weight), weight_lengths, "sample_weight", name)
    weight = as_float64(weight, "sample_weight", "weights must be numbers")
    check_weight_values(
        weight,
        "tokens",
        at_most=HEAVIEST_SCORED,
        place=lambda index: place_of("sample_weight", index, lengths),
    )
    return weight


def check_groups(groups, n, lengths, name="confidence"):
    """Return the number of each token's group."""
    if groups is None:
        if lengths is None:
            return np.arange(n, dtype=np.intp)
        filled = lengths[lengths > 0]
        return np.repeat(np.arange(len(filled), dtype=np.intp), filled)
    ids, id_lengths = flatten(groups, "groups")
    if id_lengths is not None:
        check_same_layout(n, lengths, len(ids), id_lengths, "groups", name)
    elif lengths is not None and len(ids) == len(lengths):
        if len(ids) == n and (lengths != 1).any():
            raise ValueError(
                f"groups has {n} entries for {n} rows and as many tokens; "
                "give a row of groups for each row"
            )
        ids = np.repeat(ids, lengths)
    if len(ids) != n:
        rows = "" if lengths is None else f", or of the {len(lengths)} rows"
        raise ValueError(
            f"groups has {len(ids)} entries; it must hold one for each of the {n} "
            f"tokens{rows}"
        )
    return _numbered(ids)


def _numbered(ids):
    """Return which of the different ids each one is."""
    if ids.dtype.kind != "O":
        return np.unique(ids, return_inverse=True)[1].astype(np.intp, copy=False)
    number_of = {}
    numbers = [number_of.setdefault(name, len(number_of)) for name in ids.tolist()]
    return np.array(numbers, dtype=np.intp)


def _refuse_no_probability(values, lengths):
    """Raise with advice if a confidence is outside [0, 1]."""
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        place = place_of("confidence", outside[0], lengths)
        raise ValueError(
            f"{place} is {values[outside[0]]}, which is not a probability. Distances "
            "such as those of 'delta' and 'delta-max' only rank tokens: judge them by "
            "error_average_precision or area_under_risk_coverage, map them to [0, 1] "
            "first, or take a method that gives probabilities, such as 'marginal'"
        )


def check_choice(value, name, choices):
    """Raise unless a value is one of several names."""
    if not isinstance(value, str) or value not in choices:
        names = ", ".join(map(repr, choices))
        raise ValueError(f"{name} is {value!r}; it must be one of {names}")


def check_whole_number(number, name, least=1, advice=""):
    """Return a whole number of at least `least`, or refuse it."""
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise TypeError(f"{name} is {number!r}; it must be a whole number")
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}{advice}")
    return int(number)


def check_outcomes(correct, confidence):
    """Return flat outcomes and confidences, and the lengths of their rows."""
    values, lengths = flatten(confidence, "confidence")
    hits, hit_lengths = flatten(correct, "correct")
    check_same_layout(len(values), lengths, len(hits), hit_lengths, "correct")
    return _bools(hits, lengths), _floats(values, lengths), lengths


def flatten(values, name):
    """Return the tokens of all rows in one array, and the lengths of the rows.

    The lengths are None if the tokens came without rows.
    """
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a single string; it must hold one value per token")
    if hasattr(values, "__array__"):
        values = np.asarray(values)
        if values.ndim == 0:
            raise TypeError(f"{name} is a single value; it must hold one per token")
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
    """Tell whether an item holds the values of several tokens."""
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
            f"{name} must be a sequence with one value per token; "
            "give either all tokens in one flat array or one sequence for each sentence"
        )
    return array


def check_same_layout(
    n_values, value_lengths, n_others, other_lengths, other, name="confidence"
):
    """Raise unless ``other`` has as many tokens as ``name``, in the same rows."""
    if (value_lengths is None) != (other_lengths is None):
        flat, rows = name, other
        if other_lengths is None:
            flat, rows = rows, flat
        raise ValueError(
            f"{flat} is flat but {rows} has a row for each sequence; "
            "give both flat or both in rows"
        )
    if value_lengths is None:
        check_same_length(n_values, n_others, (name, other), "tokens")
        return
    units = f"tokens in {name}", f"in {other}"
    check_same_lengths(value_lengths, other_lengths, (name, other), units)


def _floats(values, lengths):
    """Return confidences as floats; infinite ones may be ranked, NaN may not."""
    if values.dtype.kind != "f":
        values = as_float64(values, "confidence", "confidences must be numbers")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"{place_of('confidence', missing[0], lengths)} is NaN; "
            "a token without a confidence cannot be ranked, so leave it out of both "
            "confidence and correct"
        )
    return values


def _bools(hits, lengths):
    """Return outcomes as bools; 0 and 1 stand for them."""
    if hits.dtype.kind == "b":
        return hits
    advice = (
        "it must be True where the label is right and False where it is wrong; "
        "token_correct(y_true, y_pred) shows which are"
    )
    hits = as_float64(hits, "correct", advice)
    strange = np.flatnonzero((hits != 0) & (hits != 1))
    if strange.size:
        place = place_of("correct", strange[0], lengths)
        raise ValueError(f"{place} is {hits[strange[0]]}; {advice}")
    return hits == 1


def as_float64(values, name, advice):
    """Return numbers as floats; raise with advice."""
    try:
        if values.dtype.kind in "biufO":
            return values.astype(np.float64)
    except OverflowError:
        floats(values, name)
    except (TypeError, ValueError):  # an object that is not a number
        pass
    some = f"values such as {values[0]!r}" if len(values) else f"no {values.dtype}"
    raise TypeError(f"{name} holds {some}; {advice}")


def place_of(name, index, lengths):
    """Return how a caller would write the token at a place of the flat array."""
    if lengths is None:
        return f"{name}[{index}]"
    ends = np.cumsum(lengths)
    row = np.searchsorted(ends, index, side="right")
    return f"{name}[{row}][{index - (ends[row] - lengths[row])}]"
