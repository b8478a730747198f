"""Measures of how well labels and spans were predicted, and confidences too."""

from skcw.metrics._cores.proper import Decomposition
from skcw.metrics._estimates import Estimate
from skcw.metrics.bands import CalibrationBands, calibration_bands
from skcw.metrics.binned_calibration import CalibrationBins, calibration_bins
from skcw.metrics.binned_confidence import confidence_bins, confidence_rmse
from skcw.metrics.calibration_scores import (
    adaptive_calibration_error,
    calibration_mse,
    expected_calibration_error,
    maximum_calibration_error,
    root_calibration_mse,
)
from skcw.metrics.classwise_calibration import classwise_calibration_error
from skcw.metrics.confidence_scorers import ConfidenceScorer, make_confidence_scorer
from skcw.metrics.error_ranking import (
    error_average_precision,
    errors_found,
    residual_errors,
)
from skcw.metrics.outcomes import label_matches
from skcw.metrics.paired import Comparison, compare_scores
from skcw.metrics.proper_scores import (
    brier_decomposition,
    brier_score,
    log_score,
    log_score_decomposition,
)
from skcw.metrics.queries import Answers, query_pairs
from skcw.metrics.risk_coverage import area_under_risk_coverage, risk_coverage_curve
from skcw.metrics.scorers import (
    get_scorer,
    scorer_names,
    sequence_accuracy_scorer,
    span_f1_scorer,
    span_f1_strict_scorer,
    span_precision_scorer,
    span_recall_scorer,
    token_accuracy_scorer,
    token_f1_scorer,
)
from skcw.metrics.span_scores import (
    span_classification_report,
    span_f1_score,
    span_precision_recall_fscore_support,
    span_precision_score,
    span_recall_score,
)
from skcw.metrics.spans import Span, detect_scheme, extract_spans
from skcw.metrics.spiegelhalter import SpiegelhalterTest, spiegelhalter_test
from skcw.metrics.token_scores import (
    sequence_accuracy_score,
    token_accuracy_score,
    token_classification_report,
    token_f1_score,
)

__all__ = [
    "Answers",
    "CalibrationBands",
    "CalibrationBins",
    "Comparison",
    "ConfidenceScorer",
    "Decomposition",
    "Estimate",
    "Span",
    "SpiegelhalterTest",
    "adaptive_calibration_error",
    "area_under_risk_coverage",
    "brier_decomposition",
    "brier_score",
    "calibration_bands",
    "calibration_bins",
    "calibration_mse",
    "classwise_calibration_error",
    "compare_scores",
    "confidence_bins",
    "confidence_rmse",
    "detect_scheme",
    "error_average_precision",
    "errors_found",
    "expected_calibration_error",
    "extract_spans",
    "get_scorer",
    "label_matches",
    "log_score",
    "log_score_decomposition",
    "make_confidence_scorer",
    "maximum_calibration_error",
    "query_pairs",
    "residual_errors",
    "risk_coverage_curve",
    "root_calibration_mse",
    "scorer_names",
    "sequence_accuracy_score",
    "sequence_accuracy_scorer",
    "span_classification_report",
    "span_f1_score",
    "span_f1_scorer",
    "span_f1_strict_scorer",
    "span_precision_recall_fscore_support",
    "span_precision_score",
    "span_precision_scorer",
    "span_recall_score",
    "span_recall_scorer",
    "spiegelhalter_test",
    "token_accuracy_score",
    "token_accuracy_scorer",
    "token_classification_report",
    "token_f1_score",
    "token_f1_scorer",
]
