"""Logistic regression with few coefficients, some of which must not be negative."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

# The loss is convex and has at most three coefficients: it is solved to rounding.
OPTIONS = {"maxiter": 1000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-10}

# Slopes are expected from 0 to 2 or so: as much as one word or two can tell of them.
PULL = 1.0


def smoothed_targets(correct, weight):
    """Return Platt's targets: one right and one wrong word more than were seen.

    With them the best coefficients are finite even where all words are right.
    """
    right, wrong = weight @ correct, weight @ (1.0 - correct)
    return np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))


def fit_logistic(columns, correct, weight, least, pull=PULL):
    """Minimise the weighted logarithmic loss of ``expit(columns @ coefficients)``.

    A coefficient with a least value is a slope, for which 1 leaves confidences as they
    are. Where confidences hardly vary the words do not tell the slopes, and the map
    would rise beyond them as noise has it: a weak pull keeps such slopes near 1.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_words, n_columns)
        What is known of each word.
    correct : ndarray of float64, shape (n_words,)
        1 where its label is right, else 0; the targets are Platt's.
    weight : ndarray of float64, shape (n_words,)
        How often each word counts.
    least : sequence of float or None
        The least value of each coefficient; None for an intercept.
    pull : float, default=PULL
        The factor of half the squared distance of each slope from 1.

    Returns
    -------
    coefficients : ndarray of float64, shape (n_columns,)
        The best ones.
    """
    target = smoothed_targets(correct, weight)
    total = weight.sum()
    slopes = np.array([low is not None for low in least])
    ideal, pulls = slopes * 1.0, slopes * (pull / total)
    # The pull counts too, or a column of next to nothing would have no scale.
    unit = np.hypot(np.abs(columns).max(axis=0), np.sqrt(pulls))
    unit[unit == 0] = 1.0
    columns, share = columns / unit, weight / total

    def loss(coefficients):
        score = columns @ coefficients
        slope = columns.T @ (share * (expit(score) - target))
        away = coefficients / unit - ideal
        value = share @ (np.logaddexp(0.0, score) - target * score)
        return value + pulls @ away**2 / 2, slope + pulls * away / unit

    bounds = [
        (None if low is None else low * size, None)
        for low, size in zip(least, unit, strict=True)
    ]
    found = minimize(
        loss, ideal * unit, jac=True, method="L-BFGS-B", bounds=bounds, options=OPTIONS
    )
    return found.x / unit
