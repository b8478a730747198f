"""Scores of predicted labels, predicted spans and confidences.

All scores take arrays, the truth first, and return floats. Intervals and comparisons
have functions of their own. To ask fitted estimators, see `skcw.evaluation`.
"""

from skcw.metrics.binnings import calibration_bins
from skcw.metrics.calibration_errors import (
    expected_calibration_error,
    root_calibration_mse,
)
from skcw.metrics.classwise_error import classwise_calibration_error
from skcw.metrics.comparison import compare_scores
from skcw.metrics.intervals import score_interval
from skcw.metrics.label_scores import (
    sequence_accuracy_score,
    span_classification_report,
    span_f1_score,
    token_accuracy_score,
    token_classification_report,
    token_correct,
    token_f1_score,
)
from skcw.metrics.losses import (
    brier_loss,
    log_loss,
    score_decomposition,
    spiegelhalter_test,
)
from skcw.metrics.ranking_scores import (
    area_under_risk_coverage,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
)

__all__ = [
    "area_under_risk_coverage",
    "brier_loss",
    "calibration_bins",
    "classwise_calibration_error",
    "compare_scores",
    "error_average_precision",
    "errors_at_k",
    "expected_calibration_error",
    "log_loss",
    "residual_errors_at_k",
    "risk_coverage_curve",
    "root_calibration_mse",
    "score_decomposition",
    "score_interval",
    "sequence_accuracy_score",
    "span_classification_report",
    "span_f1_score",
    "spiegelhalter_test",
    "token_accuracy_score",
    "token_classification_report",
    "token_correct",
    "token_f1_score",
]
