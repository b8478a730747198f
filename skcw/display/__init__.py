"""Pictures of confidence and weights; matplotlib is imported only when one is drawn."""

from skcw.display.acceptance import RiskControlDisplay
from skcw.display.calibration import ConfidenceCalibrationDisplay
from skcw.display.learning_curves import LearningCurveDisplay
from skcw.display.rankings import ErrorRankingDisplay, RiskCoverageDisplay
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
