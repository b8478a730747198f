"""The distribution over labels that Gaussian scores imply, and margins."""

from numbers import Integral

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state, check_scalar

from skcw._kernels.label_distribution import drawn_distribution, exact_distribution
from skcw.linear_model._base import best_codes

DISTRIBUTIONS = ("exact", "draws")


def distribution_of(scores, spreads, method, n_draws=0, random_state=None):
    """Return the probability of each label to have the highest score.

    Two classes come as one score a row, the second's less the first's, as
    ``decision_function`` gives it.
    """
    if method == "draws":
        check_scalar(n_draws, "n_draws", Integral, min_val=1)
        scores, spreads = _one_per_class(scores, spreads)
        rng = check_random_state(random_state)
        noise = rng.standard_normal((n_draws, scores.shape[1]))
        return drawn_distribution(scores, spreads, noise)
    if scores.ndim == 1:
        lead = in_deviations(scores, spreads)
        return np.column_stack([ndtr(-lead), ndtr(lead)])
    return exact_distribution(*_contiguous(scores, spreads))


def _one_per_class(scores, spreads):
    if scores.ndim > 1:
        return _contiguous(scores, spreads)
    zero = np.zeros_like(scores)
    return np.column_stack([zero, scores]), np.column_stack([zero, spreads])


def _contiguous(scores, spreads):
    return np.ascontiguousarray(scores), np.ascontiguousarray(spreads)


def in_deviations(lead, spread):
    """Return M / √V; a lead without variance is infinite, no lead is none."""
    out = np.where(lead == 0, 0.0, np.copysign(np.inf, lead))
    return np.divide(lead, np.sqrt(spread), out=out, where=spread > 0)


def following(distribution, scores):
    """Make the label with the highest mean score the most probable one.

    Where it is not, it exchanges its probability with that which is.
    """
    rows = np.arange(len(distribution))
    predicted = best_codes(scores)
    likeliest = distribution.argmax(axis=1)
    # Of equal probabilities argmax takes the first: the predicted one stays.
    tied = distribution[rows, predicted] == distribution[rows, likeliest]
    likeliest[tied] = predicted[tied]
    top = distribution[rows, likeliest]
    distribution[rows, likeliest] = distribution[rows, predicted]
    distribution[rows, predicted] = top
    # Where rounding makes a lead a tie, argmax must still find the predicted one.
    behind = np.flatnonzero(distribution.argmax(axis=1) != predicted)
    distribution[behind, predicted[behind]] = np.nextafter(top[behind], 2.0)
    return distribution


def margin_of(scores, spreads, normalised):
    """Return by how much the best score leads the second, or that in deviations."""
    if scores.ndim == 1:
        lead, spread = np.abs(scores), spreads
    else:
        best = scores.argmax(axis=1)
        rows = np.arange(len(scores))
        others = scores.copy()
        others[rows, best] = -np.inf
        second = others.argmax(axis=1)
        lead = scores[rows, best] - scores[rows, second]
        spread = spreads[rows, best] + spreads[rows, second]
    return in_deviations(lead, spread) if normalised else lead
