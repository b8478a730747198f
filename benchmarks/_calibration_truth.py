"""The true values of scores, from the probabilities of a whole population."""

import numpy as np

from skcw.metrics._cores.table import SCORES
from skcw.metrics._weighted_pairs import Pairs

ADAPTIVE = {"calibration_mse", "root_calibration_mse"}


def true_value(score, options, q, p, n):
    """Return what a score of n words estimates if the whole population is q, p."""
    kind = _KINDS.get(score, _binned)
    return float(kind(score, options, q, p, n))


def true_classwise_error(claimed, probability):
    """Return the mean over classes of the error of a population of tables."""
    tables = zip(claimed.T, probability.T, strict=True)
    score = SCORES["expected_calibration_error"]
    return float(np.mean([score(_pairs(q, p)).value() for q, p in tables]))


def _pairs(q, y):
    return Pairs(q, y, np.ones(len(q)), np.arange(len(q)))


def _binned(score, options, q, p, n):
    """Return the score of bins that hold the same share of the population."""
    options = dict(options)
    if score in ADAPTIVE and "strategy" not in options:
        n_bins = n // options.pop("bin_size", int(np.sqrt(n)))
        options |= {"strategy": "quantile", "n_bins": n_bins}
    options.pop("debiased", None)
    return SCORES[score](_pairs(q, p), **options).value()


def _mean(score, options, q, p, n):
    right, wrong = (
        SCORES[score](_pairs(q, np.full(len(q), y))).loss for y in (1.0, 0.0)
    )
    return (p * right + (1 - p) * wrong).mean()


def _average_precision(score, options, q, p, n):
    wrong = 1 - p
    found = np.cumsum(wrong)
    return (wrong * found / np.arange(1, len(q) + 1)).sum() / found[-1]


def _risk_coverage(score, options, q, p, n):
    return (np.cumsum(1 - p[::-1]) / np.arange(1, len(q) + 1)).mean()


def _part(score, options, q, p, n):
    whole, part = score.split("_")
    of_constant = SCORES[score](_pairs(q[:2], np.zeros(2))).of_constant
    best, plain = of_constant(p).mean(), of_constant(p.mean())
    return {
        "miscalibration": _mean(f"{whole}_score", {}, q, p, n) - best,
        "discrimination": plain - best,
        "uncertainty": plain,
    }[part]


_KINDS = {
    "brier_loss": _mean,
    "log_loss": _mean,
    "error_average_precision": _average_precision,
    "area_under_risk_coverage": _risk_coverage,
} | {
    f"{whole}_{part}": _part
    for whole in ("brier", "log")
    for part in ("miscalibration", "discrimination", "uncertainty")
}
