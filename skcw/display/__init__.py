"""Pictures of confidence; matplotlib is imported only when one is drawn."""

from skcw.display._acceptance import AcceptanceDisplay
from skcw.display._calibration import ConfidenceCalibrationDisplay
from skcw.display._learning_curves import LearningCurveDisplay
from skcw.display._rankings import ErrorRankingDisplay, RiskCoverageDisplay

__all__ = [
    "AcceptanceDisplay",
    "ConfidenceCalibrationDisplay",
    "ErrorRankingDisplay",
    "LearningCurveDisplay",
    "RiskCoverageDisplay",
]
