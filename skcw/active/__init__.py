"""Active learning: which labels to ask for next, and when to stop asking."""

from skcw.active.doors import ModALQuery, SkactivemlStrategy
from skcw.active.learner import ActiveLearner
from skcw.active.pool import noisy_labels
from skcw.active.selection import select
from skcw.active.simulation import Strategy, Study, simulate
from skcw.active.stopping import (
    AuditedErrorRate,
    Budget,
    ConfidencePlateau,
    ModelAgreement,
    PredictedErrorRate,
    StoppingCriterion,
    error_upper_bound,
    predicted_error_rate,
)
from skcw.active.utilities import (
    disagreement,
    doubtful_entities,
    entropy,
    expected_errors,
    least_confident,
    least_confident_word,
    margin,
    min_conf_margin,
    min_margin,
    normalized_log_prob,
    normalized_margin,
    random_utility,
    utility_names,
)

__all__ = [
    "ActiveLearner",
    "AuditedErrorRate",
    "Budget",
    "ConfidencePlateau",
    "ModALQuery",
    "ModelAgreement",
    "PredictedErrorRate",
    "SkactivemlStrategy",
    "StoppingCriterion",
    "Strategy",
    "Study",
    "disagreement",
    "doubtful_entities",
    "entropy",
    "error_upper_bound",
    "expected_errors",
    "least_confident",
    "least_confident_word",
    "margin",
    "min_conf_margin",
    "min_margin",
    "noisy_labels",
    "normalized_log_prob",
    "normalized_margin",
    "predicted_error_rate",
    "random_utility",
    "select",
    "simulate",
    "utility_names",
]
