"""Calibrated confidence, risk control and conformal sets."""

from skcw.calibration.calibrated_tagger import CalibratedTagger
from skcw.calibration.calibrators import (
    BaseCalibrator,
    BetaCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    TemperatureCalibrator,
)
from skcw.calibration.risk_control import (
    conformal_sets,
    conformal_threshold,
    recall_threshold,
    risk_threshold,
)
from skcw.calibration.selective_classifier import SelectiveClassifier
from skcw.calibration.selective_tagger import SelectiveTagger

__all__ = [
    "BaseCalibrator",
    "BetaCalibrator",
    "CalibratedTagger",
    "IsotonicCalibrator",
    "SelectiveClassifier",
    "SelectiveTagger",
    "SigmoidCalibrator",
    "TemperatureCalibrator",
    "conformal_sets",
    "conformal_threshold",
    "recall_threshold",
    "risk_threshold",
]
