"""What a tagger with a confidence is judged by."""

import time
import warnings

import numpy as np

from skcw.evaluation import confidence_pairs
from skcw.metrics import (
    area_under_risk_coverage,
    error_average_precision,
    root_calibration_mse,
    span_f1_score,
    token_accuracy_score,
)

# In this order they stand in the files of results.
MEASURES = ("score", "accuracy", "confidence", "calibration", "ap", "area", "seconds")


def fit_and_measure(tagger, part, spans):
    """Return the figures of a tagger that learns from a part.

    ``score`` is the F1 of spans, or the accuracy; ``confidence`` the mean of what
    `predict_confidence` says as it comes; ``calibration`` the root of CalibMSE;
    ``ap`` the average precision of finding wrong words; ``area`` under risk-coverage;
    ``seconds`` of the processor, which others on the machine do not lengthen.
    """
    with warnings.catch_warnings():
        # Some subsets are as small as the warnings say: that is what is measured.
        warnings.simplefilter("ignore")
        start = time.process_time()
        tagger.fit(part.X, part.y)
        seconds = time.process_time() - start
        y_pred = tagger.predict(part.X_test)
        answers = confidence_pairs(tagger, part.X_test, part.y_test)
        accuracy = float(token_accuracy_score(part.y_test, y_pred))
        score = span_f1_score(part.y_test, y_pred) if spans else accuracy
    confidence, correct = answers.confidence, answers.correct.astype(bool)
    return {
        "score": float(score),
        "accuracy": accuracy,
        "confidence": float(np.mean(confidence)),
        "calibration": float(root_calibration_mse(correct, confidence)),
        "ap": float(error_average_precision(correct, confidence)),
        "area": float(area_under_risk_coverage(correct, confidence)),
        "seconds": seconds,
    }
