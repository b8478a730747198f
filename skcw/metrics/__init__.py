"""Scores of predicted labels, predicted spans and confidences.

All scores take arrays, the truth first, and return floats. Intervals and comparisons
have functions of their own. To ask fitted estimators, see `skcw.evaluation`.
"""

from skcw.metrics.bands import CalibrationBands, calibration_bands
from skcw.metrics.binnings import CalibrationBins, calibration_bins
from skcw.metrics.calibration_errors import (
    adaptive_calibration_error,
    calibration_mse,
    expected_calibration_error,
    maximum_calibration_error,
    root_calibration_mse,
)
from skcw.metrics.classwise_error import classwise_calibration_error
from skcw.metrics.comparison import Comparison, compare_scores
from skcw.metrics.intervals import Estimate, score_interval
from skcw.metrics.losses import (
    Decomposition,
    SpiegelhalterTest,
    brier_decomposition,
    brier_loss,
    log_loss,
    log_loss_decomposition,
    spiegelhalter_test,
)
from skcw.metrics.ranking_scores import (
    area_under_risk_coverage,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
)
from skcw.metrics.span_scores import (
    span_classification_report,
    span_f1_score,
    span_precision_recall_fscore_support,
    span_precision_score,
    span_recall_score,
)
from skcw.metrics.token_scores import (
    sequence_accuracy_score,
    token_accuracy_score,
    token_classification_report,
    token_correct,
    token_f1_score,
    token_fbeta_score,
    token_precision_score,
    token_recall_score,
)

__all__ = [
    "CalibrationBands",
    "CalibrationBins",
    "Comparison",
    "Decomposition",
    "Estimate",
    "SpiegelhalterTest",
    "adaptive_calibration_error",
    "area_under_risk_coverage",
    "brier_decomposition",
    "brier_loss",
    "calibration_bands",
    "calibration_bins",
    "calibration_mse",
    "classwise_calibration_error",
    "compare_scores",
    "error_average_precision",
    "errors_at_k",
    "expected_calibration_error",
    "log_loss",
    "log_loss_decomposition",
    "maximum_calibration_error",
    "residual_errors_at_k",
    "risk_coverage_curve",
    "root_calibration_mse",
    "score_interval",
    "sequence_accuracy_score",
    "span_classification_report",
    "span_f1_score",
    "span_precision_recall_fscore_support",
    "span_precision_score",
    "span_recall_score",
    "spiegelhalter_test",
    "token_accuracy_score",
    "token_classification_report",
    "token_correct",
    "token_f1_score",
    "token_fbeta_score",
    "token_precision_score",
    "token_recall_score",
]
