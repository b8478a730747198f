"""Limits of the accuracy of bins, from shares of right words and their numbers."""

import numpy as np
from scipy.special import betaincinv, ndtri


def normal_limits(accuracy, n, level):
    """Return p -+ z sqrt(p (1 - p) / n), the band of the thesis."""
    half = ndtri((1 + level) / 2) * np.sqrt(accuracy * (1 - accuracy) / n)
    return accuracy - half, accuracy + half


def wilson_limits(accuracy, n, level):
    """Return the p whose own normal band just reaches the accuracy (Wilson 1927)."""
    z = ndtri((1 + level) / 2)
    centre = accuracy + z**2 / (2 * n)
    half = z * np.sqrt(accuracy * (1 - accuracy) / n + z**2 / (4 * n**2))
    return (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)


def exact_limits(accuracy, n, level):
    """Return the p under which as many, or as few, are just likely enough.

    Clopper and Pearson (1934); n need not be whole.
    """
    right = np.clip(accuracy, 0.0, 1.0) * n
    tail = (1 - level) / 2
    low, high = np.zeros(len(right)), np.ones(len(right))
    # What rounding leaves of none is none.
    some, not_all = right > 1e-9, n - right > 1e-9
    low[some] = betaincinv(right[some], (n - right + 1)[some], tail)
    high[not_all] = betaincinv((right + 1)[not_all], (n - right)[not_all], 1 - tail)
    return low, high


LIMITS = {
    "wilson": wilson_limits,
    "clopper-pearson": exact_limits,
    "normal": normal_limits,
}
