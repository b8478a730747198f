"""Whether confidences are the probabilities they claim to be, bin by bin."""

import numpy as np

from skcw.metrics._outcome_checks import check_n_bins, check_probabilities


def confidence_bins(confidence, correct, *, n_bins=20):
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

    Returns
    -------
    centre : ndarray of shape (n_bins,)
        Centres of the bins.
    accuracy : ndarray of shape (n_bins,)
        Share of right words in each bin; NaN if it is empty, which plots leave out.
    count : ndarray of int of shape (n_bins,)
        Number of words in each bin.

    See Also
    --------
    confidence_rmse : All bins in one number.

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
    confidence, correct = check_probabilities(confidence, correct)
    count, right = _count_bins(confidence, correct, n_bins)
    accuracy = np.full(n_bins, np.nan)
    np.divide(right, count, out=accuracy, where=count > 0)
    return _centres(n_bins), accuracy, count


def confidence_rmse(confidence, correct, *, n_bins=20, zero_division=0.0):
    r"""Compute how far confidences are from the accuracy they claim.

    With :math:`n_j` words in bin j, the centre :math:`b_j` of the bin and the share
    :math:`c_j` of its words that are right, it is

    .. math:: \sqrt{\sum_j n_j (b_j - c_j)^2 / \sum_j n_j}.

    Parameters
    ----------
    confidence, correct, n_bins :
        As in :func:`confidence_bins`; a confidence outside [0, 1] is an error.
    zero_division : float, default=0.0
        Value if there are no words.

    Returns
    -------
    rmse : float
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
    confidence, correct = check_probabilities(confidence, correct)
    if not len(confidence):
        return float(zero_division)
    count, right = _count_bins(confidence, correct, n_bins)
    accuracy = right / np.maximum(count, 1)
    squares = (_centres(n_bins) - accuracy) ** 2
    return float(np.sqrt((count * squares).sum() / count.sum()))


def _centres(n_bins):
    return (2 * np.arange(n_bins) + 1) / (2 * n_bins)


def _count_bins(confidence, correct, n_bins):
    """Return how many words each bin holds, and how many of them are right.

    The borders are divided in the type of the confidences, so a share of votes such
    as 7 of 20 meets its own border bit by bit. Multiplying by n_bins would lift some
    confidences into the bin above.
    """
    borders = np.arange(1, n_bins, dtype=confidence.dtype)
    borders /= confidence.dtype.type(n_bins)
    which = np.searchsorted(borders, confidence, side="right")
    count = np.bincount(which, minlength=n_bins)
    right = np.bincount(which[correct], minlength=n_bins)
    return count, right
