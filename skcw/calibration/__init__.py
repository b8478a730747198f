"""Calibrated confidences: maps to probabilities, and a tagger that uses them."""

from skcw.calibration._maps import (
    BetaMap,
    ConfidenceMap,
    IdentityMap,
    IsotonicMap,
    SigmoidMap,
    TemperatureMap,
)
from skcw.calibration._tagger import CalibratedTagger

__all__ = [
    "BetaMap",
    "CalibratedTagger",
    "ConfidenceMap",
    "IdentityMap",
    "IsotonicMap",
    "SigmoidMap",
    "TemperatureMap",
]
