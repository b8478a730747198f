"""The update steps as the papers write them.

``m`` is the margin mu . Delta and ``v`` the spread Delta' Sigma Delta.
"""

from itertools import product

import numpy as np
from scipy.optimize import brentq


def cw_step(m, v, phi, limit=np.inf):
    """Return (alpha, beta) of Eq. (3), alpha cut at a limit (SCW-I)."""
    half, full = 1 + phi**2 / 2, 1 + phi**2
    root = np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * full)
    alpha = min(max(0.0, (-m * half + root) / (v * full)), limit)
    v_new = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
    return alpha, alpha * phi / np.sqrt(v_new)


def soft_cw_step(m, v, phi, budget, fresh):
    """Return (alpha, beta) of SCW-I (Wang, Zhao & Hoi, 2012, Prop. 1).

    Alpha is cut at so many times the one for a margin of zero and a spread `fresh`.
    """
    alpha = min(cw_step(m, v, phi)[0], budget * cw_step(0.0, fresh, phi)[0])
    v_new = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
    return alpha, alpha * phi / np.sqrt(v_new)


def soft_variance_step(m, v, phi, budget, fresh):
    """Return the same in the form that bounds variances: beta = 2 alpha phi."""
    most = budget * variance_step(0.0, fresh, phi)[0]
    alpha = min(variance_step(m, v, phi)[0], most)
    return alpha, 2 * alpha * phi


def variance_step(m, v, phi):
    """Return (alpha, beta) of Eqs. (7) and (8) of Crammer et al. (2009)."""
    b = 1 + 2 * phi * m
    gamma = (-b + np.sqrt(b**2 - 8 * phi * (m - phi * v))) / (4 * phi * v)
    alpha = max(0.0, gamma)
    return alpha, 2 * alpha * phi


def arow_step(m, v, distance, r):
    """Return (alpha, beta) of Eq. (4); without a loss nothing moves."""
    return max(0.0, distance - m) / (r + v), 1 / r if distance > m else 0.0


def optimal_cw_step(delta, sigma, m, phi, limit=np.inf):
    """Return (alpha, beta) of CW among diagonal covariances.

    The unknown is u, the new standard deviation of the margin: the constraint
    m + alpha v = phi u gives alpha, and beta = alpha phi / u has to give u back. An
    alpha above the limit is cut, and u follows from beta = limit phi / u.
    """
    v = sigma @ delta**2
    if m >= phi * np.sqrt(v):
        return 0.0, 0.0

    def step(u):
        alpha = (phi * u - m) / v
        return alpha, alpha * phi / u

    def excess(u):
        return np.sqrt((delta**2 / (1 / sigma + step(u)[1] * delta**2)).sum()) - u

    top = np.sqrt(v)
    found = step(brentq(excess, max(m / phi, 1e-9 * top), top, xtol=1e-15 * top))
    if found[0] <= limit:
        return found

    def cut_excess(u):
        beta = limit * phi / u
        return np.sqrt((delta**2 / (1 / sigma + beta * delta**2)).sum()) - u

    u = brentq(cut_excess, 1e-9 * top, top, xtol=1e-15 * top)
    return limit, limit * phi / u


def covariance_diagonal(sigma, delta, beta):
    """Return the diagonal of the full new covariance."""
    precision = np.diag(1 / sigma) + beta * np.outer(delta, delta)
    return np.diag(np.linalg.inv(precision))


def precision_diagonal(sigma, delta, beta):
    """Return the inverse of the full new precision's diagonal."""
    return 1 / (1 / sigma + beta * delta**2)


def full_update(mu, Sigma, delta, alpha, beta):
    """Return Eq. (2) with a full covariance, by Sherman and Morrison."""
    pull = Sigma @ delta
    shrink = beta / (1 + beta * delta @ pull)
    return mu + alpha * pull, Sigma - shrink * np.outer(pull, pull)


def k_constraints(gram, loss, budget):
    """Return alpha >= 0, sum <= budget, maximizing loss . alpha - alpha' G alpha / 2.

    Every set of active multipliers is tried, with the budget spent and not spent.
    """
    best, best_value = np.zeros(len(loss)), 0.0
    for active in product([False, True], repeat=len(loss)):
        on = np.flatnonzero(active)
        for spent in (False, True):
            alpha = np.zeros(len(loss))
            alpha[on] = _stationary(gram[np.ix_(on, on)], loss[on], budget, spent)
            value = loss @ alpha - alpha @ gram @ alpha / 2
            legal = alpha.min() >= 0 and alpha.sum() <= budget * (1 + 1e-12)
            if legal and value > best_value:
                best, best_value = alpha, value
    return best


def _stationary(gram, loss, budget, spent):
    """Return where the gradient is zero, or constant on the plane sum = budget."""
    if not spent:
        return np.linalg.lstsq(gram, loss, rcond=None)[0]
    ones = np.ones((1, len(loss)))
    matrix = np.block([[gram, ones.T], [ones, np.zeros((1, 1))]])
    return np.linalg.lstsq(matrix, np.append(loss, budget), rcond=None)[0][:-1]
