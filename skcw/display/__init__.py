"""Pictures of confidence and weights; matplotlib is imported only when one is drawn."""

from skcw.display._acceptance import AcceptanceDisplay
from skcw.display._calibration import ConfidenceCalibrationDisplay
from skcw.display._learning_curves import LearningCurveDisplay
from skcw.display._rankings import ErrorRankingDisplay, RiskCoverageDisplay
from skcw.display._weights import TransitionsDisplay, WeightsDisplay

__all__ = [
    "AcceptanceDisplay",
    "ConfidenceCalibrationDisplay",
    "ErrorRankingDisplay",
    "LearningCurveDisplay",
    "RiskCoverageDisplay",
    "TransitionsDisplay",
    "WeightsDisplay",
]
