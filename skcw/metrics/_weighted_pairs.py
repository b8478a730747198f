"""Claimed probabilities and outcomes with weights and groups, checked and laid flat."""

from typing import NamedTuple

import numpy as np

from skcw.metrics._checks import listed
from skcw.metrics._outcome_checks import (
    check_same_layout,
    flat_outcomes,
    flatten,
    place_of,
    refuse_no_probability,
)


class Pairs(NamedTuple):
    """Words as every score of confidence takes them, one entry a word."""

    q: np.ndarray  # (n,) float64, the confidences
    y: np.ndarray  # (n,) float64, 1 where the label is right, else 0
    weight: np.ndarray  # (n,) float64, how often the word counts
    group: np.ndarray  # (n,) intp, number of its sentence: 0, 1, ... n_groups - 1


def check_pairs(
    confidence, correct, sample_weight=None, groups=None, probabilities=True
):
    """Return the words as `Pairs`; raise if there are none.

    With ``probabilities=False`` confidences may be any numbers but NaN. Without
    ``groups`` each row is a group, and in flat arrays each word is one.
    """
    q, y, lengths = flat_outcomes(confidence, correct)
    if probabilities:
        refuse_no_probability(q, lengths)
    if not len(q):
        raise ValueError(
            "there are no words to judge; confidence and correct must hold at least one"
        )
    weight = _check_weight(sample_weight, len(q), lengths)
    group = _check_groups(groups, len(q), lengths)
    return Pairs(q.astype(np.float64), y.astype(np.float64), weight, group)


def _check_weight(sample_weight, n, lengths):
    """Return one finite, non-negative float a word, not all of them zero."""
    if sample_weight is None:
        return np.ones(n)
    weight, weight_lengths = flatten(sample_weight, "sample_weight")
    check_same_layout(n, lengths, len(weight), weight_lengths, "sample_weight")
    if weight.dtype.kind not in "biuf":
        raise TypeError(
            f"sample_weight holds values such as {weight[0]!r}; weights must be numbers"
        )
    weight = weight.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"{place_of('sample_weight', bad[0], lengths)} is {weight[bad[0]]}; "
            "weights must be finite and not negative"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for every word")
    return weight


def _check_groups(groups, n, lengths):
    """Return the number of each word's group."""
    if groups is None:
        if lengths is None:
            return np.arange(n)
        filled = lengths[lengths > 0]
        return np.repeat(np.arange(len(filled)), filled)
    ids, id_lengths = flatten(groups, "groups")
    if lengths is not None and id_lengths is None and len(ids) == len(lengths):
        ids = np.repeat(ids, lengths)
    elif id_lengths is not None:
        check_same_layout(n, lengths, len(ids), id_lengths, "groups")
    if len(ids) != n:
        rows = (
            "" if lengths is None else f", or one for each of the {len(lengths)} rows"
        )
        raise ValueError(
            f"groups has {len(ids)} entries; it must hold one for each of the {n} "
            f"words{rows}"
        )
    if ids.dtype.kind == "O":
        numbers = {}
        coded = [
            numbers.setdefault(name, len(numbers)) for name in listed(ids, "groups")
        ]
        return np.array(coded, dtype=np.intp)
    return np.unique(ids, return_inverse=True)[1].astype(np.intp, copy=False)
