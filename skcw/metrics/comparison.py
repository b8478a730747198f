"""``compare_scores``: compare the scores of two models on the same tokens."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import t as student

from skcw.metrics.intervals import (
    Inversion,
    check_level,
    check_n_resamples,
    check_several_sentences,
    make_generator,
    progress_bar,
    resampled_scores,
)
from skcw.metrics.score import (
    ROUNDING,
    SCORES,
    clustered_error,
    make_score,
    score_name,
)

LOWEST_LEVEL = 0.01


class Comparison(NamedTuple):
    """The difference of two scores.

    Parameters
    ----------
    difference : float
        Score of the first model less that of the second.
    low, high : float
        Ends of the interval of the true difference.
    p_value : float
        How likely a difference this large would be if there were no true difference.
        For errors counted by size, and the maximum, it is never below one over the
        number of resamples.

    Examples
    --------
    >>> from skcw.metrics.comparison import Comparison
    >>> Comparison(difference=0.02, low=0.01, high=0.03, p_value=0.001).low
    0.01
    """

    difference: float
    low: float
    high: float
    p_value: float


def compare_scores(
    score: Any,
    correct_a: Any,
    confidence_a: Any,
    correct_b: Any,
    confidence_b: Any,
    *,
    groups: ArrayLike | None = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.RandomState | None = 0,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Compare a score of two models on the same tokens, by a paired bootstrap.

    Sentences are drawn again with replacement, the same ones for both models, so what
    makes tokens hard for both cancels out.

    Parameters
    ----------
    score : str or function
        One of the scores of this module, such as ``"calibration_mse"`` or the function
        itself, or a part of a proper loss, such as ``"brier_miscalibration"``.
    correct_a, confidence_a : array of shape (n_tokens,), or a sequence of such
        Whether the labels of the first model are right, and its confidences: all tokens
        in flat arrays, or one array per sentence.
    correct_b, confidence_b : array of shape (n_tokens,), or a sequence of such
        Those of the second model on the same tokens.
    groups : array of shape (n_tokens,) or (n_rows,), default=None
        The sentence of each token or the text of each row, which are drawn as a whole.
        If None each row is a group, and in flat arrays each token is one.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts; once if None.
    confidence_level : float, default=0.95
        How often the interval should contain the true difference.
    n_resamples : int, default=1000
        Number of resamples.
    random_state : int, RandomState instance or None, default=0
        Controls the resamples.
    progress : bool, default=False
        Whether resampling shows a progress bar.
    **options
        Those of the score, such as ``n_bins``.

    Returns
    -------
    comparison : Comparison
        The difference of the scores, first less second; the interval of the true
        difference, corrected for the bias of either score by chance, so that
        the difference itself need not lie in it; and a p-value.

    See Also
    --------
    score_interval : Intervals of one score.

    Notes
    -----
    See :func:`score_interval` for what the true value is. The interval of
    smooth scores (Brier, log, rankings, CalibMSE and the parts) is the difference
    less the mean excess of the resamples, -+ Student's quantile times the standard
    error of sentences. Errors that are sizes of gaps (ECE, adaptive, maximum) have a
    floor that chance lifts, so the ends of both intervals are put together [1]_. Roots
    are compared by their squares and get their ends from both intervals.

    References
    ----------
    .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect
       measures: a general approach", Statistics in Medicine 27, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.metrics import compare_scores
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(size=2000)
    >>> correct = rng.uniform(size=2000) < confidence
    >>> too_sure = np.where(confidence > 0.5, 0.95, 0.05)
    >>> found = compare_scores("brier_loss", correct, confidence, correct, too_sure)
    >>> found.high < 0, found.p_value < 0.01
    (True, True)
    """
    name = _check_comparable(score)
    level = check_level(confidence_level)
    n_resamples = check_n_resamples(n_resamples)
    models = (correct_a, confidence_a), (correct_b, confidence_b)
    first, second = (
        make_score(name, *each, sample_weight, groups, **options) for each in models
    )
    _check_same_tokens(first.pairs, second.pairs)
    check_several_sentences(first.pairs)
    if all(map(np.array_equal, first.pairs[:3], second.pairs[:3])):
        return Comparison(0.0, 0.0, 0.0, 1.0)
    rng = make_generator(random_state)
    compare, count_rounds = _WAYS[first.compared_by]
    n_rounds = count_rounds(first.n_families)
    with progress_bar(progress, n_rounds * n_resamples) as bar:
        return compare(first, second, level, n_resamples, rng, bar)


def _by_influence(first, second, level, n_resamples, rng, bar):
    """Return the comparison of scores that are smooth in the weights of sentences.

    Resamples show how far the difference is from its linear part. The mean of that is
    the bias of the difference. Its variance is that of the products of what two
    sentences add, which the variance of the linear part holds twice, and the
    difference only once.
    """
    difference = first.value() - second.value()
    added = first.influence() - second.influence()
    sentences = np.bincount(first.pairs.group, added)
    if not (sentences**2).sum() > ROUNDING**2:
        return Comparison(difference, difference, difference, 1.0)
    bent = np.concatenate(
        [
            a - b - difference - counts @ sentences
            for counts, (a, b) in resampled_scores(
                [first, second], n_resamples, rng, bar
            )
        ]
    )
    error, degrees = clustered_error(sentences)
    deviation = np.sqrt(max(error**2 - bent.var(), bent.var()))
    center = difference - bent.mean()
    half = student.ppf((1 + level) / 2, degrees) * deviation
    p_value = 2 * student.sf(abs(center) / deviation, degrees)
    return Comparison(
        difference, float(center - half), float(center + half), float(p_value)
    )


