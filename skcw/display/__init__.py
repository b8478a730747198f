"""Pictures of how sure models are; matplotlib is imported when one is drawn."""

from skcw.display.calibration import ConfidenceCalibrationDisplay
from skcw.display.error_ranking import ErrorRankingDisplay
from skcw.display.risk_coverage import RiskCoverageDisplay

__all__ = [
    "ConfidenceCalibrationDisplay",
    "ErrorRankingDisplay",
    "RiskCoverageDisplay",
]
