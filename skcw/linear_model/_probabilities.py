"""How sure to be: probabilities from scores, their variances and noise, and the fit.

A score is believed to be off by a Gaussian of the belief's variance times a scale, and
by noise of the same variance everywhere, which no belief over weights can explain.
With the sum of both taken to have the shape of Gumbel's distribution, and the mean
over the labels as its variance, the most probable labels are those of a softmax,
whose temperature is another one in every row.
"""

from math import pi

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

# The variance of Gumbel's distribution of temperature one.
GUMBEL = pi**2 / 6
# Noise and scaled variance are looked for in this range around the squared scores.
RANGE = 1e8


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


def fitted_sureness(scores, spreads, codes, weight=None):
    """Return (scale, noise) of the least log loss on rows that were not learnt from.

    The truth counts as (n + 1) / (n + 2) sure, by the rule of succession: rows that
    are all right do not make the model infinitely sure.
    """
    table, variance = as_table(scores), row_variance(spreads)
    weight = np.ones(len(codes)) if weight is None else weight
    total = weight.sum()
    smooth = 1.0 / (total + 2.0)
    n_labels = table.shape[1]
    target = np.full(table.shape, smooth / (n_labels - 1))
    target[np.arange(len(codes)), codes] = 1.0 - smooth
    table = table - table.max(axis=1, keepdims=True)
    wanted = (target * table).sum(axis=1)
    # In units of the scores and variances at hand, so that none has to be known.
    unit = np.mean(np.ptp(table, axis=1) ** 2)
    typical = variance.mean()
    if not (unit > 0.0 and typical > 0.0):
        return 1.0, 0.0
    share = variance / typical

    def loss(logs):
        noise, scaled = np.exp(logs)
        rate = 1.0 / np.sqrt((noise + scaled * share) * (unit / GUMBEL))
        logp = log_softmax(rate[:, np.newaxis] * table, axis=1)
        value = weight @ -(target * logp).sum(axis=1) / total
        slope = weight * ((np.exp(logp) * table).sum(axis=1) - wanted) / total
        slope *= -0.5 * rate**3 * (unit / GUMBEL)
        return value, np.array([slope.sum() * noise, slope @ share * scaled])

    limit = np.log(RANGE)
    starts = ([-3.0, -6.0], [-6.0, -3.0])
    found = [
        minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-limit, limit)] * 2)
        for start in starts
    ]
    best = min(found, key=lambda one: one.fun)
    noise, scaled = np.exp(best.x) * unit
    return float(scaled / typical), float(noise)
