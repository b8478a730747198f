"""From scores and their variances to probabilities of labels, and to margins.

Two ways lead there. If the scores are Gaussian, as the belief over the weights says,
the probability of a label is that of its score being the highest
(`gaussian_distribution`). If they are also off by noise of the same variance
everywhere, which no belief over weights can explain, the sum of both is taken to have
the shape of Gumbel's distribution, with the mean over the labels as its variance: then
the probabilities are a softmax with a temperature of its own in every row
(`logistic_distribution`).

A label that was neither true nor the best rival where a row's features were learned
keeps a score near zero, above those of rivals that were corrected, and its variance
stays large. So the softmax takes each score less some standard deviations of its own
(`with_caution`).
"""

from functools import partial
from math import pi
from numbers import Integral

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state, check_scalar

from skcw._kernels.label_distribution import (
    drawn_distribution,
    exact_distribution,
    softmax_loss,
)
from skcw.linear_model.base import best_codes

DISTRIBUTIONS = ("exact", "draws")
# The variance of Gumbel's distribution of temperature one.
GUMBEL = pi**2 / 6
# The search begins with as much noise as variance, and no caution.
START = (0.02, 0.02, 0.0)
# It ends when a step promises less than this, or after so many.
LEAST_GAIN, MOST_STEPS = 1e-9, 200
FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-9
# Noise and scaled variance are looked for in this range around the squared scores.
RANGE = 1e8
# The most that variances are multiplied by; what is then missing is noise. Caution, in
# standard deviations, is at most its root.
LARGEST_SCALE = 1e6


def gaussian_distribution(scores, spreads, method, n_draws=0, random_state=None):
    """Return the probability of each label to have the highest score.

    Two classes come as one score per row, the second's less the first's, as
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
    """Return M / √V: infinite for a lead without variance, 0 without a lead."""
    out = np.where(lead == 0, 0.0, np.copysign(np.inf, lead))
    return np.divide(lead, np.sqrt(spread), out=out, where=spread > 0)


def with_predicted_first(distribution, scores):
    """Make the label with the highest mean score the most probable one.

    Where another label is more probable, the two exchange their probabilities.
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


def margin_of(scores, spreads, normalized):
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
    return in_deviations(lead, spread) if normalized else lead


def as_table(scores):
    """Return a score per class; two classes come as one, for their difference."""
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


def row_variance(spreads):
    """Return the variance of a label's score, the mean over the labels of a row."""
    # Half of a difference's variance is that of each of the two.
    return spreads / 2 if spreads.ndim == 1 else spreads.mean(axis=1)


def logistic_distribution(scores, spreads):
    """Return the softmax at each row's own temperature."""
    temperature = np.sqrt(row_variance(spreads) / GUMBEL)
    table = as_table(scores)
    table = table - table.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = table / temperature[:, np.newaxis]
    # Without any variance the best labels share all there is.
    table[np.isnan(table)] = 0.0
    proba = np.exp(table)
    return proba / proba.sum(axis=1, keepdims=True)


def with_caution(scores, spreads, caution):
    """Return the scores less ``caution`` standard deviations of each.

    The one score of two classes stays: both labels have the same deviation.
    """
    return scores if scores.ndim == 1 else scores - caution * np.sqrt(spreads)


def fit_softmax(scores, spreads, codes, weight=None):
    """Return (scale, noise, caution) of the least log loss on rows not learned from.

    The truth counts as (n + 1) / (n + 2) sure, by the rule of succession: rows that
    are all right do not make the model infinitely sure.
    """
    table, variance = as_table(scores), row_variance(spreads)
    weight = np.ones(len(codes)) if weight is None else weight
    table = table - table.max(axis=1, keepdims=True)
    # In units of these scores and variances, whose scale need not be known.
    unit, typical = np.mean(table.min(axis=1) ** 2), variance.mean()
    if not (unit > 0.0 and typical > 0.0):
        return 1.0, 0.0, 0.0
    ratio = unit / typical
    # Both labels of two have the same.
    deviation = np.zeros_like(table)
    if spreads.ndim > 1:
        deviation = np.sqrt(spreads / typical)
    loss = partial(
        softmax_loss,
        scores=table / np.sqrt(unit),
        deviations=deviation,
        shares=variance / typical,
        gold=np.asarray(codes, dtype=np.int32),
        weight=weight / weight.sum(),
        smooth=1.0 / (weight.sum() + 2.0),
    )
    # Variances that went to nothing in training must not be blown up again.
    limit = LARGEST_SCALE / ratio
    noise, scaled, caution = _least(loss, RANGE, limit)
    if scaled > limit:
        noise, scaled, caution = _least(loss, limit, limit)
    scale = min(float(scaled * ratio), LARGEST_SCALE)
    return scale, float(noise * unit), float(caution * np.sqrt(ratio))


def _least(loss, top, limit):
    """Return the best noise, scaled variance and caution, by steps of Newton's kind.

    The scaled variance is at most ``top``, the square of caution at most ``limit``. A
    step that does not lessen the loss is made again with more damping (Levenberg and
    Marquardt), in units of the variance so far.
    """
    low = np.array([1.0, min(1.0, top), 0.0]) / RANGE
    high = np.array([RANGE, top, np.sqrt(limit)])
    point, damping = np.clip(START, low, high), FIRST_DAMPING
    value, gradient, curvature = loss(point)
    for _ in range(MOST_STEPS):
        total = point[0] + point[1]
        damped = curvature + damping * np.diag([total**-2, total**-2, 1.0])
        step = _step_within(gradient, damped, low - point, high - point)
        if abs(gradient @ step) < LEAST_GAIN:
            break
        found = loss(point + step)
        if found[0] < value:
            point, damping = point + step, max(damping / 10.0, LEAST_DAMPING)
            value, gradient, curvature = found
        else:
            damping *= 10.0
    return point


def _step_within(gradient, curvature, low, high):
    """Return the step to where a parabola is least, the part beyond bounds cut off."""
    step, free = np.zeros(3), np.ones(3, dtype=bool)
    while free.any():
        step = np.linalg.solve(
            np.where(free[:, np.newaxis], curvature, np.eye(3)),
            np.where(free, -gradient, step),
        )
        beyond = free & ((step < low) | (step > high))
        if not beyond.any():
            break
        # What remains is least where these stay at their bounds.
        step, free = np.clip(step, low, high), free & ~beyond
    return step
