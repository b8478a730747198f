"""How far an estimate may fall to either side of a quantity that is never negative."""

import numpy as np
from scipy.special import ndtr, ndtri

N_HALVINGS = 60


def unified_quantiles(distance, level):
    """Return how many deviations an estimate may lie below and above the truth.

    The truth lies ``distance`` deviations above zero, an array. Far from zero both
    numbers are the usual 1.96. At zero all of the error is spent above, 1.645, so the
    interval of a quantity that may be zero holds it no more often than the level says.
    It is the unified ordering of Feldman and Cousins (1998), section IV.B: a value x is
    accepted by its likelihood against that of the best truth, max(x, 0), and both ends
    have the same ratio. An end below zero then lies mu / 2 + c^2 / (2 mu) below the
    truth mu if the other one lies c above it.
    """
    distance = np.asarray(distance, dtype=np.float64)
    symmetric = float(ndtri((1 + level) / 2))
    near = distance < symmetric
    mu = np.where(near, np.maximum(distance, 1e-9), symmetric)
    narrow = np.full(mu.shape, float(ndtri(level)))
    wide = np.full(mu.shape, symmetric)
    for _ in range(N_HALVINGS):
        above = (narrow + wide) / 2
        below = mu / 2 + above**2 / (2 * mu)
        short = ndtr(above) - ndtr(-below) < level
        narrow, wide = np.where(short, above, narrow), np.where(short, wide, above)
    below = mu / 2 + wide**2 / (2 * mu)
    return np.where(near, below, symmetric), np.where(near, wide, symmetric)
