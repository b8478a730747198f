"""Places at which a curve over ranked words is drawn."""

import numpy as np

# More points than a picture has dots make files large and nothing clearer.
N_POINTS = 500


def ranking_grid(n_words):
    """Return numbers of words from 1 to all: evenly spread, and dense at both ends."""
    even = np.linspace(1, n_words, N_POINTS)
    dense = np.geomspace(1, n_words, N_POINTS // 2)
    grid = np.concatenate([even, dense, n_words + 1 - dense])
    return np.unique(np.rint(grid).astype(np.int64))
