"""Scores of rankings: how well low confidences find the wrong tokens."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skcw._kernels.score_loops import average_precision, mean_risk
from skcw._util.checks import check_real
from skcw.metrics.binnings import Ties
from skcw.metrics.pairs import check_ranked_pairs
from skcw.metrics.score import Score, registered

# Places within a group of ties at which its mean over all orders is evaluated.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, NODE_WEIGHTS = (NODES + 1) / 2, NODE_WEIGHTS / 2


class RankingScore(Score):
    """A score of the ranking of tokens; weights are whole numbers.

    Parameters
    ----------
    pairs : Pairs
        The tokens.
    zero_division : float
        Value if the score is not defined.
    """

    _check = staticmethod(check_ranked_pairs)

    def __init__(self, pairs, *, zero_division=0.0):
        super().__init__(pairs)
        self.zero_division = check_real("zero_division", zero_division)
        self._ties = Ties(pairs.q)

    def value(self, weight=None):
        """Return the score of the ranking in which tokens count that often."""
        weight = self.pairs.weight if weight is None else weight
        tokens, right = self._ties.sums(weight, self.pairs.y)
        return self.of_ranking(tokens, tokens - right)

    def of_ranking(self, tokens, wrong):
        """Return the score of groups of ties with that many tokens and wrong tokens."""
        raise NotImplementedError


@registered("error_average_precision")
class ErrorAveragePrecision(RankingScore):
    """Average precision of retrieving wrong tokens by low confidence."""

    greater_is_better = True

    def of_ranking(self, tokens, wrong):
        """Return the average precision, or ``zero_division`` if no token is wrong."""
        return average_precision(tokens, wrong) if wrong.any() else self.zero_division

    def influence(self):
        """Return the contribution of each token to the mean precision."""
        return _ranking_influence(self.pairs, falling=False)

    def sandwich(self, level, n_resamples, rng, bar):
        """Return the ends; without errors their ranking is unknown."""
        if not self.pairs.weight @ (1 - self.pairs.y) > 0:
            return self.bounds
        return super().sandwich(level, n_resamples, rng, bar)


@registered("area_under_risk_coverage")
class RiskCoverageArea(RankingScore):
    """The mean risk over all coverages."""

    def of_ranking(self, tokens, wrong):
        """Return the mean risk, or ``zero_division`` if there are no tokens."""
        return mean_risk(tokens, wrong) if tokens.any() else self.zero_division

    def influence(self):
        """Return the contribution of each token to the mean risk."""
        return _ranking_influence(self.pairs, falling=True)


def error_average_precision(
    correct: Any,
    confidence: Any,
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    r"""Compute the average precision of retrieving wrong tokens by low confidence.

    Tokens are ranked from the least to the most confident. The precision at a rank is
    the share of wrong tokens down to it; the average is over the ranks of all wrong
    tokens [1]_. Only the order of the confidences matters, so any scale will do.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether the predicted label of each token is right: all tokens in one flat
        array, or one array per sequence; see :func:`token_correct`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidence in each label, in the same layout, as
        ``predict_confidence`` returns it. Infinite values are legal.
    zero_division : float, default=0.0
        Value if no token is wrong, or if there are no tokens.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, a whole number, in the same layout; once if None.

    Returns
    -------
    average_precision : float
        From 0 to 1; 1 if every wrong token is less confident than every right one.
        It rises with the share of wrong tokens, so compare it between confidences of
        the same labels, and take :func:`residual_errors_at_k` between models.

    See Also
    --------
    errors_at_k : How many wrong tokens lie among the first k.
    residual_errors_at_k : How many are left after them.

    Notes
    -----
    Tied tokens count at their expected value: the mean over all orders of the ties,
    which is exact and not a figure of the groups. Say that a group of m tied tokens
    holds e wrong ones and comes after N tokens with E wrong ones. The token at its
    place k is wrong with probability e / m; if it is, then (k - 1)(e - 1) / (m - 1)
    of those before it in the group are wrong on average. With W wrong tokens in all,

    .. math::

        AP = \frac{1}{W} \sum_{groups} \frac{e}{m} \sum_{k=1}^{m}
             \frac{E + 1 + (k - 1)\frac{e - 1}{m - 1}}{N + k}.

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.

    Examples
    --------
    >>> from skcw.metrics import error_average_precision
    >>> error_average_precision([True, False, True, False], [0.9, 0.2, 0.6, 0.8])
    0.8333333333333333

    The rows of sentences give the same, and ties their mean over both orders:

    >>> error_average_precision([[1, 0], [1, 0]], [[0.9, 0.2], [0.6, 0.8]])
    0.8333333333333333
    >>> error_average_precision([True, False], [0.5, 0.5])
    0.75
    """
    pairs = check_ranked_pairs(correct, confidence, sample_weight, allow_empty=True)
    return ErrorAveragePrecision(pairs, zero_division=zero_division).value()


def errors_at_k(
    correct: Any, confidence: Any, k: ArrayLike, *, sample_weight: Any = None
) -> np.ndarray:
    """Count the wrong tokens among the k least confident ones.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether the predicted label of each token is right; see
        :func:`error_average_precision`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidence in each label, in the same layout; any numbers but NaN.
    k : array of int of shape (n_sizes,), or int
        How many tokens are reviewed; more than there are is the same as all.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, as in :func:`error_average_precision`; a token of
        weight 2 is two of the tokens that are reviewed.

    Returns
    -------
    found : ndarray of float64, shape (n_sizes,)
        The number of wrong tokens for each size; one size gives one number. Of tied
        tokens it is the mean over all their orders, so it need not be whole. 0 if there
        are no tokens.

    See Also
    --------
    residual_errors_at_k : The wrong tokens that are left, a fair figure between models
        that make different errors.

    Examples
    --------
    >>> from skcw.metrics import errors_at_k
    >>> correct = [False, True, False, True]
    >>> confidence = [0.1, 0.5, 0.5, 0.9]
    >>> errors_at_k(correct, confidence, [0, 1, 2, 3]).tolist()
    [0.0, 1.0, 1.5, 2.0]
    """
    first = _check_review_sizes(k)
    _, sizes, errors = _ranked(correct, confidence, sample_weight)
    return _expected_errors(sizes, errors, first)


def residual_errors_at_k(
    correct: Any, confidence: Any, k: Any, *, sample_weight: Any = None
) -> np.ndarray:
    """Count the wrong tokens that are left after reviewing the k least confident ones.

    A reader who reviews k tokens corrects all errors among them. The errors left are a
    fair figure between models: one that errs less often starts ahead, where average
    precision and `errors_at_k` reward a model for having more errors to find.

    Parameters
    ----------
    correct, confidence, k, sample_weight :
        As in :func:`errors_at_k`.

    Returns
    -------
    left : ndarray of float64, shape (n_sizes,)
        The number of wrong tokens among the others; all errors for ``k=0``.

    See Also
    --------
    errors_at_k : The wrong tokens among the k.

    Examples
    --------
    >>> from skcw.metrics import residual_errors_at_k
    >>> correct, confidence = [False, True, False, True], [0.1, 0.5, 0.5, 0.9]
    >>> residual_errors_at_k(correct, confidence, [0, 1, 2]).tolist()
    [2.0, 1.0, 0.5]
    """
    first = _check_review_sizes(k)
    _, sizes, errors = _ranked(correct, confidence, sample_weight)
    return errors.sum() - _expected_errors(sizes, errors, first)


def risk_coverage_curve(
    correct: Any, confidence: Any, *, sample_weight: Any = None
) -> tuple[Any, ...]:
    """Compute the share of wrong tokens among the most confident ones, for each share.

    Coverage is the share of tokens whose label is accepted, the most confident first;
    risk is the share of wrong tokens among those.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether the predicted label of each token is right; see
        :func:`error_average_precision`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidence in each label, in the same layout; any numbers but NaN.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, a whole number. A token of weight 2 has two points.

    Returns
    -------
    coverage : ndarray of shape (n_tokens,)
        1 / n_tokens, 2 / n_tokens, ... 1. Empty if there are no tokens, as all three.
    risk : ndarray of shape (n_tokens,)
        The risk at that coverage; the last is the error rate. Of tied tokens it is
        the mean over all their orders.
    threshold : ndarray of shape (n_tokens,)
        The confidence of the last token accepted, so it never rises. Accepting all
        tokens that reach it gives the last coverage with that threshold.

    See Also
    --------
    area_under_risk_coverage : The whole curve in one number.

    Examples
    --------
    >>> from skcw.metrics import risk_coverage_curve
    >>> coverage, risk, threshold = risk_coverage_curve(
    ...     [True, False, True, False], [0.9, 0.8, 0.6, 0.2])
    >>> coverage.tolist()
    [0.25, 0.5, 0.75, 1.0]
    >>> risk.round(2).tolist()
    [0.0, 0.5, 0.33, 0.5]
    >>> threshold.tolist()
    [0.9, 0.8, 0.6, 0.2]
    """
    values, sizes, errors = _ranked(correct, confidence, sample_weight)
    n_tokens = int(sizes.sum())
    accepted = np.arange(1, n_tokens + 1)
    left = errors.sum() - _expected_errors(sizes, errors, n_tokens - accepted)
    threshold = np.repeat(values, sizes)[::-1]
    return accepted / max(1, n_tokens), left / accepted, threshold


def area_under_risk_coverage(
    correct: Any,
    confidence: Any,
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Compute the mean risk over all coverages; lower is better.

    Parameters
    ----------
    correct : array of bool of shape (n_tokens,), or a sequence of such
        Whether the predicted label of each token is right; see
        :func:`error_average_precision`.
    confidence : array of shape (n_tokens,), or a sequence of such
        The confidence in each label, in the same layout; any numbers but NaN.
    zero_division : float, default=0.0
        Value if there are no tokens.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, a whole number; once if None.

    Returns
    -------
    area : float
        The mean of the risk of :func:`risk_coverage_curve` over its n_tokens points.
        It is the error rate if all confidences are equal, and least (though above 0
        if any token is wrong) if every wrong token is less confident than every right
        one.

    See Also
    --------
    risk_coverage_curve : The curve itself.

    Examples
    --------
    >>> from skcw.metrics import area_under_risk_coverage
    >>> area_under_risk_coverage([True, True, True, False], [0.9, 0.8, 0.6, 0.2])
    0.0625
    >>> area_under_risk_coverage([True, True, True, False], [0.5, 0.5, 0.5, 0.5])
    0.25
    """
    pairs = check_ranked_pairs(correct, confidence, sample_weight, allow_empty=True)
    return RiskCoverageArea(pairs, zero_division=zero_division).value()


