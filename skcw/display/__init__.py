"""Pictures of how sure models are; matplotlib is imported when one is drawn."""

from skcw.display._calibration import ConfidenceCalibrationDisplay
from skcw.display._rankings import ErrorRankingDisplay, RiskCoverageDisplay

__all__ = [
    "ConfidenceCalibrationDisplay",
    "ErrorRankingDisplay",
    "RiskCoverageDisplay",
]
