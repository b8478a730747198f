"""The scale of the variances, chosen on held-out folds."""

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, indexable

from skcw._compat import _safe_indexing
from skcw.linear_model._distribution import distribution_of, following
from skcw.linear_model._weights import row_weights
from skcw.metrics import root_calibration_mse

# The widest range of scales that is searched: factors around the belief's own.
RANGE = (1e-6, 1e6)
# A label that held-out rows have must not cost an infinite loss.
LEAST = 1e-15


def log_loss(distribution, codes):
    """Return the mean loss -log Pr[true label]."""
    truth = distribution[np.arange(len(codes)), codes]
    return -np.log(np.maximum(truth, LEAST)).mean()


def calibration_error(distribution, codes):
    """Return the RMSE over 20 bins of the predicted label's probability."""
    return root_calibration_mse(
        distribution.argmax(axis=1) == codes,
        np.clip(distribution.max(axis=1), 0.0, 1.0),
        strategy="uniform",
        claim="centre",
    )


CRITERIA = {"log_loss": log_loss, "calibration": calibration_error}


def fitted_scale(classifier, X, y, sample_weight):
    """Return the number given, or the best one over held-out folds."""
    if not isinstance(classifier.variance_scale, str):
        return float(classifier.variance_scale)
    criterion = CRITERIA[classifier.variance_scale]
    scores, spreads, codes = _held_out(classifier, X, y, sample_weight)

    def loss(exponent):
        spread = spreads * 10.0**exponent
        distribution = following(distribution_of(scores, spread, "exact"), scores)
        return criterion(distribution, codes)

    # A coarse grid first: the calibration error has more than one valley.
    grid = np.linspace(*np.log10(RANGE), 25)
    best = grid[np.argmin([loss(exponent) for exponent in grid])]
    step = grid[1] - grid[0]
    found = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    return float(10.0 ** (found.x if found.fun <= loss(best) else best))


def _held_out(classifier, X, y, sample_weight):
    """Return scores, spreads and codes of rows that copies have not learnt from."""
    X, y = indexable(X, y)
    y, weight = column_or_1d(y), row_weights(X, sample_weight)
    folds = check_cv(classifier.scale_cv, y, classifier=True)
    parts = []
    for seen, unseen in folds.split(X, y):
        copy = clone(classifier).set_params(variance_scale=1.0)
        own_weight = None if weight is None else weight[seen]
        copy.fit(_safe_indexing(X, seen), y[seen], sample_weight=own_weight)
        if len(copy.classes_) != len(classifier.classes_):
            raise ValueError(
                "a fold lacks a class, so a variance scale cannot be chosen by "
                "cross-validation; give a number as variance_scale, or scale_cv with "
                "fewer folds"
            )
        if weight is not None:
            unseen = unseen[weight[unseen] > 0]
        codes = np.searchsorted(copy.classes_, y[unseen])
        parts.append((*copy._scores_and_spreads(_safe_indexing(X, unseen)), codes))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
