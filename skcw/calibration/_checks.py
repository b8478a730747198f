"""Confidences, outcomes and weights as flat arrays, checked."""

from typing import NamedTuple

import numpy as np


class Words(NamedTuple):
    """How sure a tagger was of words, whether it was right, and what each counts."""

    confidence: np.ndarray
    correct: np.ndarray
    weight: np.ndarray


def check_words(confidence, correct, sample_weight=None):
    """Return float64 arrays of the words that count; correct as 0 and 1."""
    confidence = _flat(confidence, "confidence")
    correct = _flat(correct, "correct")
    weight = np.ones(len(confidence))
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(confidence), "word")
    if len(correct) != len(confidence):
        raise ValueError(
            f"confidence has {len(confidence)} words but correct has {len(correct)}"
        )
    strange = np.flatnonzero((correct != 0) & (correct != 1))
    if strange.size:
        raise ValueError(
            f"correct[{strange[0]}] is {correct[strange[0]]}; it must be True where "
            "the label is right and False where it is wrong"
        )
    if not weight.any():
        raise ValueError("there are no words to learn from, or all weigh nothing")
    counts = weight > 0
    return Words(confidence[counts], correct[counts], weight[counts])


def check_weights(sample_weight, n, what):
    """Return one finite weight each, none of them negative."""
    weight = _flat(sample_weight, "sample_weight")
    if len(weight) != n:
        raise ValueError(
            f"sample_weight has the shape {weight.shape}; one weight for each {what} "
            f"is needed, {n} in all"
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight of {what} {bad[0]} is {weight[bad[0]]}; weights must be "
            "finite and not negative"
        )
    return weight


def _flat(values, name):
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.ndim != 1:
        raise ValueError(
            f"{name} must be one flat array of numbers; join the rows of several "
            f"sequences by np.concatenate({name})"
        )
    return array
