"""All scores of confidence by name, as intervals and comparisons take them."""

from functools import partial

from skcw.metrics._cores.binned import (
    AdaptiveCalibrationError,
    CalibrationMSE,
    ConfidenceRMSE,
    ExpectedCalibrationError,
    MaximumCalibrationError,
    RootCalibrationMSE,
)
from skcw.metrics._cores.proper import (
    BrierPart,
    BrierScore,
    Decomposition,
    LogPart,
    LogScore,
)
from skcw.metrics._cores.ranking import ErrorAveragePrecision, RiskCoverageArea

# Each is called with pairs and the options of the function of its name.
SCORES = {
    "calibration_mse": CalibrationMSE,
    "root_calibration_mse": RootCalibrationMSE,
    "expected_calibration_error": ExpectedCalibrationError,
    "adaptive_calibration_error": AdaptiveCalibrationError,
    "maximum_calibration_error": MaximumCalibrationError,
    "confidence_rmse": ConfidenceRMSE,
    "brier_score": BrierScore,
    "log_score": LogScore,
    "error_average_precision": ErrorAveragePrecision,
    "area_under_risk_coverage": RiskCoverageArea,
    **{
        f"brier_{part}": partial(BrierPart, part=part) for part in Decomposition._fields
    },
    **{f"log_{part}": partial(LogPart, part=part) for part in Decomposition._fields},
}

# These take any numbers as confidences, for only their order matters.
RANKINGS = frozenset({"error_average_precision", "area_under_risk_coverage"})
