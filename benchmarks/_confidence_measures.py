"""What the confidences of one set of test words are worth."""

import numpy as np
from _confidence_protocol import REVIEWED
from _scores import centerd_rmse

from skcw.metrics import (
    area_under_risk_coverage,
    calibration_bins,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    risk_coverage_curve,
)

RANKED = np.arange(0, 5001, 100)
N_BINS = 20
COVERAGE = np.linspace(0.5, 1.0, 101)
SCALARS = ("ap", "rmse", "errors", *(f"left_{n}" for n in REVIEWED), "area")


def measure(confidence, correct, probability):
    """Return all figures and curves of one method.

    ``ap``: average precision of finding wrong words; ``rmse`` over 20 bins;
    ``errors`` in all; ``left_n``: errors left after n words are reviewed; ``area``
    under risk-coverage; ``found`` among the first `RANKED`; ``risk`` at `COVERAGE`.
    """
    found = {
        "ap": error_average_precision(correct, confidence),
        "rmse": centerd_rmse(correct, confidence) if probability else None,
        "errors": int(np.sum(~correct)),
        "area": area_under_risk_coverage(correct, confidence),
        "found": errors_at_k(correct, confidence, RANKED).tolist(),
        "risk": _risk(confidence, correct),
        "bins": _bins(confidence, correct) if probability else None,
    }
    left = residual_errors_at_k(correct, confidence, np.array(REVIEWED)).tolist()
    found |= {f"left_{n}": value for n, value in zip(REVIEWED, left, strict=True)}
    return found


def _risk(confidence, correct):
    coverage, risk, _ = risk_coverage_curve(correct, confidence)
    return np.interp(COVERAGE, coverage, risk).tolist()


def _bins(confidence, correct):
    """Return how many words each bin holds, and how many of them are right."""
    bins = calibration_bins(correct, confidence, strategy="uniform", claim="center")
    place = np.rint(N_BINS * bins.confidence - 0.5).astype(int)
    count, right = np.zeros((2, N_BINS), dtype=int)
    count[place] = bins.count
    right[place] = np.rint(bins.count * bins.accuracy)
    return {"count": count.tolist(), "right": right.tolist()}
