"""What error remains if only the most confident labels are accepted."""

import numpy as np

from skcw.metrics._outcome_checks import check_outcomes
from skcw.metrics._tied_ranking import rank_words


def risk_coverage_curve(confidence, correct):
    """Compute the share of wrong words among the most confident ones, for each share.

    Coverage is the share of words whose label is accepted, the most confident first;
    risk is the share of wrong words among those.

    Parameters
    ----------
    confidence, correct :
        As in :func:`error_average_precision`.

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
    ranking = rank_words(*check_outcomes(confidence, correct))
    accepted = np.arange(1, ranking.n_words + 1)
    threshold = np.repeat(ranking.confidence, ranking.sizes)[::-1]
    return accepted / max(1, ranking.n_words), _risk(ranking), threshold


def area_under_risk_coverage(confidence, correct, *, zero_division=0.0):
    """Compute the mean risk over all coverages; lower is better.

    Parameters
    ----------
    confidence, correct :
        As in :func:`error_average_precision`.
    zero_division : float, default=0.0
        Value if there are no words.

    Returns
    -------
    area : float
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
    ranking = rank_words(*check_outcomes(confidence, correct))
    if not ranking.n_words:
        return float(zero_division)
    return float(_risk(ranking).mean())


def _risk(ranking):
    """Return the mean share of wrong words among the 1, 2, ... most confident."""
    accepted = np.arange(1, ranking.n_words + 1)
    rejected = ranking.n_words - accepted
    return (ranking.n_errors - ranking.expected_errors(rejected)) / accepted
