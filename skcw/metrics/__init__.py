"""Measures of how well labels and spans were predicted."""

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
    "detect_scheme",
    "extract_spans",
    "get_scorer",
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
