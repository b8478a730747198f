"""Ask fitted estimators what they claim, compare it with the truth, and score it."""

from skcw.inspection._entity_table import entity_table
from skcw.inspection._out_of_fold import OutOfFold, cross_val_confidence
from skcw.inspection._queries import QueryPairs, query_pairs
from skcw.inspection._questions import Question, parse_query
from skcw.inspection._samples import query_samples, same_cluster
from skcw.inspection._scorers import (
    ConfidenceScorer,
    get_scorer,
    make_confidence_scorer,
    scorer_names,
)

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
