"""Intervals of smooth scores from what each sentence adds to them."""

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

FEWEST_DEGREES = 3.0
# Less than that of the range of a score is what rounding adds to it.
ROUNDING = 1e-14


def smooth_interval(value, contributions, group, bounds, level):
    """Return the ends of an interval of a score with bounds.

    The contributions of words, summed by sentence, are independent: their squares give
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
