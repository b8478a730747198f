"""Calibrated confidences, risk control and conformal sets."""

from skcw.calibration.calibrated_tagger import CalibratedTagger
from skcw.calibration.calibrators import (
    BetaMap,
    ConfidenceMap,
    IdentityMap,
    IsotonicMap,
    SigmoidMap,
    TemperatureMap,
)
from skcw.calibration.conformal import label_sets, set_threshold
from skcw.calibration.risk_control import Promise, recall_threshold, risk_threshold
from skcw.calibration.selective_classifier import SelectiveClassifier
from skcw.calibration.selective_tagger import SelectiveTagger

__all__ = [
    "BetaMap",
    "CalibratedTagger",
    "ConfidenceMap",
    "IdentityMap",
    "IsotonicMap",
    "Promise",
    "SelectiveClassifier",
    "SelectiveTagger",
    "SigmoidMap",
    "TemperatureMap",
    "label_sets",
    "recall_threshold",
    "risk_threshold",
    "set_threshold",
]
