"""Active learning: which labels to ask for next, and when to stop asking."""

from skcw.active._doors import ActiveMLQuery, ModALQuery
from skcw.active._labels import noisy_labels
from skcw.active._learner import ActiveLearner
from skcw.active._row_utilities import (
    disagreement,
    entropy,
    least_confident,
    margin,
    normalised_margin,
)
from skcw.active._selection import select
from skcw.active._sequence_utilities import (
    doubtful_entities,
    expected_errors,
    least_confident_word,
    min_conf_margin,
    min_margin,
    sequence_improbability,
)
from skcw.active._simulation import Strategy, simulate
from skcw.active._stopping import (
    AuditedErrors,
    Budget,
    ConfidencePlateau,
    ModelAgreement,
    PredictedErrors,
    StoppingCriterion,
    error_upper_bound,
    predicted_error_rate,
)
from skcw.active._study import Study
from skcw.active._utilities import random_utility, utility_names

__all__ = [
    "ActiveLearner",
    "ActiveMLQuery",
    "AuditedErrors",
    "Budget",
    "ConfidencePlateau",
    "ModALQuery",
    "ModelAgreement",
    "PredictedErrors",
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
    "normalised_margin",
    "predicted_error_rate",
    "random_utility",
    "select",
    "sequence_improbability",
    "simulate",
    "utility_names",
]
