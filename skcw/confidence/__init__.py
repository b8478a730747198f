"""How sure a tagger is of each word: one file a method."""

from skcw.confidence._tallies import (
    Agreement,
    BoundaryAgreement,
    Labelings,
    SpanAgreement,
    Votes,
)
from skcw.confidence.delta import (
    delta,
    delta_deviation,
    delta_probit,
    normalised_delta,
)
from skcw.confidence.delta_max import delta_max
from skcw.confidence.draws import count_draws, draw_marginals, draw_votes
from skcw.confidence.methods import METHODS
from skcw.confidence.settings import Settings

__all__ = [
    "METHODS",
    "Agreement",
    "BoundaryAgreement",
    "Labelings",
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
    "normalised_delta",
]
