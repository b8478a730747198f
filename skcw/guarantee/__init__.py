"""Guarantees to act on: accept at a bounded risk, and sets that contain the truth."""

from skcw.guarantee._classifier import SelectiveClassifier
from skcw.guarantee._sets import label_sets, set_threshold
from skcw.guarantee._tagger import SelectiveTagger
from skcw.guarantee._thresholds import Promise, recall_threshold, risk_threshold

__all__ = [
    "Promise",
    "SelectiveClassifier",
    "SelectiveTagger",
    "label_sets",
    "recall_threshold",
    "risk_threshold",
    "set_threshold",
]
