"""Which of some independent Gaussian scores is the greatest, by adaptive quadrature."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad_vec
from scipy.special import log_ndtr, log_softmax, ndtr

# Beyond so many deviations nothing is left that counts.
FAR = 9.0


def exact_distribution(mean, variance):
    """Return Pr[y] = E_{s ~ N(m_y, v_y)} prod_{k != y} Phi((s - m_k) / sqrt(v_k))."""
    deviation = np.sqrt(variance)
    low = mean - FAR * deviation
    # Distances from the greatest low end keep their digits.
    mean, low = mean - mean[low.argmax()], (low - mean[low.argmax()]).max()
    wide, shares = deviation > 0, np.zeros(len(mean))
    m, d = mean[wide], deviation[wide]
    fixed = ~wide & (mean == low)
    shares[fixed] = ndtr((low - m) / d).prod() / max(1, fixed.sum())

    def densities(s):
        z = (s - m) / d
        return np.exp(log_ndtr(z).sum() - log_ndtr(z) - z**2 / 2) / d

    # Each piece is at most three deviations of any label that is not far away.
    places = np.unique(m[:, None] + d[:, None] * np.arange(-FAR, FAR + 1, 3.0))
    places = np.append(low, places[places > low])
    for start, end in pairwise(places):
        piece, _ = quad_vec(densities, start, end, epsabs=1e-12, epsrel=0)
        shares[wide] += piece / np.sqrt(2 * np.pi)
    return shares


def drawn_distribution(mean, variance, noise):
    """Return the shares of draws that each label wins, a tie shared by its winners."""
    scores = mean - mean.max() + np.sqrt(variance) * noise
    best = scores == scores.max(axis=1, keepdims=True)
    return (best / best.sum(axis=1, keepdims=True)).mean(axis=0)


def softmax_loss(point, scores, deviations, shares, gold, weight, smooth):
    """Return the log loss at (noise, scale, caution), the truth being smoothed."""
    noise, scale, caution = point
    variance = noise + scale * shares[:, np.newaxis]
    cautious = scores - caution * deviations
    target = np.full(scores.shape, smooth / (scores.shape[1] - 1))
    target[np.arange(len(gold)), gold] = 1 - smooth
    logs = log_softmax(cautious * np.sqrt(np.pi**2 / 6 / variance), axis=1)
    return -weight @ (target * logs).sum(axis=1)