def _ranked(correct, confidence, sample_weight):
    """Return the confidences, and the numbers of tokens and of errors that have each.

    The least confident come first. Only counts are kept, so that no figure can depend
    on the order in which tied tokens happened to come.
    """
    pairs = check_ranked_pairs(correct, confidence, sample_weight, allow_empty=True)
    ties = Ties(pairs.q)
    tokens, right = ties.sums(pairs.weight, pairs.y)
    return ties.values, tokens.astype(np.int64), (tokens - right).astype(np.int64)


def _expected_errors(sizes, errors, n):
    """Return the mean number of wrong tokens among the first n, for an array of n.

    The mean is over all orders of tied tokens. A group of m tokens with e wrong ones of
    which the first k are taken gives k e / m.
    """
    if not errors.any():
        return np.zeros(np.shape(n))
    taken = np.minimum(n, sizes.sum())
    before = np.cumsum(sizes) - sizes
    group = np.searchsorted(before, taken, side="right") - 1
    found = (taken - before[group]) * errors[group] / sizes[group]
    return (np.cumsum(errors) - errors)[group] + found


def _ranking_influence(pairs, falling):
    """Return contributions to the mean share of wrong tokens down to a rank.

    The mean is over wrong tokens from the least confident (AP), or over all tokens from
    the most confident (AURC). A group of m tokens with e wrong ones behind N tokens
    with E wrong ones has the share (E + u e) / (N + u m) at its place u in [0, 1]; its
    mean over u is the mean over all orders of the ties.
    """
    ties = Ties(-pairs.q if falling else pairs.q)
    mass, wrong = ties.sums(pairs.weight, 1 - pairs.y)
    before, wrong_before = np.cumsum(mass) - mass, np.cumsum(wrong) - wrong
    counted = mass if falling else wrong
    total = counted.sum()
    if total == 0:
        return np.zeros(len(pairs.q))
    of_mass, of_wrong = np.zeros(len(mass)), np.zeros(len(mass))
    summed = 0.0
    for u, node in zip(NODES, NODE_WEIGHTS, strict=True):
        size = np.where(mass > 0, before + u * mass, 1.0)
        share = (wrong_before + u * wrong) / size
        summed += node * (counted @ share)
        later_mass = -node * counted * share / size
        later_wrong = node * counted / size
        of_mass += u * later_mass + _sum_behind(later_mass)
        of_wrong += u * later_wrong + _sum_behind(later_wrong)
        if falling:
            of_mass += node * share
        else:
            of_wrong += node * share
    mean = summed / total
    if falling:
        of_mass -= mean
    else:
        of_wrong -= mean
    each = of_mass[ties.code] + (1 - pairs.y) * of_wrong[ties.code]
    return pairs.weight * each / total


def _sum_behind(values):
    """Return for each place the sum of the values behind it."""
    return np.cumsum(values[::-1])[::-1] - values


def _check_review_sizes(k):
    """Return numbers of tokens as an array of integers that are not negative."""
    sizes = np.atleast_1d(k)
    if sizes.size == 0:
        return sizes.astype(np.int64)
    if sizes.dtype.kind not in "iu":
        raise TypeError(
            f"k is {k!r}; it must be a whole number of tokens or an array of such, "
            "so write int(...) around a share of the tokens"
        )
    if sizes.min() < 0:
        raise ValueError(f"k holds {sizes.min()}; a number of tokens is not negative")
    return sizes.astype(np.int64)
