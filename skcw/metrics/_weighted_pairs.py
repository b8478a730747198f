"""Claimed probabilities and outcomes with weights and groups, checked and laid flat."""

from typing import NamedTuple

import numpy as np

from skcw.metrics._outcome_checks import (
    as_float64,
    check_same_layout,
    flat_outcomes,
    flatten,
    place_of,
    refuse_no_probability,
)

# Squares of weights are summed, too, and must not overflow.
MOST_WEIGHT = 1e100


class Pairs(NamedTuple):
    """Words as every score of confidence takes them, one entry a word."""

    q: np.ndarray  # (n,) float64, the confidences
    y: np.ndarray  # (n,) float64, 1 where the label is right, else 0
    weight: np.ndarray  # (n,) float64, how often the word counts
    group: np.ndarray  # (n,) intp, number of its sentence: 0, 1, ... n_groups - 1
    dtype: type = np.float64  # what the confidences came in: their bits have borders


def check_pairs(
    confidence,
    correct,
    sample_weight=None,
    groups=None,
    probabilities=True,
    allow_empty=False,
):
    """Return the words as `Pairs`; raise if there are none and some are needed.

    With ``probabilities=False`` confidences may be any numbers but NaN. Without
    ``groups`` each row is a group, and in flat arrays each word is one.
    """
    q, y, lengths = flat_outcomes(confidence, correct)
    if probabilities:
        refuse_no_probability(q, lengths)
    if not len(q) and not allow_empty:
        raise ValueError(
            "there are no words to judge; confidence and correct must hold at least one"
        )
    weight = check_weight(sample_weight, len(q), lengths)
    group = check_groups(groups, len(q), lengths)
    y = y.astype(np.float64)
    return Pairs(q.astype(np.float64), y, weight, group, q.dtype.type)


def check_ranked_pairs(
    confidence, correct, sample_weight=None, groups=None, needed_for=None
):
    """Return the words of a ranking as `Pairs`, weighted by whole numbers.

    Confidences may be any numbers but NaN, and there may be no words unless they are
    needed for something, such as an interval.
    """
    pairs = check_pairs(
        confidence,
        correct,
        sample_weight,
        groups,
        probabilities=False,
        allow_empty=needed_for is None,
    )
    broken = np.flatnonzero(pairs.weight != np.rint(pairs.weight))
    if broken.size:
        raise ValueError(
            f"sample_weight holds {pairs.weight[broken[0]]}; a ranking counts words, "
            "so weights must be whole numbers"
        )
    return pairs


def check_weight(sample_weight, n, lengths, name="confidence"):
    """Return one finite, non-negative float a word, not all of them zero."""
    if sample_weight is None:
        return np.ones(n)
    weight, weight_lengths = flatten(sample_weight, "sample_weight")
    check_same_layout(n, lengths, len(weight), weight_lengths, "sample_weight", name)
    weight = as_float64(weight, "sample_weight", "weights must be numbers")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"{place_of('sample_weight', bad[0], lengths)} is {weight[bad[0]]}; "
            "weights must be finite and not negative"
        )
    if n and not weight.any():
        raise ValueError("sample_weight is zero for every word")
    if (weight > MOST_WEIGHT).any():
        raise ValueError(
            f"sample_weight holds {weight.max():.6g}, and sums of such weights "
            "overflow; a weight says how often a word counts, so scale them to a "
            "mean of one"
        )
    return weight


def check_groups(groups, n, lengths, name="confidence"):
    """Return the number of each word's group."""
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
                f"groups has {n} entries for {n} rows and as many words; "
                "give a row of groups for each row"
            )
        ids = np.repeat(ids, lengths)
    if len(ids) != n:
        rows = "" if lengths is None else f", or of the {len(lengths)} rows"
        raise ValueError(
            f"groups has {len(ids)} entries; it must hold one for each of the {n} "
            f"words{rows}"
        )
    return _numbered(ids)


def _numbered(ids):
    """Return which of the different ids each one is."""
    if ids.dtype.kind != "O":
        return np.unique(ids, return_inverse=True)[1].astype(np.intp, copy=False)
    number_of = {}
    numbers = [number_of.setdefault(name, len(number_of)) for name in ids.tolist()]
    return np.array(numbers, dtype=np.intp)
