"""Confidences that are probabilities: maps, and a tagger that learns and uses one."""

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
