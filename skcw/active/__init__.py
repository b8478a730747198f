"""Active learning: which labels to ask for next, and when to stop asking."""

from skcw.active.learner import ActiveLearner
from skcw.active.pool import select_batch
from skcw.active.simulation import simulate
from skcw.active.stopping import (
    AuditedErrorRate,
    Budget,
    ConfidencePlateau,
    ModelAgreement,
    PredictedErrorRate,
    error_upper_bound,
    predicted_error_rate,
)
from skcw.active.utilities import SkactivemlStrategy, utility_names

__all__ = [
    "ActiveLearner",
    "AuditedErrorRate",
    "Budget",
    "ConfidencePlateau",
    "ModelAgreement",
    "PredictedErrorRate",
    "SkactivemlStrategy",
    "error_upper_bound",
    "predicted_error_rate",
    "select_batch",
    "simulate",
    "utility_names",
]
