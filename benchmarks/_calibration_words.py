"""Words in sentences whose true probabilities are known, for simulations."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import beta

MEAN_LENGTH = 18
# How much of what makes words confident, and wrong, they share with their sentence.
SHARED_CONFIDENCE = 0.2
SHARED_ERROR = 0.2
N_QUANTILES = 400_000
N_CLASSES = 5


class Predictor(NamedTuple):
    """How confidences are distributed, and what they are worth."""

    shape: tuple  # of the beta distribution of confidences
    truth: object  # confidence -> probability of being right


def _same(q):
    return q


def thesis_map(k):
    """Return the thesis's miscalibration: away from one half by k."""
    return lambda q: np.clip(np.where(q > 0.5, q + k, q - k), 0.0, 1.0)


def tempered(slope):
    """Return an overconfident model's truth: logits are too large by 1 / slope."""
    tiny = 1e-12
    return lambda q: expit(slope * logit(np.clip(q, tiny, 1 - tiny)))


def raised(shift):
    """Return the truth of a model that is too modest by the same everywhere."""
    return lambda q: np.minimum(q + shift, 1.0)


PREDICTORS = {
    "even, calibrated": Predictor((1, 1), _same),
    "even, + 0.05": Predictor((1, 1), raised(0.05)),
    "even, k = 0.1": Predictor((1, 1), thesis_map(0.1)),
    "tagger, calibrated": Predictor((5, 0.4), _same),
    "tagger, + 0.05": Predictor((5, 0.4), raised(0.05)),
    "tagger, slope 0.9": Predictor((5, 0.4), tempered(0.9)),
    "tagger, slope 0.6": Predictor((5, 0.4), tempered(0.6)),
    "query, calibrated": Predictor((0.15, 0.9), _same),
    "query, slope 0.7": Predictor((0.15, 0.9), tempered(0.7)),
}


def draw_words(predictor, n, rng):
    """Return confidences, outcomes and sentences of n words.

    Given its confidence a word is right with the predictor's probability, whatever
    happens to the rest of its sentence; but words of a sentence err together.
    """
    group = draw_sentences(n, rng)
    q = confidences(predictor, draw_shared(group, SHARED_CONFIDENCE, rng))
    u = ndtr(draw_shared(group, SHARED_ERROR, rng))
    return q, (u < predictor.truth(q)).astype(np.float64), group


def draw_tables(slope, n, rng):
    """Return claims for classes, true classes and sentences of n words."""
    group = draw_sentences(n, rng)
    claimed = _claimed_tables(n, rng)
    true = tempered_tables(claimed, slope)
    # Each word tries its likeliest class first, so that words err together.
    order = np.argsort(-claimed, axis=1)
    limits = np.cumsum(np.take_along_axis(true, order, axis=1), axis=1)
    u = ndtr(draw_shared(group, SHARED_ERROR, rng))
    tried = np.minimum((u[:, None] > limits).sum(axis=1), N_CLASSES - 1)
    return claimed, order[np.arange(n), tried], group


def population_tables(slope):
    """Return claimed and true probabilities of classes of very many words."""
    claimed = _claimed_tables(N_QUANTILES, np.random.default_rng(0))
    return claimed, tempered_tables(claimed, slope)


def _claimed_tables(n, rng):
    return rng.dirichlet(np.full(N_CLASSES, 0.15), size=n)


def tempered_tables(claimed, slope):
    """Return the truth of a model whose logits are too large by 1 / slope."""
    powers = np.maximum(claimed, 1e-12) ** slope
    return powers / powers.sum(axis=1, keepdims=True)


def draw_sentences(n, rng):
    """Return the sentence of each of n words; lengths are as uneven as in tweets."""
    n_enough = 3 * n // MEAN_LENGTH + 50
    lengths = 1 + rng.poisson(rng.gamma(3, (MEAN_LENGTH - 1) / 3, size=n_enough))
    return np.repeat(np.arange(n_enough), lengths)[:n]


def draw_shared(group, share, rng):
    """Return normal numbers, a share of which words have from their sentence."""
    common = rng.standard_normal(group.max() + 1)[group]
    return np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal(
        len(group)
    )


def confidences(predictor, z):
    """Return the confidences at normal quantiles."""
    grid = np.linspace(-6, 6, 20001)
    return np.interp(z, grid, beta.ppf(ndtr(grid), *predictor.shape))


def population(predictor):
    """Return evenly spread quantiles of the confidences and their probabilities."""
    q = confidences(predictor, ndtri((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES))
    return q, predictor.truth(q)