def _by_ends(first, second, level, n_resamples, rng, bar):
    """Return the comparison of scores that chance keeps away from zero.

    The ends of both scores' own intervals are put together, as far as resamples show
    that the scores rise and fall together. The p-value is one less the highest level at
    which the interval leaves zero out.
    """
    least = min(1 - level, 1 / n_resamples)
    *both, together = _inversions(first, second, 1 - least, n_resamples, rng, bar)

    def ends(level):
        return _joined_ends(*both, together, level)

    difference = first.value() - second.value()
    return Comparison(difference, *ends(level), _p_value(ends, least))


def _by_squares(first, second, level, n_resamples, rng, bar):
    """Return the comparison of roots of mean squares.

    Roots are equal if squares are, which shows whether they differ and which is larger.
    Where one may be zero its root is known too badly to be put together otherwise than
    by the worst case.
    """
    squares = [score.mean_square() for score in (first, second)]
    by_square = _by_influence(*squares, level, n_resamples, rng, bar)
    *both, together = _inversions(first, second, level, n_resamples, rng, bar)
    (low, high), (other_low, other_high) = (each.ends(level) for each in both)
    ends = low - other_high, high - other_low
    if min(low, other_low) > 0:
        ends = _joined_ends(*both, together, level)
    if by_square.low > 0:
        ends = max(ends[0], 0.0), max(ends[1], 0.0)
    if by_square.high < 0:
        ends = min(ends[0], 0.0), min(ends[1], 0.0)
    return Comparison(first.value() - second.value(), *ends, by_square.p_value)


def _inversions(first, second, level, n_resamples, rng, bar):
    """Return the inversions of both, and how far resamples rise and fall together.

    Both are by the same chance: equal models are equal.
    """
    drawn = resampled_scores([first, second], n_resamples, rng, bar)
    together = _correlation(np.concatenate([scores for _, scores in drawn], axis=1))
    seed = rng.integers(2**63)
    families = [score.alternatives() for score in (first, second)]
    given = level, n_resamples
    return *(
        Inversion(family, *given, np.random.default_rng(seed), bar)
        for family in families
    ), together


def _joined_ends(first, second, together, level):
    """Return the ends of the difference from those of both (Zou and Donner 2008).

    A distance that two ends give, a and b, is the root of a^2 + b^2 - 2 r a b. A score
    that may be zero does not follow another one down, so then r counts as 0.
    """
    (low, high), (other_low, other_high) = first.ends(level), second.ends(level)
    if min(low, other_low) == 0:
        together = 0.0
    down = first.estimate - low, other_high - second.estimate
    up = high - first.estimate, second.estimate - other_low
    below, above = (
        np.sqrt(max(a**2 + b**2 - 2 * together * a * b, 0.0)) for a, b in (down, up)
    )
    center = first.estimate - second.estimate
    return float(center - below), float(center + above)


def _p_value(ends, least):
    """Return one less the level at which an end of the interval touches zero."""

    def inside(level):
        low, high = ends(level)
        return min(-low, high)

    narrow, wide = LOWEST_LEVEL, 1 - least
    if inside(narrow) >= 0:
        return 1.0
    if inside(wide) <= 0:
        return float(least)
    return float(1 - brentq(inside, narrow, wide, xtol=1e-4))


def _correlation(scores):
    """Return the correlation of two rows; 0 if one of them does not vary."""
    centerd = scores - scores.mean(axis=1, keepdims=True)
    size = np.sqrt((centerd**2).sum(axis=1)).prod()
    return float(centerd[0] @ centerd[1] / size) if size > 0 else 0.0


# How scores of a kind are compared, and how often all is resampled for it.
_WAYS = {
    "influence": (_by_influence, lambda n_families: 1),
    "ends": (_by_ends, lambda n_families: 1 + 2 * n_families),
    "squares": (_by_squares, lambda n_families: 4),
}


def _check_comparable(score):
    """Return the name of a score, or refuse one that cannot be compared."""
    name = score_name(score)
    if SCORES[name][0].compared_by is None:
        raise ValueError(
            f"{name} of two models cannot be compared; take one question per class, "
            "such as expected_calibration_error of each"
        )
    return name


def _check_same_tokens(first, second):
    """Raise unless both models judged the same tokens in the same sentences."""
    if len(first.q) != len(second.q):
        raise ValueError(
            f"the first model has {len(first.q)} tokens but the second has "
            f"{len(second.q)}; both must have judged the same tokens"
        )
    differ = np.flatnonzero(first.group != second.group)
    if differ.size:
        raise ValueError(
            f"token {differ[0]} is in sentence {first.group[differ[0]]} of the first "
            f"model but in {second.group[differ[0]]} of the second; both must have "
            "judged the same tokens"
        )
