"""Pictures of confidence and weights; matplotlib is imported only when one is drawn."""

from skcw.display.acceptance import RiskControlDisplay
from skcw.display.calibration import ConfidenceCalibrationDisplay
from skcw.display.curves import (
    ErrorRankingDisplay,
    LearningCurveDisplay,
    RiskCoverageDisplay,
)
from skcw.display.weights import TransitionsDisplay, WeightsDisplay

__all__ = [
    "ConfidenceCalibrationDisplay",
    "ErrorRankingDisplay",
    "LearningCurveDisplay",
    "RiskControlDisplay",
    "RiskCoverageDisplay",
    "TransitionsDisplay",
    "WeightsDisplay",
]
