"""Confidence in words, spans and sequences: methods, settings and answers."""

from skcw.confidence._answers import Answers, Entity
from skcw.confidence._delta import (
    delta,
    delta_deviation,
    delta_max,
    delta_probit,
    normalised_delta,
)
from skcw.confidence._draws import count_draws, draw_marginals, draw_votes
from skcw.confidence._labelings import labeling_lead
from skcw.confidence._methods import METHODS, Method
from skcw.confidence._settings import ModelConfidence, Settings
from skcw.confidence._tallies import (
    Agreement,
    BoundaryAgreement,
    Labelings,
    SpanAgreement,
    Votes,
)

__all__ = [
    "METHODS",
    "Agreement",
    "Answers",
    "BoundaryAgreement",
    "Entity",
    "Labelings",
    "Method",
    "ModelConfidence",
    "Settings",
    "SpanAgreement",
    "Votes",
    "count_draws",
    "delta",
    "delta_deviation",
    "delta_max",
    "delta_probit",
    "draw_marginals",
    "draw_votes",
    "labeling_lead",
    "normalised_delta",
]
