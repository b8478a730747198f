"""Calibrated confidences: maps to probabilities, and a tagger that uses them."""

from skcw.calibration._tagger import CalibratedTagger
from skcw.calibration.maps import (
    BetaMap,
    ConfidenceMap,
    IdentityMap,
    IsotonicMap,
    SigmoidMap,
    TemperatureMap,
)

__all__ = [
    "BetaMap",
    "CalibratedTagger",
    "ConfidenceMap",
    "IdentityMap",
    "IsotonicMap",
    "SigmoidMap",
    "TemperatureMap",
]
