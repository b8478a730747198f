"""Ask fitted estimators what they claim, compare it with the truth, and score it."""

from skcw.evaluation.out_of_fold import OutOfFold, cross_val_confidence
from skcw.evaluation.pairs import (
    ConfidencePairs,
    Question,
    confidence_pairs,
    parse_query,
    same_cluster,
    sampled_pairs,
)
from skcw.evaluation.scorers import (
    ConfidenceScorer,
    get_scorer,
    get_scorer_names,
    make_confidence_scorer,
)
from skcw.evaluation.tables import entity_table

__all__ = [
    "ConfidencePairs",
    "ConfidenceScorer",
    "OutOfFold",
    "Question",
    "confidence_pairs",
    "cross_val_confidence",
    "entity_table",
    "get_scorer",
    "get_scorer_names",
    "make_confidence_scorer",
    "parse_query",
    "same_cluster",
    "sampled_pairs",
]
