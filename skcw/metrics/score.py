"""Base classes of scores of confidence, with resampling of whole sentences."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri
from scipy.stats import t as student

from skcw._kernels.score_loops import draw_right
from skcw.metrics.binnings import recalibrated
from skcw.metrics.pairs import check_pairs

HIGHEST_CORRELATION = 0.95
N_TERMS = 16
# A chunk of draws of all tokens takes eight megabytes.
NUMBERS_AT_ONCE = 2_000_000
# A chunk of counts takes eight megabytes.
COUNTS_AT_ONCE = 1_000_000
FEWEST_DEGREES = 3.0
# Rounding adds less than this share of the range of a score.
ROUNDING = 1e-14


class Latent(NamedTuple):
    """Normal numbers for some draws, as the kernels of `resampling` mix them."""

    normal: np.ndarray  # (n_draws, n_tokens) float32, of each token
    common: np.ndarray  # (n_draws, n_groups) float32, of each sentence
    own: float  # the part of a token's number that is its own
    shared: float  # the part that is its sentence's


def latent_chunks(n_tokens, n_groups, correlation, n_draws, rng):
    """Yield `Latent` numbers for some draws at a time until there are n_draws."""
    own, shared = np.sqrt(1 - correlation), np.sqrt(correlation)
    at_once = max(1, NUMBERS_AT_ONCE // n_tokens)
    for start in range(0, n_draws, at_once):
        width = min(at_once, n_draws - start)
        normal = rng.standard_normal((width, n_tokens), dtype=np.float32)
        common = np.zeros((width, n_groups), dtype=np.float32)
        if correlation > 0:
            common = rng.standard_normal((width, n_groups), dtype=np.float32)
        yield Latent(normal, common, float(own), float(shared))


def draw_sums(latent, group, limits, weight, starts):
    """Return the weight of right tokens in cells, (n_truths, n_draws, n_cells).

    Tokens are sorted by cell; one is right if its number lies below its limit, of which
    each truth has others.
    """
    right = np.empty((len(limits), len(latent.normal), len(starts) - 1))
    mixed = np.empty(len(group), dtype=np.float32)
    draw_right(*latent[:2], group, *latent[2:], limits, weight, starts, mixed, right)
    return right


class Truth(NamedTuple):
    """One of the `Alternatives`: the true probabilities, if it is the right one."""

    limit: np.ndarray  # below which normal number a token is right
    value: float  # the score of the true probabilities instead of outcomes
    spread: float  # the standard deviation of that over other sentences


class Alternatives:
    """A family of truths, from claimed (t = 0) to observed probabilities (t = 1).

    A truth further on has larger errors of the same kind. A subclass has ``start`` and
    ``step``, the probabilities and how they change with t; ``truth(probability)``
    returns a `Truth`, and ``scores(right)`` scores the right tokens in cells.

    Parameters
    ----------
    observed : float
        The score.
    pairs : Pairs
        The tokens, cell by cell.
    starts : ndarray of shape (n_cells + 1,)
        Where the tokens of each cell begin.
    correlation : float
        How much of its number a token shares with its sentence.
    """

    def __init__(self, observed, pairs, starts, correlation):
        self.observed = observed
        self.group, self.weight = pairs.group, pairs.weight
        self.starts = starts
        self.correlation = correlation

    def shifted(self, t):
        """Return the truth at t."""
        return self.truth(np.clip(self.start + t * self.step, 0.0, 1.0))

    def flattened(self):
        """Return the family in which all tokens are off by the same, or None."""
        return None

    def draw(self, truths, latent):
        """Return the scores of outcomes drawn under each truth, (n_truths, n_draws)."""
        limits = np.stack([truth.limit for truth in truths])
        sums = draw_sums(latent, self.group, limits, self.weight, self.starts)
        return self.scores(sums)


def thresholds(probability):
    """Return below which normal number a token of a probability is right."""
    return ndtri(probability).astype(np.float32)


def latent_correlation(residual, probability, weight, group):
    """Return how much of the normal numbers the tokens of a sentence share.

    The covariance of two outcomes is a series in the correlation r (Pearson's
    tetrachoric series): the sum over k of r^k / k! f_k(a) f_k(b) with the quantiles a,
    b of their probabilities and f_k = He_{k-1} times the normal density. Each term is a
    product, so sums over all pairs of a sentence need no pairs. The correlation is the
    one at which the series is the sum of the observed products of residuals.
    """
    observed = _sum_over_pairs(weight * residual, group)
    if observed <= 0:
        return 0.0
    terms = [_sum_over_pairs(weight * f, group) for f in _factors(probability)]

    def missing(r):
        return sum(term * r**k for k, term in enumerate(terms, start=1)) - observed

    if missing(HIGHEST_CORRELATION) <= 0:
        return HIGHEST_CORRELATION
    return float(brentq(missing, 0.0, HIGHEST_CORRELATION))


def recalibrated_together(pairs):
    """Return a probability for each token, and how much those of a sentence share."""
    probability = recalibrated(pairs)
    residual = pairs.y - probability
    shared = latent_correlation(residual, probability, pairs.weight, pairs.group)
    return probability, shared


def shared_variance(share, probability, correlation, group):
    """Return by how much sentences raise the variance of the right tokens in bins.

    It is the sum of the covariances of all two tokens of a sentence in a bin, by the
    same series; ``share`` holds the weight of each token in each bin, sparse.
    """
    total = np.zeros(share.shape[0])
    if correlation == 0:
        return total
    tokens = np.arange(len(group))
    in_sentence = sparse.csr_matrix((np.ones(len(group)), (tokens, group)))
    for k, factor in enumerate(_factors(probability), start=1):
        parts = share.multiply(factor).tocsr()
        sums = parts @ in_sentence
        pairs = _row_sums(sums.multiply(sums)) - _row_sums(parts.multiply(parts))
        total += correlation**k * pairs
    return total


def _factors(probability):
    """Yield f_k / sqrt(k!) at the quantiles of the probabilities, for k = 1, 2, ..."""
    certain = (probability <= 0) | (probability >= 1)
    a = np.where(certain, 0.0, ndtri(np.where(certain, 0.5, probability)))
    density = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)
    before, factor = np.zeros_like(a), np.where(certain, 0.0, density)
    for k in range(1, N_TERMS + 1):
        yield factor
        # He_k = a He_{k-1} - (k - 1) He_{k-2}, each over the root of its factorial.
        step = (a * factor - (k - 1) / np.sqrt(k) * before) / np.sqrt(k + 1)
        before, factor = factor, step


def _sum_over_pairs(values, group):
    """Return the sum of the products of all two tokens of the same sentence."""
    return float((np.bincount(group, values) ** 2).sum() - (values**2).sum())


def _row_sums(matrix):
    return np.asarray(matrix.sum(axis=1)).ravel()


def sentence_counts(pairs, n_resamples, rng):
    """Yield how often each sentence is drawn, (some resamples, n_sentences)."""
    n_groups = pairs.n_groups
    at_once = max(1, COUNTS_AT_ONCE // n_groups)
    for start in range(0, n_resamples, at_once):
        counts = np.empty((min(at_once, n_resamples - start), n_groups))
        for row in counts:
            drawn = rng.integers(n_groups, size=n_groups)
            row[:] = np.bincount(drawn, minlength=n_groups)
        yield counts


def deviation(contributions, group):
    """Return the standard deviation of a sum over independent sentences."""
    sentences = np.bincount(group, contributions)
    n = len(sentences)
    return float(np.sqrt((sentences**2).sum() * n / max(1, n - 1)))


def smooth_interval(value, contributions, group, bounds, level):
    """Return the ends of an interval of a score with bounds.

    The contributions of tokens, summed by sentence, are independent: their squares give
    the standard error. It is itself an estimate, the worse the more a few sentences
    decide, so the quantile is Student's with the degrees of freedom that the kurtosis
    of the sums leaves (Satterthwaite): 2 n / (kurtosis - 1). The interval is symmetric
    on the logit scale between the bounds.
    """
    sentences = np.bincount(group, contributions)
    bottom, top = bounds
    nothing = ROUNDING * (top - bottom)
    if not bottom < value < top or np.abs(sentences).max() <= nothing:
        return _certain(value, len(sentences), bounds, level)
    error, degrees = clustered_error(sentences)
    share = (value - bottom) / (top - bottom)
    half = student.ppf((1 + level) / 2, degrees) * error / (top - bottom)
    half /= share * (1 - share)
    ends = expit(logit(share) + np.array([-half, half]))
    low, high = bottom + (top - bottom) * ends
    return float(low), float(high)


def clustered_error(sentences):
    """Return the standard error of a sum over sentences, and its degrees of freedom."""
    n = len(sentences)
    squares = float((sentences**2).sum())
    kurtosis = n * float((sentences**4).sum()) / squares**2
    degrees = 2 * n / max(kurtosis - 1, 1e-9)
    return np.sqrt(squares * n / (n - 1)), min(n - 1, max(FEWEST_DEGREES, degrees))


def _certain(value, n_sentences, bounds, level):
    """Return the ends if no sentence differs from another.

    More than this share of sentences cannot be different, or one would have been seen
    (the rule of three): (1 - share)^n = (1 - level) / 2.
    """
    unseen = 1 - ((1 - level) / 2) ** (1 / n_sentences)
    bottom, top = bounds
    return (
        float(value - (value - bottom) * unseen),
        float(value + (top - value) * unseen),
    )


# Each name stands for a class and for options that the name implies.
SCORES = {}


class Score:
    """A score of pairs: prepared once, evaluated for many weights.

    A new score is a subclass in its own file; `registered` puts it into the table under
    the name of its function. Intervals and comparisons call the methods of a score; the
    defaults below work for any score, if slowly.

    Parameters
    ----------
    pairs : Pairs
        The tokens; ``pairs.weight`` are the weights of the score itself.

    Attributes
    ----------
    bounds : tuple of two floats
        No value of the score lies outside.
    greater_is_better : bool
        Which of two values is the better one.
    interval_methods : tuple of str
        The intervals that are known to cover this score; the first is the usual one.
    compared_by : {"influence", "ends", "squares"} or None
        How `compare_scores` compares two values; None if it cannot.
    n_families : int
        In how many families of alternatives an inversion looks for the truth.
    """

    bounds = (0.0, 1.0)
    greater_is_better = False
    interval_methods = ("sandwich", "bootstrap")
    compared_by = "influence"
    n_families = 1
    _check = staticmethod(check_pairs)

    def __init__(self, pairs):
        self.pairs = pairs

    @classmethod
    def from_arrays(
        cls, correct, confidence, sample_weight=None, groups=None, **options
    ):
        """Return the score of outcomes and confidences, which are checked."""
        return cls(cls._check(correct, confidence, sample_weight, groups), **options)

    def value(self, weight=None):
        """Return the score, of the pairs as they are or with new weights of tokens."""
        raise NotImplementedError

    def influence(self):
        """Return the contribution of each token to the score, to first order."""
        raise NotImplementedError

    def resampled(self, counts):
        """Return the scores if sentences were there as often as each row says.

        Parameters
        ----------
        counts : ndarray of shape (n_resamples, n_sentences)
            How often each sentence was drawn. Tokens stay in their bins.
        """
        weight, group = self.pairs.weight, self.pairs.group
        return np.array([self.value(weight * row[group]) for row in counts])

    def alternatives(self):
        """Return the family of truths that an inversion asks, or None."""
        return None

    def sandwich(self, level, n_resamples, rng, bar):
        """Return the ends of the interval by the standard error over sentences."""
        return smooth_interval(
            self.value(), self.influence(), self.pairs.group, self.bounds, level
        )


class MeanScore(Score):
    """A score that is the weighted mean of one loss per token.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    loss : ndarray of shape (n,)
        What each token costs.
    """

    def __init__(self, pairs, loss):
        super().__init__(pairs)
        self.loss = loss

    def value(self, weight=None):
        """Return the weighted mean of the losses."""
        if weight is None:
            return float(self.pairs.weight @ self.loss / self.pairs.weight.sum())
        # Tokens without weight must not even change the order of the sum.
        kept = weight > 0
        weight = weight[kept]
        return float(weight @ self.loss[kept] / weight.sum())

    def influence(self):
        """Return the weighted losses less their mean."""
        weight = self.pairs.weight
        return weight * (self.loss - self.value()) / weight.sum()

    def resampled(self, counts):
        """Return the means: two sums per sentence are enough."""
        loss, mass = self._sentence_sums
        return (counts @ loss) / (counts @ mass)

    @cached_property
    def _sentence_sums(self):
        pairs = self.pairs
        loss = np.bincount(pairs.group, pairs.weight * self.loss)
        return loss, np.bincount(pairs.group, pairs.weight)


def registered(name, **options):
    """Return a decorator that puts a class into the table of scores."""

    def put(cls):
        SCORES[name] = cls, options
        return cls

    return put


def score_name(score):
    """Return the name of a score, given that or its function."""
    name = score if isinstance(score, str) else getattr(score, "__name__", None)
    if name not in SCORES:
        raise ValueError(
            f"score is {score!r}; it must be one of {', '.join(SCORES)}, or the "
            "function of that name"
        )
    return name


def make_score(name, correct, confidence, sample_weight=None, groups=None, **options):
    """Return the score of that name for some tokens."""
    cls, implied = SCORES[name]
    return cls.from_arrays(
        correct, confidence, sample_weight, groups, **(options | implied)
    )
