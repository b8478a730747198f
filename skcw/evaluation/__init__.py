"""Ask fitted estimators what they claim, compare it with the truth, and score it."""

from skcw.evaluation.out_of_fold import OutOfFold, cross_val_confidence
from skcw.evaluation.pairs import QueryPairs, Question, parse_query, query_pairs
from skcw.evaluation.samples import query_samples, same_cluster
from skcw.evaluation.scorers import (
    ConfidenceScorer,
    get_scorer,
    make_confidence_scorer,
    scorer_names,
)
from skcw.evaluation.tables import entity_table

__all__ = [
    "ConfidenceScorer",
    "OutOfFold",
    "QueryPairs",
    "Question",
    "cross_val_confidence",
    "entity_table",
    "get_scorer",
    "make_confidence_scorer",
    "parse_query",
    "query_pairs",
    "query_samples",
    "same_cluster",
    "scorer_names",
]
