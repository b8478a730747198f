"""What error remains if only the most confident labels are accepted."""

import numpy as np

from skcw.metrics._cores.ranking import RiskCoverageArea
from skcw.metrics._cores.tied_ranking import rank_words
from skcw.metrics._estimates import estimate
from skcw.metrics._weighted_pairs import check_ranked_pairs


def risk_coverage_curve(confidence, correct, *, sample_weight=None):
    """Compute the share of wrong words among the most confident ones, for each share.

    Coverage is the share of words whose label is accepted, the most confident first;
    risk is the share of wrong words among those.

    Parameters
    ----------
    confidence, correct, sample_weight :
        As in :func:`error_average_precision`. A word of weight 2 has two points.

    Returns
    -------
    coverage : ndarray of shape (n_words,)
        1 / n_words, 2 / n_words, ... 1. Empty if there are no words, as all three.
    risk : ndarray of shape (n_words,)
        The risk at that coverage; the last is the error rate. Of tied words it is
        the mean over all their orders.
    threshold : ndarray of shape (n_words,)
        The confidence of the last word accepted, so it never rises. Accepting all
        words that reach it gives the last coverage with that threshold.

    See Also
    --------
    area_under_risk_coverage : The whole curve in one number.

    Examples
    --------
    >>> from skcw.metrics import risk_coverage_curve
    >>> coverage, risk, threshold = risk_coverage_curve(
    ...     [0.9, 0.8, 0.6, 0.2], [True, False, True, False])
    >>> coverage.tolist()
    [0.25, 0.5, 0.75, 1.0]
    >>> risk.round(2).tolist()
    [0.0, 0.5, 0.33, 0.5]
    >>> threshold.tolist()
    [0.9, 0.8, 0.6, 0.2]
    """
    pairs = check_ranked_pairs(confidence, correct, sample_weight)
    ranking = rank_words(pairs)
    accepted = np.arange(1, ranking.n_words + 1)
    threshold = np.repeat(ranking.confidence, ranking.sizes)[::-1]
    return accepted / max(1, ranking.n_words), ranking.risk(), threshold


def area_under_risk_coverage(
    confidence,
    correct,
    *,
    zero_division=0.0,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Compute the mean risk over all coverages; lower is better.

    Parameters
    ----------
    confidence, correct, sample_weight :
        As in :func:`error_average_precision`.
    zero_division : float, default=0.0
        Value if there are no words.
    groups, interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    area : float or Estimate
        The mean of the risk of :func:`risk_coverage_curve` over its n_words points.
        It is the error rate if all confidences are equal, and least (though above 0
        if any word is wrong) if every wrong word is less confident than every right
        one.

    See Also
    --------
    risk_coverage_curve : The curve itself.

    Examples
    --------
    >>> from skcw.metrics import area_under_risk_coverage
    >>> area_under_risk_coverage([0.9, 0.8, 0.6, 0.2], [True, True, True, False])
    0.0625
    >>> area_under_risk_coverage([0.5, 0.5, 0.5, 0.5], [True, True, True, False])
    0.25
    """
    pairs = check_ranked_pairs(confidence, correct, sample_weight, groups, interval)
    core = RiskCoverageArea(pairs, zero_division=zero_division)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )
