"""Logistic regression with few coefficients, some of which must not be negative."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

# The loss is convex and has at most three coefficients: it is solved to rounding.
OPTIONS = {"maxiter": 1000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-10}


def smoothed_targets(correct, weight):
    """Return Platt's targets: one right and one wrong word more than were seen.

    With them the best coefficients are finite even where all words are right.
    """
    right, wrong = weight @ correct, weight @ (1.0 - correct)
    return np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))


def fit_logistic(columns, correct, weight, least):
    """Minimise the weighted logarithmic loss of ``expit(columns @ coefficients)``.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_words, n_columns)
        What is known of each word.
    correct : ndarray of float64, shape (n_words,)
        1 where its label is right, else 0; the targets are Platt's.
    weight : ndarray of float64, shape (n_words,)
        How often each word counts.
    least : sequence of float or None
        The least value of each coefficient.

    Returns
    -------
    coefficients : ndarray of float64, shape (n_columns,)
        The best ones.
    """
    target = smoothed_targets(correct, weight)
    unit = np.abs(columns).max(axis=0)
    unit[unit == 0] = 1.0
    columns, share = columns / unit, weight / weight.sum()

    def loss(coefficients):
        score = columns @ coefficients
        slope = columns.T @ (share * (expit(score) - target))
        return share @ (np.logaddexp(0.0, score) - target * score), slope

    bounds = [
        (None if low is None else low * size, None)
        for low, size in zip(least, unit, strict=True)
    ]
    start = np.array([1.0 if low is not None else 0.0 for low in least]) * unit
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=OPTIONS
    )
    return found.x / unit
