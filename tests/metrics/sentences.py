"""Words in sentences whose true probabilities are known, as tests of intervals draw."""

import numpy as np
from scipy.special import expit, logit, ndtr

LENGTH = 10


def same(q):
    return q


def tempered(q):
    """Return the truth of an overconfident model."""
    return expit(0.5 * logit(q))


def raised(q):
    """Return the truth of a model that is too modest by the same everywhere."""
    return np.minimum(q + 0.05, 1.0)


def draw_words(n, rng, truth=same, shared=0.3):
    """Return outcomes, confidences and sentences; words of a sentence err together."""
    group = np.arange(n) // LENGTH
    q = rng.beta(3, 0.8, size=n).clip(1e-9, 1 - 1e-9)
    common = rng.standard_normal(group[-1] + 1)[group]
    number = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.standard_normal(n)
    return ndtr(number) < truth(q), q, group
