"""The interval of the thesis: accuracies of bins drawn from normal distributions."""

import numpy as np
from scipy.special import ndtri

from skcw.metrics._cores.base import BinnedScore
from skcw.metrics.classwise_calibration import ClasswiseError


def normal_interval(core, level, n_resamples, rng, bar):
    """Return mean -+ z sd of scores of bins with p* ~ N(p, p (1 - p) / n)."""
    draws = _draws(core, n_resamples, rng)
    bar.update(n_resamples)
    half = float(ndtri((1 + level) / 2)) * draws.std(ddof=1)
    return draws.mean() - half, draws.mean() + half


def _draws(core, n_resamples, rng):
    if isinstance(core, ClasswiseError):
        each = [_draws(error, n_resamples, rng) for error in core.errors]
        return np.mean(each, axis=0)
    if not isinstance(core, BinnedScore):
        raise ValueError(
            "interval='normal' draws the accuracies of bins, but this score has no "
            "bins; take interval='bootstrap'"
        )
    mass, claimed, right = core.binning.sums(core.pairs.weight)
    accuracy = right / mass
    error = np.sqrt(np.clip(accuracy * (1 - accuracy), 0.0, None) / mass)
    drawn = accuracy + error * rng.standard_normal((n_resamples, len(mass)))
    return core.combine(mass, claimed, mass * drawn)
