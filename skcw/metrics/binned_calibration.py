"""The points of a calibration curve: claimed and observed frequencies in bins."""

from typing import NamedTuple

import numpy as np

from skcw.metrics._cores.binnings import IsotonicBins, make_binning
from skcw.metrics._weighted_pairs import check_pairs


class CalibrationBins(NamedTuple):
    """The bins of a calibration curve, from low to high confidences.

    Parameters
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean confidence in the bin: what is claimed.
    accuracy : ndarray of shape (n_bins,)
        Share of right words in the bin: what is observed.
    count : ndarray of shape (n_bins,)
        Number of words. Words of equal confidence that lie in several bins count in
        each with a part of them, so it need not be whole.
    weight : ndarray of shape (n_bins,)
        Summed weight; the number of words if none were given.
    low, high : ndarray of shape (n_bins,)
        Smallest and largest confidence in the bin.

    Examples
    --------
    >>> from skcw.metrics import calibration_bins
    >>> bins = calibration_bins([0.2, 0.4, 0.8, 1.0], [0, 1, 1, 1], bin_size=2)
    >>> bins.confidence.round(3).tolist()
    [0.3, 0.9]
    >>> bins.accuracy.tolist()
    [0.5, 1.0]
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray


def calibration_bins(
    confidence,
    correct,
    *,
    strategy="adaptive",
    bin_size=None,
    n_bins=None,
    sample_weight=None,
):
    r"""Compute how often words are right whose confidences are about the same.

    Parameters
    ----------
    confidence : array of shape (n_words,), or a sequence of such
        A probability for each word, from 0 to 1: all words in one flat array, or a row
        for each sentence as ``predict_confidence`` returns them.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what it is the probability of came true, in the same layout; for
        predicted labels :func:`label_matches` tells.
    strategy : {"adaptive", "uniform", "quantile", "isotonic"}, default="adaptive"
        How bins are made.

        - ``"adaptive"``: ``bin_size`` words each, cut along the sorted confidences
          [1]_. Too few words for the last bin are joined to the one before it; fewer
          words than ``bin_size`` make one bin.
        - ``"uniform"``: ``n_bins`` of the same width, [(j - 1) / n, j / n), and 1 in
          the last. Empty bins are left out.
        - ``"quantile"``: ``n_bins`` with the same number of words.
        - ``"isotonic"``: as few words as will do for accuracies that rise from bin to
          bin; there is nothing to choose [2]_.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words, rounded down, if
        None.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; one if None. A word of weight 2
        is the same as that word twice, so ``bin_size`` counts weight.

    Returns
    -------
    bins : CalibrationBins
        Their mean confidence, accuracy, number of words, weight and range.

    See Also
    --------
    calibration_mse : The distance of the bins from the diagonal in one number.
    confidence_bins : Uniform bins with their centres, the empty ones too.

    Notes
    -----
    The order of words never matters, not even of words with the same confidence. Where
    a border of adaptive or quantile bins falls among such words, each side gets a part
    of all of them with their common accuracy, and bins that hold nothing but words of
    one confidence are one bin. If all confidences are equal there is one bin.

    A confidence that is not in [0, 1] is an error: ``"delta"`` and its like give
    distances, which have an order and no probability.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.
    .. [2] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
       for probabilistic classifiers", PNAS 118(8), 2021.

    Examples
    --------
    >>> from skcw.metrics import calibration_bins
    >>> confidence = [0.1, 0.5, 0.5, 0.5, 0.5, 0.9]
    >>> correct = [False, True, False, False, True, True]
    >>> bins = calibration_bins(confidence, correct, bin_size=3)
    >>> bins.confidence.round(3).tolist()
    [0.367, 0.633]
    >>> bins.accuracy.round(3).tolist()
    [0.333, 0.667]
    >>> calibration_bins(confidence, correct, strategy="isotonic").high.tolist()
    [0.1, 0.5, 0.9]
    """
    pairs = check_pairs(confidence, correct, sample_weight)
    if strategy == "isotonic":
        if bin_size is not None or n_bins is not None:
            raise ValueError(
                "isotonic bins make themselves: give no bin_size or n_bins"
            )
        binning = IsotonicBins(pairs)
    else:
        binning = make_binning(pairs, strategy, bin_size, n_bins)
    mass, claimed, right = binning.sums(pairs.weight)
    count, low, high = binning.contents(pairs.weight)
    return CalibrationBins(
        # A mean may leave the range of what it is the mean of by a rounding.
        confidence=np.clip(claimed / mass, low, high),
        accuracy=right / mass,
        count=count,
        weight=mass,
        low=low,
        high=high,
    )
