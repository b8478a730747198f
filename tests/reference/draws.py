"""Weights drawn from a Gaussian, one number at a time and in double."""

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from tests.reference.passes import features

WORD, LONG = (1 << 32) - 1, (1 << 64) - 1
GOLDEN = 0x9E3779B9


def mix64(x):
    """Return the finalizer of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & LONG
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & LONG
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & LONG
    return x ^ (x >> 31)


def mix32(x):
    """Return the finalizer of MurmurHash3."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & WORD
    return x ^ (x >> 16)


def normal(seed, draw, number, label):
    """Return the normal of a label's weight for the feature of that number."""
    key, own = mix64(mix64(seed) ^ draw), mix64(number)
    pair = label // 2 * GOLDEN
    first = mix32((mix32((key ^ own) & WORD) + pair) & WORD)
    second = mix32((mix32((key ^ own) >> 32) + pair) & WORD)
    u = (first // 2 + 0.5) / 2**31
    y = (second - (second >> 31 << 32)) / 2**31
    radius = np.sqrt(-2 * np.log(u)) * (-1) ** first
    return radius * (np.sin if label % 2 else np.cos)(np.pi / 2 * y)


def normals(seed, draw, numbers, n_labels):
    """Return the normals of several features as rows."""
    rows = [
        [normal(seed, draw, int(f) % 2**64, j) for j in range(n_labels)]
        for f in numbers
    ]
    return np.array(rows).reshape(-1, n_labels)


def drawn_model(belief, seed, draw, scale, fixed=False):
    """Return the weights (n_features, n_labels) and transitions of one draw."""
    n_labels, n_features = belief.n_labels, len(belief.row_of)
    parts = []
    for numbers, part in (
        (np.arange(n_features), belief.feature_weights),
        ((1 << 32) + np.arange(n_labels), belief.transition_weights),
    ):
        deviation = np.sqrt(scale * (1.0 if fixed else part("variance")))
        parts.append(part() + deviation * normals(seed, draw, numbers, n_labels))
    return parts


def best_label_shares(mean, variance):
    """Return how often each of some independent Gaussians is the greatest."""
    mean, deviation = np.asarray(mean, float), np.sqrt(variance)

    def density(x, j):
        others = np.arange(len(mean)) != j
        below = norm.cdf((x - mean[others]) / deviation[others])
        return norm.pdf(x, mean[j], deviation[j]) * below.prod()

    low, high = (mean - 9 * deviation).min(), (mean + 9 * deviation).max()
    places = sorted(mean)
    return np.array(
        [
            quad(density, low, high, args=(j,), points=places, limit=500)[0]
            for j in range(len(mean))
        ]
    )


def change_of_one_label(X, codes, t, label, n_labels):
    """Return Phi(x, codes) - Phi(x, codes with another label at t), dense."""
    changed = np.array(codes)
    changed[t] = label
    return features(X, codes, n_labels) - features(X, changed, n_labels)
