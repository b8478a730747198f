"""Evaluate fitted estimators: confidence pairs, scorers, out-of-fold confidence."""

from skcw.evaluation.out_of_fold import cross_val_confidence
from skcw.evaluation.pairs import confidence_pairs, sampled_pairs
from skcw.evaluation.scorers import (
    get_scorer,
    get_scorer_names,
    make_confidence_scorer,
)
from skcw.evaluation.tables import entity_table

__all__ = [
    "confidence_pairs",
    "cross_val_confidence",
    "entity_table",
    "get_scorer",
    "get_scorer_names",
    "make_confidence_scorer",
    "sampled_pairs",
]
