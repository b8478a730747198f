"""Words in sentences whose true probabilities are known, as tests of intervals draw."""

import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import binom

LENGTH = 10
# How rarely a test of coverage fails by chance, on either side, where intervals hold
# what they promise. Seeds are fixed, so what passes once passes always.
FALSE_ALARM = 0.01


def is_as_promised(held, level=0.95):
    """Tell whether as many intervals hold the truth as their level lets one expect."""
    fewest, most = binom.ppf([FALSE_ALARM, 1 - FALSE_ALARM], len(held), level)
    return fewest <= np.count_nonzero(held) <= most


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
