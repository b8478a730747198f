"""Whether confidences are the probabilities they claim to be, bin by bin."""

import numpy as np

from skcw.metrics._cores.binned import ConfidenceRMSE
from skcw.metrics._cores.binnings import centres, width_codes
from skcw.metrics._estimates import estimate
from skcw.metrics._outcome_checks import check_n_bins
from skcw.metrics._weighted_pairs import check_pairs


def confidence_bins(confidence, correct, *, n_bins=20, sample_weight=None):
    """Compute how often words are right whose confidences fall into the same bin.

    Bin j of n holds the confidences in [(j - 1) / n, j / n), and the last bin also
    holds 1 [1]_. Where the accuracy lies above the centre the confidences are too
    low, where it lies below they are too high.

    Parameters
    ----------
    confidence : array of shape (n_words,), or a sequence of such
        Probability of each predicted label, from 0 to 1: all words in one flat array,
        or a row for each sequence as ``predict_confidence`` returns them.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether that label is right, in the same layout; see :func:`label_matches`.
    n_bins : int, default=20
        How many bins, all of the same width.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; once if None.

    Returns
    -------
    centre : ndarray of shape (n_bins,)
        Centres of the bins.
    accuracy : ndarray of shape (n_bins,)
        Share of right words in each bin; NaN if it is empty, which plots leave out.
    count : ndarray of int of shape (n_bins,)
        Number of words in each bin; with ``sample_weight`` their summed weight, which
        is a float.

    See Also
    --------
    confidence_rmse : All bins in one number.
    calibration_bins : Bins with their mean confidence, also of equal mass.

    Notes
    -----
    A confidence that is not in [0, 1] is an error: ``"delta"`` and ``"delta-max"``
    give distances, which have an order and no probability.

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.

    Examples
    --------
    >>> from skcw.metrics import confidence_bins
    >>> centre, accuracy, count = confidence_bins(
    ...     [0.1, 0.7, 0.8, 1.0], [False, True, False, True], n_bins=4)
    >>> centre.tolist()
    [0.125, 0.375, 0.625, 0.875]
    >>> accuracy.tolist()
    [0.0, nan, 1.0, 0.5]
    >>> count.tolist()
    [1, 0, 1, 2]
    """
    n_bins = check_n_bins(n_bins)
    pairs = check_pairs(confidence, correct, sample_weight, allow_empty=True)
    which = width_codes(pairs, n_bins)
    weight = None if sample_weight is None else pairs.weight
    count = np.bincount(which, weight, n_bins)
    right = np.bincount(which, pairs.weight * pairs.y, n_bins)
    accuracy = np.full(n_bins, np.nan)
    np.divide(right, count, out=accuracy, where=count > 0)
    return centres(n_bins), accuracy, count


def confidence_rmse(
    confidence,
    correct,
    *,
    n_bins=20,
    zero_division=0.0,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    r"""Compute how far confidences are from the accuracy they claim.

    With :math:`n_j` words in bin j, the centre :math:`b_j` of the bin and the share
    :math:`c_j` of its words that are right, it is

    .. math:: \sqrt{\sum_j n_j (b_j - c_j)^2 / \sum_j n_j}.

    Parameters
    ----------
    confidence, correct, n_bins, sample_weight :
        As in :func:`confidence_bins`; a confidence outside [0, 1] is an error.
    zero_division : float, default=0.0
        Value if there are no words.
    groups, interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    rmse : float or Estimate
        From 0 to 1; lower is better. As a bin stands for its centre, confidences
        that are all exactly 1 and right give half the width of a bin, 0.025.

    See Also
    --------
    confidence_bins : The bins themselves.

    Examples
    --------
    >>> from skcw.metrics import confidence_rmse
    >>> round(confidence_rmse([1.0, 1.0, 1.0], [True, True, True]), 6)
    0.025
    >>> round(confidence_rmse([0.55, 0.58], [True, False]), 6)
    0.075
    """
    n_bins = check_n_bins(n_bins)
    pairs = check_pairs(
        confidence, correct, sample_weight, groups, allow_empty=interval is None
    )
    if not len(pairs.q):
        return float(zero_division)
    core = ConfidenceRMSE(pairs, n_bins=n_bins)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )
