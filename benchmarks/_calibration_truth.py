"""The true values of scores, from the probabilities of a whole population."""

import numpy as np

from skcw.metrics.pairs import Pairs
from skcw.metrics.score import SCORES

ADAPTIVE = {"calibration_mse", "root_calibration_mse"}


def true_value(score, options, q, p, n):
    """Return what a score of n words estimates if the whole population is q, p."""
    kind = _KINDS.get(score, _binned)
    return float(kind(score, options, q, p, n))


def true_classwise_error(claimed, probability):
    """Return the mean over classes of the error of a population of tables."""
    tables = zip(claimed.T, probability.T, strict=True)
    errors = [_made("expected_calibration_error", q, p).value() for q, p in tables]
    return float(np.mean(errors))


def _made(name, q, y, **options):
    """Return a score of outcomes that may be probabilities."""
    cls, implied = SCORES[name]
    pairs = Pairs(q, y, np.ones(len(q)), np.arange(len(q)))
    return cls(pairs, **options, **implied)


def _binned(score, options, q, p, n):
    """Return the score of bins that hold the same share of the population."""
    options = dict(options)
    if score in ADAPTIVE and "strategy" not in options:
        n_bins = n // options.pop("bin_size", int(np.sqrt(n)))
        options |= {"strategy": "quantile", "n_bins": n_bins}
    options.pop("debiased", None)
    return _made(score, q, p, **options).value()


def _mean(score, options, q, p, n):
    right, wrong = (_made(score, q, np.full(len(q), y)).loss for y in (1.0, 0.0))
    return (p * right + (1 - p) * wrong).mean()


def _average_precision(score, options, q, p, n):
    wrong = 1 - p
    found = np.cumsum(wrong)
    return (wrong * found / np.arange(1, len(q) + 1)).sum() / found[-1]


def _risk_coverage(score, options, q, p, n):
    return (np.cumsum(1 - p[::-1]) / np.arange(1, len(q) + 1)).mean()


def _part(score, options, q, p, n):
    whole, part = score.rsplit("_", 1)
    of_constant = _made(score, q[:2], np.zeros(2)).loss.of_constant
    best, plain = of_constant(p).mean(), of_constant(p.mean())
    return {
        "miscalibration": _mean(_LOSSES[whole], {}, q, p, n) - best,
        "discrimination": plain - best,
        "uncertainty": plain,
    }[part]


# The loss that the names of its parts begin with.
_LOSSES = {"brier": "brier_loss", "log_loss": "log_loss"}
_KINDS = {
    "brier_loss": _mean,
    "log_loss": _mean,
    "error_average_precision": _average_precision,
    "area_under_risk_coverage": _risk_coverage,
} | {
    f"{whole}_{part}": _part
    for whole in _LOSSES
    for part in ("miscalibration", "discrimination", "uncertainty")
}
