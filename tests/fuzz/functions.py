"""Malformed input to the public functions that take arrays, labels or answers.

``python -m tests.fuzz.functions --cases 100000 --seed 1`` is the long run.
"""

import inspect
import sys
from functools import partial
from itertools import chain

import numpy as np

from skcw import active, calibration, data, features, metrics, reranking
from skcw.active.pool import noisy_labels
from skcw.active.utilities import TABLES as UTILITIES
from skcw.linear_model import MultiClassCW
from skcw.metrics.bands import calibration_bands
from skcw.metrics.calibration_errors import calibration_mse
from skcw.metrics.label_scores import span_precision_recall_fscore_support
from skcw.reranking.candidates import candidate_errors
from skcw.tagging import CWSequenceTagger
from tests.fuzz.inputs import fitted, fitted_classifier, rows, sentences
from tests.fuzz.isolation import long_run
from tests.fuzz.mutators import clearly, mutated_call

# Names of parameters, and what is accepted for them.
RNG = np.random.default_rng(0)
CONFIDENCE = RNG.random(40).round(2)
CORRECT = RNG.random(40) < CONFIDENCE
LABELS = sentences()[1]
GIVEN = {
    "correct": CORRECT,
    "correct_a": CORRECT,
    "correct_b": ~CORRECT,
    "confidence": CONFIDENCE,
    "confidence_a": CONFIDENCE,
    "confidence_b": CONFIDENCE[::-1].copy(),
    "y_true": LABELS,
    "y_pred": [["O"] * len(row) for row in LABELS],
    "y": LABELS,
    "labels": ["B-P", "I-P", "O"],
    "score": "brier_loss",
    "n": 5,
    "k": 5,
    "n_true": 30,
    "rate": 0.1,
    "utilities": CONFIDENCE,
    "shares": CONFIDENCE,
    "threshold": 0.4,
    "classes": ["a", "b", "c"],
    "table": RNG.dirichlet(np.ones(3), 10),
    "target": "BIOES",
    "sequence": ["Ann", "left"],
    "constraints": "BIO",
    "labelings": [[["O", "O"], ["O", "B-P"]]] * 2,
    "nbest": [[(["O", "O"], -1.0), (["O", "B-P"], -2.0)]] * 2,
    "kind": "sequences",
}
# Where the same name means something else.
SPECIAL = {
    "classwise_calibration_error": {
        "y": ["a", "b", "c"] * 4,
        "proba": RNG.dirichlet(np.ones(3), 12),
        "classes": ["a", "b", "c"],
    },
    "recall_threshold": {
        "correct": CORRECT.reshape(10, 4),
        "confidence": CONFIDENCE.reshape(10, 4),
        "n_true": np.full(10, 4),
    },
    "conformal_threshold": {"score": CONFIDENCE},
    "extract_spans": {"labels": ["B-P", "I-P", "O"]},
    "candidate_errors": {"y": [["O", "O"], ["O", "B-P"]]},
    "oracle_scores": {"y": [["O", "O"], ["O", "B-P"]]},
    "noisy_labels": {"y": LABELS, "classes": ["O", "B-P", "I-P"]},
}
# They read files or run long; others than these ask nothing of an estimator.
LEFT_OUT = {"read_template", "read_columns", "iter_columns"}
LEFT_OUT |= {"write_columns", "write_json_lines", "simulate"}
# A text is the name of a file to them, which need not be there, or be a name at all.
READERS = {"read_json_lines"}
# Those that users reach by name, or import from their modules.
FURTHER = (
    calibration_bands,
    calibration_mse,
    candidate_errors,
    noisy_labels,
    span_precision_recall_fscore_support,
)
ROOMS = (metrics, calibration, active, reranking, data, features)
# What would only take long.
QUICK = {"n_resamples": 20, "n_draws": 10}


def public_functions():
    """Return the public functions of the rooms by name."""
    found = {
        name: getattr(room, name)
        for room in ROOMS
        for name in room.__all__
        if inspect.isfunction(getattr(room, name)) and name not in LEFT_OUT
    }
    tables = [table.values() for table in UTILITIES.values()]
    return found | {f.__name__: f for f in chain(FURTHER, *tables)}


def call_of(name, function):
    """Return accepted arguments of a function, and the names of its options."""
    parameters = inspect.signature(function).parameters.values()
    special = SPECIAL.get(name, {})
    args, options = [], []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD or parameter.name == "progress":
            continue
        if parameter.default is parameter.empty:
            args.append(special.get(parameter.name, GIVEN.get(parameter.name)))
        else:
            options.append(parameter.name)
    return args, options


def function_case(name, function):
    """Return a case: a call of a function with changed arguments."""
    args, options = call_of(name, function)
    usual = {key: value for key, value in QUICK.items() if key in options}
    usual |= {"n": 5} if name == "select_batch" else {}

    def case(seed):
        rng = np.random.default_rng(seed)
        changed, given = mutated_call(rng, args, usual, options)
        try:
            answer = function(*changed, **given)
        except OSError:
            if name in READERS:
                return None
            raise
        if given.get("zero_division") != given.get("zero_division"):
            # NaN is what was asked for.
            return None
        # Intervals and bands of nothing are NaN, and say so; other answers are not.
        return None if name in UNDEFINED else answer

    return case


# Documented to answer NaN where there is nothing to measure.
UNDEFINED = {"calibration_bins", "calibration_bands", "conformal_threshold"}


def utility_case(name, function, model, X):
    """Return a case: a utility of changed sentences or rows under a model."""
    _, options = call_of(name, function)

    def case(seed):
        rng = np.random.default_rng(seed)
        changed, given = mutated_call(rng, [X], {}, options)
        return function(model(), *changed, **given)

    return case


def groups():
    """Return all cases by the name of the function."""
    cases = {}
    for name, function in public_functions().items():
        first = next(iter(inspect.signature(function).parameters))
        if first in ("estimator", "tagger"):
            tagger = partial(fitted, CWSequenceTagger)
            cases[name] = utility_case(name, function, tagger, sentences()[0])
        else:
            cases[name] = function_case(name, function)
    classifier = partial(fitted_classifier, MultiClassCW)
    for name in ("entropy", "least_confident", "margin", "normalized_margin"):
        function = UTILITIES["rows"][name.replace("_", "-")]
        cases[f"{name} of rows"] = utility_case(name, function, classifier, rows()[0])
    return {name: clearly(case) for name, case in cases.items()}


if __name__ == "__main__":
    sys.exit(long_run(__doc__, groups, 100_000))
