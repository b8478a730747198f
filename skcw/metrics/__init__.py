"""Measures of how well labels and spans were predicted, and confidences too."""

from skcw.metrics.binned_confidence import confidence_bins, confidence_rmse
from skcw.metrics.error_ranking import (
    error_average_precision,
    errors_found,
    residual_errors,
)
from skcw.metrics.outcomes import label_matches
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
from skcw.metrics.token_scores import (
    sequence_accuracy_score,
    token_accuracy_score,
    token_classification_report,
    token_f1_score,
)

__all__ = [
    "Span",
    "area_under_risk_coverage",
    "confidence_bins",
    "confidence_rmse",
    "detect_scheme",
    "error_average_precision",
    "errors_found",
    "extract_spans",
    "get_scorer",
    "label_matches",
    "residual_errors",
    "risk_coverage_curve",
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
    "token_accuracy_score",
    "token_accuracy_scorer",
    "token_classification_report",
    "token_f1_score",
    "token_f1_scorer",
]
